-- The tables of documents as tables: what is counted, summed and compared over all of their rows.

-- `about` is what is said of a table as JSON: title, sheet, names of columns, where its header stands. `row_count`
-- counts the rows that are kept, `left_out` those that were too many to keep. Like keys, a table is found by the
-- knowledge base that its revision was read for.
CREATE TABLE data_tables (
  revision_id TEXT NOT NULL REFERENCES revisions (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  knowledge_base_id TEXT NOT NULL REFERENCES knowledge_bases (id) ON DELETE CASCADE,
  document_id TEXT NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
  about TEXT NOT NULL,
  row_count INTEGER NOT NULL,
  left_out INTEGER NOT NULL,
  PRIMARY KEY (revision_id, number)
);
CREATE INDEX data_tables_by_knowledge_base ON data_tables (knowledge_base_id, document_id);
CREATE INDEX data_tables_by_document ON data_tables (document_id);

-- Rows as JSON, a few hundred together: a table is read as a whole, and kept as it was read.
CREATE TABLE table_pages (
  revision_id TEXT NOT NULL REFERENCES revisions (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  start_row INTEGER NOT NULL,
  row_count INTEGER NOT NULL,
  content TEXT NOT NULL,
  PRIMARY KEY (revision_id, number, start_row)
);
