//! What a workload would send: how long its requests are, and one of them to read.

use measure::quantile::percentile_linear;

use crate::studio::Sample;
use crate::ui::format;
use crate::ui::html::{Html, heads, html, table};

/// Bars of a histogram, each twice as wide as the one before.
const BARS: usize = 18;
/// Letters shown of a message.
const LETTERS: usize = 600;

/// The whole preview.
pub fn drawn(sample: &Sample) -> String {
    let rows: Html = [
        ("Input tokens", &sample.input_tokens),
        ("Output tokens asked", &sample.output_tokens),
        ("Turns of a session", &sample.turns),
    ]
    .into_iter()
    .filter(|(_, values)| values.iter().any(|it| *it != 1))
    .map(|(name, values)| row(name, values))
    .collect();
    html!(
        r#"<p class="small muted">The first {} of the first point, exactly as they would be sent. Input counts the whole context of a turn, without the engine's chat template.</p><div class="scroll-x" tabindex="0">{}</div><p class="small muted">Bars double in width: 1, 2 to 3, 4 to 7, and so on.</p><p class="small muted">One of them:</p>{}"#,
        crate::words::count(sample.input_tokens.len(), "request"),
        table(
            "",
            "Lengths of the requests",
            heads(["length", "#least", "#p50", "#p95", "#most", "how many"]),
            rows
        ),
        sample.messages.iter().map(message).collect::<Html>()
    )
    .into_string()
}

fn row(name: &str, values: &[u32]) -> Html {
    let mut sorted: Vec<f64> = values.iter().map(|it| f64::from(*it)).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let at = |percentile| {
        let value = percentile_linear(&sorted, percentile);
        value.map_or("–".to_owned(), |it| format::count(it.round() as u64))
    };
    html!(
        r#"<tr><th scope="row">{}</th><td class="num">{}</td><td class="num">{}</td><td class="num">{}</td><td class="num">{}</td><td>{}</td></tr>"#,
        name,
        at(0.0),
        at(50.0),
        at(95.0),
        at(100.0),
        histogram(name, values)
    )
}

/// How many values lie in 1, 2 to 3, 4 to 7, ...
fn counts(values: &[u32]) -> Vec<usize> {
    let mut counts = vec![0; BARS];
    for value in values {
        let bar = value.max(&1).ilog2() as usize;
        counts[bar.min(BARS - 1)] += 1;
    }
    counts
}

fn histogram(name: &str, values: &[u32]) -> Html {
    let counts = counts(values);
    let first = counts.iter().position(|it| 0 < *it).unwrap_or(0);
    let last = counts.iter().rposition(|it| 0 < *it).unwrap_or(0);
    let most = counts.iter().max().copied().unwrap_or(1).max(1);
    let bar = |index: usize| {
        let height = counts[index] as f64 / most as f64 * 30.0;
        let (from, to) = (1_u64 << index, (2_u64 << index) - 1);
        html!(
            r#"<rect x="{}" y="{}" width="12" height="{}" style="fill:var(--series-1)"><title>{} to {}: {}</title></rect>"#,
            ((index - first) * 14).to_string(),
            format!("{:.1}", 32.0 - height),
            format!("{height:.1}"),
            format::count(from),
            format::count(to),
            crate::words::count(counts[index], "request")
        )
    };
    html!(
        r#"<svg width="{}" height="33" role="img" aria-label="{}: {} to {}"><line x1="0" x2="100%" y1="32.5" y2="32.5" style="stroke:var(--line)"/>{}</svg>"#,
        ((last + 1 - first) * 14).to_string(),
        name,
        format::count(1 << first),
        format::count((2 << last) - 1),
        (first..=last).map(bar).collect::<Html>()
    )
}

fn message((role, text): &(String, String)) -> Html {
    let shown: String = text.chars().take(LETTERS).collect();
    let more = text.chars().count() - shown.chars().count();
    let rest = (0 < more).then(|| {
        html!(
            r#" <span class="muted">… and {}</span>"#,
            crate::words::count(more, "more letter")
        )
    });
    html!(
        r#"<p class="small"><strong>{}</strong> <span class="sample">{}</span>{}</p>"#,
        role,
        shown,
        rest
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_double_in_width() {
        let counts = counts(&[1, 2, 3, 4, 7, 8, 0]);
        assert_eq!(counts[..5], [2, 2, 2, 1, 0]);
    }

    #[test]
    fn what_prompts_say_is_text() {
        let sample = Sample {
            input_tokens: vec![10, 20],
            output_tokens: vec![5, 5],
            turns: vec![1, 1],
            messages: vec![("user".into(), "<b>hello</b>".into())],
        };
        let drawn = drawn(&sample);
        assert!(drawn.contains("&lt;b&gt;hello"), "{drawn}");
        assert!(!drawn.contains("Turns of a session"), "all single: {drawn}");
        assert!(drawn.contains("The first 2 requests"), "{drawn}");
    }
}
