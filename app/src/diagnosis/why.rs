//! Why, on a study's page: the point that matters of each configuration, in few words.

use measure::certificate::Innocence;
use measure::curve::Ceiling;
use measure::diagnose::{Advice, Answer, Diagnosis, Finding};
use measure::summary::Capacity;
use measure::units::Level;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::tried::{RuleRecord, Tried, prediction, record};
use super::{DiagnosisView, FlagView, besides, first_knob, one_of};
use crate::chart::level_words;
use crate::studio::{PointView, StudyView};
use crate::ui::html::{Html, html};
use crate::words;

/// Why a point stands for its configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Chosen {
    /// The first above capacity.
    AboveCapacity,
    /// The first above the ceiling.
    AboveCeiling,
    /// The highest: none lies above the ceiling.
    Highest,
}

impl Chosen {
    fn words(self) -> &'static str {
        match self {
            Self::AboveCapacity => "the first level above capacity",
            Self::AboveCeiling => "the first level above the ceiling",
            Self::Highest => "the highest level measured",
        }
    }
}

/// A configuration with the diagnosis of the point that matters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConfigurationWhy {
    /// The configuration.
    pub id: Uuid,
    /// What it is called.
    pub name: String,
    /// The point; none where none is finished.
    pub point: Option<Uuid>,
    /// Its level.
    pub level: Option<Level>,
    /// Why that one.
    pub chosen: Option<Chosen>,
    /// What is wrong there; none where it is too large to be worked out at once.
    pub diagnosis: Option<DiagnosisView>,
}

/// A study's diagnoses, and the prediction that it tries.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StudyWhy {
    /// Baseline first.
    pub configurations: Vec<ConfigurationWhy>,
    /// What it was begun to try, if anything.
    pub tried: Option<Tried>,
}

/// All that the panel beside a curve tells.
#[derive(Clone, Debug, PartialEq)]
pub struct Why {
    /// The study.
    pub study: StudyView,
    /// Its diagnoses.
    pub why: StudyWhy,
    /// How the rules have fared in this studio.
    pub rules: Vec<RuleRecord>,
    /// Whether its reader is a guest, for whom the pages it leads to are closed.
    pub for_guest: bool,
}

impl StudyWhy {
    /// What a guest may read: no form of a study that would be begun here.
    #[must_use]
    pub fn for_guest(mut self) -> Self {
        let told = self.configurations.iter_mut();
        let told = told.filter_map(|it| it.diagnosis.as_mut());
        for flag in told.filter_map(|it| it.flag.as_mut()) {
            flag.link = None;
        }
        self
    }
}

/// The point of a configuration to look at first: the first above its ceiling or above capacity, else the highest. Void points
/// stand back behind others.
pub fn that_matters(study: &StudyView, configuration: u32) -> Option<(&PointView, Chosen)> {
    let ceiling = study
        .configurations
        .get(configuration as usize)?
        .ceiling
        .as_ref();
    let is_void = |it: &&PointView| {
        let certificate = it.certificate.as_ref();
        certificate.is_none_or(|it| it.innocence == Innocence::Void)
    };
    let own = |it: &&PointView| it.configuration == configuration && it.summary.is_some();
    let mut points: Vec<&PointView> = study.points.iter().filter(own).collect();
    if !points.iter().all(is_void) {
        points.retain(|it| !is_void(it));
    }
    points.sort_by(|a, b| height(a.level).total_cmp(&height(b.level)));
    let chosen = points.iter().find_map(|point| {
        let chosen = above(point, ceiling, study.spec.slo.attainment)?;
        Some((*point, chosen))
    });
    chosen.or_else(|| {
        let highest = height(points.last()?.level);
        // The first repeat of the highest level.
        let point = points.iter().find(|it| height(it.level) == highest)?;
        Some((*point, Chosen::Highest))
    })
}

/// Above the ceiling lies what breaks the promise by its own requests: a ceiling's value may lie below a level that keeps it.
fn above(point: &PointView, ceiling: Option<&Ceiling>, promise: f64) -> Option<Chosen> {
    let summary = point.summary.as_ref()?;
    if matches!(summary.capacity, Capacity::Above { .. }) {
        return Some(Chosen::AboveCapacity);
    }
    let offered = point
        .level
        .rate()
        .map(|rate| summary.offered_rate.unwrap_or(rate))?;
    let share = point
        .judgement
        .as_ref()
        .and_then(|it| it.attainment.as_ref());
    let is_broken = share.is_some_and(|it| it.value < promise);
    let is_above = match ceiling? {
        Ceiling::Bracket { value, .. } => *value < offered && is_broken,
        Ceiling::NoneKept { .. } => true,
        Ceiling::Unresolved { hi: Some(hi), .. } => *hi <= offered,
        Ceiling::Unresolved { hi: None, .. } | Ceiling::AtLeast { .. } | Ceiling::Ramped => false,
    };
    is_above.then_some(Chosen::AboveCeiling)
}

/// Levels in one order; everything at once is the highest.
fn height(level: Level) -> f64 {
    match level {
        Level::Rate(rate) => rate.per_second(),
        Level::Concurrency(streams) => f64::from(streams),
        Level::Replay(speed) => speed.factor(),
        Level::Inf => f64::INFINITY,
    }
}

/// The panel beside the curve.
pub fn why_panel(of: &Why) -> String {
    let Why {
        study, why, rules, ..
    } = of;
    let owner = (!of.for_guest).then_some(study.id);
    let unit = words::rate_unit(&study.spec);
    let each: Html = why
        .configurations
        .iter()
        .map(|it| configuration(owner, it, unit))
        .collect();
    let tried = why
        .tried
        .as_ref()
        .map(|it| prediction(it, &level_words(it.foretold.level, unit)));
    html!(
        r#"<div class="card panel why"><h2>Why</h2>{}{}{}</div>"#,
        tried,
        each,
        record(rules)
    )
    .into_string()
}

/// Its study is where it leads to; nowhere for a guest.
fn configuration(study: Option<Uuid>, one: &ConfigurationWhy, unit: &str) -> Html {
    let (Some(point), Some(level), Some(chosen)) = (one.point, one.level, one.chosen) else {
        return html!(
            r#"<div class="stack tight"><h3>{}</h3><p class="small muted">No point has finished.</p></div>"#,
            one.name
        );
    };
    let told = match &one.diagnosis {
        Some(view) => told(view),
        None => html!("<p>Too large to be worked out while a page waits.</p>"),
    };
    let more = study.map(|study| {
        html!(
            r#"<p class="small"><a rel="external" href="/studies/{}/points/{}">Every cause at this point<span class="sr-only"> of {}</span></a></p>"#,
            study.to_string(),
            point.to_string(),
            one.name
        )
    });
    html!(
        r#"<div class="stack tight"><h3>{}</h3><p class="small muted">At {}, {}</p>{}{}</div>"#,
        one.name,
        level_words(level, unit),
        chosen.words(),
        told,
        more
    )
}

fn told(view: &DiagnosisView) -> Html {
    let Diagnosis {
        answer, findings, ..
    } = &view.diagnosis;
    match answer {
        Answer::Named { cause } => {
            let found = findings.iter().find(|it| it.cause == *cause);
            html!(
                "<p><strong>{}.</strong> {}{}</p>{}",
                words::capital(cause.title()),
                cause.about(),
                besides(&view.diagnosis)
                    .map(|it| format!(" {it}"))
                    .unwrap_or_default(),
                found.map(|it| shown(it, view.flag.as_ref()))
            )
        }
        Answer::OneOf { causes } => {
            let missing = findings.iter().find(|it| causes.contains(&it.cause));
            html!(
                "<p>{}</p>{}",
                one_of(causes),
                missing.map(|it| unknown(&it.missing))
            )
        }
        Answer::NothingToMend => {
            html!("<p><strong>Nothing to mend:</strong> every cause is ruled out.</p>")
        }
        Answer::CannotTell { why } => {
            html!("<p><strong>Cannot tell.</strong> {}</p>", why.join(" "))
        }
    }
}

/// Figures that are enough to see what is meant.
const FIGURES: usize = 2;

fn shown(found: &Finding, flag: Option<&FlagView>) -> Html {
    let figures = found.speaks_for.iter().take(FIGURES);
    let figures: Html = figures.map(|it| html!("<li>{}</li>", it)).collect();
    let advice = |advice: &Advice| first_knob(advice, flag);
    html!(
        r#"<ul class="small">{}</ul>{}{}"#,
        figures,
        unknown(&found.missing),
        found.advice.as_ref().map(advice)
    )
}

fn unknown(missing: &[String]) -> Html {
    let what = if missing.is_empty() {
        "Everything that this rule asks for was told.".to_owned()
    } else {
        format!("Cannot be known: {}.", missing.join("; "))
    };
    html!(r#"<p class="small muted">{}</p>"#, what)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{named, view};
    use super::super::tried::Foretold;
    use super::*;
    use crate::fixture;
    use measure::diagnose::{Came, Cause, Change, Figure, Outcome, Prediction, Tally, Turn};
    use measure::units::Nanos;

    fn matters(change: impl FnOnce(&mut StudyView)) -> Option<(Level, Chosen)> {
        let mut study = fixture::study();
        change(&mut study);
        that_matters(&study, 0).map(|(point, chosen)| (point.level, chosen))
    }

    #[test]
    fn the_first_level_above_the_ceiling_matters_else_the_highest() {
        let all = |study: &mut StudyView| {
            study.configurations[0].ceiling = Some(Ceiling::NoneKept { hi: 1.0 });
        };
        let (lowest, chosen) = matters(all).expect("a point");
        assert_eq!(chosen, Chosen::AboveCeiling);
        let none = |study: &mut StudyView| {
            study.configurations[0].ceiling = Some(Ceiling::AtLeast { lo: 1.0 });
            for point in &mut study.points {
                if let Some(summary) = &mut point.summary {
                    summary.capacity = Capacity::Within;
                }
            }
        };
        let (highest, chosen) = matters(none).expect("a point");
        assert_eq!(chosen, Chosen::Highest);
        assert!(height(lowest) < height(highest), "{lowest} {highest}");
        let ends = |study: &mut StudyView| {
            none(study);
            let own = |it: &&mut PointView| it.configuration == 0 && it.level == highest;
            for point in study.points.iter_mut().filter(own) {
                if let Some(summary) = &mut point.summary {
                    summary.capacity = Capacity::Above {
                        why: "grows".into(),
                    };
                }
            }
        };
        assert_eq!(matters(ends), Some((highest, Chosen::AboveCapacity)));
        assert_eq!(matters(|study| study.points.clear()), None);
    }

    fn panel(tried: Option<Tried>, rules: &[RuleRecord]) -> String {
        let study = fixture::study();
        let one = ConfigurationWhy {
            id: Uuid::nil(),
            name: "max-num-seqs <4>".into(),
            point: Some(Uuid::nil()),
            level: Some("8".parse().expect("a level")),
            chosen: Some(Chosen::AboveCeiling),
            diagnosis: Some(view(named())),
        };
        let why = StudyWhy {
            configurations: vec![one],
            tried,
        };
        why_panel(&Why {
            study,
            why,
            rules: rules.to_vec(),
            for_guest: false,
        })
    }

    #[track_caller]
    fn has(html: &str, parts: &[&str]) {
        for part in parts {
            assert!(html.contains(part), "{part}: {html}");
        }
    }

    #[test]
    fn a_configuration_has_its_cause_two_figures_and_one_knob() {
        let html = panel(None, &[]);
        has(
            &html,
            &[
                "<h3>max-num-seqs &lt;4&gt;</h3>",
                "At 8.00 ",
                "the first level above the ceiling",
                "<strong>Too little concurrency.</strong> All places are taken",
                "Cannot be known: load: not told.",
                "<code>max-num-seqs</code>, now 4, try 16",
                "TTFT p50 falls by at least 50.0 %.",
                r#"href="/studies/new?from=x"#,
                "Every cause at this point",
            ],
        );
        assert!(!html.contains("come true?") && !html.contains("<details"));
    }

    #[test]
    fn a_guest_reads_causes_and_is_led_nowhere() {
        let one = ConfigurationWhy {
            id: Uuid::nil(),
            name: "max-num-seqs 4".into(),
            point: Some(Uuid::nil()),
            level: Some("8".parse().expect("a level")),
            chosen: Some(Chosen::AboveCeiling),
            diagnosis: Some(view(named())),
        };
        let why = StudyWhy {
            configurations: vec![one],
            tried: None,
        };
        let html = why_panel(&Why {
            study: fixture::study(),
            why: why.for_guest(),
            rules: Vec::new(),
            for_guest: true,
        });
        has(
            &html,
            &["Too little concurrency.", "max-num-seqs", "now 4, try 16"],
        );
        assert!(!html.contains("href="), "{html}");
    }

    fn foretold() -> Foretold {
        Foretold {
            study: Uuid::nil(),
            point: Uuid::nil(),
            level: "8".parse().expect("a level"),
            cause: Cause::TooLittleConcurrency,
            turn: Turn::RaiseConcurrentSequences,
            knob: "max-num-seqs".into(),
            was: Some("4".into()),
            value: "16".into(),
            prediction: Prediction {
                figure: Figure::TtftP50,
                change: Change::FallsBy(0.5),
            },
        }
    }

    #[test]
    fn a_prediction_is_told_with_what_became_of_it() {
        has(
            &panel(Some(Tried::of(foretold(), None)), &[]),
            &[
                ">open</span>",
                "<code>max-num-seqs</code> from 4 to 16, TTFT p50 falls by at least 50.0 %.",
            ],
        );
        let outcome = |came, sure| Outcome {
            came,
            sure,
            before: Some(Nanos::from_millis(800)),
            after: Some(Nanos::from_millis(100)),
            bound: Some(Nanos::from_millis(400)),
            paired: None,
        };
        let told = |came, sure| panel(Some(Tried::of(foretold(), Some(outcome(came, sure)))), &[]);
        has(
            &told(Came::True, true),
            &[
                ">true</span>",
                "TTFT p50 was 800 ms and is 100 ms; it had to be at most 400 ms.",
            ],
        );
        has(&told(Came::False, true), &[">not true</span>"]);
        has(
            &told(Came::True, false),
            &[">cannot tell</span>", "The intervals reach over that."],
        );
    }

    #[test]
    fn a_rule_s_record_is_a_table() {
        let rule = RuleRecord {
            cause: Cause::KvBound,
            title: "KV-bound".into(),
            tally: Tally {
                said: 7,
                came_true: 3,
                did_not: 1,
                cannot_tell: 1,
                open: 2,
            },
        };
        let html = panel(None, &[rule]);
        has(
            &html,
            &[
                "How the rules have fared here",
                r#"KV-bound</th><td class="num">7</td><td class="num">3</td><td class="num">1</td><td class="num">1</td><td class="num">2</td>"#,
            ],
        );
    }
}
