// The query page: YASGUI in place of the plain form, which stays what is sent for a download. Nothing here asks another
// host. Without this script the form opens results by itself.

import { Answer, count } from "./query-answer.js";
import { Chart } from "./query-chart.js";
import { dressTabs, explain, keepDressed } from "./query-dress.js";
import { PlaceMap } from "./query-map.js";
import { ask, MOST_BYTES, MOST_ROWS, parameters, request } from "./query-request.js";
import { element, Failure, tableOf } from "./query-table.js";
import { loadTerms, prefixes, replaceCompleters } from "./query-terms.js";

const LONGEST_LINK = 6000;
const KEPT_BYTES = 100_000;
const PLACE = /line (\d+), column (\d+)/;
const GRAPHS = ["default-graph-uri", "named-graph-uri"];
const form = document.getElementById("query-form");
const plain = document.getElementById("query");
const bar = document.getElementById("bar");
const run = document.getElementById("run");
const stop = document.getElementById("stop");
const share = document.getElementById("share");
const format = document.getElementById("format");
const message = document.getElementById("message");
const clock = document.getElementById("clock");
const boxes = [...document.querySelectorAll("input[name$=graph-uri]")];
const told = new WeakMap();
let yasgui = null;

function say(tab, words, failed = false) {
  told.set(tab, { words, failed });
  if (tab === yasgui?.getTab()) retell();
}

function retell() {
  const tab = yasgui.getTab();
  const { words, failed } = told.get(tab) ?? { words: "The result appears below.", failed: false };
  if (message.textContent !== words) message.textContent = words;
  message.classList.toggle("failed", failed);
  const running = Boolean(tab?.getYasqe()?.req);
  stop.hidden = clock.hidden = !running;
  run.disabled = running;
}

// Seconds that the query has taken so far, beside the message: a reader would read each of them aloud.
function tick() {
  const began = yasgui.getTab()?.getYasqe()?.began;
  if (began && !clock.hidden) clock.textContent = `${Math.floor((Date.now() - began) / 1000)} s of ${clock.dataset.limit} s`;
}

function size(bytes) {
  return bytes < 1e6 ? `${count(Math.ceil(bytes / 1e3))} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

// Rows, time, where it came from, and what is missing.
function summary(answer) {
  const { ms, bytes, cache, cut, part, kept, at } = answer.told;
  if (answer.hasError()) return `No result after ${(ms / 1000).toFixed(2)} s: ${answer.told.error.split("\n")[0].replace(/:$/, ".")}`;
  const rows = answer.getBindings();
  const unit = answer.graph ? "triple" : "row";
  const found = rows ? `${count(rows.length)} ${unit}${rows.length === 1 ? "" : "s"}` : `The answer is ${answer.getBoolean() ? "yes" : "no"}`;
  const parts = [`${found} in ${(ms / 1000).toFixed(2)} s, ${size(bytes)}${cache === "hit" ? ", from the cache" : ""}.`];
  if (part) parts.push(`These are the first ones: a page shows ${count(MOST_ROWS)} rows or ${size(MOST_BYTES)}. Download the whole result below.`);
  if (cut) parts.push(`The server cut the result: ${cut}`);
  if (kept) parts.push(`Kept since ${at.slice(0, 16).replace("T", " ")} UTC; run the query to see what is there now.`);
  return parts.join(" ");
}

function graphsOf(tab) {
  const sent = tab.getRequestConfig().args;
  return (Array.isArray(sent) ? sent : []).filter(({ name }) => GRAPHS.includes(name));
}

function unmark(yasqe) {
  if (yasqe.failedLine) yasqe.removeLineClass(yasqe.failedLine, "background", "failed-line");
  yasqe.failedLine = null;
}

// Marks the line that the server complains of, and puts the cursor there.
function mark(yasqe, error) {
  const place = PLACE.exec(error);
  if (!place) return;
  const line = Math.min(Number(place[1]) - 1, yasqe.getDoc().lastLine());
  yasqe.failedLine = yasqe.addLineClass(line, "background", "failed-line");
  yasqe.getDoc().setCursor({ line, ch: Number(place[2]) - 1 });
  yasqe.scrollIntoView({ line, ch: 0 }, 40);
}

// Takes the place of YASQE's own sending, which reads results of any size and words errors by itself.
async function query() {
  const yasqe = this;
  const tab = Object.values(yasgui._tabs).find((one) => one.getYasqe() === yasqe || one.getYasqe()?.rootEl === yasqe.rootEl);
  yasqe.abortQuery();
  unmark(yasqe);
  yasqe.emit("queryBefore", {});
  const ending = new AbortController();
  const sent = request(yasqe.getValue(), graphsOf(tab), ending.signal);
  yasqe.emit("query", sent, ending);
  yasqe.began = Date.now();
  say(tab, "The query runs …");
  tick();
  try {
    const answer = await ask(sent);
    yasqe.emit("queryResponse", answer, answer.ms);
    if (answer.error) mark(yasqe, answer.error);
    say(tab, summary(tab.getYasr().results), Boolean(answer.error || answer.cut));
  } catch (error) {
    if (error.name !== "AbortError") throw error;
    if (!yasqe.req || yasqe.req === sent) say(tab, "Stopped; the query was ended on the server, too.");
  }
}

function link(tab) {
  const sent = parameters(tab.getQuery(), graphsOf(tab));
  const view = tab.getYasr()?.getSelectedPluginName();
  const short = `/sparql?${sent}`;
  if (view && view !== "table") sent.set("outputFormat", view);
  const whole = short.length > LONGEST_LINK || sent.has("outputFormat") ? `/sparql#${sent}` : short;
  return new URL(whole, location.href).href;
}

// What the address asks for: /sparql?query=… as programs send it, /sparql#query=… as YASGUI writes it.
function asked() {
  const given = new URLSearchParams(location.hash.length > 1 ? location.hash.slice(1) : location.search);
  if (!given.has("query")) return null;
  const args = GRAPHS.flatMap((name) => {
    const yasguiName = name.replace("-graph-uri", "Graph");
    return [...given.getAll(name), ...given.getAll(yasguiName)].map((value) => ({ name, value }));
  });
  const view = given.get("outputFormat");
  return { query: given.get("query"), args, name: given.get("tabTitle"), view: Yasgui.Yasr.plugins[view] ? view : "table" };
}

function same(tab, wanted) {
  const { yasqe, requestConfig } = tab.getPersistedJson();
  return yasqe.value.trim() === wanted.query.trim() && JSON.stringify(requestConfig.args ?? []) === JSON.stringify(wanted.args);
}

function open(wanted) {
  let tab = Object.values(yasgui._tabs).find((one) => same(one, wanted));
  if (tab) yasgui.selectTabId(tab.getId());
  else {
    const name = wanted.name ? { name: yasgui.createTabName(wanted.name) } : {};
    tab = yasgui.addTab(true, { ...name, yasqe: { value: wanted.query } });
    tab.setRequestConfig({ args: wanted.args });
  }
  tab.getYasr().selectPlugin(wanted.view ?? "table");
  shown();
  return tab;
}

// The form follows the tab: its graphs are ticked, and the bar stands below its editor.
function shown() {
  const tab = yasgui.getTab();
  if (!tab?.getYasqe()) return;
  const chosen = graphsOf(tab);
  for (const box of boxes) box.checked = chosen.some(({ name, value }) => name === box.name && value === box.value);
  tellGraphs(chosen);
  tab.getYasqe().rootEl.closest(".tabPanel").querySelector(".editorwrapper").append(bar);
  dress(tab);
  offer(tab);
  const answer = tab.getYasr().results;
  if (!told.has(tab) && answer) say(tab, summary(answer), answer.hasError());
  retell();
}

function tellGraphs(chosen) {
  const here = document.getElementById("graphs-chosen");
  if (!here) return;
  const by = (name) => chosen.filter((one) => one.name === name).length;
  here.textContent = chosen.length ? `: ${by(GRAPHS[0])} in the default graph, ${by(GRAPHS[1])} named` : ": all";
}

// Names for what YASGUI leaves without one.
function dress(tab) {
  const yasqe = tab.getYasqe();
  yasqe.getInputField().setAttribute("aria-label", "SPARQL query");
  yasqe.getInputField().setAttribute("aria-describedby", "limits");
  if (yasqe.dressed) return;
  yasqe.dressed = true;
  yasqe.on("change", () => {
    unmark(yasqe);
    offer(tab);
  });
  yasqe.on("queryAbort", retell);
  yasqe.on("queryResponse", retell);
  yasqe.addKeyMap({ Tab: false, "Shift-Tab": false });
  keepDressed(tab.getYasr());
}

function choose(event) {
  const { name, value, checked } = event.target;
  if (name === GRAPHS[0]) {
    // What is asked is mostly asked of both, by a plain pattern and by GRAPH.
    for (const box of boxes) if (box.name === GRAPHS[1] && box.value === value) box.checked = checked;
  }
  const args = boxes.filter((box) => box.checked).map((box) => ({ name: box.name, value: box.value }));
  yasgui.getTab().setRequestConfig({ args });
  tellGraphs(args);
}

// The whole result comes from the server by itself; a query too long for an address goes by POST.
function download(event) {
  const tab = yasgui.getTab();
  plain.value = tab.getQuery();
  const address = `/sparql?${parameters(plain.value, graphsOf(tab))}&format=${format.value}`;
  form.method = address.length > LONGEST_LINK ? "post" : "get";
  if (form.method === "post") return;
  event.preventDefault();
  const anchor = element("a");
  anchor.href = address;
  anchor.download = `result.${format.value}`;
  anchor.click();
}

// Offers the formats that the kind of the query has.
function offer(tab) {
  const graph = ["CONSTRUCT", "DESCRIBE"].includes(tab.getYasqe().getQueryType());
  const [solutions, graphs] = format.querySelectorAll("optgroup");
  [solutions.disabled, graphs.disabled] = [graph, !graph];
  if (format.selectedOptions[0]?.parentElement.disabled) format.value = format.querySelector("optgroup:not([disabled]) option").value;
}

async function copyLink() {
  const address = link(yasgui.getTab());
  const field = document.getElementById("address");
  field.value = address;
  field.hidden = false;
  field.select();
  try {
    await navigator.clipboard.writeText(address);
    say(yasgui.getTab(), "The link to this query is copied.");
  } catch {
    say(yasgui.getTab(), "Copy the link to this query.");
  }
}

function follow(event) {
  const anchor = event.target.closest("#examples a");
  if (!anchor || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const given = new URL(anchor.href).searchParams;
  open({ query: given.get("query"), args: [], name: anchor.textContent.slice(0, 30) }).query();
  anchor.closest("details").open = false;
  bar.scrollIntoView({ block: "center" });
}

function prepare() {
  const { Yasr, Yasqe, Tab } = Yasgui;
  Yasqe.prototype.query = query;
  Yasr.prototype.setResponse = function (response, ms) {
    if (!response) return;
    this.results = new Answer(response, ms);
    this.draw();
  };
  Tab.prototype.getShareableLink = function () {
    return link(this);
  };
  Yasr.registerPlugin("table", tableOf(Yasr.plugins.table));
  Yasr.registerPlugin("error", Failure);
  Yasr.registerPlugin("chart", Chart);
  Yasr.registerPlugin("map", PlaceMap);
  delete Yasr.plugins.response.prototype.helpReference;
  Yasr.defaults.pluginOrder = ["table", "chart", "map", "response"];
  replaceCompleters(Yasqe);
  // column-resizer writes its rules into style elements, which the policy of the page forbids; they stand in query.css.
  document.head.appendChild = (node) => (node.gripid ? node : Node.prototype.appendChild.call(document.head, node));
}

function start() {
  prepare();
  yasgui = new Yasgui(document.getElementById("yasgui"), {
    persistenceId: "sparql",
    populateFromUrl: false,
    autofocus: false,
    copyEndpointOnNewTab: false,
    endpointCatalogueOptions: { getData: () => [] },
    requestConfig: { endpoint: new URL("/sparql", location.href).href, method: "POST" },
    yasqe: { value: plain.defaultValue, editorHeight: "18rem", createShareableLink: undefined },
    yasr: { prefixes, maxPersistentResponseSize: KEPT_BYTES },
  });
  dressTabs();
  document.getElementById("plain").hidden = true;
  bar.hidden = false;
  document.getElementById("open").textContent = "Download";
  yasgui.on("tabSelect", () => setTimeout(shown));
  yasgui.on("tabAdd", () => setTimeout(shown));
  yasgui.on("tabClose", () => setTimeout(() => (yasgui.getTab() ? shown() : yasgui.addTab(true))));
  shown();
  visit();
}

function visit() {
  const wanted = asked();
  if (!wanted) return;
  history.replaceState(null, "", "/sparql");
  open(wanted).query();
}

function listen() {
  run.addEventListener("click", () => yasgui.getTab().query());
  stop.addEventListener("click", () => yasgui.getTab().getYasqe().abortQuery());
  share.addEventListener("click", copyLink);
  form.addEventListener("submit", download);
  document.addEventListener("click", follow);
  document.addEventListener("mouseover", (event) => explain(event, yasgui.getTab()?.getYasqe()), true);
  window.addEventListener("hashchange", visit);
  setInterval(tick, 1000);
  for (const box of boxes) box.addEventListener("change", choose);
}

if (window.Yasgui) {
  await loadTerms().catch(() => {});
  // The script's whole name is the module; what the page calls so is the class in it.
  window.Yasgui = window.Yasgui.default ?? window.Yasgui.Yasgui ?? window.Yasgui;
  start();
  listen();
}
