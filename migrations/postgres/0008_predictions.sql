-- What the diagnosis of a point foretold, of a study that was begun to try it: a structure as JSON. And what came, once both
-- configurations were finished: the same.
CREATE TABLE predictions (
    study    UUID NOT NULL PRIMARY KEY REFERENCES studies (id) ON DELETE CASCADE,
    foretold TEXT NOT NULL,
    outcome  TEXT
);
