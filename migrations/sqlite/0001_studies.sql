-- docs/schema.md says what each table and column is for. Times are Unix milliseconds; JSON stands in TEXT.

CREATE TABLE studies (
    id             BLOB    NOT NULL PRIMARY KEY,
    name           TEXT    NOT NULL,
    spec           TEXT    NOT NULL,
    state          TEXT    NOT NULL,
    problem        TEXT,
    tags           TEXT    NOT NULL DEFAULT '[]',
    note           TEXT    NOT NULL DEFAULT '',
    simulated      INTEGER NOT NULL,
    engine         TEXT    NOT NULL,
    search         TEXT    NOT NULL,
    created_ms     INTEGER NOT NULL,
    queued_ms      INTEGER NOT NULL,
    deleted_ms     INTEGER,
    last_event     INTEGER NOT NULL DEFAULT 0,
    stop_requested INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX studies_by_time ON studies (created_ms);
CREATE INDEX studies_queue ON studies (queued_ms) WHERE state = 'queued';

CREATE TABLE study_engines (
    study  BLOB NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
    engine TEXT NOT NULL,
    PRIMARY KEY (study, engine)
) STRICT;

CREATE TABLE leases (
    engine       TEXT    NOT NULL PRIMARY KEY,
    study        BLOB    NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
    worker       BLOB    NOT NULL,
    heartbeat_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX leases_by_study ON leases (study);

CREATE TABLE configurations (
    id         BLOB    NOT NULL PRIMARY KEY,
    study      BLOB    NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
    ordinal    INTEGER NOT NULL,
    name       TEXT    NOT NULL,
    facts      TEXT    NOT NULL DEFAULT '{}',
    cache_cold INTEGER,
    ceilings   TEXT,
    UNIQUE (study, ordinal)
) STRICT;

CREATE TABLE points (
    id               BLOB    NOT NULL PRIMARY KEY,
    study            BLOB    NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
    configuration    INTEGER NOT NULL,
    ordinal          INTEGER NOT NULL,
    level            TEXT    NOT NULL,
    repeat           INTEGER NOT NULL,
    planned_requests INTEGER NOT NULL,
    estimated_ms     INTEGER NOT NULL,
    state            TEXT    NOT NULL,
    started_ms       INTEGER,
    finished_ms      INTEGER,
    summary          TEXT,
    certificate      TEXT,
    judgement        TEXT,
    UNIQUE (study, ordinal)
) STRICT;

CREATE TABLE point_data (
    point   BLOB NOT NULL PRIMARY KEY REFERENCES points (id) ON DELETE CASCADE,
    scores  BLOB NOT NULL,
    records BLOB NOT NULL
) STRICT;

CREATE TABLE events (
    study  BLOB    NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    event  TEXT    NOT NULL,
    PRIMARY KEY (study, number)
) STRICT;

CREATE TABLE engines (
    id       BLOB NOT NULL PRIMARY KEY,
    name     TEXT NOT NULL UNIQUE,
    endpoint TEXT NOT NULL,
    probe    TEXT
) STRICT;

CREATE TABLE slos (
    name TEXT NOT NULL PRIMARY KEY,
    slo  TEXT NOT NULL
) STRICT;

CREATE TABLE shares (
    id         BLOB    NOT NULL PRIMARY KEY,
    study      BLOB    NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
    token_hash BLOB    NOT NULL UNIQUE,
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER,
    revoked_ms INTEGER
) STRICT;
CREATE INDEX shares_by_study ON shares (study);

CREATE TABLE settings (
    key   TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

-- Start with the promises that people make most often; they can be changed and deleted like any other.
INSERT INTO slos (name, slo) VALUES
    ('interactive chat', 'ttft:p95<500ms tpot:p95<50ms attain>=95%'),
    ('code completion', 'ttft:p95<150ms e2e:p95<1500ms attain>=95%'),
    ('batch', 'e2e:p95<60s error_rate<1% attain>=95%');
