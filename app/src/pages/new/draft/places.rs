//! Every text of a draft by its place, for whoever keeps drafts.

use super::*;

/// Shows texts below a place.
pub(super) fn each_below<'a>(
    place: &str,
    texts: impl IntoIterator<Item = (&'static str, &'a mut String)>,
    show: &mut dyn FnMut(&str, &mut String),
) {
    for (name, text) in texts {
        show(&format!("{place}.{name}"), text);
    }
}

impl EndpointDraft {
    pub(super) fn each_text(&mut self, place: &str, show: &mut dyn FnMut(&str, &mut String)) {
        let Self {
            url,
            api,
            model,
            api_key_env,
            api_key_secret,
            headers,
            ca_file,
            insecure,
            http2,
            proxy,
            hardware,
        } = self;
        let texts = [
            ("url", url),
            ("api", api),
            ("model", model),
            ("api_key_env", api_key_env),
            ("api_key_secret", api_key_secret),
            ("headers", headers),
            ("ca_file", ca_file),
            ("insecure", insecure),
            ("http2", http2),
            ("proxy", proxy),
            ("hardware", hardware),
        ];
        each_below(place, texts, show);
    }
}

impl WorkloadDraft {
    pub(super) fn each_text(&mut self, show: &mut dyn FnMut(&str, &mut String)) {
        let Self {
            kind,
            given: _,
            scale,
            max_turns,
            think,
            max_context,
            file,
            format,
            start,
            length,
            most,
            output_tokens,
            repeats,
            min_prompt,
            min_output,
            max_prompt,
            max_total,
            input,
            output,
        } = self;
        let texts = [
            ("kind", kind),
            ("scale", scale),
            ("max_turns", max_turns),
            ("think", think),
            ("max_context", max_context),
            ("file", file),
            ("format", format),
            ("start", start),
            ("length", length),
            ("most", most),
            ("output_tokens", output_tokens),
            ("repeats", repeats),
            ("min_prompt", min_prompt),
            ("min_output", min_output),
            ("max_prompt", max_prompt),
            ("max_total", max_total),
        ];
        each_below("workload", texts, show);
        input.each_text("workload.input", show);
        output.each_text("workload.output", show);
    }
}

impl LengthsDraft {
    pub(super) fn each_text(&mut self, place: &str, show: &mut dyn FnMut(&str, &mut String)) {
        let Self {
            kind,
            tokens,
            min,
            max,
            median,
            sigma,
        } = self;
        let texts = [
            ("kind", kind),
            ("tokens", tokens),
            ("min", min),
            ("max", max),
            ("median", median),
            ("sigma", sigma),
        ];
        each_below(place, texts, show);
    }
}

impl ConfigurationDraft {
    pub(super) fn each_text(&mut self, place: &str, show: &mut dyn FnMut(&str, &mut String)) {
        let Self {
            name,
            knobs: _,
            declared,
            facts,
            way,
            other,
            instruction,
        } = self;
        let texts = [
            ("name", name),
            ("declared", declared),
            ("facts", facts),
            ("way", way),
            ("instruction", instruction),
        ];
        each_below(place, texts, show);
        other.each_text(&format!("{place}.other"), show);
    }
}
