-- What finished points say of each operating point, by what makes two runs runs of the same. All of it follows from studies, and is
-- worked out anew whenever `runs_by` is older than the rules of the program.
CREATE TABLE runs (
    study         BLOB    NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
    configuration INTEGER NOT NULL,
    level         TEXT    NOT NULL,
    figure        TEXT    NOT NULL,
    same          TEXT    NOT NULL,
    at_ms         INTEGER NOT NULL,
    value         REAL    NOT NULL,
    error         REAL    NOT NULL,
    version       TEXT,
    PRIMARY KEY (study, configuration, level, figure)
) STRICT;
CREATE INDEX runs_of_the_same ON runs (same, at_ms);
ALTER TABLE studies ADD COLUMN runs_by INTEGER NOT NULL DEFAULT 0;
