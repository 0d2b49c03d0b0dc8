-- What was seen beside a point's requests: a structure as JSON, and the text of the engine's metrics pages, compressed.
CREATE TABLE point_evidence (
    point    UUID  NOT NULL PRIMARY KEY REFERENCES points (id) ON DELETE CASCADE,
    evidence TEXT  NOT NULL,
    metrics  BYTEA
);
