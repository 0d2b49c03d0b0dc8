-- docs/schema.md says what each table and column is for. Times are Unix milliseconds; JSON stands in TEXT.

CREATE TABLE studies (
    id             UUID    NOT NULL PRIMARY KEY,
    name           TEXT    NOT NULL,
    spec           TEXT    NOT NULL,
    state          TEXT    NOT NULL,
    problem        TEXT,
    tags           TEXT    NOT NULL DEFAULT '[]',
    note           TEXT    NOT NULL DEFAULT '',
    simulated      BOOLEAN NOT NULL,
    engine         TEXT    NOT NULL,
    search         TEXT    NOT NULL,
    created_ms     BIGINT  NOT NULL,
    queued_ms      BIGINT  NOT NULL,
    deleted_ms     BIGINT,
    last_event     BIGINT  NOT NULL DEFAULT 0,
    stop_requested BOOLEAN NOT NULL DEFAULT FALSE
);
CREATE UNIQUE INDEX studies_by_time ON studies (created_ms);
CREATE INDEX studies_queue ON studies (queued_ms) WHERE state = 'queued';

CREATE TABLE study_engines (
    study  UUID NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
    engine TEXT NOT NULL,
    PRIMARY KEY (study, engine)
);

CREATE TABLE leases (
    engine       TEXT    NOT NULL PRIMARY KEY,
    study        UUID    NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
    worker       UUID    NOT NULL,
    heartbeat_ms BIGINT  NOT NULL
);
CREATE INDEX leases_by_study ON leases (study);

CREATE TABLE configurations (
    id         UUID    NOT NULL PRIMARY KEY,
    study      UUID    NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
    ordinal    BIGINT  NOT NULL,
    name       TEXT    NOT NULL,
    facts      TEXT    NOT NULL DEFAULT '{}',
    cache_cold BOOLEAN,
    ceilings   TEXT,
    UNIQUE (study, ordinal)
);

CREATE TABLE points (
    id               UUID    NOT NULL PRIMARY KEY,
    study            UUID    NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
    configuration    BIGINT  NOT NULL,
    ordinal          BIGINT  NOT NULL,
    level            TEXT    NOT NULL,
    repeat           BIGINT  NOT NULL,
    planned_requests BIGINT  NOT NULL,
    estimated_ms     BIGINT  NOT NULL,
    state            TEXT    NOT NULL,
    started_ms       BIGINT,
    finished_ms      BIGINT,
    summary          TEXT,
    certificate      TEXT,
    judgement        TEXT,
    UNIQUE (study, ordinal)
);

CREATE TABLE point_data (
    point   UUID NOT NULL PRIMARY KEY REFERENCES points (id) ON DELETE CASCADE,
    scores  BYTEA NOT NULL,
    records BYTEA NOT NULL
);

CREATE TABLE events (
    study  UUID    NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
    number BIGINT  NOT NULL,
    event  TEXT    NOT NULL,
    PRIMARY KEY (study, number)
);

CREATE TABLE engines (
    id       UUID NOT NULL PRIMARY KEY,
    name     TEXT NOT NULL UNIQUE,
    endpoint TEXT NOT NULL,
    probe    TEXT
);

CREATE TABLE slos (
    name TEXT NOT NULL PRIMARY KEY,
    slo  TEXT NOT NULL
);

CREATE TABLE shares (
    id         UUID    NOT NULL PRIMARY KEY,
    study      UUID    NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
    token_hash BYTEA   NOT NULL UNIQUE,
    created_ms BIGINT  NOT NULL,
    expires_ms BIGINT,
    revoked_ms BIGINT
);
CREATE INDEX shares_by_study ON shares (study);

CREATE TABLE settings (
    key   TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
);

-- Start with the promises that people make most often; they can be changed and deleted like any other.
INSERT INTO slos (name, slo) VALUES
    ('interactive chat', 'ttft:p95<500ms tpot:p95<50ms attain>=95%'),
    ('code completion', 'ttft:p95<150ms e2e:p95<1500ms attain>=95%'),
    ('batch', 'e2e:p95<60s error_rate<1% attain>=95%');
