-- A link shows a study, or a comparison: then `study` is null, `share_configurations` names what is compared, in order, and `slo` is what
-- judges it. What was named stays named when its study is gone, so that the link can tell.
ALTER TABLE shares ALTER COLUMN study DROP NOT NULL;
ALTER TABLE shares ADD COLUMN slo TEXT;

CREATE TABLE share_configurations (
    share         UUID   NOT NULL REFERENCES shares (id) ON DELETE CASCADE,
    ordinal       BIGINT NOT NULL,
    configuration UUID   NOT NULL,
    study         UUID   NOT NULL,
    PRIMARY KEY (share, ordinal)
);
CREATE INDEX share_configurations_by_study ON share_configurations (study);
