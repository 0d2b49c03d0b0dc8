-- Where a study came from that was opened from a bundle: a structure as JSON. Null for studies that were measured here.
ALTER TABLE studies ADD COLUMN imported TEXT;
