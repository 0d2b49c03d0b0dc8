//! Tests of the page.

use measure::compare::{CeilingComparison, Verdict};
use measure::curve::Ceiling;
use measure::knobs::{Comparability, Differing, Fact, Source};
use uuid::Uuid;

use super::*;
use crate::fixture;
use crate::studio::PairComparison;

fn fact(value: &str) -> Option<Fact> {
    Some(Fact {
        value: value.to_owned(),
        source: Source::Engine,
    })
}

fn differing(name: &str, baseline: &str, candidate: &str) -> Differing {
    Differing {
        name: name.to_owned(),
        baseline: fact(baseline),
        candidate: fact(candidate),
    }
}

fn knob(value: &str) -> Comparability {
    Comparability::OneVariable {
        differing: differing("knob:max-num-seqs", "16", value),
        beside: Vec::new(),
    }
}

/// As many configurations as there are comparabilities, and the baseline.
fn page_of(comparabilities: Vec<Comparability>) -> ComparePage {
    let study = fixture::study();
    let configurations = (0..=comparabilities.len()).map(|index| {
        let mut configuration = study.configurations[index % 2].clone();
        configuration.id = Uuid::from_u128(index as u128 + 1);
        configuration.spec.name = format!("setting {index}");
        let at = index as f64 + 4.0;
        configuration.ceiling = Some(Ceiling::Bracket {
            value: at,
            lo: at - 1.0,
            hi: at + 1.0,
        });
        let points = study.points.iter();
        let points = points.filter(|it| it.configuration as usize == index % 2);
        ComparedConfiguration {
            study: study.id,
            study_name: study.spec.name.clone(),
            simulated: true,
            configuration,
            points: points.cloned().collect(),
        }
    });
    let configurations: Vec<ComparedConfiguration> = configurations.collect();
    let pairs = comparabilities.into_iter().zip(1..);
    let pairs = pairs.map(|(comparability, candidate)| PairComparison {
        candidate,
        ceilings: Some(CeilingComparison {
            difference: None,
            verdict: Verdict::Better,
            remark: None,
        }),
        comparability,
        ceilings_by_percentile: None,
        latencies: Vec::new(),
        attainment: Vec::new(),
        along: Vec::new(),
        drift: None,
        together: 0,
        said: Vec::new(),
    });
    let state = CompareState {
        ids: configurations
            .iter()
            .map(|it| it.configuration.id)
            .collect(),
        ..CompareState::default()
    };
    let compared = CompareView {
        slo: study.spec.slo.clone(),
        pairs: pairs.collect(),
        configurations,
    };
    ComparePage {
        state,
        told: Vec::new(),
        compared: Some(compared),
        found: None,
        figures_only: false,
    }
}

fn html_of(shown: &ComparePage) -> String {
    page(shown, "n0nce").into_string()
}

#[test]
fn a_workload_is_said_in_words_and_field_by_field() {
    let workload = |words: &str, tokens: u32| {
        format!(
            r#"{words} ({{"synthetic":{{"input":{{"fixed":{{"tokens":{tokens}}}}},"output":8}}}})"#
        )
    };
    let one = differing("workload", &workload("16 in", 16), &workload("32 in", 32));
    let html = html_of(&page_of(vec![Comparability::Confounded {
        differing: vec![one, differing("seed", "1", "2")],
    }]));
    assert!(!html.contains("{&quot;"), "no JSON on the page");
    assert!(
        html.contains("workload: synthetic, input, fixed, tokens"),
        "{html}"
    );
    assert!(
        !html.contains("workload: synthetic, output"),
        "what is alike is left out"
    );
    assert!(
        html.contains(r#"<td class="confounder">32 in</td>"#),
        "{html}"
    );
    assert!(html.contains("The verdict is withheld"), "{html}");
}

#[test]
fn one_knob_is_highlighted_and_twelve_configurations_fit() {
    let html = html_of(&page_of(
        (1..12).map(|it| knob(&(16 << it).to_string())).collect(),
    ));
    assert!(html.contains(r#"<td class="knob">32</td>"#), "{html}");
    assert!(html.contains("11 configurations against setting 0"));
    assert_eq!(html.matches(">make it the baseline<").count(), 11);
    assert_eq!(html.matches("class=\"ceiling-bar\"").count(), 12);
}

#[test]
fn what_was_turned_is_said_by_its_values_and_names_stand_beside_it() {
    let mut page = page_of(vec![knob("64")]);
    let compared = page.compared.as_mut().expect("compared");
    compared.configurations[0].configuration.spec.name = "max-num-seqs 32".into();
    compared.configurations[1].configuration.spec.name = "seqs 64".into();
    assert_eq!(title(&page), "max-num-seqs from 16 to 64");
    let html = html_of(&page);
    assert!(
        html.contains("<h1>max-num-seqs from 16 to 64</h1>"),
        "{html}"
    );
    assert!(html.contains("max-num-seqs 32 against seqs 64"), "{html}");
    // A name that says another value stands beside the value.
    let compared = page.compared.as_ref().expect("compared");
    assert_eq!(
        knob::unsaid(compared, 0).as_deref(),
        Some("max-num-seqs 16")
    );
    assert_eq!(knob::unsaid(compared, 1), None);
    let legend = &sheet_of(&page, compared).legend;
    assert!(
        legend[0]
            .1
            .starts_with("max-num-seqs 32 (max-num-seqs 16): "),
        "{legend:?}"
    );
    let three = page_of(vec![knob("32"), knob("64")]);
    assert_eq!(title(&three), "max-num-seqs 16 against 32 and 64");
    let other = page_of(vec![knob("32"), Comparability::Identical]);
    assert_eq!(
        title(&other),
        "setting 0 against setting 1 against setting 2"
    );
}

/// As it is while a study runs: the candidate has no point yet, so nothing is known of it.
fn unmeasured_page() -> ComparePage {
    let unknown = |name: &str| Differing {
        candidate: None,
        ..differing(name, "x", "y")
    };
    let both = differing("knob:max-num-seqs", "16", "32");
    let confounded = vec![unknown("engine"), unknown("version"), both];
    let mut page = page_of(vec![Comparability::Confounded {
        differing: confounded,
    }]);
    let compared = page.compared.as_mut().expect("compared");
    for point in &mut compared.configurations[1].points {
        (point.summary, point.certificate) = (None, None);
    }
    compared.configurations[1].configuration.ceiling = None;
    compared.pairs[0].ceilings = None;
    page
}

#[test]
fn what_is_not_measured_yet_is_not_confounded() {
    let page = unmeasured_page();
    let html = html_of(&page);
    assert!(
        html.contains("No verdict on setting 1 yet: setting 1 is not measured yet."),
        "{html}"
    );
    for absent in [
        "confounded",
        "differ or are unknown",
        "0 of 0",
        "withheld",
        ">version<",
    ] {
        assert!(!html.contains(absent), "{absent}: {html}");
    }
    assert!(
        html.contains(r#"<td class="knob">32</td>"#),
        "what both tell stands: {html}"
    );
    let compared = page.compared.as_ref().expect("compared");
    assert!(
        !sheet_of(&page, compared)
            .facts
            .join(" ")
            .contains("confounded")
    );
    // Neither of both.
    let mut page = unmeasured_page();
    let compared = page.compared.as_mut().expect("compared");
    for point in &mut compared.configurations[0].points {
        point.summary = None;
    }
    let said = verdict::sentences(compared, &compared.pairs[0]).0;
    assert_eq!(
        said,
        "No verdict on setting 1 yet: the baseline, setting 0 and setting 1 are not measured yet."
    );
}

#[test]
fn the_first_line_says_that_the_client_is_suspect() {
    let mut page = page_of(vec![knob("32")]);
    let clean = html_of(&page);
    assert!(!clean.contains("But the client is"), "{clean}");
    let compared = page.compared.as_mut().expect("compared");
    let points = compared
        .configurations
        .iter_mut()
        .flat_map(|it| &mut it.points);
    let mut count = 0;
    for certificate in points.filter_map(|it| it.certificate.as_mut()) {
        certificate.innocence = measure::certificate::Innocence::Suspect;
        count += 1;
    }
    let said = verdict::sentences(compared, &compared.pairs[0]).0;
    let caveat = format!("But the client is suspect at {count} of {count} points");
    assert!(0 < count && said.contains(&caveat), "{said}");
    let facts = sheet_of(&page, page.compared.as_ref().expect("compared")).facts;
    assert!(
        facts.join(" ").contains(&caveat),
        "in pictures, too: {facts:?}"
    );
}

#[test]
fn a_ceiling_that_nobody_knows_is_no_bar() {
    let mut page = page_of(vec![knob("32")]);
    let compared = page.compared.as_mut().expect("compared");
    let unknown = [
        Ceiling::Unresolved { lo: None, hi: None },
        Ceiling::Unresolved {
            lo: Some(60.0),
            hi: None,
        },
    ];
    for (one, ceiling) in compared.configurations.iter_mut().zip(unknown) {
        one.configuration.ceiling = Some(ceiling);
    }
    let html = html_of(&page);
    assert!(html.contains("unresolved, above 60"), "{html}");
    for absent in ["ceiling-bar", "ceiling-scale"] {
        assert!(!html.contains(absent), "{absent}");
    }
    let compared = page.compared.as_mut().expect("compared");
    compared.configurations[0].configuration.ceiling = Some(Ceiling::Unresolved {
        lo: Some(20.0),
        hi: Some(60.0),
    });
    let html = html_of(&page);
    assert_eq!(
        html.matches("class=\"ceiling-bar\"").count(),
        1,
        "where both ends were measured"
    );
}

#[test]
fn a_link_of_figures_takes_no_slo_and_leads_nowhere_else() {
    let mut page = page_of(vec![knob("32")]);
    (page.state.link, page.figures_only) = (
        Some(Link {
            token: "t0ken".into(),
            shows_study: true,
        }),
        true,
    );
    let html = html_of(&page);
    assert!(html.contains("/s/t0ken/compare?c="), "{html}");
    assert!(html.contains("/s/t0ken/compare/export.png?c="), "{html}");
    for absent in ["name=\"slo\"", "name=\"find\"", "/studies", "\"/compare"] {
        assert!(!html.contains(absent), "{absent}: {html}");
    }
    page.figures_only = false;
    assert!(html_of(&page).contains("name=\"slo\""));
    let study = "href=\"/s/t0ken\"";
    assert!(html_of(&page).contains(study));
    let link = page.state.link.as_mut().expect("a link");
    link.shows_study = false;
    let html = html_of(&page);
    assert!(
        !html.contains(study),
        "a comparison's link has no study: {html}"
    );
    assert!(html.contains("every configuration of this comparison"));
}

#[test]
fn small_charts_have_the_baseline_in_grey_on_the_same_axes() {
    let mut page = page_of(vec![knob("32"), knob("64")]);
    page.state.drawing = Drawing::Small;
    let html = html_of(&page);
    assert_eq!(html.matches(r#"<div class="plot">"#).count(), 3);
    assert_eq!(html.matches("setting 0 (baseline)").count(), 1);
    assert!(html.contains("stroke:var(--line-strong)"), "grey");
    let sheet = sheet_of(&page, page.compared.as_ref().expect("compared"));
    let axes: Vec<_> = sheet
        .panels
        .iter()
        .map(|it| (&it.chart.x, &it.chart.y))
        .collect();
    assert!(axes.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn three_settings_make_an_axis_and_two_do_not() {
    let page = page_of(vec![knob("32"), knob("512")]);
    let compared = page.compared.as_ref().expect("compared");
    let found = knob::knobs(compared);
    assert_eq!(found[0].settings, [(0, 16.0), (1, 32.0), (2, 512.0)]);
    let panel = knob::panel(&page.state, compared, &found[0]);
    assert!(panel.chart.x.log, "16 to 512");
    let last = &panel.whiskers[2];
    assert_eq!(
        (last.x, last.lo, last.hi, last.colour),
        (512.0, 5.0, 7.0, 2)
    );
    assert_eq!(panel.trail.len(), 3);
    let rows = knob::csv(compared, &found[0]);
    assert!(
        rows.contains("max-num-seqs,512,sessions/s,6,5,7,"),
        "{rows}"
    );
    assert!(html_of(&page).contains("against a knob"));
    let two = page_of(vec![knob("32")]);
    assert!(knob::knobs(two.compared.as_ref().expect("compared")).is_empty());
    assert!(!html_of(&two).contains("against a knob"));
    let words = page_of(vec![knob("auto"), knob("fp8")]);
    assert!(knob::knobs(words.compared.as_ref().expect("compared")).is_empty());
}

#[test]
fn caches_that_were_not_alike_are_named() {
    let mut page = page_of(vec![knob("32")]);
    let compared = page.compared.as_mut().expect("compared");
    compared.configurations[0].configuration.cache_cold = Some(true);
    compared.configurations[1].configuration.cache_cold = Some(true);
    assert!(!html_of(&page).contains("The prefix cache was not the same"));
    let compared = page.compared.as_mut().expect("compared");
    compared.configurations[1].configuration.cache_cold = Some(false);
    let html = html_of(&page);
    assert!(
        html.contains("of setting 0 it was cold before each point; of setting 1 it was not cold before each point"),
        "{html}"
    );
}

#[test]
fn a_hidden_curve_keeps_its_figures() {
    let mut page = page_of(vec![knob("32")]);
    page.state.chart.hidden = vec![1];
    let compared = page.compared.as_ref().expect("compared");
    assert_eq!(charts::table_chart(&page.state, compared).lines.len(), 1);
    let html = html_of(&page);
    assert!(html.contains("show curve of setting 1"));
    assert_eq!(html.matches("class=\"ceiling-bar\"").count(), 2);
}

#[test]
fn the_picture_carries_promise_verdict_and_badges() {
    let page = page_of(vec![knob("32")]);
    let sheet = sheet_of(&page, page.compared.as_ref().expect("compared"));
    let facts = sheet.facts.join("\n");
    for needed in [
        "simulated",
        "SLO: ttft",
        "Turning max-num-seqs from 16 to 32",
    ] {
        assert!(facts.contains(needed), "{facts}");
    }
}
