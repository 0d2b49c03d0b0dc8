-- What a person asks of a study that runs: to hold after its present point, and to end that point now.
ALTER TABLE studies ADD COLUMN pause_requested BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE studies ADD COLUMN skip_point UUID;
