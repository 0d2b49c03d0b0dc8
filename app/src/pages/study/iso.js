{
  // The iso-goodput map: in the page as it came or fetched once it is near, again when the SLO rests elsewhere, another point is chosen, or there is one
  // more. The present SLO is marked; pointing, or dragging, tries another one.
  const section = document.querySelector("section.iso");
  const body = section?.querySelector(".iso-body");
  let asked = null, held = false, near = false, due = 0;
  const bounds = () => Object.fromEntries([...section.dataset.slo.matchAll(/\b(ttft|tpot)(?::p[\d.]+)?<([\d.]+)(us|ms|s)\b/g)]
    .map(([, metric, number, unit]) => [metric, number * { us: 1e-3, ms: 1, s: 1e3 }[unit]]));
  const plane = () => body.querySelector(".plane");
  const range = (it, axis) => it.dataset[axis].split(",").map(Number);
  const place = () => {
    const it = plane(), now = bounds();
    if (!it) return;
    for (const [axis, metric] of [["x", "ttft"], ["y", "tpot"]]) {
      const [lo, hi] = range(it, axis), value = now[metric];
      const at = value ? Math.log(value / lo) / Math.log(hi / lo) : 2;
      it.style.setProperty("--" + axis, Math.min(1, Math.max(0, at)));
      it.classList.toggle("no-" + axis, !(0 <= at && at <= 1));
    }
  };
  const address = () => {
    const query = new URLSearchParams(location.search), choice = section.querySelector("select");
    query.set("slo", section.dataset.slo);
    if (choice?.dataset.chosen) query.set("map", choice.value);
    return `${location.pathname}/map?${query}`;
  };
  const ask = async () => {
    const path = address();
    const now = `${path} ${section.dataset.points}`;
    if (now == asked || held) return;
    asked = now;
    const answer = await fetch(path).catch(() => null);
    if (!answer?.ok || asked != now) { if (asked == now) asked = ""; return; }
    const fresh = document.createElement("div");
    fresh.innerHTML = await answer.text();
    // A menu in use stays where it is, and so does an open table.
    const texts = it => [...it?.options ?? []].map(option => option.text).join();
    const old = body.querySelector("select"), open = body.querySelector("details")?.open;
    const same = old && texts(old) == texts(fresh.querySelector("select")), used = old && document.activeElement == old;
    const chosen = old?.dataset.chosen, it = fresh.querySelector("select");
    if (chosen && it) it.dataset.chosen = chosen;
    if (same) fresh.querySelector("label").remove();
    [...body.children].forEach(it => { if (!same || !it.contains(old)) it.remove(); });
    body.append(...fresh.childNodes);
    if (used && !same) body.querySelector("select")?.focus();
    if (open && body.querySelector("details")) body.querySelector("details").open = true;
    place();
  };
  const soon = () => { clearTimeout(due); due = setTimeout(() => { place(); ask(); }, 300); };
  const put = (id, value) => {
    const field = document.getElementById(id);
    if (!field || field.value == value) return !!field;
    field.value = value;
    return field.dispatchEvent(new Event("change", { bubbles: true }));
  };
  const two = value => Number(value.toPrecision(2));
  const set = event => {
    const it = plane(), box = it.getBoundingClientRect();
    const at = (axis, share) => {
      const [lo, hi] = range(it, axis);
      return two(lo * (hi / lo) ** Math.min(1, Math.max(0, share)));
    };
    const tried = { ttft: at("x", (event.clientX - box.left) / box.width), tpot: at("y", (box.bottom - event.clientY) / box.height) };
    // What the SLO does not bound yet is written into its text.
    let more = "";
    for (const [metric, value] of Object.entries(tried)) if (!put("bound-" + metric, value)) more += `${metric}<${value}ms `;
    if (more) put("slo-text", more + section.dataset.slo);
  };
  if (section) {
    if (plane()) { asked = `${address()} ${section.dataset.points}`; place(); }
    // Far from the window it follows once the line rests.
    new MutationObserver(() => { if (near) place(); if (asked != null) soon(); }).observe(section, { attributes: true, attributeFilter: ["data-slo", "data-points"] });
    new IntersectionObserver(seen => {
      near = seen.at(-1).isIntersecting;
      if (near) { place(); ask(); }
    }, { rootMargin: "300px" }).observe(section);
    body.addEventListener("change", event => { if (event.target.matches("select")) { event.target.dataset.chosen = "yes"; ask(); } });
    let frame = 0;
    const fixed = () => document.querySelector("fieldset.bare")?.disabled;
    body.addEventListener("pointerdown", event => {
      const it = event.target.closest(".plane");
      if (!it || event.button || fixed()) return;
      event.preventDefault();
      it.setPointerCapture(event.pointerId);
      held = true;
      set(event);
    });
    body.addEventListener("pointermove", event => {
      if (held) frame ||= requestAnimationFrame(() => { frame = 0; if (held) set(event); });
    });
    for (const kind of ["pointerup", "pointercancel"]) body.addEventListener(kind, () => { if (held) { held = false; soon(); } });
  }
}
