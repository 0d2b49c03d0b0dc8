//! From the text of a page to quantities: whose they are, and which of several names counts.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use measure::evidence::{Amount, Buckets, Kind, Quantity, Source, Value};

use super::names::{Family, Part, Place, places};
use super::text::{Sample, samples};

/// Most series of known names on a page; beyond it the page is somebody else's.
const MOST_SERIES: usize = 4096;

/// What a page held.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// Quantities, by source.
    pub values: Vec<Value>,
    /// Lines that are no samples.
    pub malformed: usize,
    /// Samples, known or not.
    pub samples: usize,
}

/// Reads the pages of one address, and remembers who is on them.
#[derive(Debug, Default)]
pub struct Reader {
    /// The model under test.
    model: String,
    sources: Vec<Source>,
    models: Vec<Option<String>>,
    by_name: HashMap<String, u32>,
    engines: BTreeSet<&'static str>,
    /// The name that counts of each quantity: that of the first page that had one, since another would begin anew.
    chosen: HashMap<Quantity, Key>,
}

/// Quantity, family, name: of a quantity the lowest two count.
type Key = (Quantity, usize, usize);

/// What is known of a series so far.
#[derive(Default)]
struct Series {
    number: Option<f64>,
    up_to: Vec<(f64, f64)>,
    sum: f64,
}

impl Reader {
    /// A reader for the pages of an engine of which this model is tested.
    pub fn new(model: &str) -> Self {
        Self {
            model: model.to_owned(),
            ..Self::default()
        }
    }

    /// Reads a page.
    pub fn read(&mut self, text: &str) -> Page {
        let mut page = Page::default();
        // A series is told apart by all its labels until those of ranks are left out.
        let mut series: BTreeMap<(Key, u32), BTreeMap<String, Series>> = BTreeMap::new();
        let mut count = 0;
        for sample in samples(text) {
            let Ok(sample) = sample else {
                page.malformed += 1;
                continue;
            };
            page.samples += 1;
            for (part, place) in places(sample.name) {
                if count == MOST_SERIES || !counts(place, &sample) {
                    continue;
                }
                let (source, rank) = self.source(place.family, &sample);
                let key = (place.quantity, place.order, place.rank);
                let of_source = series.entry((key, source)).or_default();
                count += usize::from(!of_source.contains_key(&rank));
                let one = of_source.entry(rank).or_default();
                one.take(*part, place, &sample);
            }
        }
        page.values = self.chosen(series);
        self.tell_apart();
        page
    }

    /// Whoever tells a sample: by its labels, without those of buckets and ranks.
    fn source(&mut self, family: &'static Family, sample: &Sample<'_>) -> (u32, String) {
        self.engines.insert(&family.engine);
        let (mut name, mut rank) = (String::new(), String::new());
        let mut model = None;
        let mut labels: Vec<_> = sample.labels().filter(|(key, _)| *key != "le").collect();
        labels.sort_unstable();
        for (key, value) in labels {
            if family.model.iter().any(|label| label == key) {
                model = Some(value.clone().into_owned());
            }
            let of_rank = family.same.iter().any(|label| label == key);
            let text = if of_rank { &mut rank } else { &mut name };
            if !text.is_empty() {
                text.push_str(", ");
            }
            text.push_str(key);
            text.push('=');
            text.push_str(&value);
        }
        if let Some(known) = self.by_name.get(&name) {
            return (*known, rank);
        }
        let index = self.sources.len() as u32;
        self.by_name.insert(name.clone(), index);
        self.sources.push(Source { name, ours: true });
        self.models.push(model);
        (index, rank)
    }

    /// Of each quantity the name that comes first.
    fn chosen(&mut self, series: BTreeMap<(Key, u32), BTreeMap<String, Series>>) -> Vec<Value> {
        let mut values = Vec::new();
        for ((key, source), ranks) in series {
            let (quantity, ..) = key;
            let amounts = ranks.into_values().filter_map(|one| one.amount(quantity));
            let Some(amount) = amounts.reduce(greater) else {
                continue;
            };
            if *self.chosen.entry(quantity).or_insert(key) == key {
                values.push(Value {
                    quantity,
                    source,
                    amount,
                });
            }
        }
        values
    }

    /// Where the page names the model under test, what names another is not ours.
    fn tell_apart(&mut self) {
        let asked = |model: &Option<String>| model.as_deref() == Some(&self.model);
        if self.models.iter().any(asked) {
            for (source, model) in self.sources.iter_mut().zip(&self.models) {
                source.ours = model.is_none() || model.as_deref() == Some(&self.model);
            }
        }
    }

    /// Whose values were read so far.
    pub fn into_sources(self) -> Vec<Source> {
        self.sources
    }

    /// By whose names the pages were read, in words.
    pub fn engines(&self) -> String {
        let all: Vec<&str> = self.engines.iter().copied().collect();
        all.join(" and ")
    }
}

/// Whether a sample is one of those that count.
fn counts(place: &Place, sample: &Sample<'_>) -> bool {
    place.name.with.iter().all(|(label, values)| {
        let value = sample.label(label);
        value.is_some_and(|value| values.iter().any(|it| *it == value))
    })
}

impl Series {
    fn take(&mut self, part: Part, place: &Place, sample: &Sample<'_>) {
        let factor = place.name.factor.unwrap_or(1.0);
        match part {
            Part::Sum => self.sum = sample.value * factor,
            Part::Bucket => {
                let bound = sample.label("le").and_then(|le| le.parse::<f64>().ok());
                self.up_to
                    .extend(bound.map(|bound| (bound * factor, sample.value)));
            }
            Part::Whole => {
                self.number = match &place.name.label {
                    Some(label) => sample.label(label).and_then(|value| value.parse().ok()),
                    None => Some(sample.value * factor),
                }
            }
        }
    }

    fn amount(self, quantity: Quantity) -> Option<Amount> {
        if quantity.kind() == Kind::Histogram {
            return Buckets::cumulative(self.up_to, self.sum).map(Amount::Buckets);
        }
        self.number.map(Amount::Number)
    }
}

/// Of ranks that tell the same the one that is ahead.
fn greater(one: Amount, other: Amount) -> Amount {
    let size = |amount: &Amount| match amount {
        Amount::Number(number) => *number,
        Amount::Buckets(buckets) => buckets.count(),
    };
    if size(&one) < size(&other) {
        other
    } else {
        one
    }
}

#[cfg(test)]
mod tests;
