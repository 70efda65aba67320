-- Folders and pages that a knowledge base keeps in step with.

-- Which source brought a document; empty for what a person added.
ALTER TABLE documents ADD COLUMN source_id TEXT NOT NULL DEFAULT '';
CREATE INDEX documents_by_origin ON documents (source_id) WHERE source_id <> '' AND deleted_at IS NULL;

CREATE TABLE sources (
  id TEXT PRIMARY KEY,
  knowledge_base_id TEXT NOT NULL REFERENCES knowledge_bases (id),
  owner TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('folder', 'url')),
  location TEXT NOT NULL,
  exclude TEXT NOT NULL,
  watch INTEGER NOT NULL,
  adopt INTEGER NOT NULL,
  allow_private INTEGER NOT NULL,
  every_ms BIGINT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('active', 'paused', 'removing')),
  problem TEXT,
  fetched TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  checked_at BIGINT,
  due_at BIGINT
);
CREATE UNIQUE INDEX sources_by_location ON sources (knowledge_base_id, location);
CREATE INDEX sources_by_owner ON sources (owner, created_at, id);
CREATE INDEX sources_due ON sources (due_at) WHERE due_at IS NOT NULL;

-- What is known of each file of a folder since it was last looked at. Times are nanoseconds of the file
-- system's clock, but for seen_ns, which is this machine's: a file that had changed just before may have
-- changed again without its times telling.
CREATE TABLE source_files (
  source_id TEXT NOT NULL REFERENCES sources (id),
  path TEXT NOT NULL,
  document_id TEXT NOT NULL,
  size BIGINT NOT NULL,
  modified_ns BIGINT NOT NULL,
  changed_ns BIGINT NOT NULL,
  device BIGINT NOT NULL,
  inode BIGINT NOT NULL,
  seen_ns BIGINT NOT NULL,
  sha256 TEXT NOT NULL,
  problem TEXT,
  PRIMARY KEY (source_id, path)
);
CREATE INDEX source_files_by_document ON source_files (document_id);
