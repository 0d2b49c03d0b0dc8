//! What a chart shows, as the query of its URL: every view is a link.

use std::str::FromStr;

use measure::decimal;
use measure::quantile::{Distribution, Estimate};
use measure::slo::{Metric, Slo};

/// A percentile that is always there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Percentile {
    /// The median.
    P50,
    /// The 95th.
    #[default]
    P95,
    /// The 99th.
    P99,
}

impl Percentile {
    /// All, in the order of the menu.
    pub const ALL: [Self; 3] = [Self::P50, Self::P95, Self::P99];

    /// In URLs and on pages.
    pub fn name(self) -> &'static str {
        match self {
            Self::P50 => "p50",
            Self::P95 => "p95",
            Self::P99 => "p99",
        }
    }

    /// The percentile's estimate.
    pub fn of(self, distribution: &Distribution) -> Option<&Estimate> {
        match self {
            Self::P50 => distribution.p50.as_ref(),
            Self::P95 => distribution.p95.as_ref(),
            Self::P99 => distribution.p99.as_ref(),
        }
    }
}

/// What the horizontal axis shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Across {
    /// Output tokens per second.
    #[default]
    OutputTokens,
    /// Arrivals per second of the realised schedule.
    Offered,
    /// Completed requests per second.
    Completed,
    /// Output tokens per second and GPU.
    PerGpu,
    /// Output tokens per second that one user sees.
    PerUser,
}

impl Across {
    /// All, in the order of the menu.
    pub const ALL: [Self; 5] = [
        Self::OutputTokens,
        Self::Offered,
        Self::Completed,
        Self::PerGpu,
        Self::PerUser,
    ];

    /// In URLs.
    pub fn name(self) -> &'static str {
        match self {
            Self::OutputTokens => "tok",
            Self::Offered => "offered",
            Self::Completed => "completed",
            Self::PerGpu => "gpu",
            Self::PerUser => "user",
        }
    }

    /// In menus.
    pub fn label(self) -> &'static str {
        match self {
            Self::OutputTokens => "output tok/s",
            Self::Offered => "offered rate",
            Self::Completed => "completed req/s",
            Self::PerGpu => "tok/s per GPU",
            Self::PerUser => "tok/s per user",
        }
    }

    /// Whether what it shows falls as the load rises.
    pub fn falls(self) -> bool {
        self == Self::PerUser
    }
}

/// Metrics that the vertical axis can show, in the order of the menu; some of them [`counted`] from the schedule, too.
pub const METRICS: [Metric; 6] = [
    Metric::Ttft,
    Metric::Ttfa,
    Metric::Tpot,
    Metric::Itl,
    Metric::Stall,
    Metric::E2e,
];

/// From when a latency is counted, in the order of the menu: whether from the schedule, its name in the menu.
pub const COUNTED: [(bool, &str); 2] = [(false, "as sent"), (true, "as scheduled")];

/// A metric counted from the schedule, or from the sending. What begins later is itself.
pub fn counted(metric: Metric, from_schedule: bool) -> Metric {
    let sent = metric.as_sent();
    let scheduled = from_schedule.then(|| sent.as_scheduled()).flatten();
    scheduled.unwrap_or(sent)
}

/// Whether a metric is counted from the schedule.
pub fn is_scheduled(metric: Metric) -> bool {
    metric.as_sent() != metric
}

/// A metric in URLs.
pub fn metric_key(metric: Metric) -> &'static str {
    metric.name()
}

/// A metric by its key.
pub fn metric_of(key: &str) -> Option<Metric> {
    Metric::ALL
        .into_iter()
        .find(|metric| metric_key(*metric) == key)
}

/// What a chart shows. The default is what a bare URL shows.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewState {
    /// The metric on the vertical axis.
    pub metric: Metric,
    /// Its percentile.
    pub percentile: Percentile,
    /// The horizontal axis.
    pub across: Across,
    /// Logarithmic axes.
    pub log: bool,
    /// The SLO, where it is not the study's own.
    pub slo: Option<Slo>,
    /// Configurations that are hidden, by index, sorted.
    pub hidden: Vec<u32>,
    /// The part of the horizontal axis that is shown, in its unit, where it is not all of it.
    pub zoom: Option<(f64, f64)>,
    /// The same of the vertical axis.
    pub up: Option<(f64, f64)>,
    /// The point whose iso-goodput map is shown, by its place in the study, where it is not the one that is chosen for people.
    pub map: Option<u32>,
}

impl Default for ViewState {
    fn default() -> Self {
        Self {
            metric: Metric::Ttft,
            percentile: Percentile::default(),
            across: Across::default(),
            log: false,
            slo: None,
            hidden: Vec::new(),
            zoom: None,
            up: None,
            map: None,
        }
    }
}

impl ViewState {
    /// Reads a query through `get`; what cannot be read is as in a bare URL.
    pub fn read(get: impl Fn(&str) -> Option<String>) -> Self {
        let named = |key: &str| get(key).unwrap_or_default();
        let mut hidden: Vec<u32> = named("hide")
            .split(',')
            .filter_map(|index| index.parse().ok())
            .collect();
        hidden.sort_unstable();
        hidden.dedup();
        Self {
            metric: metric_of(&named("y")).unwrap_or(Metric::Ttft),
            percentile: Percentile::ALL
                .into_iter()
                .find(|p| p.name() == named("p"))
                .unwrap_or_default(),
            across: Across::ALL
                .into_iter()
                .find(|x| x.name() == named("x"))
                .unwrap_or_default(),
            log: named("scale") == "log",
            slo: get("slo")
                .filter(|text| !text.is_empty())
                .and_then(|text| Slo::from_str(&text).ok()),
            hidden,
            zoom: zoom_of(&named("zoom")),
            up: zoom_of(&named("up")),
            map: named("map").parse().ok(),
        }
    }

    /// The query, empty or beginning with `?`; only what differs from a bare URL.
    pub fn query(&self) -> String {
        let Self {
            metric,
            percentile,
            across,
            log,
            slo,
            hidden,
            zoom,
            up,
            map,
        } = self;
        let bare = Self::default();
        let mut pairs = Vec::new();
        if *metric != bare.metric {
            pairs.push(format!("y={}", metric_key(*metric)));
        }
        if *percentile != bare.percentile {
            pairs.push(format!("p={}", percentile.name()));
        }
        if *across != bare.across {
            pairs.push(format!("x={}", across.name()));
        }
        if *log {
            pairs.push("scale=log".into());
        }
        if let Some(slo) = slo {
            pairs.push(format!("slo={}", escape(&slo.to_string())));
        }
        if !hidden.is_empty() {
            let hidden: Vec<String> = hidden.iter().map(u32::to_string).collect();
            pairs.push(format!("hide={}", hidden.join(",")));
        }
        if let Some((from, to)) = zoom {
            pairs.push(format!("zoom={from},{to}"));
        }
        if let Some((from, to)) = up {
            pairs.push(format!("up={from},{to}"));
        }
        if let Some(point) = map {
            pairs.push(format!("map={point}"));
        }
        if pairs.is_empty() {
            String::new()
        } else {
            format!("?{}", pairs.join("&"))
        }
    }
}

/// Two numbers, the smaller one first: `4,16`.
fn zoom_of(text: &str) -> Option<(f64, f64)> {
    let (from, to) = text.split_once(',')?;
    let (from, to) = (decimal::parse(from.trim())?, decimal::parse(to.trim())?);
    usable(from, to)
}

/// The range between these ends, where an axis can show it.
fn usable(from: f64, to: f64) -> Option<(f64, f64)> {
    let apart = FINEST * from.abs().max(to.abs()).max(FINEST);
    (to.abs() < FARTHEST && from.abs() < FARTHEST && apart < to - from).then_some((from, to))
}

/// Two ends of an axis lie at least this part of the larger apart, and at least the square of it.
const FINEST: f64 = 1e-6;
/// No axis reaches as far.
const FARTHEST: f64 = 1e15;

/// A range that was dragged out, with no more digits than an eye can tell: each end to a hundredth of the range, or of itself
/// where that is finer. `None` where nothing is left of it.
pub fn range(lo: f64, hi: f64) -> Option<(f64, f64)> {
    let span = hi - lo;
    let end = |value: f64| {
        let step = span.min(value.abs()).log10().floor() - 2.0;
        match value {
            0.0 => 0.0,
            _ if step < 0.0 => {
                let parts = 10f64.powf(-step);
                (value * parts).round() / parts
            }
            _ => {
                let unit = 10f64.powf(step);
                (value / unit).round() * unit
            }
        }
    };
    usable(end(lo), end(hi))
}

/// What stands in a query and is none of the choices, each with what is shown instead. The server tells it, so that no browser needs to.
#[cfg(feature = "ssr")]
pub fn told(get: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let wrong = asked(&get).into_iter().filter(|(_, _, known, _)| !known);
    wrong
        .map(|(key, what, _, shown)| {
            let text: String = get(key).unwrap_or_default().chars().take(40).collect();
            format!("{key}={text} is no {what}: {shown}.")
        })
        .collect()
}

/// A key, what it names, whether that can be read, and what is shown where it cannot.
#[cfg(feature = "ssr")]
type Asked = (&'static str, &'static str, bool, &'static str);

#[cfg(feature = "ssr")]
fn asked(get: &impl Fn(&str) -> Option<String>) -> [Asked; 8] {
    let numbers = |text: &str| text.split(',').all(|it| it.parse::<u32>().is_ok());
    let percentile = |text: &str| Percentile::ALL.iter().any(|it| it.name() == text);
    let across = |text: &str| Across::ALL.iter().any(|it| it.name() == text);
    let number = |text: &str| text.parse::<u32>().is_ok();
    [
        (
            "y",
            "latency",
            given(get, "y", |it| metric_of(it).is_some()),
            "shown is TTFT",
        ),
        (
            "p",
            "percentile",
            given(get, "p", percentile),
            "shown is p95",
        ),
        (
            "x",
            "horizontal axis",
            given(get, "x", across),
            "shown are output tokens per second",
        ),
        (
            "scale",
            "scale",
            given(get, "scale", |it| matches!(it, "log" | "lin")),
            "shown is linear",
        ),
        (
            "hide",
            "list of configurations by number",
            given(get, "hide", numbers),
            "what can be read of it is hidden",
        ),
        (
            "zoom",
            "range (two numbers, the smaller first)",
            given(get, "zoom", |it| zoom_of(it).is_some()),
            "all of the axis is shown",
        ),
        (
            "up",
            "range (two numbers, the smaller first)",
            given(get, "up", |it| zoom_of(it).is_some()),
            "all of the axis is shown",
        ),
        (
            "map",
            "point by its number",
            given(get, "map", number),
            "the map is that of the point nearest to the ceiling",
        ),
    ]
}

/// Whether a choice is left out, or one that there is.
#[cfg(feature = "ssr")]
fn given(get: impl Fn(&str) -> Option<String>, key: &str, known: impl Fn(&str) -> bool) -> bool {
    get(key).is_none_or(|text| text.is_empty() || known(&text))
}

/// Percent-encodes all but letters, digits and `-._~`.
pub fn escape(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a query the way the router does.
    fn read(query: &str) -> ViewState {
        let map = leptos_router::params::ParamsMap::from_iter(
            query.trim_start_matches('?').split('&').filter_map(|pair| {
                let (key, value) = pair.split_once('=')?;
                Some((key.to_owned(), value.to_owned()))
            }),
        );
        ViewState::read(|key| map.get(key))
    }

    #[test]
    fn a_range_that_no_axis_can_show_is_none() {
        for text in [
            "0,5e-324",
            "-1e-323,5e-324",
            "-1.7e308,1.7e308",
            "5,5.000001",
            "9,3",
            "1e15,1e16",
        ] {
            assert_eq!(zoom_of(text), None, "{text}");
        }
        assert_eq!(zoom_of("0, 0.001"), Some((0.0, 0.001)));
        assert_eq!(zoom_of("-2,16"), Some((-2.0, 16.0)));
    }

    #[test]
    fn a_bare_url_is_the_default_and_back() {
        assert_eq!(read(""), ViewState::default());
        assert_eq!(ViewState::default().query(), "");
    }

    #[test]
    fn every_choice_survives_the_url() {
        for metric in Metric::ALL {
            for percentile in Percentile::ALL {
                for across in Across::ALL {
                    for log in [false, true] {
                        let state = ViewState {
                            metric,
                            percentile,
                            across,
                            log,
                            slo: None,
                            hidden: vec![0, 2],
                            zoom: Some((0.5, 1e3)),
                            up: Some((10.0, 250.5)),
                            map: Some(7),
                        };
                        assert_eq!(read(&state.query()), state);
                    }
                }
            }
        }
    }

    #[test]
    fn what_begins_at_the_send_is_counted_from_the_schedule_where_that_is_chosen() {
        for (metric, from_schedule, expected) in [
            (Metric::E2e, true, Metric::ScheduledE2e),
            (Metric::ScheduledE2e, false, Metric::E2e),
            (Metric::ScheduledTtfa, true, Metric::ScheduledTtfa),
            (Metric::Tpot, true, Metric::Tpot),
        ] {
            assert_eq!(counted(metric, from_schedule), expected);
        }
        for metric in Metric::ALL {
            assert!(METRICS.contains(&metric.as_sent()), "{metric}");
        }
    }

    #[test]
    fn an_slo_survives_the_url() {
        let slo: Slo = "ttft:p95<300ms tpot:p95<50ms attain>=99%"
            .parse()
            .expect("slo");
        let state = ViewState {
            slo: Some(slo),
            ..ViewState::default()
        };
        let query = state.query();
        assert!(!query.contains(' ') && !query.contains('<'), "{query}");
        assert_eq!(read(&query), state);
    }

    #[test]
    fn nonsense_is_read_as_a_bare_url() {
        assert_eq!(
            read("?y=frobs&p=p42&x=&scale=cubic&slo=nonsense&hide=a,b&zoom=9,3&up=4&map=x"),
            ViewState::default()
        );
    }

    #[test]
    fn a_dragged_range_has_no_digits_that_nobody_sees() {
        for (lo, hi, expected) in [
            (103.4567, 498.7654, Some((103.0, 499.0))),
            (1000.2341, 1000.9342, Some((1000.234, 1000.934))),
            (0.051234, 1893.2, Some((0.0512, 1890.0))),
            (-3.0, 0.0, Some((-3.0, 0.0))),
            (5.0, 5.0, None),
            (0.0, f64::INFINITY, None),
        ] {
            assert_eq!(range(lo, hi), expected, "{lo} {hi}");
        }
        let (lo, hi) = range(0.123456, 0.654321).expect("range");
        assert_eq!(format!("{lo},{hi}"), "0.123,0.654");
    }

    #[cfg(feature = "ssr")]
    #[test]
    fn what_is_no_choice_is_told_with_what_is_shown_instead() {
        let of = |query: &'static [(&str, &str)]| {
            told(|key| {
                let found = query.iter().find(|(known, _)| *known == key);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(of(&[("y", "tpot"), ("p", ""), ("zoom", "1,2")]), [""; 0]);
        assert_eq!(
            of(&[("p", "p42"), ("x", "furlongs"), ("zoom", "4")]),
            [
                "p=p42 is no percentile: shown is p95.",
                "x=furlongs is no horizontal axis: shown are output tokens per second.",
                "zoom=4 is no range (two numbers, the smaller first): all of the axis is shown.",
            ]
        );
    }
}
