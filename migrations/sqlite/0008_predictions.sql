-- What the diagnosis of a point foretold, of a study that was begun to try it: a structure as JSON. And what came, once both
-- configurations were finished: the same. A row outlives its study: deleting what failed does not mend a rule's record. `own` is false of
-- studies that were opened from a bundle.
CREATE TABLE predictions (
    study    BLOB    NOT NULL PRIMARY KEY,
    foretold TEXT    NOT NULL,
    outcome  TEXT,
    own      INTEGER NOT NULL DEFAULT 1
) STRICT;
