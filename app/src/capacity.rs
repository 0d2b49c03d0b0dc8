//! From a study's ceilings to machines, as the page and the interface tell it: worked out and drawn by the server.

use measure::capacity_plan::{Measured, Need, NeedError, Plan, plan};
use measure::certificate::Innocence;
use measure::summary::Capacity;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::studio::{ConfigurationView, PointView, StudyView};
use crate::ui::html::{Html, html};
use crate::words;

/// What a configuration's ceiling means for a need.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConfigurationPlan {
    /// The configuration.
    pub id: Uuid,
    /// What it is called.
    pub name: String,
    /// None where there is nothing to plan with; `sentences` then says why.
    pub plan: Option<Plan>,
    /// All of it in words.
    pub sentences: Vec<String>,
}

/// What a study's ceilings mean for a need, under the study's own SLO.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudyPlan {
    /// What was asked.
    pub need: Need,
    /// Of demand and rates: `req/s`, or `sessions/s`.
    pub unit: String,
    /// Baseline first.
    pub configurations: Vec<ConfigurationPlan>,
}

impl StudyPlan {
    /// Of a study as it stands.
    pub fn of(study: &StudyView, need: Need) -> Self {
        let unit = words::rate_unit(&study.spec).to_owned();
        let configurations = study.configurations.iter().zip(0..);
        let configurations = configurations
            .map(|(one, index)| of_configuration(study, (one, index), &need, &unit))
            .collect();
        Self {
            need,
            unit,
            configurations,
        }
    }
}

/// A configuration's points that a ceiling can be of.
fn points(study: &StudyView, configuration: u32) -> Vec<Measured<'_>> {
    let measured = |point: &'_ PointView| -> bool {
        let void = |it: &measure::certificate::Certificate| it.innocence == Innocence::Void;
        point.configuration == configuration
            && point.level.is_open()
            && !point.certificate.as_ref().is_none_or(void)
    };
    let points = study.points.iter().filter(|point| measured(point));
    points
        .filter_map(|point| {
            let summary = point.summary.as_ref()?;
            let within = !matches!(summary.capacity, Capacity::Above { .. });
            let judgement = point.judgement.as_ref().filter(|_| within)?;
            Some(Measured { summary, judgement })
        })
        .collect()
}

fn of_configuration(
    study: &StudyView,
    (one, index): (&ConfigurationView, u32),
    need: &Need,
    unit: &str,
) -> ConfigurationPlan {
    let planned = match &one.ceiling {
        Some(ceiling) => {
            let at = words::at_ceiling(study, index, ceiling);
            plan(ceiling, &points(study, index), at, need)
        }
        None => Err("no point has finished".to_owned()),
    };
    let sentences = match &planned {
        Ok(plan) => plan.sentences(need, unit),
        Err(why) => vec![format!("{}.", words::capital(why))],
    };
    ConfigurationPlan {
        id: one.id,
        name: one.spec.name.clone(),
        plan: planned.ok(),
        sentences,
    }
}

/// The whole panel; `query` is that of the page.
pub fn panel(study: &StudyView, query: &[(String, String)]) -> String {
    let get = |key: &str| {
        let found = query.iter().find(|(known, _)| known == key);
        found.map(|(_, value)| value.clone())
    };
    let need = Need::read(&get);
    let unit = words::rate_unit(&study.spec);
    let told = match &need {
        Ok(need) => told(&StudyPlan::of(study, *need)),
        Err(error) => wrong(error),
    };
    let asked = Need::FIELDS
        .iter()
        .any(|field| get(field).is_some_and(|it| !it.is_empty()));
    let panel = html!(
        r#"<details class="as-text" id="capacity"{}><summary>How many replicas, at what cost</summary><div class="stack">{}{}<p class="small muted">Under the study's own SLO, as it stood when the page was read. Planned by the highest rate that keeps it with 95 % certainty; replicas are taken to be alike and evenly loaded, and what stands between them to cost nothing.</p></div></details>"#,
        if asked { html!(" open") } else { html!("") },
        form(&get, query, unit),
        told,
    );
    panel.into_string()
}

fn told(all: &StudyPlan) -> Html {
    let one = |one: &ConfigurationPlan| {
        let sentences = one.sentences.iter();
        let sentences: Html = sentences.map(|it| html!("<li>{}</li>", it)).collect();
        html!("<h3>{}</h3><ul>{}</ul>", one.name, sentences)
    };
    all.configurations.iter().map(one).collect()
}

fn wrong(error: &NeedError) -> Html {
    html!(
        r#"<p class="notice" data-tone="bad" role="alert">{}.</p>"#,
        words::capital(&error.to_string())
    )
}

/// A plain form: its answer is the same page with another query, which keeps what else stands in it.
fn form(get: &dyn Fn(&str) -> Option<String>, query: &[(String, String)], unit: &str) -> Html {
    let [demand, headroom, price, gpus] = Need::FIELDS;
    let field = |name: &str, label: &str, usual: &str| {
        html!(
            r#"<div class="field"><label for="plan-{}">{}</label><input id="plan-{}" name="{}" type="text" inputmode="decimal" placeholder="{}" value="{}"></div>"#,
            name,
            label,
            name,
            name,
            usual,
            get(name)
        )
    };
    let others = query
        .iter()
        .filter(|(key, _)| !Need::FIELDS.contains(&key.as_str()));
    let others: Html = others
        .map(|(key, value)| html!(r#"<input type="hidden" name="{}" value="{}">"#, key, value))
        .collect();
    html!(
        r##"<form method="get" action="#capacity" class="row end">{}{}{}{}{}<button type="submit" class="button">Work it out</button></form>"##,
        others,
        field(demand, &format!("Demand ({unit})"), "none"),
        field(headroom, "Head-room (%)", "20"),
        field(price, "Price of a GPU-hour", "none"),
        field(gpus, "GPUs of a replica", "1"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn query(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        pairs.iter().map(own).collect()
    }

    #[test]
    fn each_configuration_says_what_a_demand_takes() {
        let study = fixture::study();
        let asked = query(&[("demand", "100"), ("price", "2"), ("slo", "ttft<1s \"b\"")]);
        let html = panel(&study, &asked);
        for part in [
            r#"id="capacity" open"#,
            "One replica takes",
            "with 20.0 % head-room",
            r#"name="demand" type="text" inputmode="decimal" placeholder="none" value="100""#,
            r#"<input type="hidden" name="slo" value="ttft&lt;1s &quot;b&quot;">"#,
            &format!("Demand ({})", words::rate_unit(&study.spec)),
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert_eq!(html.matches("<h3>").count(), study.configurations.len());
        assert!(!html.contains(r#"type="hidden" name="demand""#), "{html}");
    }

    #[test]
    fn a_field_that_cannot_be_read_is_named() {
        let html = panel(&fixture::study(), &query(&[("demand", "<b>")]));
        assert!(html.contains("Demand must be a number above 0"), "{html}");
        assert!(!html.contains("<b>"), "{html}");
    }

    #[test]
    fn without_a_ceiling_there_is_no_plan() {
        let mut study = fixture::study();
        study.configurations[0].ceiling = None;
        let need = Need::read(&|_| None).expect("the usual");
        let plan = StudyPlan::of(&study, need);
        assert_eq!(plan.configurations[0].plan, None);
        assert_eq!(plan.configurations[0].sentences, ["No point has finished."]);
        assert!(!panel(&study, &[]).contains(r#"id="capacity" open"#));
    }
}
