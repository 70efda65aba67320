-- The sentences of an embedded text as codes of 4 bits, one after the other; empty where the text is but one sentence,
-- and null where none were made.
ALTER TABLE vectors ADD COLUMN sentences BYTEA;
