//! What is plotted, a row a mark: figures with their intervals, how many requests stand behind each, and the studio's facts.

use uuid::Uuid;

use super::client;
use crate::chart::{Chart, Fill, Mark, Place};
use crate::pages::cache_word;
use crate::studio::{ConfigurationView, PointView};

/// Whose marks a chart's line has.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    /// The line's place in the order of colours.
    pub colour: usize,
    /// The study's name.
    pub study: &'a str,
    /// The study.
    pub id: Uuid,
    /// Not measured on a real engine.
    pub simulated: bool,
    /// The configuration.
    pub configuration: &'a ConfigurationView,
    /// Its points.
    pub points: Vec<&'a PointView>,
}

const HEAD: &str = "configuration,study,study_id,level,repeat,x_axis,x,y_axis,y,y_lo,y_hi,requests,mark,client,cache,simulated,slo";

/// Rows under a head, as spreadsheets take them (RFC 4180). What has no value has an empty field, and `mark` says why.
pub fn csv(chart: &Chart, sources: &[Source<'_>], slo: &str) -> String {
    let mut text = HEAD.to_owned() + "\r\n";
    for line in &chart.lines {
        let source = sources.iter().find(|it| it.colour == line.colour);
        for mark in &line.marks {
            text += &row(chart, mark, (&line.name, source), slo);
        }
    }
    text
}

fn row(
    chart: &Chart,
    mark: &Mark,
    (name, source): (&str, Option<&Source<'_>>),
    slo: &str,
) -> String {
    let point = source.and_then(|it| it.points.iter().find(|point| point.id == mark.id));
    let number = |value: Option<f64>| {
        value
            .filter(|it| it.is_finite())
            .map_or(String::new(), |it| it.to_string())
    };
    let (has_x, has_y) = (
        mark.place != Place::RightEdge,
        mark.place == Place::Value || mark.place == Place::RightEdge,
    );
    let requests = point.and_then(|it| it.summary.as_ref());
    let fields = [
        name.to_owned(),
        source.map_or(String::new(), |it| it.study.to_owned()),
        source.map_or(String::new(), |it| it.id.to_string()),
        point.map_or(String::new(), |it| it.level.to_string()),
        point.map_or(String::new(), |it| it.repeat.to_string()),
        chart.x.title.clone(),
        number(has_x.then_some(mark.x)),
        chart.y.title.clone(),
        number(has_y.then_some(mark.y)),
        number(mark.lo.filter(|_| has_y)),
        number(mark.hi.filter(|_| has_y)),
        requests.map_or(String::new(), |it| it.scheduled.to_string()),
        said(mark).to_owned(),
        point
            .and_then(|it| client(&[it]))
            .map_or(String::new(), |it| first_word(&it)),
        source.map_or(String::new(), |it| {
            cache_word(it.configuration.cache_cold).word.to_owned()
        }),
        source.map_or(String::new(), |it| it.simulated.to_string()),
        slo.to_owned(),
    ];
    record(&fields)
}

/// A row of these fields.
pub fn record(fields: &[String]) -> String {
    let fields: Vec<String> = fields.iter().map(|it| quoted(it)).collect();
    fields.join(",") + "\r\n"
}

fn first_word(text: &str) -> String {
    text.split(' ').next().unwrap_or_default().to_owned()
}

/// What kind of mark it is.
fn said(mark: &Mark) -> &'static str {
    match (mark.place, mark.fill) {
        (_, Fill::Hollow) => "void",
        (Place::Above, _) => "above capacity",
        (Place::Infinite, _) => "infinite",
        (Place::RightEdge, _) => "everything at once",
        (Place::Value, _) => "value",
    }
}

/// A field in quotes where it needs them. What a spreadsheet would take for a formula is text.
fn quoted(text: &str) -> String {
    let formula =
        text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err();
    let text = if formula {
        format!("'{text}")
    } else {
        text.to_owned()
    };
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::pages::main_chart;
    use crate::url_state::ViewState;

    #[test]
    fn every_mark_is_a_row_with_its_count_and_its_promise() {
        let study = fixture::study();
        let chart = main_chart(&study, &study.spec.slo, &ViewState::default());
        let sources: Vec<Source<'_>> = (0_u32..)
            .zip(&study.configurations)
            .map(|(index, configuration)| Source {
                colour: index as usize,
                study: &study.spec.name,
                id: study.id,
                simulated: true,
                configuration,
                points: study
                    .points
                    .iter()
                    .filter(|it| it.configuration == index)
                    .collect(),
            })
            .collect();
        let text = csv(&chart, &sources, &study.spec.slo.to_string());
        let rows: Vec<&str> = text.trim_end().split("\r\n").collect();
        let marks: usize = chart.lines.iter().map(|it| it.marks.len()).sum();
        assert_eq!(rows.len(), marks + 1, "{text}");
        let columns = HEAD.split(',').count();
        assert!(rows[1].split(',').count() >= columns, "{text}");
        assert!(
            text.contains("TTFT p95 (ms)") && text.contains("everything at once"),
            "{text}"
        );
        assert!(rows[1].contains("true"), "{text}");
    }

    #[test]
    fn names_are_text_and_no_formulas() {
        for (text, expected) in [
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("=1+1", "'=1+1"),
            ("-3.5", "-3.5"),
        ] {
            assert_eq!(quoted(text), expected);
        }
    }
}
