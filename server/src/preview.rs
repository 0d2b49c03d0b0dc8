//! The picture that chat tools show beside a shared link: the curves, the SLO line, the ceilings.
//!
//! Drawn from what the link shows and nothing else, so no engine address, prompt or answer can be in it.

mod canvas;

use app::studio::{PointView, Studio, StudioError, StudyView};
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use measure::certificate::Innocence;
use measure::curve::Ceiling;
use measure::slo::Metric;
use measure::summary::Capacity;
use measure::units::{Nanos, three_digits};

use crate::error::ApiResult;
use crate::routes::Edge;
use canvas::{At, Canvas, Colour, Font};

/// What link previews ask for: 1200 x 630.
const SIZE: (usize, usize) = (1200, 630);
/// The plot within it: left, top, right, bottom.
const PLOT: [f32; 4] = [130.0, 196.0, 1150.0, 540.0];
const INK: Colour = [28, 32, 38];
const FAINT: Colour = [110, 118, 128];
const GRID: Colour = [226, 229, 233];
const ACCENT: Colour = [75, 63, 200];
/// In the order of every page (public/css/tokens.css).
const SERIES: [Colour; 6] = [
    [0, 114, 178],
    [213, 94, 0],
    [0, 158, 115],
    [204, 121, 167],
    [185, 127, 0],
    [46, 147, 204],
];

/// `GET /s/{token}/preview.png`
pub async fn png(State(edge): State<Edge>, Path(token): Path<String>) -> ApiResult<Response> {
    let study = edge.studio.shared(&token).await?;
    let picture = tokio::task::spawn_blocking(move || draw(&study).png()).await;
    let picture = picture
        .map_err(|_| StudioError::Internal)?
        .map_err(|_| StudioError::Internal)?;
    Ok(([(header::CONTENT_TYPE, "image/png")], picture).into_response())
}

fn draw(study: &StudyView) -> Canvas {
    let mut canvas = Canvas::new(SIZE.0, SIZE.1, [255; 3]);
    heading(&mut canvas, study);
    let plot = Plot::of(study);
    plot.axes(&mut canvas);
    if let Some(limit) = study
        .spec
        .slo
        .bounds
        .iter()
        .find(|bound| bound.metric == Metric::Ttft)
    {
        let y = plot.y(limit.at_most.as_secs_f64());
        canvas.dashes((PLOT[0], y), (PLOT[2], y), 3.0, ACCENT);
        canvas.text(
            PLOT[0] as usize + 8,
            y as usize + 6,
            "SLO",
            Font::Text,
            ACCENT,
        );
    }
    for (index, configuration) in study.configurations.iter().enumerate() {
        for rate in above_capacity(study, index as u32) {
            arrow(
                &mut canvas,
                plot.at(rate, plot.ttfts.1),
                SERIES[index % SERIES.len()],
            );
        }
        let colour = SERIES[index % SERIES.len()];
        let dots: Vec<At> = curve(study, index as u32)
            .map(|(rate, ttft)| plot.at(rate, ttft))
            .collect();
        for pair in dots.windows(2) {
            canvas.line(pair[0], pair[1], 4.0, colour);
        }
        for dot in dots {
            canvas.dot(dot, 6.0, colour);
        }
        legend(
            &mut canvas,
            index,
            &configuration.spec.name,
            configuration.ceiling,
            colour,
        );
    }
    canvas
}

fn heading(canvas: &mut Canvas, study: &StudyView) {
    canvas.text(40, 32, &cut(&study.spec.name, 58), Font::Heading, INK);
    let simulated = if study.is_simulated() {
        "simulated - "
    } else {
        ""
    };
    let promise = format!("{simulated}{}", ascii(&study.spec.slo.to_string()));
    canvas.text(40, 76, &cut(&promise, 100), Font::Text, FAINT);
    canvas.text(40, 595, "Goodput Studio", Font::Text, FAINT);
    let axes = "TTFT p95 over offered rate per second";
    canvas.text(
        SIZE.0 - 40 - Font::Text.width(axes),
        595,
        axes,
        Font::Text,
        FAINT,
    );
}

fn legend(canvas: &mut Canvas, index: usize, name: &str, ceiling: Option<Ceiling>, colour: Colour) {
    // Four fit between the heading and the plot.
    if 4 <= index {
        return;
    }
    let (left, top) = (40 + 560 * (index % 2), 118 + 34 * (index / 2));
    canvas.dot((left as f32 + 8.0, top as f32 + 10.0), 8.0, colour);
    let text = format!("{}: {}", cut(name, 24), say(ceiling));
    canvas.text(left + 28, top, &cut(&text, 52), Font::Text, INK);
}

fn say(ceiling: Option<Ceiling>) -> String {
    match ceiling {
        Some(Ceiling::Bracket { value, .. }) => format!("up to {}/s", three_digits(value)),
        Some(Ceiling::AtLeast { lo }) => format!("at least {}/s", three_digits(lo)),
        Some(Ceiling::NoneKept { hi }) => format!("below {}/s", three_digits(hi)),
        Some(Ceiling::Unresolved { .. }) => "unresolved".into(),
        Some(Ceiling::Ramped) => "cannot tell: a ramp".into(),
        None => "not measured yet".into(),
    }
}

/// The points of a configuration that have a value, by rate. Void points and those above capacity have none.
fn curve(study: &StudyView, configuration: u32) -> impl Iterator<Item = (f64, f64)> {
    let mine = study
        .points
        .iter()
        .filter(move |point| point.configuration == configuration);
    let mut dots: Vec<(f64, f64)> = mine.filter_map(value).collect();
    dots.sort_by(|one, two| one.0.total_cmp(&two.0));
    dots.into_iter()
}

/// Rates at which latencies only grow: no value, a direction.
fn above_capacity(study: &StudyView, configuration: u32) -> impl Iterator<Item = f64> {
    let mine = study
        .points
        .iter()
        .filter(move |point| point.configuration == configuration);
    mine.filter_map(|point| {
        let summary = point.summary.as_ref()?;
        point.level.rate()?;
        let above = matches!(summary.capacity, Capacity::Above { .. });
        summary.offered_rate.filter(|rate| above && 0.0 < *rate)
    })
}

fn arrow(canvas: &mut Canvas, (x, y): At, colour: Colour) {
    let (tip, end) = ((x, y + 4.0), (x, y + 34.0));
    for from in [end, (x - 9.0, y + 15.0), (x + 9.0, y + 15.0)] {
        canvas.line(from, tip, 4.0, colour);
    }
}

fn value(point: &PointView) -> Option<(f64, f64)> {
    let summary = point.summary.as_ref()?;
    let is_void = point
        .certificate
        .as_ref()
        .is_some_and(|certificate| certificate.innocence == Innocence::Void);
    point.level.rate()?;
    if is_void || matches!(summary.capacity, Capacity::Above { .. }) {
        return None;
    }
    let ttft = summary.ttft.p95?.value?;
    Some((
        summary.offered_rate.filter(|rate| 0.0 < *rate)?,
        ttft.as_secs_f64().max(1e-6),
    ))
}

/// Two logarithmic axes.
struct Plot {
    rates: (f64, f64),
    ttfts: (f64, f64),
}

impl Plot {
    fn of(study: &StudyView) -> Self {
        let dots: Vec<_> = (0..study.configurations.len())
            .flat_map(|index| curve(study, index as u32))
            .collect();
        let limits = study
            .spec
            .slo
            .bounds
            .iter()
            .filter(|bound| bound.metric == Metric::Ttft);
        let limits = limits.map(|bound| bound.at_most.as_secs_f64());
        let arrows =
            (0..study.configurations.len()).flat_map(|index| above_capacity(study, index as u32));
        Self {
            rates: range(dots.iter().map(|dot| dot.0).chain(arrows), (0.5, 32.0)),
            ttfts: range(dots.iter().map(|dot| dot.1).chain(limits), (0.01, 10.0)),
        }
    }

    fn at(&self, rate: f64, ttft: f64) -> At {
        (
            PLOT[0] + share(self.rates, rate) * (PLOT[2] - PLOT[0]),
            self.y(ttft),
        )
    }

    fn y(&self, ttft: f64) -> f32 {
        PLOT[3] - share(self.ttfts, ttft) * (PLOT[3] - PLOT[1])
    }

    fn axes(&self, canvas: &mut Canvas) {
        for step in powers(self.ttfts, 10.0) {
            let y = self.y(step);
            canvas.line((PLOT[0], y), (PLOT[2], y), 1.0, GRID);
            let label = Nanos::from_secs_f64(step).to_string().replace('µ', "u");
            canvas.text(
                PLOT[0] as usize - 12 - Font::Text.width(&label),
                y as usize - 10,
                &label,
                Font::Text,
                FAINT,
            );
        }
        for step in powers(self.rates, 2.0) {
            let (x, _) = self.at(step, self.ttfts.0);
            canvas.line((x, PLOT[1]), (x, PLOT[3]), 1.0, GRID);
            let label = three_digits(step)
                .trim_end_matches('0')
                .trim_end_matches('.')
                .to_owned();
            let label = if step < 10.0 {
                label
            } else {
                format!("{step}")
            };
            canvas.text(
                x as usize - Font::Text.width(&label) / 2,
                PLOT[3] as usize + 12,
                &label,
                Font::Text,
                FAINT,
            );
        }
        canvas.line((PLOT[0], PLOT[3]), (PLOT[2], PLOT[3]), 2.0, FAINT);
        canvas.line((PLOT[0], PLOT[1]), (PLOT[0], PLOT[3]), 2.0, FAINT);
    }
}

/// Where a value lies on a logarithmic axis, 0 to 1.
fn share((lo, hi): (f64, f64), value: f64) -> f32 {
    ((value / lo).ln() / (hi / lo).ln()).clamp(0.0, 1.0) as f32
}

/// From the smallest to the largest value with some air; `otherwise` where there is none.
fn range(values: impl Iterator<Item = f64>, otherwise: (f64, f64)) -> (f64, f64) {
    let (lo, hi) = values.fold((f64::INFINITY, 0.0_f64), |(lo, hi), value| {
        (lo.min(value), hi.max(value))
    });
    if lo.is_finite() && 0.0 < hi {
        (lo / 1.3, hi * 1.3)
    } else {
        otherwise
    }
}

/// Powers of a base within a range, at most twelve.
fn powers((lo, hi): (f64, f64), base: f64) -> impl Iterator<Item = f64> {
    let first = lo.log(base).ceil() as i32;
    (first..first.saturating_add(12))
        .map(move |power| base.powi(power))
        .take_while(move |value| *value <= hi)
}

fn cut(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        text.to_owned()
    } else {
        text.chars()
            .take(longest - 3)
            .chain("...".chars())
            .collect()
    }
}

/// The font has ASCII only.
fn ascii(text: &str) -> String {
    text.replace('≤', "<=").replace('≥', ">=")
}

#[cfg(test)]
mod tests;
