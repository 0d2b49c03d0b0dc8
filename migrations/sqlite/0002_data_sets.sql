-- The data set that a study was launched with, so that no other file can take its place unseen.
ALTER TABLE studies ADD COLUMN dataset_sha256 TEXT;
