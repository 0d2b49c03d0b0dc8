//! A study as others can be told of it: as JSON for the API, as command lines, as an entry of `studio.toml`.

pub mod command; // as command lines

use measure::study::{Connection, Endpoint, EngineSpec, StudySpec};

use crate::pages::STUDIO;
use crate::ui::html::{Html, html};

/// All forms that there are of this study, each to be copied.
pub fn drawn(spec: &StudySpec) -> String {
    let json = serde_json::to_string_pretty(spec).unwrap_or_default();
    let launched = format!("curl --json @study.json '{STUDIO}/api/v1/studies'");
    let lines = match command::lines(spec) {
        Ok(lines) => text(
            "written-command",
            "Each point of the baseline alone",
            &lines.join("\n"),
        ),
        Err(why) => html!(
            r#"<p class="small muted">No command line for single points: {}.</p>"#,
            why
        ),
    };
    let file = match &spec.engine {
        EngineSpec::Endpoint(endpoint) => text(
            "written-toml",
            "The engine, for studio.toml",
            &engine_file(endpoint),
        ),
        _ => Html::default(),
    };
    html!(
        "{}{}{}{}",
        text("written-json", "The study, study.json", &json),
        text("written-launch", "Launching it from a shell", &launched),
        lines,
        file
    )
    .into_string()
}

/// A text with its button. What presses it stands in the page's script.
fn text(id: &str, title: &str, text: &str) -> Html {
    html!(
        r#"<div class="written"><p class="row small"><span>{}</span><button type="button" class="button compact quiet" data-copy="{}">Copy<span class="sr-only"> {}</span></button></p><pre id="{}" tabindex="0">{}</pre></div>"#,
        title,
        id,
        title,
        id,
        text
    )
}

/// An engine as `studio.toml` has it. Headers and what is unusual about its connection have no place there.
fn engine_file(endpoint: &Endpoint) -> String {
    // What TOML wants escaped and JSON does not.
    let quoted = |text: &str| {
        serde_json::Value::from(text)
            .to_string()
            .replace('\u{7f}', "\\u007f")
    };
    let mut lines = vec![
        "[[engine]]".to_owned(),
        format!("name = {}", quoted(&name_of(&endpoint.model))),
        format!("url = {}", quoted(&endpoint.url)),
        format!("model = {}", quoted(&endpoint.model)),
        format!("dialect = {}", quoted(endpoint.api.name())),
    ];
    let keys = [
        ("api_key_env", &endpoint.api_key_env),
        ("api_key_secret", &endpoint.api_key_secret),
    ];
    let keys = keys
        .into_iter()
        .filter_map(|(key, name)| Some(format!("{key} = {}", quoted(name.as_ref()?))));
    lines.extend(keys);
    if !endpoint.headers.is_empty() || endpoint.connection != Connection::default() {
        lines.push("# its headers and how it is connected to stand in the study alone".to_owned());
    }
    lines.join("\n")
}

/// A name that the file takes: one line, not longer than names are.
fn name_of(model: &str) -> String {
    let plain = model
        .chars()
        .map(|it| if it.is_control() { ' ' } else { it });
    let name: String = plain.take(LONGEST_NAME).collect();
    name.trim().to_owned()
}

/// Letters of an engine's name.
const LONGEST_NAME: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;
    use measure::study::Api;

    #[test]
    fn the_json_is_the_study() {
        let spec = StudySpec::goodput_exercise();
        let drawn = drawn(&spec);
        assert!(drawn.contains("&quot;name&quot;: &quot;Goodput exercise"));
        assert!(
            drawn.contains("No command line"),
            "the simulator has no address"
        );
    }

    #[test]
    fn an_engine_by_url_is_an_entry_of_the_file() {
        let mut endpoint = Endpoint::new("http://127.0.0.1:8000", Api::default(), "llama");
        endpoint.api_key_env = Some("VLLM_API_KEY".into());
        assert_eq!(
            engine_file(&endpoint),
            "[[engine]]\nname = \"llama\"\nurl = \"http://127.0.0.1:8000\"\nmodel = \"llama\"\ndialect = \"openai.chat\"\napi_key_env = \"VLLM_API_KEY\""
        );
    }
}
