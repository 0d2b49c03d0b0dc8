//! How an endpoint is reached, folded away: most are reached as usual.

use crate::ui::erased::{Erase, shared};
use crate::ui::reactive::memo;
use leptos::prelude::*;

use super::draft::EndpointDraft;
use super::engine::part;
use crate::ui::bind::Bind;
use crate::ui::field::{CheckField, TextField};

/// A switch of an endpoint, which a draft keeps as text.
fn switch(
    bind: Bind<EndpointDraft>,
    get: fn(&EndpointDraft) -> &String,
    set: fn(&mut EndpointDraft) -> &mut String,
) -> Bind<bool> {
    let text = part(bind, get, set);
    Bind::new(
        move || text.get.with(|it| it == "on"),
        move |on| text.set.run(if on { "on" } else { "" }.into()),
    )
}

/// The fields. They unfold by themselves when one of them is wrong, and say what they hold while they are folded.
#[component]
pub fn ConnectionFields(
    /// What the fields' ids begin with.
    #[prop(into)]
    place: String,
    /// The endpoint.
    bind: Bind<EndpointDraft>,
    /// What is wrong with the authority or the lack of one, and with the proxy.
    errors: [Signal<Option<String>>; 2],
) -> impl IntoView {
    let [wrong_trust, wrong_proxy] = errors;
    let [ca_file, insecure, http2, proxy] = ["ca_file", "insecure", "http2", "proxy"]
        .map(|field| format!("{place}.connection.{field}"));
    // Once open it stays so: mending an error must not fold it under a person's hands.
    let opened = Memo::new(move |before: Option<&bool>| {
        before == Some(&true) || wrong_trust.get().is_some() || wrong_proxy.get().is_some()
    });
    let words = memo(move || bind.get.with(|it| it.connection().words()));
    view! {
        <details class="more" prop:open=move || opened.get()>
            <summary>"Connection" <span class="muted">{shared(move || words.with(|words| format!(" {words}")))}</span></summary>
            <div class="stack">
                <div class="columns">
                    <TextField id=ca_file label="CA file" bind=part(bind, |it| &it.ca_file, |it| &mut it.ca_file) placeholder="none" hint="A PEM file in the folder certificates of the studio's data directory, believed beside the system's authorities." error=wrong_trust />
                    <TextField id=proxy label="HTTP proxy" keyboard="url" bind=part(bind, |it| &it.proxy, |it| &mut it.proxy) placeholder="none" hint="http://host:port, without a password." error=wrong_proxy />
                </div>
                <CheckField id=http2 label="HTTP/2, and nothing else" bind=switch(bind, |it| &it.http2, |it| &mut it.http2) />
                <CheckField id=insecure label="Believe every certificate: what is measured is marked insecure" bind=switch(bind, |it| &it.insecure, |it| &mut it.insecure) />
            </div>
        </details>
    }
    .erased()
}
