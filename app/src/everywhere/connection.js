// Whether the studio answers. Reads wait until it does, and go on by themselves; what changes something is never sent twice.
const connection = {
  away: false, slow: 0, tries: 0, timer: 0, waiting: [], part: 0,
  say() {
    const it = document.getElementById("connection");
    if (!it) return;
    const text = this.away ? "The studio cannot be reached. This page keeps what it shows and tries again by itself."
      : this.part ? "The studio could not draw a part of this page (it answered " + this.part + "). What is shown stays."
      : this.slow ? "The studio takes long to answer. What is shown stays until it does."
      : this.back ? "The studio is back." : "";
    if (it.textContent != text) it.textContent = text;
  },
  // One question that failed may be a page that is left: nothing is said before a second one fails, too.
  lost() { this.timer ||= setTimeout(() => this.probe(), 250); },
  async probe() {
    const found = await ask("/alive", { cache: "no-store" }).then(() => true, () => false);
    this.timer = 0;
    if (found) return this.found();
    this.away = true;
    this.say();
    this.timer = setTimeout(() => this.probe(), Math.min(1000 * 2 ** this.tries++, 30000));
  },
  found() {
    clearTimeout(this.timer);
    this.timer = this.tries = 0;
    this.waiting.splice(0).forEach(go => go());
    if (!this.away) return;
    this.away = false;
    this.brief("back", true);
  },
  brief(what, value) {
    this[what] = value;
    this.say();
    setTimeout(() => { this[what] = 0; this.say(); }, 6000);
  },
  later() { return new Promise(go => this.waiting.push(go)); },
};
const ask = window.fetch.bind(window);
const gateways = [502, 503, 504];
window.fetch = async (asked, init) => {
  const address = new URL(asked.url ?? asked, location.href);
  if (address.origin != location.origin) return ask(asked, init);
  const reads = (init?.method ?? asked.method ?? "GET") == "GET", signal = init?.signal ?? asked.signal;
  let slow = false;
  const late = setTimeout(() => { slow = true; connection.slow++; connection.say(); }, 5000);
  try {
    for (;;) {
      const answer = await ask(asked, init).catch(why => {
        if (signal?.aborted || !(why instanceof TypeError)) throw why;
        connection.lost();
        if (!reads) throw why;
      });
      if (answer && !(reads && gateways.includes(answer.status))) {
        if (connection.away) connection.found();
        if (reads && 500 <= answer.status) connection.brief("part", answer.status);
        if (!reads && answer.ok) kept.taken();
        return answer;
      }
      connection.lost();
      await connection.later();
    }
  } finally {
    clearTimeout(late);
    if (slow) { connection.slow--; connection.say(); }
  }
};
addEventListener("offline", () => connection.lost());
addEventListener("online", () => { if (connection.away) { clearTimeout(connection.timer); connection.probe(); } });
