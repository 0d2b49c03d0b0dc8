//! What a page shows once it is awake: HTML that the server draws, asked for when everything else stands, so that no first curve waits for it.
//!
//! An element `data-later="why"` is filled from `{the page's path}/why`. The script stands in the page and not in the browser's module,
//! which would be larger by two kilobytes.

/// Fills such elements, those too that come with a later page. An answer 202 means: not yet. And copies the text that a button
/// `data-copy="id"` names; where the browser keeps its clipboard to itself the text is selected.
/// Links to points carry the SLO that is tried.
pub const SCRIPT: &str = r#"
const ask = (it, path) => it.isConnected && fetch(path).then(async answer => {
  if (answer.status == 202) return setTimeout(ask, 5000, it, path);
  if (answer.ok) it.innerHTML = await answer.text();
}).catch(() => {});
const look = () => document.querySelectorAll("[data-later]:not([data-asked])").forEach(it => {
  it.dataset.asked = "";
  ask(it, location.pathname + "/" + it.dataset.later);
});
let soon = 0;
new MutationObserver(() => { soon ||= setTimeout(() => { soon = 0; look(); }, 300); })
  .observe(document.body, { childList: true, subtree: true });
setTimeout(look, 300);
document.addEventListener("click", async event => {
  const button = event.target.closest?.("[data-copy]");
  const text = button && document.getElementById(button.dataset.copy);
  if (!text) return;
  getSelection().selectAllChildren(text);
  await navigator.clipboard?.writeText(text.textContent).then(() => { button.dataset.done = ""; }, () => {});
});
const carry = event => {
  const link = event.target.closest?.("a[href^='/studies/'][href*='/points/']");
  const slo = new URLSearchParams(location.search).get("slo");
  if (link) link.search = slo ? "?slo=" + encodeURIComponent(slo) : "";
};
for (const kind of ["pointerdown", "focusin"]) addEventListener(kind, carry, true);
"#;
