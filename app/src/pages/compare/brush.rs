//! Zooming by dragging over a chart: the part that was dragged over goes into the address, so that the view stays a link. From the
//! keyboard the field beside the chart does the same.

/// The script of the page. Nothing of the page needs it.
pub const BRUSH: &str = r#"
document.querySelectorAll("[data-zoom]").forEach(area => {
  const [lo, hi] = area.dataset.zoom.split(",").map(Number);
  const at = event => {
    const box = area.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  };
  const value = share => "log" in area.dataset ? lo * (hi / lo) ** share : lo + (hi - lo) * share;
  let from = null, mark = null;
  area.addEventListener("pointerdown", event => {
    if (event.button != 0) return;
    event.preventDefault();
    from = at(event);
    mark = area.appendChild(Object.assign(document.createElement("div"), { className: "brush" }));
    area.setPointerCapture(event.pointerId);
  });
  area.addEventListener("pointermove", event => {
    if (from === null) return;
    const to = at(event);
    mark.style.left = Math.min(from, to) * 100 + "%";
    mark.style.width = Math.abs(to - from) * 100 + "%";
  });
  const end = event => {
    if (from === null) return;
    const ends = [from, at(event)].sort((a, b) => a - b);
    from = null;
    mark.remove();
    if (event.type != "pointerup" || ends[1] - ends[0] < 0.02) return;
    const next = new URL(location.href);
    next.searchParams.set("zoom", ends.map(share => Number(value(share).toPrecision(4))).join(","));
    next.hash = "chart";
    location.href = next.href;
  };
  area.addEventListener("pointerup", end);
  area.addEventListener("pointercancel", end);
});
"#;
