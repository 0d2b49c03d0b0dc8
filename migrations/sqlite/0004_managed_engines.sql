-- Why a point failed: its engine did not start, or died under load.
ALTER TABLE points ADD COLUMN problem TEXT;

-- Each start of an engine that the studio started itself, with the last of what it said.
CREATE TABLE engine_starts (
    id            BLOB    NOT NULL PRIMARY KEY,
    study         BLOB    NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
    configuration INTEGER NOT NULL,
    command       TEXT    NOT NULL,
    started_ms    INTEGER NOT NULL,
    startup_ms    INTEGER,
    ended_ms      INTEGER,
    ending        TEXT,
    log           BLOB
) STRICT;
CREATE INDEX engine_starts_by_study ON engine_starts (study, started_ms);
