// What was typed into a form marked data-keep outlives a reload, in this tab alone, until it was taken, sent or dismissed.
const kept = {
  key: () => "typed:" + location.pathname,
  read() { try { return JSON.parse(sessionStorage.getItem(this.key()) ?? "{}"); } catch { return {}; } },
  write(all) {
    try {
      if (Object.keys(all).length) sessionStorage.setItem(this.key(), JSON.stringify(all));
      else sessionStorage.removeItem(this.key());
    } catch {}
  },
  fields: within => [...within.querySelectorAll("input[id], select[id], textarea[id]")],
  may: it => it.id && it.closest("[data-keep]") && !it.readOnly && !["password", "file", "hidden", "submit"].includes(it.type),
  note(it) {
    if (!this.may(it)) return;
    const all = this.read();
    if (it.type == "radio") document.getElementsByName(it.name).forEach(other => delete all[other.id]);
    all[it.id] = ["checkbox", "radio"].includes(it.type) ? it.checked : it.value;
    this.write(all);
  },
  restore(within) {
    const all = this.read();
    this.fields(within).forEach(it => {
      const value = all[it.id];
      if (value === undefined || !this.may(it)) return;
      const what = typeof value == "boolean" ? "checked" : "value";
      if (it[what] === value) return;
      it[what] = value;
      for (let fold = it.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
      for (const kind of ["input", "change"]) it.dispatchEvent(new Event(kind, { bubbles: true }));
    });
  },
  forget(within) {
    const all = this.read();
    this.fields(within).forEach(it => delete all[it.id]);
    this.write(all);
  },
  sent: null,
  taken() {
    if (this.sent) this.forget(this.sent);
    this.sent = null;
  },
};
for (const kind of ["input", "change"]) addEventListener(kind, event => kept.note(event.target), true);
addEventListener("submit", event => {
  const form = event.target.closest("[data-keep]") ?? event.target.querySelector("[data-keep]");
  if (!form) return;
  if (event.target.getAttribute("method") == "get") kept.forget(form); else kept.sent = form;
}, true);
addEventListener("close", event => { if (event.target.matches?.("dialog[data-keep]")) kept.forget(event.target); }, true);
