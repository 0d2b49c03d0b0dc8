//! The screens of Goodput Studio. Rendered on the server first (feature `ssr`), woken up in the browser (`hydrate`).
//!
//! Pages reach the world through [`studio::Studio`] on the server and through server functions in the browser. What a
//! page decides (the sentence at its head, the figure, what is in its URL) is decided by plain functions; components
//! only show it.
#![recursion_limit = "512"]

#[cfg(not(erase_components))]
compile_error!(
    "RUSTFLAGS in the environment hides the flags of .cargo/config.toml: add `--cfg erase_components` to it, or the browser will not understand the server's pages"
);

pub mod api; // server functions: the door as the browser sees it
pub mod axis; // where on an axis a value lies
pub mod browser; // what the browser lends
#[cfg(feature = "ssr")]
pub mod capacity; // from ceilings to machines, drawn by the server
pub mod chart; // what a chart shows, before anybody draws it
#[cfg(feature = "ssr")]
pub mod diagnosis; // why a point is slow, drawn by the server
#[cfg(feature = "ssr")]
pub mod drawn; // what the server draws ready-made
#[cfg(feature = "ssr")]
mod everywhere; // what every page does: words explained, moments, the connection, what was typed
#[cfg(feature = "ssr")]
pub mod evidence; // what was seen beside a point, drawn by the server
pub mod figure; // the chart as plotly takes it
pub mod figure_svg; // the chart as a picture
#[cfg(test)]
mod fixture; // a made-up study for tests
#[cfg(feature = "ssr")]
pub mod history; // earlier runs of the same, drawn by the server
#[cfg(feature = "ssr")]
mod later; // what a page shows once it is awake, drawn by the server
pub mod live; // a study as it happens
pub mod pages; // one module a page
pub mod plotly; // the door to plotly.js
#[cfg(feature = "ssr")]
pub mod point; // one point's page, drawn by the server
mod reading; // what a page reads before it shows anything
#[cfg(feature = "ssr")]
pub mod requests; // a point's requests over time and one by one, drawn by the server
#[cfg(feature = "ssr")]
pub mod rules; // a point as other tools would tell it, drawn by the server
pub mod scores; // another SLO over the same points
mod screens; // which page stands at which address
#[cfg(feature = "ssr")]
pub mod sheet; // charts as files: pictures with their facts, and rows
pub mod status; // the status of an answer
pub mod studio; // the door to the world, and the views that pass through it
mod toy; // models that only show that an engine works
pub mod ui;
pub mod url_state; // what a chart shows, as a query
pub mod words; // numbers and findings in words

use crate::ui::reactive::effect;
#[cfg(feature = "ssr")]
use leptos::nonce::use_nonce;
use leptos::prelude::*;
#[cfg(feature = "ssr")]
use leptos_meta::MetaTags;
use leptos_meta::{Title, provide_meta_context};
use leptos_router::components::Router;
use serde::{Deserialize, Serialize};

pub use browser::say_when_stopped;
use screens::{Brand, Nav, Screens};
use ui::theme::ThemeToggle;
#[cfg(feature = "ssr")]
use ui::theme::theme_script;
use ui::toast::{Toaster, provide_toasts};

/// Addresses within the app whose pages the server draws whole.
pub const DRAWN_WHOLE: [&str; 2] = ["/compare", "/studies/{id}/points/{point}"];

/// Where the browser finds what the pages need. URLs; the server provides them by context.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assets {
    /// The style sheet.
    pub css: String,
    /// What wakes up the pages of studies.
    pub frontend: Module,
    /// What wakes up the page that begins one.
    pub new_study: Module,
    /// plotly.js, loaded when a chart is near.
    pub plotly: String,
    /// The icon.
    pub favicon: String,
}

/// A part of the frontend: URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Module {
    /// Its JavaScript glue.
    pub js: String,
    /// Itself.
    pub wasm: String,
}

/// Scheme, host and port under which the reader sees the studio (`https://studio.example`); the server provides it by
/// context. Link previews need whole addresses: a share's picture is `{origin}/s/{token}/preview.png`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin(pub String);

/// The whole HTML document. Rendered on the server only; the browser wakes up its body.
#[cfg(feature = "ssr")]
pub fn shell() -> impl IntoView {
    let Assets {
        css,
        frontend,
        new_study,
        plotly,
        favicon,
    } = use_context().unwrap_or_default();
    let Module { js, wasm } = if screens::begins_a_study() {
        new_study
    } else {
        frontend
    };
    view! {
        <!DOCTYPE html>
        <html lang="en">
            <head>
                <meta charset="utf-8" />
                <meta name="viewport" content="width=device-width, initial-scale=1" />
                <meta name="color-scheme" content="light dark" />
                <link rel="icon" href=favicon type="image/svg+xml" />
                <link rel="stylesheet" href=css />
                <script nonce=use_nonce() inner_html=theme_script()></script>
                <script nonce=use_nonce() inner_html=everywhere::script()></script>
                <link rel="modulepreload" href=js.clone() />
                <link rel="preload" href=wasm.clone() r#as="fetch" r#type="application/wasm" crossorigin="anonymous" />
                <script type="module" nonce=use_nonce() inner_html=wake_up(&js, &wasm)></script>
                <MetaTags />
            </head>
            <body data-plotly=plotly>
                <App />
                <div inner_html=everywhere::places().into_string()></div>
                <footer class="site-footer" inner_html=drawn::keys::footer().into_string()></footer>
            </body>
        </html>
    }
}

/// The module script that loads the frontend, hydrates the page, and then asks for what it shows later.
#[cfg(feature = "ssr")]
fn wake_up(js: &str, wasm: &str) -> String {
    format!(
        "import init, {{ hydrate }} from {js:?};\n{}\ninit({{ module_or_path: {wasm:?} }}).then(() => {{ hydrate(); dispatchEvent(new Event(\"awake\")); {} {} }});",
        drawn::keys::SCRIPT,
        later::SCRIPT,
        pages::STUDY_SCRIPT
    )
}

/// A page's title with the product's name. The server writes titles into its pages as they are, so there they are
/// escaped; the browser takes a title as text.
fn full_title(page: String) -> String {
    let title = if page.is_empty() {
        "Goodput Studio".to_owned()
    } else {
        format!("{page} · Goodput Studio")
    };
    if cfg!(feature = "ssr") {
        title.replace('&', "&amp;").replace('<', "&lt;")
    } else {
        title
    }
}

/// The page: header, the route's screen, nothing else.
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    provide_toasts();
    effect(mark_awake);
    view! {
        <Title formatter=full_title />
        <Router>
            <a class="skip-link" href="#main">"Skip to content"</a>
            <header class="site-header">
                <Brand />
                <Nav />
                <ThemeToggle />
            </header>
            <main id="main" tabindex="-1">
                <Screens />
            </main>
            <Toaster />
        </Router>
    }
}

/// Marks the document as awake, for whoever waits until its buttons work: `<html data-hydrated="true">`.
fn mark_awake() {
    if let Some(root) = document().document_element() {
        // It fails only for a malformed name.
        let _ = root.set_attribute("data-hydrated", "true");
    }
}
