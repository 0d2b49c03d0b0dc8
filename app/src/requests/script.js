const host = document.getElementById("requests");
const said = document.getElementById("said");
const base = location.pathname;
const all = css => host.querySelectorAll(css);
const bare = query => query ? "?" + query : "";
let asked = 0;

const show = async (query, push) => {
  const mine = ++asked;
  host.setAttribute("aria-busy", "true");
  const answer = await fetch(base + "/requests" + bare(query)).catch(() => null);
  if (mine != asked) return;
  // The page itself says what is wrong.
  if (!answer || !answer.ok) return location.assign(base + bare(query));
  const held = document.activeElement?.id;
  const open = [...all("details")].map(it => it.open);
  host.innerHTML = await answer.text();
  host.removeAttribute("aria-busy");
  if (push) history.pushState(null, "", base + bare(query));
  all("details").forEach((it, at) => { it.open ||= open.length == all("details").length && open[at]; });
  if (held) document.getElementById(held)?.focus({ preventScroll: true });
  said.textContent = host.querySelector("#window + p")?.firstChild?.textContent ?? "";
  wake();
};
const here = () => location.search.slice(1);
const window_of = (from, to) => {
  const query = new URLSearchParams(location.search);
  query.delete("row");
  for (const [key, at] of [["from", from], ["to", to]]) {
    if (at === "" || at == null) query.delete(key);
    else query.set(key, String(at));
  }
  return query.toString();
};
const second = at => String(Math.round(at * 1000) / 1000);

// A window by pointer: on the whole point's axis, or within what is shown.
const ends = it => it.dataset.to ? [0, Number(it.dataset.to)] : (whole => {
  const query = new URLSearchParams(location.search);
  return [Number(query.get("from") ?? 0), Number(query.get("to") ?? whole)];
})(Number(host.querySelector(".whole").dataset.to));
const chosen = (lane, from, to) => {
  const [first, last] = ends(lane);
  const share = at => Math.min(1, Math.max(0, (at - first) / (last - first))) * 100 + "%";
  const lanes = lane.dataset.to ? [lane] : all(".on-time:not(.whole)");
  lanes.forEach(it => {
    it.dataset.choosing = "";
    it.style.setProperty("--from", share(from));
    it.style.setProperty("--to", share(to));
  });
};
host.addEventListener("pointerdown", event => {
  const lane = event.target.closest(".on-time");
  if (!lane || event.button) return;
  const [first, last] = ends(lane), box = lane.getBoundingClientRect();
  const at = event => first + (last - first) * Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  const grip = event.target.closest(".grip");
  const fixed = grip ? Number(host.querySelector("#grip-" + (grip.dataset.end == "from" ? "to" : "from")).ariaValueNow) : at(event);
  const pair = event => [Math.min(fixed, at(event)), Math.max(fixed, at(event))];
  const start = event.clientX;
  event.preventDefault();
  grip?.focus();
  lane.setPointerCapture(event.pointerId);
  lane.onpointermove = event => chosen(lane, ...pair(event));
  lane.onpointerup = lane.onpointercancel = event => {
    lane.onpointermove = lane.onpointerup = lane.onpointercancel = null;
    if (event.type == "pointercancel" || Math.abs(event.clientX - start) < 4) return;
    // No digit finer than a hand is.
    const step = 10 ** Math.floor(Math.log10((last - first) / 500));
    const [from, to] = pair(event).map(it => second(Math.round(it / step) * step));
    if (from != to) show(window_of(from, to), true);
  };
});

// The same by keyboard: an arrow is a hundredth, with Shift a tenth.
let soon = 0;
host.addEventListener("keydown", event => {
  const grip = event.target.closest(".grip");
  if (grip) return step(event, grip);
  const link = event.target.closest(".rows a");
  const way = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!link || !way) return;
  const links = [...all(".rows a")].sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top);
  const next = links[links.indexOf(link) + way];
  if (!next) return;
  event.preventDefault();
  reach(next);
  next.focus();
});
const reach = link => all(".rows a").forEach(it => { it.tabIndex = it == link ? 0 : -1; });
const step = (event, grip) => {
  const lane = grip.closest(".whole"), end = Number(lane.dataset.to);
  const size = end / (event.shiftKey ? 10 : 100);
  const now = Number(grip.ariaValueNow);
  const next = { ArrowLeft: now - size, ArrowDown: now - size, ArrowRight: now + size, ArrowUp: now + size, PageDown: now - end / 10, PageUp: now + end / 10, Home: 0, End: end }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  grip.ariaValueNow = second(Math.min(end, Math.max(0, next)));
  grip.ariaValueText = grip.ariaValueNow + " s";
  const [from, to] = ["from", "to"].map(it => Number(host.querySelector("#grip-" + it).ariaValueNow));
  if (to <= from) return;
  chosen(lane, from, to);
  clearTimeout(soon);
  soon = setTimeout(() => show(window_of(from || "", to < end ? second(to) : ""), true), 400);
};

host.addEventListener("submit", event => {
  event.preventDefault();
  const given = new FormData(event.target);
  show(window_of(given.get("from").trim(), given.get("to").trim()), true);
});
host.addEventListener("click", event => {
  const link = event.target.closest("a[data-window]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  show(link.search.slice(1), true);
});
addEventListener("popstate", () => show(here(), false));

// Rows as they come into sight.
const wake = () => {
  const rows = document.getElementById("rows");
  if (!rows) return;
  const whole = rows.firstElementChild, high = Number(rows.dataset.height), block = Number(rows.dataset.block);
  const known = new Map([...rows.querySelectorAll(".rows-block")].map(it => [Number(it.dataset.from) / block, it]));
  const fill = async index => {
    known.set(index, null);
    const query = new URLSearchParams(location.search);
    query.delete("row");
    const answer = await fetch(`${base}/requests/rows?${query}&first=${index * block}&last=${(index + 1) * block}`).catch(() => null);
    if (!answer?.ok) return known.delete(index);
    if (!rows.isConnected) return;
    whole.insertAdjacentHTML("beforeend", await answer.text());
    known.set(index, whole.lastElementChild);
    whole.lastElementChild.querySelectorAll("a").forEach(it => { it.tabIndex = -1; });
  };
  const look = () => {
    const first = Math.floor(rows.scrollTop / high / block), last = Math.floor((rows.scrollTop + rows.clientHeight) / high / block);
    const most = Math.floor((whole.clientHeight / high - 1) / block);
    for (let index = first; index <= Math.min(last, most); index++) known.has(index) || fill(index);
    // What is far from sight makes room.
    known.forEach((it, index) => {
      if (it && (index < first - 3 || last + 3 < index) && !it.contains(document.activeElement)) {
        it.remove();
        known.delete(index);
      }
    });
  };
  let due = 0;
  rows.onscroll = () => { due ||= requestAnimationFrame(() => { due = 0; look(); }); };
  const link = rows.querySelector("a");
  if (link) reach(link);
  look();
};
wake();
