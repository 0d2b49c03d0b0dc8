{
  // One point, marked in every chart of the page: under the pointer, or stepped to with the arrow keys. Marks lie over the
  // charts, which are not drawn again for them.
  const main = document.querySelector(".main-chart .plot"), said = document.querySelector(".main-chart .readout");
  const plots = main ? [...document.querySelectorAll(".main-chart .plot, .small-chart .plot")] : [];
  const seen = new Map();
  const hint = "With the chart in focus: ← → along a curve, ↑ ↓ to the next curve, Enter opens the point. ? lists all keys.";
  const plain = html => { const it = document.createElement("p"); it.innerHTML = html.replaceAll("<br>", "; "); return it.textContent; };

  // Of a chart that plotly drew, its own data and ranges; of any other, the marks of its picture.
  const alive = plot => {
    const { data, layout } = plot.querySelector(".canvas");
    const along = (axis, value) => {
      const [lo, hi] = axis.range;
      return ((axis.type == "log" ? Math.log10(value) : value) - lo) / (hi - lo);
    };
    return data.filter(it => it.ids).flatMap(it => it.ids.map((id, at) => ({
      id, line: +it.legendgroup, load: it.customdata[at], text: plain(it.hovertext[at]),
      x: along(layout.xaxis, it.x[at]), y: 1 - along(layout.yaxis, it.y[at]),
    })));
  };
  const still = plot => [...plot.querySelectorAll("[data-point]")].map((it, at) => ({
    id: it.dataset.point, line: +it.dataset.line, load: at, text: it.firstChild.textContent,
    x: parseFloat(it.getAttribute("x")) / 100, y: parseFloat(it.getAttribute("y")) / 100,
  }));
  const points = plot => {
    if (!seen.has(plot)) seen.set(plot, plot.classList.contains("awake") ? alive(plot) : still(plot));
    return seen.get(plot);
  };
  const inside = at => -0.001 <= at && at <= 1.001;

  let focus = null;
  const cross = plot => plot.querySelector(".cross") ?? plot.appendChild(Object.assign(document.createElement("div"), { className: "cross", innerHTML: "<i></i>" }));
  const mark = id => {
    document.dispatchEvent(new CustomEvent("marked", { detail: id }));
    plots.forEach(plot => show(plot, id));
  };
  const show = (plot, id) => {
    const found = id && points(plot).find(it => it.id == id && inside(it.x));
    const over = cross(plot);
    over.hidden = !found;
    if (!found) return;
    over.style.setProperty("--x", found.x);
    over.style.setProperty("--y", Math.min(1, Math.max(0, found.y)));
    over.style.setProperty("--of", `var(--series-${found.line % 8 + 1})`);
    over.classList.toggle("off", !inside(found.y));
    over.classList.toggle("held", id == focus);
  };
  const say = (text, aloud) => {
    said.setAttribute("aria-live", aloud ? "polite" : "off");
    said.textContent = text;
  };
  const tell = (id, aloud) => {
    const found = id && points(main).find(it => it.id == id);
    say(found ? found.text : hint, aloud);
    mark(id);
  };
  const hold = id => { focus = id; tell(id, true); };

  const lines = () => {
    const all = new Map();
    points(main).filter(it => inside(it.x) && inside(it.y)).forEach(it => all.set(it.line, [...all.get(it.line) ?? [], it]));
    return [...all.values()].map(it => it.sort((a, b) => a.load - b.load)).sort((a, b) => a[0].line - b[0].line);
  };
  const step = key => {
    const all = lines();
    if (!all.length) return;
    const at = all.findIndex(line => line.some(it => it.id == focus));
    const line = all[Math.max(at, 0)], place = line.findIndex(it => it.id == focus);
    if (place < 0) return hold(line[0].id);
    const last = line.length - 1;
    const beside = { ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: last }[key];
    if (beside !== undefined) return hold(line[Math.min(last, Math.max(0, beside))].id);
    const next = all[Math.min(all.length - 1, Math.max(0, at + (key == "ArrowDown" ? 1 : -1)))];
    const away = it => Math.abs(it.load - line[place].load);
    hold(next.reduce((best, it) => away(it) < away(best) ? it : best).id);
  };
  const steps = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"];
  const open = () => {
    const slo = new URLSearchParams(location.search).get("slo");
    location.assign(`${location.pathname}/points/${focus}` + (slo ? "?slo=" + encodeURIComponent(slo) : ""));
  };
  document.addEventListener("keydown", event => {
    if (!main || event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    const here = event.target == main;
    // Where nothing is in focus, the arrows that scroll nothing lead into the chart.
    const idle = event.target == document.body && /^Arrow(Left|Right)$/.test(event.key) && !document.querySelector(":modal, :popover-open");
    if (!here && !idle) return;
    if (steps.includes(event.key)) {
      if (idle) main.focus();
      step(event.key);
    } else if (event.key == "Enter" && focus && location.pathname.startsWith("/studies/")) open();
    else if (event.key == "Escape" && focus) hold(null);
    else return;
    event.preventDefault();
  });

  if (main) {
    say(hint, false);
    main.addEventListener("focusout", event => { if (event.target == main) { focus = null; tell(null, false); } });
    // What is drawn anew lies elsewhere.
    const anew = plot => { seen.delete(plot); mark(focus); };
    const canvas = main.querySelector(".canvas");
    const wake = new MutationObserver(() => {
      if (!main.classList.contains("awake") || !canvas.on) return;
      wake.disconnect();
      canvas.on("plotly_hover", event => event.points[0].id && tell(event.points[0].id, false));
      canvas.on("plotly_unhover", () => tell(focus, false));
      canvas.on("plotly_afterplot", () => anew(main));
      anew(main);
    });
    wake.observe(main, { attributes: true, attributeFilter: ["class"] });
    plots.filter(it => it != main).forEach(plot => {
      const picture = plot.querySelector(".picture");
      new MutationObserver(() => anew(plot)).observe(picture, { childList: true });
      let due = 0;
      picture.addEventListener("pointermove", event => {
        due ||= requestAnimationFrame(() => {
          due = 0;
          const box = picture.getBoundingClientRect();
          const away = it => Math.hypot(box.left + it.x * box.width - event.clientX, box.top + it.y * box.height - event.clientY);
          const near = points(plot).reduce((best, it) => !best || away(it) < away(best) ? it : best, null);
          tell(near && away(near) < 40 ? near.id : focus, false);
        });
      });
      picture.addEventListener("pointerleave", () => tell(focus, false));
    });
  }
}
