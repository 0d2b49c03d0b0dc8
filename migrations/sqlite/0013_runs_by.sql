-- Which studies lack the runs that histories are made of: none of them as a rule, and every page of a study asks.
CREATE INDEX studies_by_runs ON studies (runs_by) WHERE imported IS NULL;
