-- What PostgreSQL needs besides the schema that both databases share. It is applied after that.

-- Lists travel as one JSON parameter. Rows are text, as SQLite's are. A null character, which text cannot hold
-- here, is replaced as it is in every other parameter, by a code point that is no character.
CREATE FUNCTION json_each(list text) RETURNS TABLE (value text) LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT element FROM jsonb_array_elements_text(
    CASE WHEN position('\u0000' IN list) > 0
      THEN regexp_replace(list, '(?<!\\)((\\\\)*)\\u0000', '\1\\ufdd0', 'g')::jsonb
      ELSE list::jsonb END
  ) AS element
$$;

-- Chunks are numbered for as long as the library lives.
ALTER TABLE chunks ALTER COLUMN key TYPE BIGINT;
ALTER TABLE keys ALTER COLUMN chunk_key TYPE BIGINT;

-- Bytes that are compact already are not to be compressed again.
ALTER TABLE vectors ALTER COLUMN vector SET STORAGE EXTERNAL;
ALTER TABLE vector_codes ALTER COLUMN codes SET STORAGE EXTERNAL;

-- Workers are told when there is a job to be done.
CREATE FUNCTION wenyuan_notify_of_a_job() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('wenyuan_jobs', '');
  RETURN NULL;
END
$$;
CREATE TRIGGER jobs_added AFTER INSERT ON jobs FOR EACH STATEMENT EXECUTE FUNCTION wenyuan_notify_of_a_job();
CREATE TRIGGER jobs_queued_again AFTER UPDATE OF state ON jobs FOR EACH ROW
  WHEN (NEW.state = 'queued' AND OLD.state <> 'queued') EXECUTE FUNCTION wenyuan_notify_of_a_job();

-- The lexical indexes: immutable segments of some thousand chunks at most, which are merged as they become many.
-- `keys` and `lengths` are the chunks of a segment as int64 and int32, `removed` the positions of those that are
-- gone, as int32. `version` changes with every change to an index.
CREATE TABLE lexical_indexes (
  number INTEGER PRIMARY KEY,
  version BIGINT NOT NULL,
  chunks BIGINT NOT NULL,
  tokens BIGINT NOT NULL
);
-- Numbers segments and versions. It goes on where a transaction is rolled back, so that what a process has seen
-- in one and remembers is never taken for what another makes.
CREATE SEQUENCE lexical_versions AS BIGINT;
CREATE TABLE lexical_segments (
  number INTEGER NOT NULL REFERENCES lexical_indexes (number),
  segment BIGINT NOT NULL,
  chunks INTEGER NOT NULL,
  first_key BIGINT NOT NULL,
  last_key BIGINT NOT NULL,
  keys BYTEA NOT NULL,
  lengths BYTEA NOT NULL,
  removed BYTEA NOT NULL,
  PRIMARY KEY (number, segment)
);
-- The postings of a segment, in pages of some tokens each, in the order of the tokens.
CREATE TABLE lexical_pages (
  number INTEGER NOT NULL,
  segment BIGINT NOT NULL,
  first_token TEXT NOT NULL,
  page BYTEA NOT NULL,
  PRIMARY KEY (number, segment, first_token)
);
ALTER TABLE lexical_segments ALTER COLUMN keys SET STORAGE EXTERNAL, ALTER COLUMN lengths SET STORAGE EXTERNAL;
ALTER TABLE lexical_pages ALTER COLUMN page SET STORAGE EXTERNAL;
