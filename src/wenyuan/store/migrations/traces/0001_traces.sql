-- What happened to each question. On SQLite these tables lie in a file of their own, so that keeping a
-- trace waits for nobody who writes to the library and empties no reader's page cache.

CREATE TABLE traces (
  id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  question TEXT NOT NULL,
  why_empty TEXT,
  body TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX traces_by_time ON traces (created_at);

-- Runs of evaluation sets; the body holds the result of every case.
CREATE TABLE evaluation_runs (
  id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  set_name TEXT NOT NULL,
  set_digest TEXT NOT NULL,
  complete INTEGER NOT NULL,
  settings TEXT NOT NULL,
  summary TEXT NOT NULL,
  body TEXT NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX evaluation_runs_by_time ON evaluation_runs (owner, created_at, id);
CREATE INDEX evaluation_runs_by_set ON evaluation_runs (owner, set_name, created_at, id);
