-- A link shows a study, or a comparison: then `study` is null, `share_configurations` names what is compared, in order, and `slo` is what
-- judges it. What was named stays named when its study is gone, so that the link can tell.
CREATE TABLE links (
    id         BLOB    NOT NULL PRIMARY KEY,
    study      BLOB    REFERENCES studies (id) ON DELETE CASCADE,
    token_hash BLOB    NOT NULL UNIQUE,
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER,
    revoked_ms INTEGER,
    scope      TEXT    NOT NULL DEFAULT 'requests',
    slo        TEXT
) STRICT;
INSERT INTO links (id, study, token_hash, created_ms, expires_ms, revoked_ms, scope)
    SELECT id, study, token_hash, created_ms, expires_ms, revoked_ms, scope FROM shares;
DROP TABLE shares;
ALTER TABLE links RENAME TO shares;
CREATE INDEX shares_by_study ON shares (study);

CREATE TABLE share_configurations (
    share         BLOB    NOT NULL REFERENCES shares (id) ON DELETE CASCADE,
    ordinal       INTEGER NOT NULL,
    configuration BLOB    NOT NULL,
    study         BLOB    NOT NULL,
    PRIMARY KEY (share, ordinal)
) STRICT;
CREATE INDEX share_configurations_by_study ON share_configurations (study);
