{
  // What the engine showed at the point that is marked, drawn by the server: asked for once the mark rests, and kept.
  const body = document.querySelector(".engine-body");
  const kept = new Map();
  let wanted = body?.firstElementChild?.dataset.at, due = 0;
  const show = async id => {
    if (!kept.has(id)) {
      const answer = await fetch(`${location.pathname}/engine?point=${id}`).catch(() => null);
      if (!answer?.ok) return;
      kept.set(id, await answer.text());
    }
    if (wanted == id) body.innerHTML = kept.get(id);
  };
  if (body) document.addEventListener("marked", event => {
    const id = event.detail;
    if (!id || id == wanted) return;
    wanted = id;
    clearTimeout(due);
    due = setTimeout(show, 150, id);
  });
}
