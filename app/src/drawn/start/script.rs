//! What the start page does beyond links and forms: ages of studies, a list that follows typing and running studies, configurations chosen in
//! an order, files that are dropped. It stands in the page, so that browsers need no module for it.

/// The script.
pub const SCRIPT: &str = r##"
const by = id => document.getElementById(id);
const list = by("list"), filters = by("filters"), problem = by("problem");
const wrong = why => { problem.textContent = why; problem.hidden = !why; if (why) problem.scrollIntoView({ block: "nearest" }); };

const ago = then => {
  const minutes = Math.floor((Date.now() - then) / 60000);
  if (minutes <= 0) return "just now";
  if (minutes < 60) return minutes + " min ago";
  if (minutes < 1440) return Math.floor(minutes / 60) + " h ago";
  if (minutes < 2880) return "yesterday";
  if (minutes < 43200) return Math.floor(minutes / 1440) + " days ago";
  return new Date(then).toLocaleDateString(undefined, { dateStyle: "medium" });
};
const ages = within => within.querySelectorAll("time").forEach(it => {
  const then = Date.parse(it.dateTime);
  it.textContent = ago(then);
  it.title = new Date(then).toLocaleString() + ", " + it.dateTime.slice(0, 16).replace("T", " ") + " UTC";
});

let chosen = [];
try { chosen = JSON.parse(sessionStorage.getItem("chosen") ?? "[]"); } catch {}
const show = () => {
  list.querySelectorAll("input[name=c]").forEach(it => { it.checked = chosen.includes(it.value); });
  const said = list.querySelector(".compare-bar p"), clear = by("clear");
  if (!said) return;
  const count = chosen.length;
  said.textContent = count == 0 ? "Choose two or more configurations to compare their curves."
    : count == 1 ? "One chosen, the baseline. Choose another to compare it with."
    : count + " chosen; the first is the baseline.";
  clear.hidden = count == 0;
  clear.nextElementSibling.classList.toggle("primary", 1 < count);
};
const choose = now => {
  chosen = now;
  try { sessionStorage.setItem("chosen", JSON.stringify(chosen)); } catch {}
  show();
};
list.addEventListener("change", ({ target: it }) => {
  if (it.name == "c") choose(chosen.filter(id => id != it.value).concat(it.checked ? it.value : []));
});
list.addEventListener("click", event => { if (event.target.id == "clear") choose([]); });
list.addEventListener("submit", event => {
  event.preventDefault();
  if (1 < chosen.length) location.href = "/compare?" + chosen.map(id => "c=" + id).join("&");
});

const part = query => fetch("/list" + query).then(answer => answer.ok ? answer.text() : null, () => null);
const place = html => {
  const fresh = document.createElement("div");
  fresh.innerHTML = html;
  ages(fresh);
  ages(list);
  const at = [...list.querySelectorAll("a, button, input")].indexOf(document.activeElement);
  const cards = within => [...within.querySelectorAll("li.study")];
  const [old, now] = [cards(list), cards(fresh)];
  if (old.length && old.map(it => it.id).join() == now.map(it => it.id).join()) {
    old.forEach((it, index) => { if (!it.isEqualNode(now[index])) it.replaceWith(now[index]); });
    list.querySelector(".lede").textContent = fresh.querySelector(".lede").textContent;
  } else list.replaceChildren(...fresh.childNodes);
  show();
  if (0 <= at && !list.contains(document.activeElement)) list.querySelectorAll("a, button, input")[at]?.focus();
};
const moves = "[data-state=running], [data-state=queued]";
setInterval(async () => {
  if (document.hidden) return;
  if (!list.querySelector(moves)) return ages(list);
  const asked = location.search, html = await part(asked);
  if (html != null && asked == location.search) place(html);
}, 5000);

if (filters) {
  const query = () => {
    const set = new URLSearchParams([...new FormData(filters)].filter(it => it[1].trim()));
    return set.size ? "?" + set : "";
  };
  let soon = 0, turn = 0;
  filters.q.addEventListener("input", () => {
    clearTimeout(soon);
    soon = setTimeout(async () => {
      const mine = ++turn, asked = query(), html = await part(asked);
      if (html == null || mine != turn) return;
      history.replaceState(null, "", "/" + asked);
      place(html);
      by("examples").hidden = asked != "";
      by("told").textContent = list.querySelector(".lede, h2")?.textContent ?? "";
    }, 250);
  });
  filters.addEventListener("submit", event => { event.preventDefault(); location.href = "/" + query(); });
}

const json = { "content-type": "application/json" };
const silent = "The studio did not answer: is it still running?";
by("act").addEventListener("submit", async event => {
  event.preventDefault();
  const pressed = event.submitter;
  wrong("");
  pressed.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(pressed.formAction, { method: "POST", headers: json });
    if (answer.ok) location.href = answer.url; else wrong(await answer.text());
  } catch { wrong(silent); }
  pressed.removeAttribute("aria-busy");
});

const open = async files => {
  wrong("");
  let there = "";
  for (const file of files) {
    try {
      const address = "/api/v1/bundles?file=" + encodeURIComponent(file.name);
      const answer = await fetch(address, { method: "POST", headers: json, body: file });
      const said = await answer.json();
      if (!answer.ok) return wrong(file.name + ": " + said.message);
      there = "/studies/" + said.id;
    } catch { return wrong(silent); }
  }
  if (there) location.href = files.length == 1 ? there : "/";
};
const bundle = by("bundle");
bundle.addEventListener("change", async () => { await open([...bundle.files]); bundle.value = ""; });
const over = on => document.body.toggleAttribute("data-drop", on);
document.addEventListener("dragover", event => {
  if (event.dataTransfer.types.includes("Files")) { event.preventDefault(); over(true); }
});
document.addEventListener("dragleave", event => { if (!event.relatedTarget) over(false); });
document.addEventListener("drop", event => {
  over(false);
  if (event.dataTransfer.files.length) { event.preventDefault(); open([...event.dataTransfer.files]); }
});

ages(document);
show();
addEventListener("pageshow", () => { filters?.reset(); show(); });
"##;
