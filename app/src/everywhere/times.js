// Moments as the reader's clock has them. The server writes UTC, in as many letters; it stays to be read at the moment itself.
const two = number => String(number).padStart(2, "0");
const local = at => at.getFullYear() + "-" + two(at.getMonth() + 1) + "-" + two(at.getDate());
const times = within => within.querySelectorAll("time[datetime]").forEach(it => {
  const text = it.firstChild, utc = text?.data, at = new Date(it.dateTime);
  if (!/^\d{4}-\d\d-\d\d( \d\d:\d\d UTC)?$/.test(utc) || it.dataset.utc || isNaN(at)) return;
  it.dataset.utc = utc;
  it.title = it.dateTime.slice(0, 16).replace("T", " ") + " UTC";
  it.style.minWidth = it.getBoundingClientRect().width + "px";
  text.data = local(at) + (utc.length < 12 ? "" : " " + two(at.getHours()) + ":" + two(at.getMinutes()));
});
