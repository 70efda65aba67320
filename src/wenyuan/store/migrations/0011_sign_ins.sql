-- Browsers that were signed in with a key. Each holds 256 random bits of its own, of which only a digest is here.
CREATE TABLE sign_ins (
  token_sha256 TEXT PRIMARY KEY,
  key_id TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);
CREATE INDEX sign_ins_by_key ON sign_ins (key_id, created_at);
CREATE INDEX sign_ins_by_expiry ON sign_ins (expires_at);
