{
  // Keys that work on every page. None is taken while somebody types, none with a modifier.
  const free = event => !event.defaultPrevented && !event.ctrlKey && !event.altKey && !event.metaKey && !event.isComposing
    && !document.querySelector(":modal") && !event.target.closest?.("input, select, textarea, [contenteditable], [role=textbox]");
  const shown = css => [...document.querySelectorAll(css)].find(it => it.offsetParent && !it.matches(":disabled"));
  const enter = field => {
    field.scrollIntoView({ block: "nearest" });
    field.focus();
    field.select?.();
    return true;
  };
  const does = {
    "?": () => (document.getElementById("keys").togglePopover(), true),
    "/": () => { const field = shown("input[type=search]"); return field ? enter(field) : (location.assign("/#search"), true); },
    "s": () => { const field = shown(".bound input, input#slo, textarea#slo"); return field ? enter(field) : false; },
  };
  document.addEventListener("keydown", event => {
    if (Object.hasOwn(does, event.key) && free(event) && does[event.key]()) event.preventDefault();
  });
  document.getElementById("keys").addEventListener("toggle", event => {
    if (event.newState == "open") event.target.querySelector("[data-close]").focus();
  });
  const search = location.hash == "#search" && shown("input[type=search]");
  if (search) enter(search);
}
