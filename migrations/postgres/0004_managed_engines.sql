-- Why a point failed: its engine did not start, or died under load.
ALTER TABLE points ADD COLUMN problem TEXT;

-- Each start of an engine that the studio started itself, with the last of what it said.
CREATE TABLE engine_starts (
    id            UUID   NOT NULL PRIMARY KEY,
    study         UUID   NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
    configuration BIGINT NOT NULL,
    command       TEXT   NOT NULL,
    started_ms    BIGINT NOT NULL,
    startup_ms    BIGINT,
    ended_ms      BIGINT,
    ending        TEXT,
    log           BYTEA
);
CREATE INDEX engine_starts_by_study ON engine_starts (study, started_ms);
