-- The bytes of files where all machines reach them, for libraries without a folder that all of them see.

-- In the database: pieces of one size, but for the last, so that any part of a large file is read without the rest.
-- They are there before the row in `blobs` that names them, and are taken away with it.
CREATE TABLE blob_pieces (
  sha256 TEXT NOT NULL,
  seq INTEGER NOT NULL,
  content BYTEA NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (sha256, seq)
);
ALTER TABLE blob_pieces ALTER COLUMN content SET STORAGE EXTERNAL;

-- In a storage for objects: which object has the bytes. Each is put under a name of its own that is never used
-- again, so that however late one is deleted, it is nobody else's.
CREATE TABLE blob_objects (
  sha256 TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  created_at BIGINT NOT NULL
);
-- Objects that nothing needs any more, until they are deleted there.
CREATE TABLE blob_objects_to_delete (
  name TEXT PRIMARY KEY
);

-- Where the files of this library are: one row, once a program has opened it that knows. Objects of several
-- libraries may lie beside one another, each library's under its `library`.
CREATE TABLE blob_storage (
  kind TEXT PRIMARY KEY,
  library TEXT NOT NULL DEFAULT gen_random_uuid()
);
