-- What a knowledge base takes, what of a document nobody is to find, and what is left to be done after changes.

-- Which files a knowledge base takes, as JSON; an empty object takes everything.
ALTER TABLE knowledge_bases ADD COLUMN policy TEXT NOT NULL DEFAULT '{}';

-- Passages that are switched off, by the SHA-256 of their words, so that they stay so in every revision.
CREATE TABLE disabled_passages (
  document_id TEXT NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
  text_hash BYTEA NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (document_id, text_hash)
);

-- Revisions that take their document to another knowledge base when they are published.
CREATE TABLE moves (
  revision_id TEXT PRIMARY KEY REFERENCES revisions (id) ON DELETE CASCADE,
  document_id TEXT NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
  knowledge_base_id TEXT NOT NULL REFERENCES knowledge_bases (id),
  created_at BIGINT NOT NULL
);
CREATE INDEX moves_by_document ON moves (document_id);
CREATE INDEX moves_by_target ON moves (knowledge_base_id);

-- Where a document was before the same bytes under a newer path took its place.
CREATE TABLE former_sources (
  knowledge_base_id TEXT NOT NULL REFERENCES knowledge_bases (id),
  source TEXT NOT NULL,
  document_id TEXT NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
  PRIMARY KEY (knowledge_base_id, source)
);
CREATE INDEX former_sources_by_document ON former_sources (document_id);

-- Deleted documents whose names still stand in traces that were kept at or after `since`.
CREATE TABLE erasures (
  document_id TEXT PRIMARY KEY,
  since BIGINT NOT NULL,
  hidden_at BIGINT NOT NULL
);

-- How far the search for what nothing uses any more has come; each worker goes on for a while.
CREATE TABLE sweeps (
  name TEXT PRIMARY KEY,
  position TEXT NOT NULL
);
CREATE INDEX erasures_by_moment ON erasures (since, document_id);
CREATE INDEX turns_by_trace ON turns (trace_id) WHERE trace_id IS NOT NULL;
