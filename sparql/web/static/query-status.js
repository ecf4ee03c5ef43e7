// What the page says of the query of each tab: that it runs, what came of it, and how long it takes.

import { count, counted } from "./query-answer.js";
import { page, run, stop } from "./query-page.js";
import { MOST_BYTES, MOST_ROWS } from "./query-request.js";

const message = document.getElementById("message");
const clock = document.getElementById("clock");
const messages = new WeakMap();

export function say(tab, words, failed = false) {
  messages.set(tab, { words, failed });
  if (tab === page.yasgui?.getTab()) retell();
}

export function wasTold(tab) {
  return messages.has(tab);
}

export function retell() {
  const tab = page.yasgui.getTab();
  const { words, failed } = messages.get(tab) ?? { words: "The result appears below.", failed: false };
  if (message.textContent !== words) message.textContent = words;
  message.classList.toggle("failed", failed);
  const running = Boolean(tab?.getYasqe()?.req);
  stop.hidden = clock.hidden = !running;
  run.disabled = running;
}

// Seconds that the query has taken so far, beside the message: a reader would read each of them aloud.
export function tick() {
  const began = page.yasgui.getTab()?.getYasqe()?.began;
  if (began && !clock.hidden) clock.textContent = `${Math.floor((Date.now() - began) / 1000)} s of ${clock.dataset.limit} s`;
}

function size(bytes) {
  return bytes < 1e6 ? `${count(Math.ceil(bytes / 1e3))} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

// Rows, time, where it came from, and what is missing.
export function summary(answer) {
  const { ms, bytes, cache, cut, part, kept, at } = answer.outcome;
  if (answer.hasError()) return `No result after ${(ms / 1000).toFixed(2)} s: ${answer.outcome.error.split("\n")[0].replace(/:$/, ".")}`;
  const rows = answer.getBindings();
  const unit = answer.graph ? "triple" : "row";
  const found = rows ? counted(rows.length, unit) : `The answer is ${answer.getBoolean() ? "yes" : "no"}`;
  const parts = [`${found} in ${(ms / 1000).toFixed(2)} s, ${size(bytes)}${cache === "hit" ? ", from the cache" : ""}.`];
  if (part) parts.push(`These are the first ones: a page shows ${count(MOST_ROWS)} rows or ${size(MOST_BYTES)}. Download the whole result below.`);
  if (cut) parts.push(`The server cut the result: ${cut}`);
  if (kept) parts.push(`Kept since ${at.slice(0, 16).replace("T", " ")} UTC; run the query to see what is there now.`);
  return parts.join(" ");
}
