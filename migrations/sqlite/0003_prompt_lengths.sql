-- The tokenizer that a study was launched with; who counts its prompts, found once; and what was counted, so that other
-- configurations and a study that goes on get the very same prompts.
ALTER TABLE studies ADD COLUMN tokenizer_sha256 TEXT;
ALTER TABLE studies ADD COLUMN counted TEXT;
-- What a point's prompts were made of.
ALTER TABLE points ADD COLUMN made TEXT;

CREATE TABLE prompt_counts (
    study  BLOB    NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
    level  INTEGER NOT NULL,
    repeat INTEGER NOT NULL,
    counts BLOB    NOT NULL,
    PRIMARY KEY (study, level, repeat)
) STRICT;
