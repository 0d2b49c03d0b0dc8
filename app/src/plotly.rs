//! The thin door to plotly.js: load it, draw, resize, clean up. What goes wrong comes back as an error, never as a panic.

use js_sys::{Function, JSON, Promise, Reflect};
use leptos::prelude::{document, window};
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Element, HtmlElement, HtmlScriptElement};

use crate::figure::Palette;

/// Why there is no chart.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlotlyError {
    /// The script could not be loaded.
    #[error("plotly.js could not be loaded")]
    Load,
    /// A call threw or was refused.
    #[error("plotly.js could not {0}")]
    Call(&'static str),
}

/// The script's id in the page: it is loaded once, whoever asks first.
const SCRIPT: &str = "plotly-script";

/// Loads plotly.js from the address in the body's `data-plotly`, once.
pub async fn load() -> Result<(), PlotlyError> {
    if library().is_some() {
        return Ok(());
    }
    let script = script().ok_or(PlotlyError::Load)?;
    let loaded = Promise::new(&mut |resolve, reject| {
        // Listening fails only for a target that is no target.
        let _ = script.add_event_listener_with_callback("load", &resolve);
        let _ = script.add_event_listener_with_callback("error", &reject);
    });
    if JsFuture::from(loaded).await.is_err() {
        // Whoever asks next gets a new try.
        script.remove();
    }
    library().map(|_| ()).ok_or(PlotlyError::Load)
}

/// The script element: the one that is there, or a new one.
fn script() -> Option<Element> {
    let document = document();
    if let Some(script) = document.get_element_by_id(SCRIPT) {
        return Some(script);
    }
    let body = document.body()?;
    let source = body
        .get_attribute("data-plotly")
        .filter(|source| !source.is_empty())?;
    let script: HtmlScriptElement = document.create_element("script").ok()?.dyn_into().ok()?;
    script.set_id(SCRIPT);
    script.set_src(&source);
    document.head()?.append_child(&script).ok()?;
    Some(script.into())
}

fn library() -> Option<JsValue> {
    Reflect::get(&window(), &"Plotly".into())
        .ok()
        .filter(JsValue::is_object)
}

fn call(name: &'static str, arguments: &[JsValue]) -> Result<JsValue, PlotlyError> {
    let library = library().ok_or(PlotlyError::Load)?;
    let function: Function = Reflect::get(&library, &name.into())
        .ok()
        .and_then(|function| function.dyn_into().ok())
        .ok_or(PlotlyError::Call(name))?;
    Reflect::apply(&function, &library, &arguments.iter().collect())
        .map_err(|_| PlotlyError::Call(name))
}

/// Draws a figure into an element, or brings the one there up to date.
pub async fn react(element: &HtmlElement, figure: &str) -> Result<(), PlotlyError> {
    let figure = JSON::parse(figure).map_err(|_| PlotlyError::Call("read the figure"))?;
    let part = |name: &str| Reflect::get(&figure, &name.into()).unwrap_or(JsValue::UNDEFINED);
    let drawn = call(
        "react",
        &[element.into(), part("data"), part("layout"), part("config")],
    )?;
    JsFuture::from(Promise::resolve(&drawn))
        .await
        .map(|_| ())
        .map_err(|_| PlotlyError::Call("react"))
}

/// Fits a figure to its element's size.
pub fn resize(element: &HtmlElement) -> Result<(), PlotlyError> {
    let plots = library()
        .and_then(|library| Reflect::get(&library, &"Plots".into()).ok())
        .ok_or(PlotlyError::Load)?;
    let function: Function = Reflect::get(&plots, &"resize".into())
        .ok()
        .and_then(|function| function.dyn_into().ok())
        .ok_or(PlotlyError::Call("resize"))?;
    function
        .call1(&plots, element)
        .map(|_| ())
        .map_err(|_| PlotlyError::Call("resize"))
}

/// Takes a figure down and frees what it holds.
pub fn purge(element: &HtmlElement) -> Result<(), PlotlyError> {
    call("purge", &[element.into()]).map(|_| ())
}

/// A listener on a drawn figure; it listens for as long as it is kept.
pub struct Listener(
    #[expect(dead_code, reason = "kept alive, never read")] Closure<dyn FnMut(JsValue)>,
);

/// Calls back on one of plotly's events.
pub fn on(
    element: &HtmlElement,
    event: &'static str,
    callback: impl FnMut(JsValue) + 'static,
) -> Result<Listener, PlotlyError> {
    let closure = Closure::<dyn FnMut(JsValue)>::new(callback);
    let listen: Function = Reflect::get(element, &"on".into())
        .ok()
        .and_then(|on| on.dyn_into().ok())
        .ok_or(PlotlyError::Call("listen"))?;
    listen
        .call2(element, &event.into(), closure.as_ref())
        .map_err(|_| PlotlyError::Call("listen"))?;
    Ok(Listener(closure))
}

/// The range that an axis (`xaxis`, `yaxis`) of a drawn figure shows now, where this event moved it; on a logarithmic axis,
/// in decades.
pub fn moved_range(element: &HtmlElement, axis: &str, event: &JsValue) -> Option<(f64, f64)> {
    let moves = |end: &str| Reflect::has(event, &[axis, end].concat().into()) == Ok(true);
    if !moves(".range[0]") && !moves(".range[1]") {
        return None;
    }
    let within = |value: JsValue, name: &str| Reflect::get(&value, &name.into()).ok();
    let range = ["layout", axis, "range"]
        .into_iter()
        .try_fold(JsValue::from(element), within)?;
    let end = |index| {
        Reflect::get_u32(&range, index)
            .ok()
            .and_then(|value| value.as_f64())
    };
    Some((end(0)?, end(1)?))
}

/// The id of the point that was clicked.
pub fn clicked(event: &JsValue) -> Option<String> {
    let points = Reflect::get(event, &"points".into()).ok()?;
    let first = Reflect::get_u32(&points, 0).ok()?;
    Reflect::get(&first, &"id".into()).ok()?.as_string()
}

/// The page's colours as they are now.
pub fn palette() -> Palette {
    let style = document()
        .document_element()
        .and_then(|root| window().get_computed_style(&root).ok().flatten());
    let read = |name: &str, fallback: &str| {
        let value = style
            .as_ref()
            .and_then(|style| style.get_property_value(name).ok())
            .unwrap_or_default();
        if value.trim().is_empty() {
            fallback.to_owned()
        } else {
            value.trim().to_owned()
        }
    };
    Palette {
        text: read("--text", "#17171c"),
        muted: read("--muted", "#5d5d69"),
        line: read("--line", "#e5e5ea"),
        accent: read("--accent", "#4a3fd1"),
        surface: read("--bg", "#ffffff"),
        series: (1..=8)
            .zip(crate::figure_svg::SERIES)
            .map(|(index, fixed)| read(&format!("--series-{index}"), fixed))
            .collect(),
        font: read("--font", "system-ui, sans-serif"),
    }
}
