-- Indexes that are built aside while others answer, and revisions that wait for their vectors.

-- When the first revision of a document is to be found: by its words at once, or with its vectors.
ALTER TABLE knowledge_bases ADD COLUMN ready_when TEXT NOT NULL DEFAULT 'keyword';

-- Whether a revision took the place of an older one before its vectors were there.
ALTER TABLE revisions ADD COLUMN without_vectors INTEGER NOT NULL DEFAULT 0;
CREATE INDEX revisions_without_vectors ON revisions (id) WHERE without_vectors = 1;

-- What is built aside for a knowledge base, or was. It takes the place of the indexes named `from`, with the
-- model and the chunking that they were made by; an empty id is an index that is not there, or not changed.
-- While one is `active` it answers, and what it replaced is kept, to go back to.
CREATE TABLE rebuilds (
  id TEXT PRIMARY KEY,
  knowledge_base_id TEXT NOT NULL REFERENCES knowledge_bases (id),
  owner TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('building', 'failed', 'cancelled', 'active', 'settled', 'rolled-back')),
  rereads INTEGER NOT NULL,
  rolls_back TEXT NOT NULL,
  from_model TEXT NOT NULL,
  to_model TEXT NOT NULL,
  from_chunking TEXT NOT NULL,
  to_chunking TEXT NOT NULL,
  from_lexical_id TEXT NOT NULL,
  to_lexical_id TEXT NOT NULL,
  from_vector_id TEXT NOT NULL,
  to_vector_id TEXT NOT NULL,
  problem TEXT,
  created_at BIGINT NOT NULL,
  switched_at BIGINT
);
CREATE UNIQUE INDEX rebuilds_one_building ON rebuilds (knowledge_base_id) WHERE state IN ('building', 'failed');
CREATE UNIQUE INDEX rebuilds_one_active ON rebuilds (knowledge_base_id) WHERE state = 'active';
CREATE INDEX rebuilds_kept ON rebuilds (switched_at) WHERE state = 'active';
CREATE INDEX rebuilds_by_knowledge_base ON rebuilds (knowledge_base_id, created_at);

-- Which revision takes the place of which at the switch. `name` is the one it was read under, `is_made` tells
-- that this rebuild made it, and `problem` why it was made from stored passages, not from the file. Until the
-- switch the one of them, and after it the other, has a negative number, which makes it older than any that a
-- person brought.
CREATE TABLE rebuilt_revisions (
  rebuild_id TEXT NOT NULL REFERENCES rebuilds (id),
  document_id TEXT NOT NULL,
  from_revision_id TEXT NOT NULL,
  revision_id TEXT NOT NULL,
  name TEXT NOT NULL,
  is_made INTEGER NOT NULL,
  problem TEXT,
  PRIMARY KEY (rebuild_id, from_revision_id)
);
CREATE INDEX rebuilt_revisions_by_revision ON rebuilt_revisions (revision_id);

-- Vectors are shared by all indexes that one model made.
CREATE INDEX index_generations_by_fingerprint ON index_generations (fingerprint);
