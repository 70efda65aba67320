-- Who may call a model now, whose turn it is in the queue, and what has changed about a job.

-- One row for each model that is called under limits, or that refused a call. What was taken from the two
-- token buckets (https://en.wikipedia.org/wiki/Token_bucket) by `updated_at` flows back with time. Until
-- `closed_until` nobody calls the model, for the reason in `problem`; `is_told` says whether it asked to be left
-- alone, or failed, so often in a row.
CREATE TABLE provider_limits (
  model TEXT PRIMARY KEY,
  requests DOUBLE PRECISION NOT NULL,
  tokens DOUBLE PRECISION NOT NULL,
  updated_at BIGINT NOT NULL,
  closed_at BIGINT NOT NULL,
  closed_until BIGINT NOT NULL,
  is_told INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  problem TEXT
);

-- Calls that are being made to a model with a limit on how many; one whose worker is gone ends by itself.
CREATE TABLE provider_calls (
  id TEXT PRIMARY KEY,
  model TEXT NOT NULL,
  worker TEXT NOT NULL,
  lease_until BIGINT NOT NULL
);
CREATE INDEX provider_calls_by_model ON provider_calls (model, lease_until);
CREATE INDEX provider_calls_by_worker ON provider_calls (worker);

-- The turn that the next job of a knowledge base gets, and under an empty owner the turn that is served now.
CREATE TABLE queue_turns (
  priority INTEGER NOT NULL,
  owner TEXT NOT NULL,
  knowledge_base_id TEXT NOT NULL,
  turn BIGINT NOT NULL,
  PRIMARY KEY (priority, owner, knowledge_base_id)
);

-- The number of the newest change to any job, and the latest time at which one was claimed.
INSERT INTO counters (name, value) VALUES ('job', 0), ('clock', 0);

-- `gate` is the model without which a job cannot be done. `stage_from` were done when its stage began, at
-- `stage_since`; at `progressed_at` it got further than ever.
ALTER TABLE jobs ADD COLUMN gate TEXT NOT NULL DEFAULT '';
ALTER TABLE jobs ADD COLUMN turn BIGINT NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN change_number BIGINT NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN changed_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN stage_since BIGINT NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN stage_from INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN progressed_at BIGINT NOT NULL DEFAULT 0;
DROP INDEX jobs_to_claim;
CREATE INDEX jobs_queued ON jobs (gate, priority, turn, id, kind) WHERE state = 'queued';
CREATE INDEX jobs_waiting ON jobs (run_after) WHERE state = 'waiting';
CREATE INDEX jobs_changed ON jobs (owner, change_number);
CREATE INDEX jobs_ended ON jobs (finished_at, owner) WHERE finished_at IS NOT NULL;

-- The oldest change that is still told of; whoever has read up to an earlier one reads everything anew.
ALTER TABLE knowledge_bases ADD COLUMN changes_from BIGINT NOT NULL DEFAULT 1;
