//! Where there is no study yet: the goodput exercise, in one press.

use measure::study::StudySpec;

use super::Asked;
use crate::ui::format;
use crate::ui::html::{Html, html, term};

/// What the exercise costs: `16 points, about 7 min`.
fn cost(spec: &StudySpec) -> String {
    let plan = spec.plan();
    let millis = plan.iter().map(|point| point.estimated.0 / 1_000_000).sum();
    format!("{} points, {}", plan.len(), format::about(millis))
}

/// Explains the goodput exercise and runs it.
pub fn exercise() -> Html {
    html!(
        r#"<section class="empty"><div class="words"><h2>At which request rate does your engine still keep its promise?</h2><p>Throughput alone does not say. Send requests at rising rates, as independent users would, and count how many keep the promise: a first token within 500 ms, then 50 ms a token. The highest rate at which 95 % do is the {}.</p><p>The goodput exercise finds it for eight rates, flips one knob (prefix caching), and does it again with identical prompts and starts. The curve moves; the studio says by how much, and how sure it is.</p><div class="row"><button class="button primary" form="act" formaction="/exercise">Run the goodput exercise on the simulator</button><a href="/studies/new?exercise=1" class="button quiet" rel="external">Look at it first</a></div><p class="small muted">{}. Needs no engine: everything it measures is marked simulated. Its page opens at once and draws each point as it is measured. The <a href="/#examples">examples</a> below were measured on real engines and open at once.</p></div>{}</section>"#,
        term("goodput ceiling", "ceiling"),
        cost(&StudySpec::goodput_exercise()),
        Html::literal(SKETCH)
    )
}

/// What the exercise will show, drawn by hand: two curves, the promise, and how far each keeps it.
const SKETCH: &str = r##"<svg viewBox="0 0 400 240" role="img" aria-label="A sketch: latency over rate for two configurations; each curve crosses the SLO line at its ceiling."><g fill="none" stroke="var(--line)"><path d="M40 20v180h340"/><path d="M40 80h340M40 140h340" stroke-dasharray="1 4"/></g><path d="M40 92h340" fill="none" stroke="var(--accent)" stroke-width="1.5" stroke-dasharray="5 4"/><g fill="none" stroke-width="2.5" stroke-linecap="round"><path d="M52 176c90-2 128-10 158-50 16-22 22-56 26-96" stroke="var(--series-1)"/><path d="M52 184c140-2 190-12 224-52 18-22 26-58 30-102" stroke="var(--series-2)" stroke-dasharray="8 5"/></g><g stroke-width="2"><path d="M225 92v108" stroke="var(--series-1)" stroke-dasharray="2 3"/><path d="M295 92v108" stroke="var(--series-2)" stroke-dasharray="2 3"/><circle cx="225" cy="92" r="4.5" fill="var(--surface)" stroke="var(--series-1)"/><circle cx="295" cy="92" r="4.5" fill="var(--surface)" stroke="var(--series-2)"/></g><g fill="var(--muted)"><text x="40" y="12">TTFT p95</text><text x="380" y="218" text-anchor="end">sessions/s</text><text x="46" y="86" fill="var(--accent)">the promise</text><text x="225" y="218" text-anchor="middle">ceiling</text></g></svg>"##;

/// Nothing matches.
pub fn nothing_found(asked: &Asked) -> Html {
    let title = match asked.words() {
        words if words.is_empty() => "Nothing older".to_owned(),
        words => format!("No study with {words}"),
    };
    html!(
        r#"<section class="empty"><div class="words"><h2>{}</h2><p class="muted">The search looks through names, tags, engines and models.</p><a href="/">Show all studies</a></div></section>"#,
        title
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exercise_names_its_cost() {
        let cost = cost(&StudySpec::goodput_exercise());
        assert!(cost.starts_with("16 points, about "), "{cost}");
    }
}
