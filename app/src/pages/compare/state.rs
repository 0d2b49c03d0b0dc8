//! What the compare page shows, as its address: every choice stands in it, what is as usual is left out.

use measure::slo::Slo;
use uuid::Uuid;

use crate::studio::{CompareView, StudioError};
use crate::url_state::{self, ViewState, escape};

/// How the curves are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Drawing {
    /// Over each other.
    #[default]
    Overlay,
    /// A small chart a configuration, the baseline in grey.
    Small,
    /// Ceilings against the value of one knob.
    Knob,
}

impl Drawing {
    /// All, in the order of the page, with how each is called in addresses and on the page.
    pub const ALL: [(Self, &'static str, &'static str); 3] = [
        (Self::Overlay, "overlay", "over each other"),
        (Self::Small, "small", "side by side"),
        (Self::Knob, "knob", "against a knob"),
    ];
}

/// The choices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompareState {
    /// Configurations in the order of the address: it gives each its colour.
    pub ids: Vec<Uuid>,
    /// The one that the others are compared with, by its place in `ids`.
    pub baseline: usize,
    /// How the curves are drawn.
    pub drawing: Drawing,
    /// The knob on the axis, where it is not the first that fits.
    pub knob: Option<String>,
    /// Words that another configuration is looked for by.
    pub find: Option<String>,
    /// Axes, SLO, hidden curves and zoom.
    pub chart: ViewState,
    /// The link that shows it; none where its owner looks. It stands in the path.
    pub link: Option<Link>,
}

/// A link that shows a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Link {
    /// Its token.
    pub token: String,
    /// It shows a study whole, so that there is a page of it.
    pub shows_study: bool,
}

/// A query, decoded, in order.
pub type Query = [(String, String)];

fn value(query: &Query, key: &str) -> Option<String> {
    let found = query.iter().find(|(known, _)| known == key);
    found.map(|(_, value)| value.clone())
}

impl CompareState {
    /// Reads an address; with it, what stands there in vain, a sentence each.
    ///
    /// # Errors
    ///
    /// A configuration that is no id: there is none such.
    pub fn read(query: &Query) -> Result<(Self, Vec<String>), StudioError> {
        let get = |key: &str| value(query, key).filter(|it| !it.is_empty());
        let ids = query.iter().filter(|(key, _)| key == "c");
        let ids: Option<Vec<Uuid>> = ids.map(|(_, id)| id.parse().ok()).collect();
        let ids = ids.ok_or_else(|| StudioError::NotFound {
            what: "configuration".into(),
        })?;
        let mut told = url_state::told(get);
        told.extend(get("slo").and_then(|text| not_an_slo(&text)));
        let baseline = get("baseline").map(|text| (place(&ids, &text), text));
        if let Some((None, text)) = &baseline {
            told.push(format!(
                "baseline={} is none of these configurations: the first one is.",
                short(text)
            ));
        }
        let drawing = get("view").map(|text| (drawing(&text), text));
        if let Some((None, text)) = &drawing {
            told.push(format!(
                "view={} is no drawing: the curves are shown over each other.",
                short(text)
            ));
        }
        let state = Self {
            baseline: baseline.and_then(|(place, _)| place).unwrap_or_default(),
            drawing: drawing.and_then(|(it, _)| it).unwrap_or_default(),
            knob: get("knob"),
            find: value(query, "find"),
            chart: ViewState::read(|key| value(query, key)),
            link: None,
            ids,
        };
        Ok((state, told))
    }

    /// Leaves configurations out. Hidden curves are numbered by place, so that none stays hidden.
    pub fn leave_out(&mut self, gone: &[Uuid]) {
        if gone.is_empty() {
            return;
        }
        let baseline = self.ids.get(self.baseline).copied();
        self.ids.retain(|id| !gone.contains(id));
        let place = self.ids.iter().position(|id| Some(*id) == baseline);
        self.baseline = place.unwrap_or_default();
        self.chart.hidden.clear();
    }

    /// The configurations as they are compared: the baseline first.
    pub fn order(&self) -> Vec<Uuid> {
        let baseline = self.ids.get(self.baseline);
        let others = self.ids.iter().enumerate();
        let others = others.filter(|(place, _)| *place != self.baseline);
        let others = others.map(|(_, id)| id);
        baseline.into_iter().chain(others).copied().collect()
    }

    /// A compared configuration's place in the order of colours.
    pub fn colour(&self, compared: &CompareView, index: usize) -> usize {
        let one = compared.configurations.get(index);
        let id = one.map(|one| one.configuration.id);
        let place = self.ids.iter().position(|known| Some(*known) == id);
        place.unwrap_or(index)
    }

    /// Whether a compared configuration's curve is hidden.
    pub fn hides(&self, compared: &CompareView, index: usize) -> bool {
        let place = self.colour(compared, index) as u32;
        self.chart.hidden.contains(&place)
    }

    /// The SLO that is asked for.
    pub fn slo(&self) -> Option<Slo> {
        self.chart.slo.clone()
    }

    /// Names and values of the address, decoded.
    pub fn pairs(&self) -> Vec<(String, String)> {
        let mut pairs: Vec<(String, String)> = Vec::new();
        let mut put = |key: &str, value: String| pairs.push((key.to_owned(), value));
        self.ids.iter().for_each(|id| put("c", id.to_string()));
        if let Some(id) = self.ids.get(self.baseline).filter(|_| 0 < self.baseline) {
            put("baseline", id.to_string());
        }
        let drawing = Drawing::ALL.iter().find(|(it, ..)| *it == self.drawing);
        if let Some((_, name, _)) = drawing.filter(|(it, ..)| *it != Drawing::Overlay) {
            put("view", (*name).to_owned());
        }
        if let Some(knob) = &self.knob {
            put("knob", knob.clone());
        }
        let chart = ViewState {
            slo: None,
            ..self.chart.clone()
        };
        for pair in chart.query().trim_start_matches('?').split('&') {
            if let Some((key, value)) = pair.split_once('=') {
                put(key, value.to_owned());
            }
        }
        if let Some(slo) = &self.chart.slo {
            put("slo", slo.to_string());
        }
        pairs
    }

    /// The query without its question mark.
    pub fn query(&self) -> String {
        query_of(&self.pairs())
    }

    /// The address of the page.
    pub fn link(&self) -> String {
        format!("{}?{}", self.path(), self.query())
    }

    /// The path of the page.
    pub fn path(&self) -> String {
        let link = self.link.as_ref();
        link.map_or("/compare".into(), |it| format!("/s/{}/compare", it.token))
    }

    /// Where a study's page is: a link shows its own study alone, or no study at all.
    pub fn study(&self, id: Uuid) -> Option<String> {
        match &self.link {
            None => Some(format!("/studies/{id}")),
            Some(link) => link.shows_study.then(|| format!("/s/{}", link.token)),
        }
    }

    /// The query of a link that names these configurations and their SLO itself.
    pub fn query_of_link(&self) -> String {
        let mut own = self.clone();
        own.chart.slo = None;
        let pairs = own.pairs().into_iter().filter(|(key, _)| key != "c");
        query_of(&pairs.collect::<Vec<_>>())
    }

    /// The address of the page with something changed.
    pub fn with(&self, change: impl FnOnce(&mut Self)) -> String {
        let mut other = self.clone();
        change(&mut other);
        other.link()
    }

    /// The address without a configuration.
    pub fn without(&self, place: usize) -> String {
        self.with(|it| {
            it.ids.remove(place);
            it.baseline = match it.baseline {
                baseline if baseline == place => 0,
                baseline if place < baseline => baseline - 1,
                baseline => baseline,
            };
            let place = place as u32;
            it.chart.hidden.retain(|hidden| *hidden != place);
            let behind = it.chart.hidden.iter_mut().filter(|hidden| place < **hidden);
            behind.for_each(|hidden| *hidden -= 1);
        })
    }
}

fn query_of(pairs: &Query) -> String {
    let pairs: Vec<String> = pairs
        .iter()
        .map(|(key, value)| format!("{key}={}", escape(value).replace("%2C", ",")))
        .collect();
    pairs.join("&")
}

fn place(ids: &[Uuid], text: &str) -> Option<usize> {
    let id = text.parse::<Uuid>().ok()?;
    ids.iter().position(|known| *known == id)
}

fn drawing(text: &str) -> Option<Drawing> {
    let found = Drawing::ALL.into_iter().find(|(_, name, _)| *name == text);
    found.map(|(it, ..)| it)
}

fn not_an_slo(text: &str) -> Option<String> {
    let wrong = text.parse::<Slo>().err()?;
    Some(format!(
        "The SLO in the address cannot be read: {wrong}. All are judged by the baseline's own."
    ))
}

/// As much of an address as a sentence repeats.
pub(super) fn short(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str) -> Vec<(String, String)> {
        let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
        pairs
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect()
    }

    fn ids(count: u128) -> Vec<Uuid> {
        (1..=count).map(Uuid::from_u128).collect()
    }

    fn three() -> CompareState {
        CompareState {
            ids: ids(3),
            ..CompareState::default()
        }
    }

    #[test]
    fn every_choice_survives_the_address() {
        let mut state = three();
        state.baseline = 2;
        state.drawing = Drawing::Small;
        state.knob = Some("max-num-seqs".into());
        state.chart.hidden = vec![0, 2];
        state.chart.zoom = Some((0.5, 8.0));
        state.chart.slo = "ttft:p95<500ms attain>=95%".parse().ok();
        let (read, told) = CompareState::read(&state.pairs()).expect("read");
        assert_eq!((read, told), (state, Vec::new()));
    }

    #[test]
    fn what_is_as_usual_is_left_out() {
        let [a, b, c] = [1, 2, 3].map(Uuid::from_u128);
        assert_eq!(three().link(), format!("/compare?c={a}&c={b}&c={c}"));
    }

    #[test]
    fn the_baseline_comes_first_and_colours_stay() {
        let mut state = three();
        state.baseline = 1;
        let [a, b, c] = [1, 2, 3].map(Uuid::from_u128);
        assert_eq!(state.order(), [b, a, c]);
    }

    #[test]
    fn without_one_the_others_stay_what_they_are() {
        let mut state = three();
        (state.baseline, state.chart.hidden) = (2, vec![1, 2]);
        let [b, c] = [2, 3].map(Uuid::from_u128);
        let gone = format!("/compare?c={b}&c={c}&baseline={c}&hide=0,1");
        assert_eq!(state.without(0), gone);
        let [a, b] = [1, 2].map(Uuid::from_u128);
        assert_eq!(
            state.without(2),
            format!("/compare?c={a}&c={b}&hide=1"),
            "the first is the baseline then"
        );
    }

    #[test]
    fn what_is_in_vain_is_told() {
        let one = Uuid::from_u128(1);
        let text = format!("c={one}&baseline=7&view=pie&slo=nonsense&p=p42");
        let (state, told) = CompareState::read(&query(&text)).expect("read");
        assert_eq!((state.baseline, state.drawing), (0, Drawing::Overlay));
        assert_eq!(told.len(), 4, "{told:?}");
        assert!(
            told.iter()
                .any(|it| it.starts_with("baseline=7 is none of"))
        );
        assert!(
            told.iter()
                .any(|it| it.starts_with("view=pie is no drawing"))
        );
        assert!(
            CompareState::read(&query("c=7")).is_err(),
            "there is none such"
        );
    }
}
