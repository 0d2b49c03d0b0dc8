//! A page that has stopped says so: its module can do nothing more, and the next key would seem to be lost.

/// Stands above everything else until the page is loaded anew.
const NOTICE: &str = r#"<div class="notice stopped" data-tone="bad" role="alert"><strong>This page has stopped.</strong> Something in it went wrong. What was typed in a form is kept as it was before the last key. <a href="" rel="external">Load the page again</a></div>"#;

/// Writes a panic to the browser's console as it is, and shows the reader that the page has stopped.
pub fn say_when_stopped() {
    std::panic::set_hook(Box::new(|panic| {
        console_error_panic_hook::hook(panic);
        let document = web_sys::window().and_then(|window| window.document());
        if let Some(body) = document.and_then(|document| document.body()) {
            // There is nobody left to tell of a failure.
            let _ = body.insert_adjacent_html("afterbegin", NOTICE);
        }
    }));
}
