//! A document that the server draws whole: nothing in it is to be pressed but links, forms and what is folded, so no module is loaded.
//! What a page does beside that, a few lines of script of its own do.

use super::keys;
use crate::Assets;
use crate::everywhere;
use crate::ui::html::{Html, html};
use crate::ui::theme::{theme_script, toggle_script};

/// A page's title and what stands in it.
pub struct Drawn {
    /// Without the product's name.
    pub title: String,
    /// It is the page of engines.
    pub is_engines: bool,
    /// What stands in `main`.
    pub body: Html,
}

/// The whole document. `nonce` is that of its content security policy.
pub fn document(page: &Drawn, assets: &Assets, nonce: &str) -> String {
    let nav = html!(
        r#"<nav aria-label="Studio"><a href="/engines"{}>Engines</a><a href="/docs">Docs</a></nav>"#,
        page.is_engines
            .then(|| Html::literal(r#" aria-current="page""#))
    );
    whole(page, nav, assets, nonce)
}

/// The document for whoever has a link: nothing in its head leads to what is not shown.
pub fn for_guest(page: &Drawn, assets: &Assets, nonce: &str) -> String {
    whole(page, Html::literal(""), assets, nonce)
}

fn whole(page: &Drawn, nav: Html, assets: &Assets, nonce: &str) -> String {
    html!(
        r##"<!DOCTYPE html><html lang="en" data-hydrated="true"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>{} · Goodput Studio</title><link rel="icon" href="{}" type="image/svg+xml"><link rel="stylesheet" href="{}"><script nonce="{}">{}</script><script nonce="{}">{}</script></head><body><a class="skip-link" href="#main">Skip to content</a><header class="site-header"><a href="/" class="brand">Goodput Studio</a>{}<button type="button" class="theme-toggle quiet" aria-label="Switch between light and dark" title="Switch between light and dark">◐</button><script nonce="{}">{}</script></header><main id="main" tabindex="-1">{}</main>{}<footer class="site-footer">{}</footer><script nonce="{}">{}</script></body></html>"##,
        page.title,
        assets.favicon,
        assets.css,
        nonce,
        Html::script(theme_script()),
        nonce,
        Html::script(everywhere::script()),
        nav,
        nonce,
        Html::script(toggle_script()),
        page.body,
        everywhere::places(),
        keys::footer(),
        nonce,
        Html::script(keys::SCRIPT.to_owned())
    )
    .into_string()
}
