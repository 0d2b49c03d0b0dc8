-- What a person asks of a study that runs: to hold after its present point, and to end that point now.
ALTER TABLE studies ADD COLUMN pause_requested INTEGER NOT NULL DEFAULT 0;
ALTER TABLE studies ADD COLUMN skip_point BLOB;
