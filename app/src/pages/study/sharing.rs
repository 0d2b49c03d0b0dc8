//! Links to a study: make, copy, revoke.

use crate::ui::erased::{Erase, shared};
use crate::ui::reactive::effect;
use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use uuid::Uuid;
use wasm_bindgen_futures::JsFuture;

use super::Page;
use super::controls::id;
use crate::api::{list_shares, revoke_share, share_study};
use crate::studio::ShareRow;
use crate::ui::dialog::Dialog;
use crate::ui::time::{RelativeTime, day};
use crate::ui::toast::toasts;
use crate::url_state::ViewState;
use crate::words;

/// Links to the study: make, copy, revoke.
#[component]
pub fn Share(page: Page, open: RwSignal<bool>) -> impl IntoView {
    let rows = RwSignal::new(Vec::<ShareRow>::new());
    let fresh = RwSignal::new(None::<String>);
    let problem = RwSignal::new(None::<String>);
    let read = move || {
        spawn_local(async move {
            match list_shares(id(page)).await {
                Ok(shares) => rows.set(shares),
                Err(error) => problem.set(Some(words::capital(&error.to_string()))),
            }
        });
    };
    effect(move || {
        if open.get() {
            fresh.set(None);
            problem.set(None);
            read();
        }
    });
    let make = move |_| {
        spawn_local(async move {
            match share_study(id(page), None).await {
                Ok(share) => {
                    let origin = window().location().origin().unwrap_or_default();
                    // With what the page shows now, a tried SLO among it.
                    let view = page.state.with_untracked(ViewState::query);
                    fresh.set(share.path.map(|path| origin + &path + &view));
                    read();
                }
                Err(error) => problem.set(Some(words::capital(&error.to_string()))),
            }
        });
    };
    let revoke = move |share: Uuid| {
        spawn_local(async move {
            match revoke_share(share).await {
                Ok(()) => {
                    fresh.set(None);
                    read();
                }
                Err(error) => problem.set(Some(words::capital(&error.to_string()))),
            }
        });
    };
    view! {
        <Dialog open id="share-heading" title="Share">
            <p>"Whoever has the link sees the names of the study and its configurations, the curves, the points and the recorded facts, without signing in. Engine address, prompts, answers, your tags and note, and settings that could hold an address stay here."</p>
            <p class="notice" data-tone="bad" role="alert" hidden=move || problem.with(Option::is_none)>{shared(move || problem.get())}</p>
            {shared(move || fresh.get().map(|link| view! { <FreshLink link /> }))}
            <ul class="stack tight shares">
                <For each=move || rows.get() key=|row| (row.id, row.revoked) children=move |row| view! { <Link row revoke=Callback::new(revoke) /> } />
            </ul>
            <div class="actions">
                <button type="button" class="button" on:click=move |_| open.set(false)>"Close"</button>
                <button type="button" class="button primary" on:click=make>"Make a link"</button>
            </div>
        </Dialog>
    }
    .erased()
}

/// A link that was just made: shown once, since only its hash is kept.
#[component]
fn FreshLink(link: String) -> impl IntoView {
    let node = NodeRef::<html::Input>::new();
    let messages = toasts();
    let (shown, visit) = (link.clone(), link.clone());
    let copy = move |_| {
        if let Some(input) = node.get_untracked() {
            input.select();
        }
        let copied = JsFuture::from(window().navigator().clipboard().write_text(&link));
        spawn_local(async move {
            messages.say(if copied.await.is_ok() {
                "Copied."
            } else {
                "The browser did not let the page copy; the link is selected."
            });
        });
    };
    view! {
        <div class="field fresh-link">
            <label for="share-link">"The link, shown only now"</label>
            <div class="row">
                <input id="share-link" node_ref=node type="text" readonly value=shown />
                <button type="button" class="button primary" on:click=copy>"Copy"</button>
                <a class="button" href=visit target="_blank" rel="noopener">"Open"</a>
            </div>
        </div>
    }
    .erased()
}

#[component]
fn Link(row: ShareRow, revoke: Callback<Uuid>) -> impl IntoView {
    let ShareRow {
        id,
        created_ms,
        revoked,
        expires_ms,
        ..
    } = row;
    view! {
        <li class="row">
            <span>"Made " <RelativeTime unix_ms=created_ms /></span>
            {expires_ms.filter(|_| !revoked).map(|unix_ms| view! { <span class="muted">{format!("works until {}", day(unix_ms))}</span> })}
            <span class="spring">
                {if revoked {
                    view! { <span class="muted">"revoked"</span> }.erased()
                } else {
                    view! {
                        <button type="button" class="button compact danger" on:click=move |_| revoke.run(id)>
                            "Revoke"
                        </button>
                    }
                        .erased()
                }}
            </span>
        </li>
    }
    .erased()
}
