// The page of a run that goes on: asks for its record, and shows the page anew when something happened.
"use strict";

const EVERY_MS = 1500;
const LONGEST_MS = 15000;

const live = () => document.getElementById("live");
let etag = "";
let announced = live().dataset.words;
let wait = EVERY_MS;

/** Put what the server shows now in the place of what is shown; who reads or has the focus there stays there. */
async function show() {
  const answer = await fetch(location.pathname, { headers: { Accept: "text/html" }, cache: "no-store" });
  if (!answer.ok) throw new Error(answer.statusText);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById("live");
  const focus = document.activeElement;
  const at = live().contains(focus) ? (focus.getAttribute("href") ?? focus.getAttribute("aria-labelledby")) : null;
  live().replaceWith(fresh);
  document.title = page.title;
  if (at) [...fresh.querySelectorAll("[href], [aria-labelledby]")]
    .find((each) => each.tabIndex >= 0 && (each.getAttribute("href") ?? each.getAttribute("aria-labelledby")) === at)?.focus();
  if (fresh.dataset.words !== announced) {
    announced = fresh.dataset.words;
    document.getElementById("announced").textContent = announced;
  }
}

async function look() {
  try {
    const answer = await fetch(live().dataset.run, { headers: etag ? { "If-None-Match": etag } : {}, cache: "no-store" });
    if (answer.status === 404) return;
    if (answer.status !== 304 && !answer.ok) throw new Error(answer.statusText);
    etag = answer.headers.get("ETag") ?? "";
    await show();
    wait = EVERY_MS;
  } catch {
    wait = Math.min(2 * wait, LONGEST_MS);
  }
  if (live().dataset.running === "yes") setTimeout(look, wait);
}

setTimeout(look, EVERY_MS);
