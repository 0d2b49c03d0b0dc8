// What a word means and what a mark says: on hover, on focus, on touch; it can be pointed into, and Escape takes it away.
const tip = document.createElement("div");
tip.id = "tip";
tip.role = "tooltip";
tip.popover = "manual";
let told = null, due = 0, terms;
const meanings = () => terms ??= fetch("/docs/terms.json").then(answer => answer.ok ? answer.json() : {}, () => ({}));
const anchor = link => link.hash.slice(1);
const tell = async (it, arrows) => {
  clearTimeout(due);
  if (told == it) return;
  hush();
  told = it;
  if (it.matches(".term")) {
    const meaning = (await meanings())[anchor(it)];
    if (told != it || !meaning) return;
    tip.innerHTML = meaning.html;
    tip.prepend(Object.assign(document.createElement("strong"), { textContent: meaning.word + ". " }));
    if (!tip.querySelector("a")) tip.insertAdjacentHTML("beforeend", " <a></a>");
    if (!tip.querySelector("a").hash) Object.assign(tip.querySelector("a"), { href: it.href, textContent: "Glossary" });
  } else {
    it.dataset.tip = it.title;
    it.removeAttribute("title");
    tip.textContent = it.dataset.tip + (arrows ? " (Arrow keys: the next.)" : "");
  }
  (it.closest("dialog, main, header") ?? document.body).append(tip);
  tip.showPopover();
  it.setAttribute("aria-describedby", [it.getAttribute("aria-describedby"), "tip"].filter(Boolean).join(" "));
  const box = it.getBoundingClientRect(), own = tip.getBoundingClientRect();
  const below = box.bottom + own.height + 6 < innerHeight || box.top < own.height + 6;
  tip.style.left = Math.max(8, Math.min(box.left, innerWidth - own.width - 8)) + "px";
  tip.style.top = (below ? box.bottom + 2 : box.top - own.height - 2) + "px";
};
const hush = () => {
  clearTimeout(due);
  if (!told) return;
  const it = told, rest = (it.getAttribute("aria-describedby") ?? "").split(" ").filter(id => id && id != "tip").join(" ");
  told = null;
  if (rest) it.setAttribute("aria-describedby", rest); else it.removeAttribute("aria-describedby");
  if (it.dataset.tip !== undefined) { it.title ||= it.dataset.tip; delete it.dataset.tip; }
  if (tip.matches(":popover-open")) tip.hidePopover();
};
const SAYS = ".term, [title]:not(svg *, iframe)";
const saying = it => it?.closest?.(SAYS + ", [data-tip]");
addEventListener("pointerover", event => {
  if (event.pointerType == "touch" || tip.contains(event.target)) return clearTimeout(due);
  const it = saying(event.target);
  clearTimeout(due);
  if (it && it != told) due = setTimeout(tell, 250, it);
  else if (!it && told) due = setTimeout(hush, 250);
}, true);
addEventListener("focusin", event => {
  const at = event.target, it = at.matches?.(SAYS) ? at : at.querySelector?.(":scope > :is(.term, [title])") && at.matches("a, button, label") ? at.querySelector("[title]") : null;
  if (it && at.matches(":focus-visible")) tell(it, it.dataset.stop != null && 1 < around(it).length);
  else if (!tip.contains(at)) hush();
});
addEventListener("focusout", event => { if (!tip.contains(event.relatedTarget)) due = setTimeout(hush, 150); });
addEventListener("scroll", () => { if (told && !told.matches(":focus, :hover")) hush(); }, { capture: true, passive: true });
// A finger has no hover: the first touch tells, and a second one on a word goes to the glossary.
addEventListener("click", event => {
  if (event.pointerType != "touch" || tip.contains(event.target)) return;
  const it = saying(event.target);
  if (!it) return hush();
  const acts = it.matches(PRESSED) && !it.matches(".term") || !it.matches(".term") && it.closest("a, button, label, summary");
  if (acts || it == told) return;
  if (it.matches(".term")) event.preventDefault();
  tell(it);
}, true);
// Marks that cannot be pressed have one stop for the Tab key in each part of a page; arrows go from one to the next.
const PRESSED = "a[href], button, input, select, textarea, summary";
const PARTS = "table, ul.studies, dl, form, aside, section, article, main";
const around = it => [...(it.closest(PARTS) ?? document.body).querySelectorAll("[title], [data-tip]")].filter(mark);
const mark = it => !it.closest(PRESSED + ", svg") && !it.matches("[tabindex]:not([data-stop])") && it.checkVisibility({ visibilityProperty: true });
const stops = () => {
  const parts = new Set([...document.querySelectorAll("[data-stop]")].filter(mark).map(it => it.closest(PARTS)));
  document.querySelectorAll("main [title], dialog[open] [title]").forEach(it => {
    const part = it.closest(PARTS);
    if (parts.has(part) || !mark(it)) return;
    parts.add(part);
    it.dataset.stop = "";
    it.tabIndex = 0;
  });
};
const step = (from, key) => {
  const all = around(from), cell = from.closest("td, th"), way = /Right|Down/.test(key) ? 1 : -1;
  if (!cell || /Left|Right/.test(key)) return all[all.indexOf(from) + way];
  const rows = all.filter(it => it.closest("td, th")?.cellIndex == cell.cellIndex);
  return rows[rows.indexOf(from) + way];
};
addEventListener("keydown", event => {
  if (event.key == "Tab") return stops();
  if (event.key == "Escape" && tip.matches(":popover-open")) {
    event.preventDefault();
    event.stopImmediatePropagation();
    return hush();
  }
  const at = document.activeElement;
  if (!/^Arrow/.test(event.key) || at?.dataset.stop == null || event.altKey || event.ctrlKey || event.metaKey) return;
  const next = step(at, event.key);
  event.stopImmediatePropagation();
  if (!next) return;
  event.preventDefault();
  at.removeAttribute("tabindex");
  delete at.dataset.stop;
  next.dataset.stop = "";
  next.tabIndex = 0;
  next.focus();
}, true);
