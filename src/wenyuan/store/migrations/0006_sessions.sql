-- What is attached to a session lies in a knowledge base of the session's own, which nothing lists or searches
-- but the session itself: the same reading, chunking, indexing and searching, under another lifecycle.
ALTER TABLE knowledge_bases ADD COLUMN session_id TEXT NOT NULL DEFAULT '';
CREATE UNIQUE INDEX knowledge_bases_by_session ON knowledge_bases (session_id)
  WHERE session_id <> '' AND deleted_at IS NULL;
CREATE INDEX sessions_by_owner ON sessions (owner, updated_at, id);
