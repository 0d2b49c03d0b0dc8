-- What a link shows: `aggregates` (figures of points), `requests` (the times of each request as well), or `all` (what else was
-- recorded, too). Links of before showed requests.
ALTER TABLE shares ADD COLUMN scope TEXT NOT NULL DEFAULT 'requests';
