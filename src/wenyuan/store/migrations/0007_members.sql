-- Documents inside of documents, how well each file was read, and the passwords of files.

-- The document of the file that this one's file lies in; empty where it lies in none.
ALTER TABLE documents ADD COLUMN parent_id TEXT NOT NULL DEFAULT '';
CREATE INDEX documents_by_parent ON documents (parent_id, source) WHERE parent_id <> '';

-- What is known of how a file was read, as JSON; whether a person should look at it; and how many files it
-- holds that are documents of their own, -1 where its reader was not asked.
ALTER TABLE revisions ADD COLUMN quality TEXT NOT NULL DEFAULT '{}';
ALTER TABLE revisions ADD COLUMN is_doubtful INTEGER NOT NULL DEFAULT 0;
ALTER TABLE revisions ADD COLUMN member_count INTEGER NOT NULL DEFAULT -1;

-- Files that were found inside of a file, until they are documents: put there while it is read, taken away
-- when a job has made all of them documents.
CREATE TABLE members (
  revision_id TEXT NOT NULL REFERENCES revisions (id) ON DELETE CASCADE,
  path TEXT NOT NULL,
  sha256 TEXT NOT NULL REFERENCES blobs (sha256),
  size BIGINT NOT NULL,
  media_type TEXT NOT NULL,
  is_done INTEGER NOT NULL,
  PRIMARY KEY (revision_id, path)
);
CREATE INDEX members_by_blob ON members (sha256);

-- In a table of its own, so that nothing that copies, shows or exports documents takes it along.
CREATE TABLE file_passwords (
  document_id TEXT PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
  password TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
