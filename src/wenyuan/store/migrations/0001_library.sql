-- The whole library, in the SQL that SQLite and PostgreSQL share. Times are milliseconds since the
-- Unix epoch, days are proleptic Gregorian ordinals, offsets count Unicode code points, and every
-- row that belongs to someone names its owner.

-- Numbers that are never given twice, even after what carried them is gone.
CREATE TABLE counters (
  name TEXT PRIMARY KEY,
  value BIGINT NOT NULL
);
INSERT INTO counters (name, value) VALUES ('chunk', 0), ('generation', 0);

CREATE TABLE knowledge_bases (
  id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('active', 'archived')),
  is_default INTEGER NOT NULL,
  persona TEXT NOT NULL,
  scenario TEXT NOT NULL,
  tags TEXT NOT NULL,
  chunking TEXT NOT NULL,
  embedding_model TEXT NOT NULL,
  terms TEXT NOT NULL DEFAULT '[]',
  synonyms TEXT NOT NULL DEFAULT '[]',
  change_number BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  deleted_at BIGINT
);
CREATE UNIQUE INDEX knowledge_bases_by_name ON knowledge_bases (owner, name) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX knowledge_bases_one_default ON knowledge_bases (owner) WHERE is_default = 1;

-- The bytes themselves lie beside the database, under their SHA-256.
CREATE TABLE blobs (
  sha256 TEXT PRIMARY KEY,
  size BIGINT NOT NULL,
  created_at BIGINT NOT NULL
);

CREATE TABLE documents (
  id TEXT PRIMARY KEY,
  knowledge_base_id TEXT NOT NULL REFERENCES knowledge_bases (id),
  owner TEXT NOT NULL,
  source TEXT NOT NULL,
  name TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  blocked_reason TEXT NOT NULL,
  serving_revision_id TEXT,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  deleted_at BIGINT
);
CREATE UNIQUE INDEX documents_by_source ON documents (knowledge_base_id, source) WHERE deleted_at IS NULL;
CREATE INDEX documents_by_owner_and_source ON documents (owner, source);
CREATE INDEX documents_by_owner_and_name ON documents (owner, name);
CREATE INDEX documents_by_serving_revision ON documents (serving_revision_id);

CREATE TABLE revisions (
  id TEXT PRIMARY KEY,
  document_id TEXT NOT NULL REFERENCES documents (id),
  owner TEXT NOT NULL,
  number INTEGER NOT NULL,
  blob_sha256 TEXT NOT NULL REFERENCES blobs (sha256),
  size BIGINT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'processing', 'ready', 'failed', 'cancelled')),
  stage TEXT NOT NULL,
  media_type TEXT NOT NULL,
  encoding TEXT NOT NULL,
  title TEXT NOT NULL,
  language TEXT NOT NULL,
  metadata TEXT NOT NULL,
  notices TEXT NOT NULL,
  chunking TEXT NOT NULL,
  chunk_count INTEGER NOT NULL,
  text_length BIGINT NOT NULL,
  problem TEXT,
  staged_by TEXT NOT NULL DEFAULT '',
  given TEXT NOT NULL DEFAULT '{}',
  created_at BIGINT NOT NULL,
  published_at BIGINT,
  superseded_at BIGINT,
  UNIQUE (document_id, number)
);
CREATE INDEX revisions_by_blob ON revisions (blob_sha256);
CREATE INDEX revisions_superseded ON revisions (superseded_at) WHERE superseded_at IS NOT NULL;

-- A revision's complete normalised text, in pieces.
CREATE TABLE revision_text (
  revision_id TEXT NOT NULL REFERENCES revisions (id),
  seq INTEGER NOT NULL,
  start_offset BIGINT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (revision_id, seq)
);

CREATE TABLE chunks (
  key INTEGER PRIMARY KEY,
  revision_id TEXT NOT NULL REFERENCES revisions (id),
  seq INTEGER NOT NULL,
  text TEXT NOT NULL,
  characters INTEGER NOT NULL,
  start_offset BIGINT NOT NULL,
  end_offset BIGINT NOT NULL,
  anchor TEXT NOT NULL,
  heading_path TEXT NOT NULL,
  context TEXT NOT NULL,
  input_hash BYTEA NOT NULL,
  enabled INTEGER NOT NULL,
  UNIQUE (revision_id, seq)
);
CREATE INDEX chunks_by_input ON chunks (input_hash);

-- What can be looked up rather than guessed. chunk_key is null for a key of the whole document.
CREATE TABLE keys (
  knowledge_base_id TEXT NOT NULL,
  document_id TEXT NOT NULL,
  revision_id TEXT NOT NULL REFERENCES revisions (id),
  chunk_key INTEGER,
  kind TEXT NOT NULL CHECK (kind IN ('date', 'version', 'code', 'name')),
  value TEXT NOT NULL,
  source TEXT NOT NULL CHECK (source IN ('metadata', 'filename', 'title', 'heading', 'body')),
  first_day INTEGER NOT NULL,
  last_day INTEGER NOT NULL
);
CREATE INDEX keys_by_value ON keys (knowledge_base_id, kind, value);
CREATE INDEX keys_by_day ON keys (knowledge_base_id, kind, first_day, last_day);
CREATE INDEX keys_by_revision ON keys (revision_id, chunk_key);

-- What a search can be narrowed by: the metadata of published revisions, and what else is known of them.
-- Values are folded; number and days are there where the value is a number or a date.
CREATE TABLE document_fields (
  knowledge_base_id TEXT NOT NULL,
  document_id TEXT NOT NULL,
  revision_id TEXT NOT NULL REFERENCES revisions (id),
  field TEXT NOT NULL,
  value TEXT NOT NULL,
  number DOUBLE PRECISION,
  first_day INTEGER,
  last_day INTEGER
);
CREATE INDEX document_fields_by_value ON document_fields (knowledge_base_id, field, value, revision_id);
CREATE INDEX document_fields_by_number ON document_fields (knowledge_base_id, field, number, revision_id)
  WHERE number IS NOT NULL;
CREATE INDEX document_fields_by_day ON document_fields (knowledge_base_id, field, first_day, last_day, revision_id)
  WHERE first_day IS NOT NULL;
CREATE INDEX document_fields_by_revision ON document_fields (revision_id, field);

CREATE TABLE index_generations (
  id TEXT PRIMARY KEY,
  number INTEGER NOT NULL UNIQUE,
  knowledge_base_id TEXT NOT NULL REFERENCES knowledge_bases (id),
  owner TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('lexical', 'vector')),
  state TEXT NOT NULL CHECK (state IN ('building', 'active', 'retired')),
  fingerprint TEXT NOT NULL,
  recipe TEXT NOT NULL,
  dimensions INTEGER NOT NULL,
  created_at BIGINT NOT NULL,
  activated_at BIGINT
);
CREATE UNIQUE INDEX index_generations_one_active ON index_generations (knowledge_base_id, kind)
  WHERE state = 'active';

-- How far one revision is in one generation. A lexical row also counts the aliases over the cap, and tells by
-- which rules the revision was read and by which it is being read again.
CREATE TABLE revision_indexes (
  generation_id TEXT NOT NULL REFERENCES index_generations (id),
  revision_id TEXT NOT NULL REFERENCES revisions (id),
  state TEXT NOT NULL CHECK (state IN ('pending', 'ready', 'failed')),
  done INTEGER NOT NULL,
  total INTEGER NOT NULL,
  alias_overflow INTEGER NOT NULL,
  rules TEXT NOT NULL DEFAULT '',
  rereading TEXT NOT NULL DEFAULT '',
  problem TEXT,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (generation_id, revision_id)
);
CREATE INDEX revision_indexes_by_revision ON revision_indexes (revision_id);

CREATE TABLE model_fingerprints (
  key INTEGER PRIMARY KEY,
  fingerprint TEXT NOT NULL UNIQUE,
  identity TEXT NOT NULL,
  created_at BIGINT NOT NULL
);

-- One float16 vector per model and embedded text, so equal texts share it wherever they stand.
CREATE TABLE vectors (
  model_key INTEGER NOT NULL REFERENCES model_fingerprints (key),
  input_hash BYTEA NOT NULL,
  vector BYTEA NOT NULL,
  PRIMARY KEY (model_key, input_hash)
);

-- One packed row of int8 codes per revision and generation, written when its last vector is there.
CREATE TABLE vector_codes (
  generation_id TEXT NOT NULL REFERENCES index_generations (id),
  revision_id TEXT NOT NULL REFERENCES revisions (id),
  segment INTEGER NOT NULL,
  chunk_keys BYTEA NOT NULL,
  codes BYTEA NOT NULL,
  PRIMARY KEY (generation_id, revision_id, segment)
);
CREATE INDEX vector_codes_by_revision ON vector_codes (revision_id);

-- Everything a search could notice, numbered without gaps within its knowledge base.
CREATE TABLE changes (
  knowledge_base_id TEXT NOT NULL REFERENCES knowledge_bases (id),
  number BIGINT NOT NULL,
  document_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (knowledge_base_id, number)
);

CREATE TABLE jobs (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  subject_kind TEXT NOT NULL,
  subject_id TEXT NOT NULL,
  knowledge_base_id TEXT NOT NULL,
  owner TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'waiting', 'done', 'failed', 'cancelled')),
  priority INTEGER NOT NULL,
  weight BIGINT NOT NULL,
  attempts INTEGER NOT NULL,
  fence BIGINT NOT NULL,
  worker TEXT NOT NULL,
  run_after BIGINT NOT NULL,
  lease_until BIGINT NOT NULL,
  cancel_requested INTEGER NOT NULL,
  stage TEXT NOT NULL,
  done INTEGER NOT NULL,
  total INTEGER NOT NULL,
  problem TEXT,
  created_at BIGINT NOT NULL,
  started_at BIGINT,
  finished_at BIGINT
);
CREATE UNIQUE INDEX jobs_one_live ON jobs (subject_kind, subject_id, kind)
  WHERE state IN ('queued', 'running', 'waiting');
CREATE INDEX jobs_to_claim ON jobs (priority, created_at, id) WHERE state IN ('queued', 'running', 'waiting');
CREATE INDEX jobs_begun ON jobs (owner, state, created_at, id) WHERE state IN ('running', 'waiting');
CREATE INDEX jobs_running ON jobs (worker) WHERE state = 'running';
CREATE INDEX jobs_by_subject ON jobs (subject_kind, subject_id);

CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  title TEXT NOT NULL,
  knowledge_bases TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);

CREATE TABLE turns (
  session_id TEXT NOT NULL REFERENCES sessions (id),
  number INTEGER NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('person', 'assistant')),
  text TEXT NOT NULL,
  trace_id TEXT,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (session_id, number)
);
