//! What strangers with a link see: the study's numbers, and nothing that leads to the engine or to a person.

mod addresses; // where engines are, in what they say
pub(crate) mod compared; // configurations side by side
mod mint; // links are made and taken back
pub(crate) mod plain; // what a stranger may read of settings

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use app::scores::{Scores, finished, rejudge};
use app::studio::{PointState, PointView, ShareScope, StudioError, StudyState, StudyView};
use measure::knobs::{Fact, Facts};
use measure::score;
use measure::slo::{Ready, Slo};
use measure::study::{ConfigurationSpec, Endpoint, EngineSpec, StudySpec, Turn};
use sha2::{Digest, Sha256};
use url::Url;
use uuid::Uuid;

use super::bundles::shared_origin_words;
use super::views::Model;
use super::{LocalStudio, internal, missing};
use crate::store::{OpenShare, Opens};

/// Why a link gives no scores.
const FIGURES_ALONE: &str = "request: this link shows the figures of points alone";

/// Why a link to a comparison opens no study.
const COMPARISON_ALONE: &str =
    "study behind this link: it shows a comparison, at its address with /compare behind it";

impl LocalStudio {
    /// What a link to a study shows.
    pub(super) async fn shared_view(&self, token: &str) -> Result<StudyView, StudioError> {
        let (study, scope) = self.shared_study(token).await?;
        let model = Model::load(&self.store, study).await.map_err(internal)?;
        let model = model.ok_or_else(|| missing("link"))?;
        let mut view = self.completed(model.view()).await?;
        self.add_differences(&mut view).await;
        let mut view = shown_but_facts(&model, view, scope);
        show_facts(std::slice::from_mut(&mut view), scope, study);
        Ok(view)
    }

    /// The scores of a point of a shared study, where its link shows the times of requests.
    pub async fn shared_scores(&self, token: &str, point: Uuid) -> Result<Vec<u8>, StudioError> {
        let (study, scope) = self.shared_study(token).await?;
        if scope == ShareScope::Aggregates {
            return Err(missing(FIGURES_ALONE));
        }
        match self.store.scores(point).await.map_err(internal)? {
            Some((owner, scores)) if owner == study => Ok(scores),
            _ => Err(missing("finished point")),
        }
    }

    /// A study under another SLO, judged by the times of its requests.
    pub async fn judged_by(&self, study: StudyView, slo: &Slo) -> Result<StudyView, StudioError> {
        let mut known = Scores::new();
        for point in finished(&study) {
            if let Some((_, bytes)) = self.store.scores(point.id).await.map_err(internal)? {
                let scores = score::decode(&bytes).map_err(internal)?;
                known.insert(point.id, Arc::new(Ready::of(&scores)));
            }
        }
        let slo = slo.clone();
        let judged = tokio::task::spawn_blocking(move || rejudge(&study, &known, &slo)).await;
        judged.map_err(internal)
    }

    /// The scores of a shared study's points, as of one's own.
    pub async fn shared_study_scores(
        &self,
        token: &str,
        after: Option<Uuid>,
    ) -> Result<Vec<u8>, StudioError> {
        let (study, scope) = self.shared_study(token).await?;
        if scope == ShareScope::Aggregates {
            return Err(missing(FIGURES_ALONE));
        }
        self.study_scores(study, after).await
    }

    /// Why a shared study's configurations are slow, where its link shows all of it.
    pub(super) async fn shared_diagnosis(
        &self,
        token: &str,
    ) -> Result<Option<String>, StudioError> {
        match self.shared_study(token).await? {
            (study, ShareScope::All) => self.why_for_guest(study).await,
            _ => Ok(None),
        }
    }

    /// The study that a link shows whole. A link to a comparison shows none.
    async fn shared_study(&self, token: &str) -> Result<(Uuid, ShareScope), StudioError> {
        let OpenShare { scope, opens, .. } = self.opened(token).await?;
        match opens {
            Opens::Study(study) => Ok((study, scope)),
            Opens::Comparison { .. } => Err(missing(COMPARISON_ALONE)),
        }
    }

    /// A link that works.
    async fn opened(&self, token: &str) -> Result<OpenShare, StudioError> {
        let found = self.store.open_share(&hash(token)).await;
        found.map_err(internal)?.ok_or_else(|| missing("link"))
    }
}

fn hash(token: &str) -> Vec<u8> {
    Sha256::digest(token.as_bytes()).to_vec()
}

/// In place of why a point failed.
pub(crate) const POINT_FAILED: &str = "its engine failed";

/// What stands for the name of an engine that the studio started.
const STARTED: &str = "an engine of its own";

/// A study as a link of a scope shows it, with all that is known of its configurations.
fn shown_but_facts(model: &Model, view: StudyView, scope: ShareScope) -> StudyView {
    let origin = model.study.imported.as_ref();
    let origin = origin.map_or_else(String::new, shared_origin_words);
    let mut view = match scope {
        ShareScope::All => without_keys(view),
        ShareScope::Aggregates | ShareScope::Requests => stripped(view),
    };
    view.imported = origin;
    view.aggregates_only = scope == ShareScope::Aggregates;
    view
}

/// Leaves of facts what a link of a scope shows. What is hidden is numbered over all these studies; `of` is what they are shown by.
fn show_facts(views: &mut [StudyView], scope: ShareScope, of: Uuid) {
    if scope == ShareScope::All {
        return;
    }
    let all = |views: &mut [StudyView], change: &mut dyn FnMut(&mut Facts)| {
        let each = views.iter_mut().flat_map(|it| &mut it.configurations);
        each.for_each(|it| change(&mut it.facts));
    };
    let mut facts = Vec::new();
    all(views, &mut |it| facts.push(std::mem::take(it)));
    let mut shown = shown_facts(facts, of).into_iter();
    all(views, &mut |it| *it = shown.next().unwrap_or_default());
}

/// A view of which its owner shows all: names, note, tags, settings, facts and why points failed. Where engines are, and what opens
/// them, stays out of every link.
fn without_keys(mut view: StudyView) -> StudyView {
    let mut removed = Removed::default();
    let models: Vec<String> = endpoints(&mut view).map(|it| it.model.clone()).collect();
    endpoints(&mut view).for_each(|it| removed.strip_endpoint(it));
    // The model's name is among what is shown.
    let stripped = endpoints(&mut view).zip(models);
    stripped.for_each(|(endpoint, model)| endpoint.model = model);
    addresses::leave_out(&mut view, &removed);
    view
}

/// Every endpoint that a view names.
fn endpoints(view: &mut StudyView) -> impl Iterator<Item = &mut Endpoint> {
    let seen = view.configurations.iter_mut().map(|it| &mut it.spec);
    let specs = view.spec.configurations.iter_mut().chain(seen);
    let turned = specs.filter_map(|it| match &mut it.turn {
        Turn::OtherEndpoint(endpoint) => Some(endpoint),
        _ => None,
    });
    let own = match &mut view.spec.engine {
        EngineSpec::Endpoint(endpoint) => Some(endpoint),
        _ => None,
    };
    own.into_iter().chain(turned)
}

/// A view without engine URL, host, key variable, headers, note, tags and every setting that could hold an address. Names
/// of the study and its configurations stay: they are what the link is about. Where a name repeats what was taken out, as
/// names made from a model's path do, it is taken out there as well. Facts are left to [`show_facts`].
fn stripped(mut view: StudyView) -> StudyView {
    view.note.clear();
    view.tags.clear();
    view.underway = None;
    view.problem = view.problem.map(|_| generic_problem(view.state).to_owned());
    let mut removed = Removed::default();
    removed.strip_engine(&mut view.spec.engine);
    for spec in specs(&mut view) {
        removed.strip_configuration(spec);
    }
    // An engine's last words name files and machines.
    let failed = |it: &&mut PointView| it.state != PointState::Skipped;
    for point in view.points.iter_mut().filter(failed) {
        point.problem = point.problem.take().map(|_| POINT_FAILED.to_owned());
    }
    let summaries = view.points.iter_mut().filter_map(|it| it.summary.as_mut());
    for failure in summaries.flat_map(|it| it.first_failures.values_mut()) {
        failure.detail = None;
    }
    removed.strip_text(&mut view.spec.name);
    for spec in specs(&mut view) {
        removed.strip_text(&mut spec.name);
    }
    addresses::leave_out(&mut view, &removed);
    view
}

/// The facts of configurations as a stranger may read them: no address, no path and no person's words. What is not shown keeps what it
/// differs by: hidden values are numbered within what is shown (`of`: a study, or a link to a comparison), and no two of these are alike.
pub(crate) fn shown_facts(all: Vec<Facts>, of: Uuid) -> Vec<Facts> {
    let mut hidden = Hidden::of(of);
    let differs: Vec<String> = names(&all)
        .filter(|name| !alike(&all, name))
        .cloned()
        .collect();
    let mut shown = |name: String, fact: Fact| {
        let value = match plain::fact(&name, &fact.value) {
            Some(value) if value != plain::HIDDEN => value,
            None if !differs.contains(&name) || !plain::is_name(&name) => return None,
            _ => hidden.value(&name, &fact.value),
        };
        Some((name, Fact { value, ..fact }))
    };
    let mut of = |facts: Facts| {
        facts
            .into_iter()
            .filter_map(|(name, fact)| shown(name, fact))
            .collect()
    };
    all.into_iter().map(&mut of).collect()
}

fn names(all: &[Facts]) -> impl Iterator<Item = &String> {
    let names: BTreeSet<&String> = all.iter().flat_map(BTreeMap::keys).collect();
    names.into_iter()
}

/// Whether every configuration tells the same of it.
fn alike(all: &[Facts], name: &str) -> bool {
    let mut values = all.iter().map(|facts| facts.get(name).map(|it| &it.value));
    values
        .next()
        .is_none_or(|first| values.all(|it| it == first))
}

/// Values that are not shown, each with a number of its own.
struct Hidden {
    of: String,
    known: Vec<(String, String)>,
}

impl Hidden {
    fn of(id: Uuid) -> Self {
        let id = id.simple().to_string();
        Self {
            // The end of an id is random.
            of: id[id.len() - 6..].to_owned(),
            known: Vec::new(),
        }
    }

    /// `hidden (2 of 6fbb29)`.
    fn value(&mut self, name: &str, raw: &str) -> String {
        let same = |(of, value): &&(String, String)| of == name && value == raw;
        let of_name = || self.known.iter().filter(|(of, _)| of == name);
        let number = match of_name().position(|it| same(&it)) {
            Some(place) => place,
            None => {
                let place = of_name().count();
                self.known.push((name.to_owned(), raw.to_owned()));
                place
            }
        };
        format!("{} ({} of {})", plain::HIDDEN, number + 1, self.of)
    }
}

/// A spec as a stranger may read it, by the same rules; what was taken out.
pub(crate) fn strip_spec(spec: &mut StudySpec) -> Removed {
    let mut removed = Removed::default();
    removed.strip_engine(&mut spec.engine);
    for configuration in &mut spec.configurations {
        removed.strip_configuration(configuration);
    }
    removed.strip_text(&mut spec.name);
    for configuration in &mut spec.configurations {
        removed.strip_text(&mut configuration.name);
    }
    removed
}

fn specs(view: &mut StudyView) -> impl Iterator<Item = &mut ConfigurationSpec> {
    let seen = view.configurations.iter_mut().map(|it| &mut it.spec);
    view.spec.configurations.iter_mut().chain(seen)
}

/// What was taken out, each with what stands there instead.
#[derive(Default)]
pub(crate) struct Removed(BTreeMap<String, String>);

impl Removed {
    fn strip_engine(&mut self, engine: &mut EngineSpec) {
        match engine {
            EngineSpec::Endpoint(endpoint) => self.strip_endpoint(endpoint),
            EngineSpec::Managed { name } => *name = STARTED.to_owned(),
            EngineSpec::Simulator { .. } => {}
        }
    }

    /// Whether nothing was taken out that another text could repeat.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn strip_endpoint(&mut self, endpoint: &mut Endpoint) {
        let url = std::mem::take(&mut endpoint.url);
        let host = Url::parse(&url).ok();
        let host = host.as_ref().and_then(Url::host_str);
        self.note(host.unwrap_or_default(), plain::HIDDEN);
        self.note(&url, plain::HIDDEN);
        let proxy = endpoint.connection.proxy.take().unwrap_or_default();
        let behind = Url::parse(&proxy).ok();
        let behind = behind.as_ref().and_then(Url::host_str);
        self.note(behind.unwrap_or_default(), plain::HIDDEN);
        self.note(&proxy, plain::HIDDEN);
        // Whether certificates were believed unseen, and HTTP/2, is what a stranger must know of the numbers.
        endpoint.connection.ca_file = None;
        endpoint.api_key_env = None;
        endpoint.api_key_secret = None;
        endpoint.headers.clear();
        let model = plain::model(&endpoint.model);
        self.note(&endpoint.model, &model);
        endpoint.model = model;
    }

    fn strip_configuration(&mut self, spec: &mut ConfigurationSpec) {
        match &mut spec.turn {
            Turn::OtherEndpoint(endpoint) => self.strip_endpoint(endpoint),
            Turn::Pause { instruction } => instruction.clear(),
            Turn::Managed { name } => *name = STARTED.to_owned(),
            Turn::AsIs => {}
        }
        let knobs = plain::knobs(&spec.knobs);
        for (name, value) in &spec.knobs {
            let shown = knobs.get(name).map(ToString::to_string);
            self.note(&value.to_string(), &shown.unwrap_or_default());
        }
        spec.knobs = knobs;
        self.strip_declared(&mut spec.declared);
    }

    /// What people declared goes by the rule of facts; what that hides is left out.
    fn strip_declared(&mut self, declared: &mut BTreeMap<String, String>) {
        let said = std::mem::take(declared);
        for (name, value) in said {
            let shown = plain::fact(&name, &value).filter(|it| it != plain::HIDDEN);
            self.note(&value, shown.as_deref().unwrap_or_default());
            declared.extend(shown.map(|shown| (name, shown)));
        }
    }

    fn note(&mut self, raw: &str, shown: &str) {
        // A plain word in a name is the person's own, even where an engine's host is called so too.
        if raw != shown && raw.contains(['.', ':', '/', '\\', '@']) {
            self.0.insert(raw.to_owned(), shown.to_owned());
        }
    }

    /// Takes what was taken out out of a text as well. A URL goes before the host within it.
    pub(crate) fn strip_text(&self, name: &mut String) {
        let mut removed: Vec<_> = self.0.iter().collect();
        removed.sort_by_key(|(raw, _)| std::cmp::Reverse(raw.len()));
        for (raw, shown) in removed {
            *name = name.replace(raw.as_str(), shown);
        }
    }
}

pub(crate) fn generic_problem(state: StudyState) -> &'static str {
    match state {
        StudyState::Waiting => "The study waits for a person.",
        _ => "The study could not go on.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::knobs::Source;

    fn facts(all: &[(&str, &str)]) -> Facts {
        let fact = |(name, value): &(&str, &str)| {
            (
                (*name).to_owned(),
                Fact {
                    value: (*value).to_owned(),
                    source: Source::Engine,
                },
            )
        };
        all.iter().map(fact).collect()
    }

    #[test]
    fn what_is_hidden_keeps_what_it_differs_by() {
        let all = vec![
            facts(&[
                ("version", "/opt/a"),
                ("knob:cmd", "x y"),
                ("note", "/a"),
                ("at", "/a"),
            ]),
            facts(&[
                ("version", "/opt/b"),
                ("knob:cmd", "x y"),
                ("note", "/b"),
                ("at", "/a"),
            ]),
        ];
        let (one, other) = (Uuid::from_u128(0xabc_def), Uuid::from_u128(0x123_456));
        let shown = shown_facts(all.clone(), one);
        let value = |index: usize, name: &str| shown[index].get(name).map(|it| it.value.as_str());
        assert_eq!(value(0, "version"), Some("hidden (1 of abcdef)"));
        assert_eq!(value(1, "version"), Some("hidden (2 of abcdef)"));
        assert_eq!(value(0, "knob:cmd"), value(1, "knob:cmd"));
        // What nobody may read is kept only where it tells the two apart.
        assert_eq!(value(0, "note"), Some("hidden (1 of abcdef)"));
        assert_eq!(value(0, "at"), None);
        // What is hidden in another study may be anything.
        assert_ne!(shown_facts(all, other)[0], shown[0]);
    }

    #[test]
    fn what_a_person_declared_goes_by_the_rule_of_facts() {
        let mut spec = StudySpec::goodput_exercise();
        let said = [
            ("hardware", "1 x H100 80GB"),
            ("author", "ada@corp.example"),
            ("my secret", "hunter2"),
            ("quantization", "/home/ada/q4"),
        ];
        let said = said.map(|(name, value)| (name.to_owned(), value.to_owned()));
        spec.configurations[0].declared = said.into();
        spec.name = "for ada@corp.example".to_owned();
        strip_spec(&mut spec);
        let left: Vec<_> = spec.configurations[0].declared.iter().collect();
        assert_eq!(
            left,
            [(&"hardware".to_owned(), &"1 x H100 80GB".to_owned())]
        );
        assert!(!spec.name.contains("ada@"), "{}", spec.name);
    }
}
