//! What the server draws ready-made: pages and parts of pages that only show, and fields without a component of their own.
//! Browsers get them as HTML, so that their module has no code for them.

pub mod engines; // which engines there are
pub mod knobs; // fields for the knobs of an engine
pub mod starts; // each start of an engine for a study

use std::collections::BTreeMap;

use crate::studio::Engines;

/// What the form of a new study shows of knobs and engines, by the keys of [`crate::pages::drawn_key`].
pub fn for_form(
    simulator: &[crate::studio::KnobRow],
    engines: &Engines,
) -> BTreeMap<String, String> {
    use crate::pages::drawn_key;
    let mut drawn = BTreeMap::from([(drawn_key("knobs", ""), knobs::form(simulator))]);
    for sheet in &engines.sheets {
        let name = &sheet.row.name;
        let Some(launch) = &sheet.launch else {
            continue;
        };
        drawn.insert(drawn_key("knobs", name), knobs::form(&launch.knobs));
        let about = engines::in_short(sheet, engines.no_starts.as_deref());
        drawn.insert(drawn_key("about", name), about);
        if launch.free_flags {
            drawn.insert(drawn_key("free", name), String::new());
        }
    }
    drawn
}
