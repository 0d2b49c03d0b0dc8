//! The iso-goodput map of a point: over the plane of bounds on TTFT and TPOT, how many of its requests would be good. Drawn
//! by the server; a few lines of script ([`crate::later`]) mark the SLO that is tried, and let it be dragged.

mod drawing; // the lines of equal share
mod said; // in words, and as a table

use measure::certificate::Innocence;
use measure::score::Score;
use measure::slo::{Keeps, Metric, Plane, Ready, Slo};
use measure::summary::Summary;
use measure::units::Nanos;

use crate::axis::Axis;
use crate::point::heading;
use crate::studio::{PointView, StudyView};
use crate::ui::html::{Html, html};

/// What is drawn.
#[derive(Debug)]
pub struct Map<'a> {
    study: &'a StudyView,
    point: &'a PointView,
    summary: &'a Summary,
    slo: &'a Slo,
    plane: Plane,
    ready: Ready,
    ttft: Axis,
    tpot: Axis,
}

/// The point whose map is shown: the one that is asked for, by its place in the study; else, of the first configuration that
/// has any, the highest load that keeps the SLO, or the lowest where none does. What is void is shown only where nothing else is.
pub fn chosen(study: &StudyView, asked: Option<u32>) -> Option<(usize, &PointView)> {
    let all: Vec<(usize, &PointView)> = study.points.iter().enumerate().collect();
    let measured = |point: &PointView| point.summary.is_some();
    let all_void = all.iter().all(|it| !measured(it.1) || is_void(it.1));
    let has = |point: &PointView| measured(point) && (all_void || !is_void(point));
    let asked = asked.and_then(|place| all.get(place as usize).copied());
    if let Some(found) = asked.filter(|(_, point)| point.summary.is_some()) {
        return Some(found);
    }
    let mut usual: Vec<(usize, &PointView)> =
        all.into_iter().filter(|(_, point)| has(point)).collect();
    usual.sort_by(|(_, a), (_, b)| {
        let offered = |point: &PointView| point.summary.as_ref().and_then(|it| it.offered_rate);
        let load = |point: &PointView| offered(point).unwrap_or(f64::INFINITY);
        (a.configuration, load(a))
            .partial_cmp(&(b.configuration, load(b)))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    let first = usual.first()?.1.configuration;
    let keeps = |point: &PointView| {
        let judged = point.judgement.as_ref().map(|it| it.by_attainment);
        matches!(judged, Some(Keeps::Surely | Keeps::Probably))
    };
    let mut own = usual
        .iter()
        .filter(|(_, point)| point.configuration == first);
    own.clone()
        .rfind(|(_, point)| keeps(point) && point.level.is_open())
        .or_else(|| own.next())
        .copied()
}

fn is_void(point: &PointView) -> bool {
    let certificate = point.certificate.as_ref();
    certificate.is_some_and(|it| it.innocence == Innocence::Void)
}

/// The map of a point by its requests, under the SLO that is tried.
pub fn map(study: &StudyView, place: usize, scores: &[Score], slo: &Slo) -> Html {
    let point = study.points.get(place);
    let Some((point, summary)) = point.and_then(|it| Some((it, it.summary.as_ref()?))) else {
        return nothing("No point has finished yet.");
    };
    let plane = Plane::of(scores, slo);
    let (Some(ttft), Some(tpot)) = (
        axis(&plane, study, Metric::Ttft),
        axis(&plane, study, Metric::Tpot),
    ) else {
        let none =
            "None of its requests has both a TTFT and a TPOT, so no pair of bounds keeps any.";
        return html!("{}{}", choice(study, place), nothing(none));
    };
    let map = Map {
        study,
        point,
        summary,
        slo,
        plane,
        ready: Ready::of(scores),
        ttft,
        tpot,
    };
    html!(
        "{}{}{}{}",
        choice(study, place),
        map.sentences(),
        map.drawn(),
        map.table()
    )
}

/// In place of a map: why there is none.
pub fn nothing(why: &str) -> Html {
    html!(r#"<p class="muted">{}</p>"#, why)
}

impl Map<'_> {
    fn heading(&self) -> String {
        heading(self.study, self.point)
    }

    /// The present bound on a metric.
    fn bound(&self, metric: Metric) -> Option<Nanos> {
        let found = self.slo.bounds.iter().find(|it| it.metric == metric);
        found.map(|it| it.at_most)
    }
}

/// From the fastest to the slowest requests, the study's own bound among them: it does not move while another one is tried.
fn axis(plane: &Plane, study: &StudyView, metric: Metric) -> Option<Axis> {
    let ends = [0.01, 0.5, 0.99].map(|share| plane.spread(metric, share));
    let [least, middle, most] = ends.map(|it| it.map_or(0.0, Nanos::as_millis_f64));
    if middle <= 0.0 {
        return None;
    }
    let bounds = &study.spec.slo.bounds;
    let own = bounds.iter().find(|it| it.metric == metric);
    let own = own.map(|it| it.at_most.as_millis_f64());
    let title = format!(
        "{} of a request at most (ms)",
        crate::words::metric_name(metric)
    );
    let values = [least.max(middle / 50.0), middle, most].into_iter();
    Some(Axis::over(title, values.chain(own), true))
}

/// The points to choose from; repeats and what is void are named.
fn choice(study: &StudyView, now: usize) -> Html {
    let points = study.points.iter().enumerate();
    let options = points
        .filter(|(_, it)| it.summary.is_some())
        .map(|(place, point)| {
            let void = if is_void(point) { " (void)" } else { "" };
            html!(
                r#"<option value="{}"{}>{}{}</option>"#,
                place.to_string(),
                (place == now).then(|| Html::literal(" selected")),
                heading(study, point),
                void
            )
        });
    html!(
        r#"<label class="menu" for="map"><span>Point</span><select id="map" name="map">{}</select></label>"#,
        options.collect::<Html>()
    )
}

#[cfg(test)]
mod tests;
