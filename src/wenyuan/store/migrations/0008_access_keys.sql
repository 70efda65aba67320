-- Keys by which programs and people elsewhere open the library, what they began, and what they asked for once.

-- Only a digest of a key is here: a key is 256 random bits, so that its SHA-256 cannot be searched for.
CREATE TABLE access_keys (
  id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  name TEXT NOT NULL,
  secret_sha256 TEXT NOT NULL UNIQUE,
  -- As JSON; of knowledge bases their ids, null for all of them.
  scopes TEXT NOT NULL,
  knowledge_bases TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT,
  revoked_at BIGINT
);
CREATE UNIQUE INDEX access_keys_by_name ON access_keys (owner, name) WHERE revoked_at IS NULL;
CREATE INDEX access_keys_by_owner ON access_keys (owner, created_at, id);

-- The key with which a session was begun; empty where whoever began it had none.
ALTER TABLE sessions ADD COLUMN key_id TEXT NOT NULL DEFAULT '';
CREATE INDEX sessions_by_key ON sessions (key_id, updated_at, id) WHERE key_id <> '';

-- What was asked for under an Idempotency-Key: `digest` is that of the request, and `status` 0 until it is done.
CREATE TABLE repeatable_requests (
  key_id TEXT NOT NULL,
  repeat_key TEXT NOT NULL,
  digest TEXT NOT NULL,
  server TEXT NOT NULL,
  status INTEGER NOT NULL DEFAULT 0,
  location TEXT NOT NULL DEFAULT '',
  body TEXT NOT NULL DEFAULT '',
  created_at BIGINT NOT NULL,
  PRIMARY KEY (key_id, repeat_key)
);
CREATE INDEX repeatable_requests_by_age ON repeatable_requests (created_at);
