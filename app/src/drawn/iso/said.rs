//! What the map says, in words and as a table: the same judgement as everywhere, with its interval.

use measure::slo::{Judge, Judgement, Metric, with_pair};
use measure::units::Nanos;

use super::Map;
use crate::axis::Axis;
use crate::ui::format;
use crate::ui::html::{Html, heads, html, missing, table};
use crate::words;

/// As many bounds as a table has room for, each way.
const MOST: usize = 8;

impl Map<'_> {
    fn judged(&self, ttft: Nanos, tpot: Nanos) -> Judgement {
        let slo = with_pair(self.slo, ttft, tpot);
        Judge::new(&slo).judge(&self.ready, self.summary)
    }

    /// What the present SLO keeps, and which bounds would just do.
    pub(super) fn sentences(&self) -> Html {
        let judged = Judge::new(self.slo).judge(&self.ready, self.summary);
        let kept = judged
            .attainment
            .map_or("–".into(), |it| format::proportion(&it));
        let tokens = judged.good_tokens_per_s;
        let tokens = tokens.map_or(String::new(), |it| {
            format!(", {} good tok/s", format::number(it))
        });
        let first = format!(
            "{}: of {} requests {kept} keep {}{tokens}.",
            self.heading(),
            format::count(self.plane.scheduled() as u64),
            words::thresholds(self.slo)
        );
        let second = format!(
            "For {} good, {}.",
            format::percent(self.slo.attainment),
            self.just()
        );
        html!(
            r#"<p>{}</p><p class="small muted">{} Each line joins the pairs of bounds under which the same share is good; the coloured one is the target. The dashed lines are the SLO that is tried: point or drag to try another.</p>"#,
            first,
            second
        )
    }

    /// The tightest bound on each, given the other.
    fn just(&self) -> String {
        let share = self.slo.attainment;
        let loosest = Nanos(u64::MAX);
        let [ttft, tpot] = [Metric::Ttft, Metric::Tpot].map(|it| self.bound(it));
        let one = |metric, found: Option<Nanos>, other, given: Option<Nanos>| {
            let (metric, other) = (words::metric_name(metric), words::metric_name(other));
            let given = given.map_or_else(
                || format!("without a bound on {other}"),
                |it| format!("with {other} ≤ {}", words::threshold(it)),
            );
            match found {
                Some(found) => format!(
                    "{given}, {metric} must be allowed {}",
                    words::threshold(up(found))
                ),
                None => format!("{given}, no bound on {metric} is loose enough"),
            }
        };
        let least_ttft = self.plane.least_ttft(tpot.unwrap_or(loosest), share);
        let least_tpot = self.plane.least_tpot(ttft.unwrap_or(loosest), share);
        format!(
            "{}; {}",
            one(Metric::Ttft, least_ttft, Metric::Tpot, tpot),
            one(Metric::Tpot, least_tpot, Metric::Ttft, ttft)
        )
    }

    /// Share and goodput for round bounds.
    pub(super) fn table(&self) -> Html {
        let (ttfts, tpots) = (rounds(&self.ttft), rounds(&self.tpot));
        let names: Vec<String> = tpots
            .iter()
            .map(|it| format!("#TPOT ≤ {}", words::threshold(*it)))
            .collect();
        let heads = heads(
            ["TTFT at most"]
                .into_iter()
                .chain(names.iter().map(String::as_str)),
        );
        let row = |ttft: Nanos| {
            let cells = tpots.iter().map(|tpot| cell(&self.judged(ttft, *tpot)));
            html!(
                r#"<tr><th scope="row">{}</th>{}</tr>"#,
                words::threshold(ttft),
                cells.collect::<Html>()
            )
        };
        let caption = format!("Share of good requests of {} by bounds", self.heading());
        html!(
            r#"<details class="chart-table"><summary>The numbers of this map</summary><div class="scroll-x" tabindex="0">{}</div><p class="small muted">Share of good requests, with its 95 % interval; under the pointer, goodput.</p></details>"#,
            table("", &caption, heads, ttfts.into_iter().map(row).collect())
        )
    }
}

fn cell(judged: &Judgement) -> Html {
    let Some(share) = judged.attainment else {
        return html!(r#"<td class="num">{}</td>"#, missing("No request."));
    };
    let number = |value: Option<f64>| value.map_or("–".into(), format::number);
    let detail = format!(
        "{} good tok/s, {} good req/s",
        number(judged.good_tokens_per_s),
        number(judged.good_requests_per_s)
    );
    html!(
        r#"<td class="num"><span title="{}">{}</span></td>"#,
        detail,
        format::proportion(&share)
    )
}

/// Round values along an axis, no more than fit.
fn rounds(axis: &Axis) -> Vec<Nanos> {
    let ticks = axis.ticks();
    let step = ticks.len().div_ceil(MOST).max(1);
    let some = ticks.into_iter().step_by(step);
    some.map(|(millis, _)| Nanos((millis * 1e6).round() as u64))
        .collect()
}

/// Two digits, rounded up: a bound that is said to do must do.
fn up(bound: Nanos) -> Nanos {
    let digits = bound.0.checked_ilog10().unwrap_or(0);
    let step = 10_u64.pow(digits.saturating_sub(1));
    Nanos(bound.0.div_ceil(step).saturating_mul(step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_that_does_has_two_digits_and_is_never_too_tight() {
        for (nanos, expected) in [
            (487_300_000, 490_000_000),
            (490_000_000, 490_000_000),
            (7, 7),
            (0, 0),
        ] {
            assert_eq!(up(Nanos(nanos)), Nanos(expected));
        }
    }
}
