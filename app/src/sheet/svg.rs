//! A sheet as a picture that stands alone: colours are written out, so that programs without style sheets draw it, too.

use super::{HEADING_LINE, MARGIN, Panel, Place as Area, Sheet, WIDTH, Whisker};
use crate::chart::{Chart, Mark, Place};
use crate::figure_svg::{SERIES, series_colour, whole};
use crate::ui::html::{Html, html};

const FONT: &str = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', Arial, sans-serif";
/// The light theme's own, in the order of `public/css/tokens.css`.
const COLOURS: [(&str, &str); 6] = [
    ("--bg", "#ffffff"),
    ("--text", "#17171c"),
    ("--muted", "#5d5d69"),
    ("--line-strong", "#85858f"),
    ("--line", "#e5e5ea"),
    ("--accent", "#4a3fd1"),
];

/// The picture.
pub fn svg(sheet: &Sheet) -> String {
    let height = sheet.height();
    let drawn: Html = std::iter::zip(&sheet.panels, sheet.plots())
        .map(|(panel, place)| drawn(panel, place))
        .collect();
    let svg = html!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{}" height="{}" viewBox="0 0 {} {}" font-family="{}" font-size="14" role="img"><title>{}</title><rect width="100%" height="100%" fill="var(--bg)"/>{}{}{}{}<text x="{}" y="{}" fill="var(--muted)">Goodput Studio</text></svg>"#,
        WIDTH.to_string(),
        height.to_string(),
        WIDTH.to_string(),
        height.to_string(),
        FONT,
        sheet.title,
        heading(sheet),
        facts(sheet),
        legend(sheet),
        drawn,
        MARGIN.to_string(),
        (height - 16.0).to_string(),
    );
    plain_colours(&svg.into_string())
}

fn heading(sheet: &Sheet) -> Html {
    let lines = sheet.heading().into_iter().enumerate();
    lines
        .map(|(index, line)| {
            html!(
                r#"<text x="{}" y="{}" font-size="26" font-weight="600" fill="var(--text)">{}</text>"#,
                MARGIN.to_string(),
                (52.0 + HEADING_LINE * index as f64).to_string(),
                line
            )
        })
        .collect()
}

fn facts(sheet: &Sheet) -> Html {
    let top = 80.0 + sheet.pushed();
    let lines = sheet.lines().into_iter().enumerate();
    lines
        .map(|(index, line)| {
            html!(
                r#"<text x="{}" y="{}" fill="var(--muted)">{}</text>"#,
                MARGIN.to_string(),
                (top + 20.0 * index as f64).to_string(),
                line
            )
        })
        .collect()
}

fn legend(sheet: &Sheet) -> Html {
    let lines = sheet.legend_lines().into_iter();
    lines
        .map(|line| {
            let dot = line.colour.map(|colour| {
                html!(
                    r#"<circle cx="{}" cy="{}" r="6" fill="{}"/>"#,
                    (line.left + 6.0).to_string(),
                    line.y.to_string(),
                    SERIES[colour % SERIES.len()]
                )
            });
            html!(
                r#"{}<text x="{}" y="{}" fill="var(--text)">{}</text>"#,
                dot,
                (line.left + 20.0).to_string(),
                (line.y + 5.0).to_string(),
                line.text
            )
        })
        .collect()
}

fn drawn(panel: &Panel, [left, top, wide, high]: Area) -> Html {
    let heading = (!panel.title.is_empty()).then(|| {
        html!(
            r#"<text x="{}" y="{}" font-weight="600" fill="var(--text)">{}</text>"#,
            (left - 52.0).to_string(),
            (top - 30.0).to_string(),
            panel.title
        )
    });
    html!(
        r#"{}<svg x="{}" y="{}" width="{}" height="{}" overflow="visible">{}{}</svg>"#,
        heading,
        left.to_string(),
        top.to_string(),
        wide.to_string(),
        high.to_string(),
        Html::script(within(panel)),
        limit(panel)
    )
}

/// What the promise's line says; on pages it stands beside the picture.
fn limit(panel: &Panel) -> Option<Html> {
    let chart = &panel.chart;
    let limit = chart.over.limit.as_ref()?;
    let y = (1.0 - chart.y.fraction(limit.value)).clamp(0.0, 1.0) * 100.0;
    Some(html!(
        r#"<text x="100%" y="{}%" dy="-6" text-anchor="end" font-size="12" fill="var(--accent)">{}</text>"#,
        format!("{y:.2}"),
        limit.text
    ))
}

/// The chart with its whiskers, for an element that gives it its size. What is grey is grey.
pub fn within(panel: &Panel) -> String {
    let mut svg = whole(&panel.chart);
    if let Some(grey) = panel.grey {
        let own = format!("var(--series-{})", grey % SERIES.len() + 1);
        svg = svg.replace(&own, "var(--line-strong)");
    }
    let end = svg.len() - "</svg>".len();
    svg.truncate(end);
    svg += &trail(panel);
    svg += &open_ends(panel);
    for one in &panel.whiskers {
        svg += &whisker(panel, *one);
    }
    svg + "</svg>"
}

/// Lines between neighbours, each with places of its own.
fn trail(Panel { chart, trail, .. }: &Panel) -> String {
    let place = |(x, y): (f64, f64)| {
        (
            chart.x.fraction(x) * 100.0,
            (1.0 - chart.y.fraction(y)) * 100.0,
        )
    };
    let pairs = trail
        .windows(2)
        .map(|pair| (place(pair[0]), place(pair[1])));
    pairs
        .map(|((x1, y1), (x2, y2))| {
            format!(r#"<line x1="{x1:.2}%" y1="{y1:.2}%" x2="{x2:.2}%" y2="{y2:.2}%" style="stroke:var(--line-strong)"/>"#)
        })
        .collect()
}

/// An arrow where one end of a mark's interval is not known: bands end at the mark there, which would look exact.
fn open_ends(Panel { chart, .. }: &Panel) -> String {
    let shown =
        open(chart).filter(|(_, mark)| (-0.001..=1.001).contains(&chart.x.fraction(mark.x)));
    let arrows = shown.map(|(colour, mark)| {
        let way = match (mark.lo, mark.hi) {
            (Some(_), None) => -1,
            _ => 1,
        };
        let (x, y) = (
            chart.x.fraction(mark.x) * 100.0,
            (1.0 - chart.y.fraction(mark.y)) * 100.0,
        );
        let colour = series_colour(colour);
        let (from, tip, wing) = (way * 6, way * 20, way * 14);
        format!(
            r#"<svg x="{x:.2}%" y="{y:.2}%" overflow="visible"><path d="M0 {from}V{tip}M-4 {wing}L0 {tip}L4 {wing}" style="fill:none;stroke:{colour};stroke-width:1.5"/></svg>"#
        )
    });
    arrows.collect()
}

/// Marks of which one end of the interval is known, with the places of their colours.
fn open(chart: &Chart) -> impl Iterator<Item = (usize, &Mark)> {
    let marks = chart.lines.iter();
    let marks = marks.flat_map(|line| line.marks.iter().map(|mark| (line.colour, mark)));
    marks.filter(|(_, mark)| mark.place == Place::Value && mark.lo.is_some() != mark.hi.is_some())
}

/// What the arrows say, where there are any.
pub fn open_note(chart: &Chart) -> Option<String> {
    let said = "↑ at a point: its interval has no upper end yet, since it has too few requests.";
    open(chart).next().map(|_| said.to_owned())
}

fn whisker(Panel { chart, .. }: &Panel, Whisker { colour, x, lo, hi }: Whisker) -> String {
    let colour = series_colour(colour);
    let x = chart.x.fraction(x) * 100.0;
    let down = |y: f64| (1.0 - chart.y.fraction(y)) * 100.0;
    let (lo, hi) = (down(lo), down(hi));
    let cap = |y: f64| {
        format!(
            r#"<svg x="{x:.2}%" y="{y:.2}%" overflow="visible"><line x1="-6" x2="6" style="stroke:{colour};stroke-width:2"/></svg>"#
        )
    };
    format!(
        r#"<line x1="{x:.2}%" x2="{x:.2}%" y1="{hi:.2}%" y2="{lo:.2}%" style="stroke:{colour};stroke-width:2"/>{}{}"#,
        cap(lo),
        cap(hi)
    )
}

/// The same with the light theme's colours in place of their names.
pub fn plain_colours(svg: &str) -> String {
    let series = SERIES.iter().enumerate();
    let series = series.map(|(index, colour)| (format!("--series-{}", index + 1), *colour));
    let named = COLOURS
        .iter()
        .map(|(name, colour)| ((*name).to_owned(), *colour));
    named
        .chain(series)
        .fold(svg.to_owned(), |svg, (name, colour)| {
            svg.replace(&format!("var({name})"), colour)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::sheet::of_study;
    use crate::url_state::ViewState;

    #[test]
    fn the_picture_stands_alone() {
        let mut study = fixture::study();
        study.spec.name = "a < b".into();
        let svg = svg(&of_study(&study, &ViewState::default()));
        assert!(!svg.contains("var("), "{svg}");
        assert!(
            svg.contains("a &lt; b") && svg.contains("SLO: ttft"),
            "{svg}"
        );
        assert_eq!(svg.matches("<svg").count(), svg.matches("</svg>").count());
    }

    #[test]
    fn an_interval_with_one_end_is_open_at_the_other() {
        let study = fixture::study();
        let mut panel = of_study(&study, &ViewState::default()).panels.remove(0);
        let arrows = |panel: &Panel| within(panel).matches("L0 -20").count();
        for mark in panel.chart.lines.iter_mut().flat_map(|it| &mut it.marks) {
            (mark.place, mark.lo, mark.hi) = (Place::Value, Some(mark.y), Some(mark.y));
        }
        assert_eq!(arrows(&panel), 0);
        panel.chart.lines[0].marks[0].hi = None;
        assert_eq!(arrows(&panel), 1);
        panel.chart.lines[0].marks[0].lo = None;
        assert_eq!(arrows(&panel), 0, "nothing is known");
    }

    #[test]
    fn grey_is_grey_and_whiskers_have_two_ends() {
        let study = fixture::study();
        let mut panel = of_study(&study, &ViewState::default()).panels.remove(0);
        panel.grey = Some(0);
        panel.whiskers = vec![Whisker {
            colour: 2,
            x: 1000.0,
            lo: 50.0,
            hi: 80.0,
        }];
        panel.trail = vec![(500.0, 10.0), (1000.0, 60.0)];
        let svg = within(&panel);
        assert!(
            !svg.contains("var(--series-1);stroke-width:2\" stroke-dasharray"),
            "{svg}"
        );
        let cap = r#"<line x1="-6" x2="6" style="stroke:var(--series-3)"#;
        assert_eq!(svg.matches(cap).count(), 2, "{svg}");
        assert_eq!(svg.matches("<svg").count(), svg.matches("</svg>").count());
    }
}
