//! `cargo xtask screens`: pictures of the pages for the documentation, in docs/screens.

use crate::command::run;
use crate::needs::Consent;
use crate::paths::at;
use crate::step::step;
use crate::test;

/// Builds module and binary, opens the examples in a studio, and takes the pictures in Chromium.
pub fn take(consent: Consent) -> anyhow::Result<()> {
    let folder = at("docs/screens");
    std::fs::create_dir_all(&folder)?;
    step("pictures of every page", || {
        test::with_browser(consent, |command| {
            command.env("GOODPUT_SCREENS", &folder);
            command.args(["--test", "it", "--", "--ignored", "pictures_of_every_page"]);
            run(command)
        })
    })
}
