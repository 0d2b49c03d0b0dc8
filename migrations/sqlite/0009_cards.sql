-- What lists show of a study: a structure as JSON. It follows from the study's points and from what is known of its engines, and is worked
-- out anew whenever `card_by` is not the number of the program's rules.
ALTER TABLE studies ADD COLUMN card TEXT;
ALTER TABLE studies ADD COLUMN card_by INTEGER NOT NULL DEFAULT 0;
CREATE INDEX studies_by_card ON studies (card_by);
CREATE INDEX studies_by_state ON studies (state, created_ms);

-- What a search looks through, apart from all else: rows so short that many are looked through at once.
CREATE TABLE study_words (
    created_ms INTEGER NOT NULL PRIMARY KEY,
    study      BLOB    NOT NULL UNIQUE REFERENCES studies (id) ON DELETE CASCADE,
    words      TEXT    NOT NULL
) STRICT;
INSERT INTO study_words (created_ms, study, words) SELECT created_ms, id, search FROM studies;
ALTER TABLE studies DROP COLUMN search;

-- What studies are told apart by: engine, model, hardware, tag, author; and how many there are of each. Of deleted studies there is nothing.
CREATE TABLE study_facets (
    study      BLOB    NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
    kind       TEXT    NOT NULL,
    value      TEXT    NOT NULL,
    created_ms INTEGER NOT NULL,
    PRIMARY KEY (study, kind, value)
) STRICT;
CREATE INDEX studies_by_facet ON study_facets (kind, value, created_ms);
CREATE TABLE facet_values (
    kind    TEXT    NOT NULL,
    value   TEXT    NOT NULL,
    studies INTEGER NOT NULL,
    PRIMARY KEY (kind, value)
) STRICT;

-- The form of a new study shows examples of promises; what stands under "saved" is what a person saved.
DELETE FROM slos WHERE name = 'interactive chat' AND slo = 'ttft:p95<500ms tpot:p95<50ms attain>=95%';
DELETE FROM slos WHERE name = 'code completion' AND slo = 'ttft:p95<150ms e2e:p95<1500ms attain>=95%';
DELETE FROM slos WHERE name = 'batch' AND slo = 'e2e:p95<60s error_rate<1% attain>=95%';
