//! Studies in lists: one row a study with its card, found by words, by what they are told apart by, by state and by time.
//!
//! No list looks at every study: each begins with an index in the order of time, and whole rows are read only of what is shown.

use std::collections::BTreeSet;

use app::studio::{StudyFilter, StudyState};
use sqlx::{AssertSqlSafe, FromRow};
use uuid::Uuid;

use super::rows::{from_json, study_state, study_word};
use super::{Store, StoreError, clean, reading, writing};

/// Words of a search that count.
const SEARCH_WORDS: usize = 16;
/// Values of a kind that are offered.
const VALUES: i64 = 200;
/// Kind and value under which every study counts that is not deleted.
const ALL: (&str, &str) = ("all", "");

/// A study of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedStudy {
    /// Its id.
    pub id: Uuid,
    /// Its current name.
    pub name: String,
    /// Where it stands.
    pub state: StudyState,
    /// Tags, sorted.
    pub tags: Vec<String>,
    /// Runs on the simulator.
    pub simulated: bool,
    /// Its engine in words.
    pub engine: String,
    /// Milliseconds since 1970.
    pub created_ms: i64,
    /// Opened from a bundle.
    pub imported: bool,
    /// Its card as JSON; none where there is none yet.
    pub card: Option<String>,
    /// By which rules the card was made; none where the study changed since.
    pub card_by: Option<i64>,
}

/// At which of its changes a study was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromRow)]
pub struct Stamp {
    card_by: i64,
    last_event: i64,
}

/// A card, to be kept.
pub struct KeepCard<'a> {
    /// Its study.
    pub study: Uuid,
    /// When that was looked at.
    pub stamp: Stamp,
    /// The rules that it was made by, from 1.
    pub rules: i64,
    /// The card as JSON.
    pub card: &'a str,
    /// What the study is told apart by, tags aside: kind and value.
    pub facets: &'a [(&'static str, String)],
}

/// A value by which studies are told apart.
#[derive(Clone, Debug, PartialEq, Eq, FromRow)]
pub struct FacetValue {
    /// The value.
    pub value: String,
    /// Studies that have it.
    pub studies: i64,
}

/// The part of an UPDATE of studies after which a card has to be made anew: another number at each change.
macro_rules! stale {
    () => {
        "card_by = CASE WHEN card_by < 0 THEN card_by - 1 ELSE -1 END"
    };
}

/// A study's card has to be made anew.
macro_rules! mark_stale {
    ($tx:ident, $study:expr) => {
        sqlx::query(concat!(
            "UPDATE studies SET ",
            $crate::store::cards::stale!(),
            " WHERE id = $1"
        ))
        .bind($study)
        .execute(&mut *$tx)
        .await?
    };
}

/// Changes what a study is told apart by, and how many studies have each. In the order of the values, so that no two writers wait for
/// each other.
macro_rules! change_facets {
    ($tx:ident, ($study:expr, $created_ms:expr), $wanted:expr) => {{
        let wanted: std::collections::BTreeSet<(String, String)> = $wanted;
        let had: Vec<(String, String)> =
            sqlx::query_as("SELECT kind, value FROM study_facets WHERE study = $1")
                .bind($study)
                .fetch_all(&mut *$tx)
                .await?;
        let had: std::collections::BTreeSet<_> = had.into_iter().collect();
        for (kind, value) in had.symmetric_difference(&wanted) {
            let is_new = wanted.contains(&(kind.clone(), value.clone()));
            let (row, count) = match is_new {
                true => ($crate::store::cards::FACET, $crate::store::cards::MORE),
                false => ($crate::store::cards::NO_FACET, $crate::store::cards::FEWER),
            };
            let row = sqlx::query(row).bind($study).bind(kind).bind(value);
            let row = if is_new { row.bind($created_ms) } else { row };
            row.execute(&mut *$tx).await?;
            let count = sqlx::query(count).bind(kind).bind(value);
            count.execute(&mut *$tx).await?;
        }
    }};
}
pub(super) use {change_facets, mark_stale, stale};

pub(super) const FACET: &str =
    "INSERT INTO study_facets (study, kind, value, created_ms) VALUES ($1, $2, $3, $4)";
pub(super) const NO_FACET: &str =
    "DELETE FROM study_facets WHERE study = $1 AND kind = $2 AND value = $3";
pub(super) const MORE: &str = "INSERT INTO facet_values (kind, value, studies) VALUES ($1, $2, 1) \
                               ON CONFLICT (kind, value) DO UPDATE SET studies = facet_values.studies + 1";
pub(super) const FEWER: &str =
    "UPDATE facet_values SET studies = studies - 1 WHERE kind = $1 AND value = $2";

#[derive(FromRow)]
struct ListedColumns {
    id: Uuid,
    name: String,
    state: String,
    tags: String,
    simulated: bool,
    engine: String,
    created_ms: i64,
    imported: bool,
    card: Option<String>,
    card_by: i64,
}

impl TryFrom<ListedColumns> for ListedStudy {
    type Error = StoreError;
    fn try_from(row: ListedColumns) -> Result<Self, StoreError> {
        let ListedColumns {
            id,
            name,
            state,
            tags,
            simulated,
            engine,
            created_ms,
            imported,
            card,
            card_by,
        } = row;
        Ok(Self {
            id,
            name,
            state: study_state(&state)?,
            tags: from_json("tags", &tags)?,
            simulated,
            engine,
            created_ms,
            imported,
            card,
            card_by: Some(card_by).filter(|by| 0 < *by),
        })
    }
}

const COLUMNS: &str = "SELECT s.id, s.name, s.state, s.tags, s.simulated, s.engine, s.created_ms, s.imported IS NOT NULL AS imported, s.card, s.card_by";

impl Store {
    /// Studies, newest first, deleted ones left out.
    pub async fn studies(
        &self,
        filter: &StudyFilter,
        limit: u32,
    ) -> Result<Vec<ListedStudy>, StoreError> {
        let (sql, texts) = listing(filter);
        let before = filter.before_ms.unwrap_or(i64::MAX);
        let before = before.min(filter.to_ms.unwrap_or(i64::MAX));
        let from = filter.from_ms.unwrap_or(i64::MIN);
        let rows: Vec<ListedColumns> = reading!(self, |pool| {
            // Built from constants and numbers alone.
            let mut query = sqlx::query_as(AssertSqlSafe(sql))
                .bind(before)
                .bind(from)
                .bind(i64::from(limit));
            for text in &texts {
                query = query.bind(text);
            }
            query.fetch_all(pool).await?
        });
        rows.into_iter().map(TryInto::try_into).collect()
    }

    /// One study of a list, where it is not deleted.
    pub async fn listed(&self, id: Uuid) -> Result<Option<ListedStudy>, StoreError> {
        let sql = format!("{COLUMNS} FROM studies s WHERE s.id = $1 AND s.deleted_ms IS NULL");
        let row: Option<ListedColumns> = reading!(self, |pool| sqlx::query_as(AssertSqlSafe(sql))
            .bind(id)
            .fetch_optional(pool)
            .await?);
        row.map(TryInto::try_into).transpose()
    }

    /// Studies whose cards are not made by these rules, the latest first.
    pub async fn studies_without_card(
        &self,
        rules: i64,
        limit: u32,
    ) -> Result<Vec<Uuid>, StoreError> {
        Ok(reading!(self, |pool| sqlx::query_scalar(WITHOUT_CARD)
            .bind(rules)
            .bind(i64::from(limit))
            .fetch_all(pool)
            .await?))
    }

    /// At which of its changes a study is.
    pub async fn stamp(&self, study: Uuid) -> Result<Option<Stamp>, StoreError> {
        const SQL: &str = "SELECT card_by, last_event FROM studies WHERE id = $1";
        Ok(reading!(self, |pool| sqlx::query_as(SQL)
            .bind(study)
            .fetch_optional(pool)
            .await?))
    }

    /// Keeps a card; whether its study is still as it was, and not deleted.
    pub async fn keep_card(&self, keep: &KeepCard<'_>) -> Result<bool, StoreError> {
        const SQL: &str = "UPDATE studies SET card = $4, card_by = $5 WHERE id = $1 AND card_by = $2 AND last_event = $3 AND deleted_ms IS NULL \
                           RETURNING created_ms, tags";
        let KeepCard {
            study,
            stamp,
            rules,
            card,
            facets,
        } = *keep;
        let card = clean(card);
        Ok(writing!(self, |tx| {
            let row = sqlx::query_as(SQL).bind(study).bind(stamp.card_by);
            let row = row.bind(stamp.last_event).bind(&card).bind(rules);
            let kept: Option<(i64, String)> = row.fetch_optional(&mut *tx).await?;
            let Some((created_ms, tags)) = kept else {
                return Ok(false);
            };
            let tags: Vec<String> = from_json("tags", &tags)?;
            change_facets!(tx, (study, created_ms), wanted(facets, tags));
            true
        }))
    }

    /// The values of a kind that studies have, those of most studies first.
    pub async fn facet_values(&self, kind: &str) -> Result<Vec<FacetValue>, StoreError> {
        Ok(reading!(self, |pool| sqlx::query_as(FACET_VALUES)
            .bind(kind)
            .bind(VALUES)
            .fetch_all(pool)
            .await?))
    }

    /// How many studies have a value.
    pub async fn facet_count(&self, kind: &str, value: &str) -> Result<u32, StoreError> {
        const SQL: &str = "SELECT studies FROM facet_values WHERE kind = $1 AND value = $2";
        let count: Option<i64> = reading!(self, |pool| sqlx::query_scalar(SQL)
            .bind(kind)
            .bind(facet_text(value))
            .fetch_optional(pool)
            .await?);
        Ok(u32::try_from(count.unwrap_or(0)).unwrap_or(u32::MAX))
    }

    /// How many studies there are.
    pub async fn study_count(&self) -> Result<u32, StoreError> {
        self.facet_count(ALL.0, ALL.1).await
    }
}

// By the time they were queued, since an index by time alone would be walked to its end where nothing is lacking.
const WITHOUT_CARD: &str = "SELECT id FROM studies WHERE card_by < $1 AND deleted_ms IS NULL ORDER BY queued_ms DESC LIMIT $2";
const FACET_VALUES: &str = "SELECT value, studies FROM facet_values WHERE kind = $1 AND 0 < studies ORDER BY studies DESC, value LIMIT $2";

fn wanted(facets: &[(&'static str, String)], tags: Vec<String>) -> BTreeSet<(String, String)> {
    let named = facets.iter().map(|(kind, value)| (*kind, value.as_str()));
    let tags = tags.iter().map(|tag| ("tag", tag.as_str()));
    let all = named.chain(tags).chain([ALL]);
    all.map(|(kind, value)| (kind.to_owned(), facet_text(value)))
        .collect()
}

/// A value as it is kept: short enough for every index.
fn facet_text(value: &str) -> String {
    clean(value).chars().take(200).collect()
}

/// The statement that lists, and the texts that it is given from `$4` on; `$1` to `$3` are before, from and limit. It begins with what
/// tells most apart: a value, else words, else the state.
fn listing(filter: &StudyFilter) -> (String, Vec<String>) {
    let facets: Vec<_> = filter
        .facets()
        .into_iter()
        .filter(|it| !it.1.is_empty())
        .collect();
    let words = filter.search.split_whitespace().take(SEARCH_WORDS);
    let words: Vec<String> = words.map(like_word).collect();
    let (time, from, mut tests) = match (facets.first(), words.first()) {
        (Some((kind, _)), _) => (
            "f.created_ms",
            "study_facets f CROSS JOIN studies s",
            format!("f.kind = '{kind}' AND f.value = $4 AND s.id = f.study"),
        ),
        (None, Some(_)) => (
            "w.created_ms",
            "study_words w CROSS JOIN studies s",
            "w.words LIKE $4 ESCAPE '\\' AND s.id = w.study".to_owned(),
        ),
        (None, None) => ("s.created_ms", "studies s", "TRUE".to_owned()),
    };
    let by_facet = !facets.is_empty();
    // Looked up study by study: a join would leave to the database where to begin, and without statistics it begins anywhere.
    for (index, (kind, _)) in facets.iter().enumerate().skip(1) {
        let place = index + 4;
        tests.push_str(&format!(
            " AND (SELECT COUNT(*) FROM study_facets o WHERE o.study = s.id AND o.kind = '{kind}' AND o.value = ${place}) = 1"
        ));
    }
    for index in usize::from(!by_facet)..words.len() {
        let place = facets.len() + index + 4;
        let text = if by_facet {
            "(SELECT w.words FROM study_words w WHERE w.study = s.id)"
        } else {
            "w.words"
        };
        tests.push_str(&format!(" AND {text} LIKE ${place} ESCAPE '\\'"));
    }
    if let Some(state) = filter.state {
        tests.push_str(&format!(" AND s.state = '{}'", study_word(state)));
    }
    let sql = format!(
        "{COLUMNS} FROM {from} WHERE {tests} AND {time} < $1 AND $2 <= {time} AND s.deleted_ms IS NULL ORDER BY {time} DESC LIMIT $3"
    );
    let values = facets.iter().map(|(_, value)| facet_text(value));
    (sql, values.chain(words).collect())
}

/// A word as a LIKE pattern: it occurs anywhere, and its own signs mean themselves.
fn like_word(word: &str) -> String {
    let mut pattern = String::from("%");
    for sign in clean(word).to_lowercase().chars() {
        if matches!(sign, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(sign);
    }
    pattern.push('%');
    pattern
}

#[cfg(test)]
mod tests {
    use super::super::{Database, Pool};
    use super::*;

    #[test]
    fn signs_of_a_pattern_mean_themselves() {
        assert_eq!(like_word("50%_A"), "%50\\%\\_a%");
    }

    fn filters() -> Vec<(&'static str, StudyFilter)> {
        let all = StudyFilter::default;
        let words = || "llama two".to_owned();
        vec![
            ("all", all()),
            (
                "older",
                StudyFilter {
                    before_ms: Some(7),
                    ..all()
                },
            ),
            (
                "words",
                StudyFilter {
                    search: words(),
                    ..all()
                },
            ),
            (
                "state",
                StudyFilter {
                    state: Some(StudyState::Running),
                    ..all()
                },
            ),
            (
                "one value",
                StudyFilter {
                    tag: "t".into(),
                    ..all()
                },
            ),
            (
                "everything",
                StudyFilter {
                    search: words(),
                    engine: "e".into(),
                    model: "m".into(),
                    hardware: "h".into(),
                    author: "a".into(),
                    state: Some(StudyState::Failed),
                    from_ms: Some(1),
                    to_ms: Some(9),
                    ..all()
                },
            ),
        ]
    }

    async fn plan(store: &Store, sql: &str, texts: &[String]) -> Vec<String> {
        let Pool::Sqlite { read, .. } = &store.pool else {
            panic!("SQLite");
        };
        let explain = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}"));
        let mut query = sqlx::query_as(explain).bind(9_i64).bind(0_i64).bind(50_i64);
        for text in texts {
            query = query.bind(text);
        }
        let rows: Vec<(i64, i64, i64, String)> = query.fetch_all(read).await.expect("a plan");
        rows.into_iter().map(|row| row.3).collect()
    }

    #[tokio::test]
    async fn no_list_looks_at_every_study_or_sorts() {
        let dir = tempfile::tempdir().expect("a folder");
        let place = Database::Sqlite(dir.path().join("goodput.sqlite"));
        let store = Store::open(&place).await.expect("opens");
        let mut statements: Vec<_> = filters()
            .into_iter()
            .map(|(name, filter)| (name, listing(&filter)))
            .collect();
        statements.push(("values", (FACET_VALUES.into(), Vec::new())));
        statements.push(("without card", (WITHOUT_CARD.into(), Vec::new())));
        for (name, (sql, texts)) in statements {
            let steps = plan(&store, &sql, &texts).await;
            let scans = steps.iter().any(|step| step.starts_with("SCAN"));
            assert!(!scans, "{name}: {steps:#?}");
            let sorts = steps.iter().any(|step| step.contains("TEMP B-TREE"));
            let may_sort = matches!(name, "values" | "without card");
            assert!(!sorts || may_sort, "{name}: {steps:#?}");
        }
    }
}
