// On paper: where it stood and when, and curves as the pictures that the server drew, in the colours of paper.
const printed = () => {
  const it = document.getElementById("printed"), now = new Date();
  if (it) it.textContent = location.href + " · printed " + local(now) + " " + two(now.getHours()) + ":" + two(now.getMinutes());
};
addEventListener("beforeprint", printed);

// Once the page is awake, and again where something came into it.
let soon = 0;
const look = () => { soon = 0; times(document); };
const awake = () => {
  printed();
  look();
  kept.restore(document);
  if (document.querySelector(".term")) setTimeout(meanings, 1000);
  new MutationObserver(changes => {
    const dialogs = changes.filter(it => it.type == "attributes" && it.target.matches("dialog[open][data-keep]"));
    dialogs.forEach(it => setTimeout(() => kept.restore(it.target), 50));
    if (changes.some(it => it.addedNodes.length)) soon ||= setTimeout(look, 200);
  }).observe(document.body, { childList: true, subtree: true, attributeFilter: ["open"] });
};
addEventListener("pageshow", () => setTimeout(() => { if (document.documentElement.dataset.hydrated) kept.restore(document); }));
addEventListener("awake", awake);
addEventListener("DOMContentLoaded", () => { if (document.documentElement.dataset.hydrated) awake(); });
