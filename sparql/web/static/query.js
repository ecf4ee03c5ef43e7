// The query page: shows a result below the query. Without this script the form opens the result by itself.
"use strict";

const MAX_ROWS = 1000;
const MAX_BYTES = 5_000_000;
const form = document.getElementById("query-form");
const query = document.getElementById("query");
const run = document.getElementById("run");
const stop = document.getElementById("stop");
const message = document.getElementById("message");
const table = document.getElementById("table");
const text = document.getElementById("text");
let running = null;

function say(words, failed = false) {
  message.textContent = words;
  message.classList.toggle("failed", failed);
}

function element(name, content, className) {
  const made = document.createElement(name);
  if (content !== undefined) made.textContent = content;
  if (className) made.className = className;
  return made;
}

function local(iri) {
  return iri.replace("http://www.w3.org/2001/XMLSchema#", "xsd:");
}

function cell(term) {
  const made = element("td");
  if (!term) return made;
  if (term.type === "uri" && /^https?:/.test(term.value)) {
    const link = element("a", term.value);
    link.href = term.value;
    link.rel = "nofollow noopener";
    made.append(link);
  } else if (term.type === "bnode") {
    made.append(`_:${term.value}`);
  } else if (term.type === "triple") {
    made.append(JSON.stringify(term.value));
  } else {
    made.append(term.value);
    const tag = term["xml:lang"] ? `@${term["xml:lang"]}` : term.datatype ? local(term.datatype) : "";
    if (tag) made.append(element("span", tag, "tag"));
  }
  return made;
}

function showTable(variables, rows) {
  const head = element("tr");
  for (const name of variables) {
    const title = element("th", `?${name}`);
    title.scope = "col";
    head.append(title);
  }
  const body = element("tbody");
  for (const row of rows.slice(0, MAX_ROWS)) {
    const line = element("tr");
    line.append(...variables.map((name) => cell(row[name])));
    body.append(line);
  }
  const top = element("thead");
  top.append(head);
  const whole = element("table");
  whole.append(top, body);
  table.replaceChildren(whole);
  table.hidden = false;
}

// The whole body, or null when it is larger than a page should hold.
async function read(response) {
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let whole = "";
  for (let size = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return whole + decoder.decode();
    size += value.length;
    if (size > MAX_BYTES) {
      await reader.cancel();
      return null;
    }
    whole += decoder.decode(value, { stream: true });
  }
}

function show(whole, type, seconds) {
  const took = `in ${seconds.toFixed(2)} s`;
  if (!type.includes("sparql-results+json")) {
    text.textContent = whole;
    text.hidden = false;
    say(`Done ${took}.`);
    return;
  }
  const answer = JSON.parse(whole);
  if ("boolean" in answer) {
    say(`The answer is ${answer.boolean ? "yes" : "no"} (${took}).`);
    return;
  }
  const rows = answer.results.bindings;
  const cut = rows.length > MAX_ROWS ? `, the first ${MAX_ROWS} are shown` : "";
  say(`${rows.length} ${rows.length === 1 ? "row" : "rows"} ${took}${cut}.`);
  if (rows.length) showTable(answer.head.vars, rows);
}

async function ask() {
  running?.abort();
  const mine = (running = new AbortController());
  table.hidden = text.hidden = true;
  stop.hidden = false;
  run.disabled = true;
  say("The query runs …");
  const began = performance.now();
  try {
    const response = await fetch("/sparql", {
      method: "POST",
      headers: { Accept: "application/sparql-results+json, text/turtle;q=0.9", "Content-Type": "application/sparql-query" },
      body: query.value,
      signal: mine.signal,
    });
    const whole = await read(response);
    if (whole === null) {
      say("The result is larger than 5 MB. Add a LIMIT, or open it in one of the formats above.", true);
    } else if (response.ok) {
      show(whole, response.headers.get("Content-Type") ?? "", (performance.now() - began) / 1000);
    } else {
      fail(whole);
    }
  } catch (error) {
    say(error.name === "AbortError" ? "Stopped." : "The answer broke off. Try again, or narrow the query.", true);
  } finally {
    if (running === mine) {
      stop.hidden = true;
      run.disabled = false;
    }
  }
}

function fail(body) {
  let told = body;
  try {
    told = JSON.parse(body).message;
  } catch {
    // Not ours: a proxy's page, shown as it is.
  }
  const [first, ...rest] = told.split("\n");
  say(first, true);
  if (rest.length) {
    text.textContent = rest.join("\n");
    text.hidden = false;
  }
}

form.addEventListener("submit", (event) => {
  if (event.submitter?.id === "open") return;
  event.preventDefault();
  ask();
});
query.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    ask();
  }
});
stop.addEventListener("click", () => running?.abort());
