//! What a person should know before the study starts: no error, but the answer will be weaker than it looks.

use std::collections::BTreeMap;

use measure::knobs::{KnobValue, simulator_knobs};
use measure::order::by_number;
use measure::slo::Slo;
use measure::study::{PlannedPoint, StudySpec, Turn};
use measure::units::Level;

use super::draft::{ConfigurationDraft, Draft};
use crate::ui::badge::Tone;
use crate::ui::format;

/// Fewest independent requests whose p95 has an upper end at 95 % confidence.
const P95_NEEDS: u32 = 72;
/// The same for the p99.
const P99_NEEDS: u32 = 368;
/// Longer studies are worth a second thought.
const LONG_MS: u64 = 60 * 60 * 1000;

/// A sentence that teaches, with the field it speaks of.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// How much it matters.
    pub tone: Tone,
    /// Its first words.
    pub lead: &'static str,
    /// The rest of it.
    pub text: String,
    /// The section of the form where it can be mended.
    pub section: &'static str,
}

/// All advice on a study, the gravest first.
pub fn advise(draft: &Draft, spec: &StudySpec, plan: &[PlannedPoint]) -> Vec<Advice> {
    let mut advice: Vec<Advice> = [
        confounded(draft),
        nothing_flipped(draft),
        toy(spec),
        short_points(plan),
        median_bound(&spec.slo),
        no_curve(spec),
        all_at_once(spec),
        ramp(spec),
        no_warmup(spec),
        long(plan),
    ]
    .into_iter()
    .flatten()
    .collect();
    by_number(&mut advice, |it| match it.tone {
        Tone::Bad => 0.0,
        Tone::Warn => 1.0,
        _ => 2.0,
    });
    advice
}

fn say(
    tone: Tone,
    section: &'static str,
    lead: &'static str,
    text: impl Into<String>,
) -> Option<Advice> {
    Some(Advice {
        tone,
        lead,
        text: text.into(),
        section,
    })
}

/// Names of the knobs in which any variant differs from the baseline, sorted.
pub fn flipped_knobs(draft: &Draft) -> Vec<String> {
    let mut names: Vec<String> = variants(draft)
        .flat_map(|variant| differing(draft, variant))
        .collect();
    names.sort();
    names.dedup();
    names
}

fn variants(draft: &Draft) -> impl Iterator<Item = &ConfigurationDraft> {
    draft.configurations.iter().skip(1)
}

/// Knobs in which a variant differs from the baseline.
fn differing(draft: &Draft, variant: &ConfigurationDraft) -> Vec<String> {
    let Some(baseline) = draft.configurations.first() else {
        return Vec::new();
    };
    let (before, after) = (knobs(draft, baseline), knobs(draft, variant));
    let names = before
        .keys()
        .chain(after.keys())
        .filter(|name| before.get(*name) != after.get(*name));
    let mut names: Vec<String> = names.cloned().collect();
    names.sort();
    names.dedup();
    names
}

/// The knobs a configuration ends up with; the simulator's defaults are known, another engine's are not.
fn knobs(draft: &Draft, configuration: &ConfigurationDraft) -> BTreeMap<String, String> {
    let read = |text: &str| KnobValue::from(text).to_string();
    let mut all: BTreeMap<String, String> = if draft.is_simulated() {
        let knobs = simulator_knobs().into_iter();
        knobs
            .map(|knob| (knob.name.to_owned(), knob.default.to_string()))
            .collect()
    } else {
        let lines = configuration.declared.lines();
        let pairs = lines.filter_map(|line| line.split_once('='));
        pairs
            .map(|(name, value)| (name.trim().trim_start_matches("--").to_owned(), read(value)))
            .collect()
    };
    let engine = draft.engine_of(configuration);
    let typed = engine.into_iter().flat_map(|it| configuration.typed(it));
    all.extend(typed.map(|(name, value)| (name.to_owned(), read(value))));
    all
}

fn confounded(draft: &Draft) -> Option<Advice> {
    let variant = variants(draft).find(|variant| differing(draft, variant).len() > 1)?;
    let names = differing(draft, variant).join(" and ");
    let (tone, lead, so) = if draft.factorial == "on" {
        (
            Tone::Warn,
            "Factorial.",
            "its comparison says so and gives no verdict.",
        )
    } else {
        (
            Tone::Bad,
            "Confounded.",
            "so no verdict can name the cause. Flip one knob at a time.",
        )
    };
    let text = format!(
        "“{}” differs from the baseline in {names}, {so}",
        variant.name
    );
    say(tone, "configurations", lead, text)
}

fn nothing_flipped(draft: &Draft) -> Option<Advice> {
    // Another endpoint differs by itself.
    let same = |variant: &&ConfigurationDraft| {
        differing(draft, variant).is_empty() && variant.way != "other_endpoint"
    };
    let variant = variants(draft).find(same)?;
    let text = format!(
        "“{}” has the baseline's settings: the two curves show how much a repeat varies, and nothing else.",
        variant.name
    );
    say(Tone::Warn, "configurations", "Nothing flipped.", text)
}

fn toy(spec: &StudySpec) -> Option<Advice> {
    if !spec.workload.is_toy() {
        return None;
    }
    let text = "Every request has the same length, so batches never jam as they do under real traffic. Its ceiling is too high.";
    say(Tone::Warn, "workload", "A toy workload.", text)
}

fn ramp(spec: &StudySpec) -> Option<Advice> {
    if !spec.arrival.is_ramp() {
        return None;
    }
    let text = "No one rate stands for a point of a ramp, so no ceiling is read from them.";
    say(Tone::Warn, "load", "Ramps have no ceiling.", text)
}

fn short_points(plan: &[PlannedPoint]) -> Option<Advice> {
    let fewest = plan.iter().map(|point| point.requests).min()?;
    let (tone, percentile, needs) = match fewest {
        ..P95_NEEDS => (Tone::Warn, "p95", P95_NEEDS),
        P95_NEEDS..P99_NEEDS => (Tone::Plain, "p99", P99_NEEDS),
        _ => return None,
    };
    let text = format!(
        "The shortest point has {fewest}: its {percentile} gets no upper end. That takes {needs}, and more where requests queue behind each other."
    );
    say(tone, "load", "Few requests.", text)
}

fn median_bound(slo: &Slo) -> Option<Advice> {
    let bound = slo.bounds.iter().find(|bound| {
        bound
            .percentile
            .is_some_and(|p| p / 100.0 < slo.attainment - 0.2)
    })?;
    let percentile = bound.percentile.unwrap_or_default();
    let text = format!(
        "A request is good only when it keeps every threshold. A threshold meant for the p{percentile} is one that about {:.0} % may miss, yet {} must keep it.",
        100.0 - percentile,
        format::percent(slo.attainment),
    );
    say(Tone::Warn, "slo", "Hard to attain.", text)
}

fn no_curve(spec: &StudySpec) -> Option<Advice> {
    if spec.adaptive.is_some() {
        return None;
    }
    let open = spec.levels.iter().filter(|level| level.is_open()).count();
    match open {
        0 => say(
            Tone::Warn,
            "load",
            "No ceiling.",
            "Only arrival rates have one; inf and closed loops tell peak throughput.",
        ),
        1..=2 => say(
            Tone::Warn,
            "load",
            "A short curve.",
            "A ceiling needs a rate that keeps the SLO and one that breaks it, and better several of each.",
        ),
        _ => None,
    }
}

fn all_at_once(spec: &StudySpec) -> Option<Advice> {
    // Where no rate is open, that is said with what it is good for.
    let open = spec.levels.iter().any(|level| level.is_open());
    if !open || !spec.levels.contains(&Level::Inf) {
        return None;
    }
    let text = "Everything arrives at the same moment: the point tells peak throughput, its TTFT is that of the queue, and it stands apart from the curve.";
    say(Tone::Plain, "load", "inf is no rate.", text)
}

fn no_warmup(spec: &StudySpec) -> Option<Advice> {
    if spec.warmup > 0 {
        return None;
    }
    say(
        Tone::Plain,
        "more",
        "No warm-up.",
        "The first requests of each point pay for cold connections and kernels.",
    )
}

fn long(plan: &[PlannedPoint]) -> Option<Advice> {
    let millis = total_ms(plan);
    if millis < LONG_MS {
        return None;
    }
    let text = format!(
        "It holds the engine for {}. Fewer rates or fewer seconds a point make it shorter.",
        format::about(millis)
    );
    say(Tone::Plain, "load", "A long study.", text)
}

/// Estimated milliseconds of a whole plan.
pub fn total_ms(plan: &[PlannedPoint]) -> u64 {
    plan.iter().map(|point| point.estimated.0 / 1_000_000).sum()
}

/// Whether a configuration needs a person at the machine.
pub fn pauses(spec: &StudySpec) -> usize {
    spec.configurations
        .iter()
        .filter(|it| matches!(it.turn, Turn::Pause { .. }))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::slo::{Bound, Metric};
    use measure::units::{Nanos, Seed};

    fn simulated(variants: &[&[(&str, &str)]]) -> Draft {
        let configuration = |(index, knobs): (usize, &&[(&str, &str)])| {
            let mut configuration = ConfigurationDraft {
                name: format!("c{index}"),
                ..ConfigurationDraft::default()
            };
            for (name, value) in *knobs {
                configuration.set_knob("", name, (*value).to_owned());
            }
            configuration
        };
        let configurations = variants.iter().enumerate().map(configuration).collect();
        Draft {
            configurations,
            ..Draft::default()
        }
    }

    fn point(requests: u32) -> PlannedPoint {
        PlannedPoint {
            configuration: 0,
            level_index: 0,
            level: measure::units::Level::Inf,
            repeat: 0,
            seed: Seed(1),
            requests,
            estimated: Nanos::from_millis(40_000),
        }
    }

    #[test]
    fn one_flipped_knob_is_the_point_of_a_study() {
        let draft = simulated(&[&[], &[("enable-prefix-caching", "on")]]);
        assert_eq!(flipped_knobs(&draft), ["enable-prefix-caching"]);
        assert_eq!((confounded(&draft), nothing_flipped(&draft)), (None, None));
    }

    #[test]
    fn two_flipped_knobs_confound() {
        let draft = simulated(&[
            &[],
            &[("enable-prefix-caching", "on"), ("max-num-seqs", "8")],
        ]);
        let advice = confounded(&draft).expect("advice");
        assert!(
            advice
                .text
                .contains("enable-prefix-caching and max-num-seqs"),
            "{}",
            advice.text
        );
    }

    #[test]
    fn factorial_studies_are_warned_and_not_scolded() {
        let mut draft = simulated(&[
            &[],
            &[("enable-prefix-caching", "on"), ("max-num-seqs", "8")],
        ]);
        draft.factorial = "on".into();
        let advice = confounded(&draft).expect("advice");
        assert_eq!((advice.tone, advice.lead), (Tone::Warn, "Factorial."));
        assert!(advice.text.contains("gives no verdict"), "{}", advice.text);
    }

    #[test]
    fn a_default_written_out_flips_nothing() {
        let draft = simulated(&[
            &[],
            &[("enable-prefix-caching", "false"), ("max-num-seqs", "")],
        ]);
        assert!(flipped_knobs(&draft).is_empty());
        assert!(nothing_flipped(&draft).is_some());
    }

    #[test]
    fn declared_knobs_are_compared_as_values() {
        let declared = |text: &str| ConfigurationDraft {
            declared: text.into(),
            ..ConfigurationDraft::default()
        };
        let configurations = vec![
            declared("--max-num-seqs=64"),
            declared("max-num-seqs = 64\nenable-prefix-caching=on"),
        ];
        let draft = Draft {
            engine: "endpoint".into(),
            configurations,
            ..Draft::default()
        };
        assert_eq!(flipped_knobs(&draft), ["enable-prefix-caching"]);
    }

    #[test]
    fn short_points_have_percentiles_without_an_upper_end() {
        for (requests, expected) in [
            (71, Some("p95 gets")),
            (72, Some("p99 gets")),
            (367, Some("p99 gets")),
            (368, None),
        ] {
            let text = short_points(&[point(1000), point(requests)]).map(|advice| advice.text);
            assert_eq!(text.is_some(), expected.is_some(), "{requests}");
            assert!(
                text.unwrap_or_default()
                    .contains(expected.unwrap_or_default()),
                "{requests}"
            );
        }
        assert_eq!(short_points(&[]), None);
    }

    #[test]
    fn a_bound_at_the_median_is_hard_to_attain() {
        let slo = |percentile| Slo {
            bounds: vec![Bound {
                metric: Metric::Ttft,
                percentile,
                at_most: Nanos::from_millis(500),
            }],
            error_rate: None,
            attainment: 0.95,
        };
        assert!(median_bound(&slo(Some(50.0))).is_some());
        assert_eq!(median_bound(&slo(Some(95.0))), None);
        assert_eq!(median_bound(&slo(Some(90.0))), None);
        assert_eq!(median_bound(&slo(None)), None);
    }

    #[test]
    fn long_studies_name_their_cost() {
        assert_eq!(long(&vec![point(100); 16]), None);
        assert!(
            long(&vec![point(100); 160])
                .expect("advice")
                .text
                .contains("about 1 h 47 min")
        );
    }
}
