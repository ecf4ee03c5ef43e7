// The query page: YASGUI in place of the plain form, which stays what is sent for a download. Nothing here asks another
// host. Without this script the form opens results by itself.

import { Answer } from "./query-answer.js";
import { Chart } from "./query-chart.js";
import { dressTabs, explain } from "./query-dress.js";
import { asked, copyLink, download, link } from "./query-links.js";
import { PlaceMap } from "./query-map.js";
import { bar, boxes, form, page, plain, run, stop } from "./query-page.js";
import { query } from "./query-sending.js";
import { tick } from "./query-status.js";
import { Failure, tableOf } from "./query-table.js";
import { choose, chooseAgain, open, shown } from "./query-tabs.js";
import { loadTerms, prefixes, replaceCompleters } from "./query-terms.js";

const KEPT_BYTES = 100_000;

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
  const early = boxes.filter((box) => box.checked !== box.defaultChecked);
  prepare();
  page.yasgui = new Yasgui(document.getElementById("yasgui"), {
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
  page.yasgui.on("tabSelect", () => setTimeout(shown));
  page.yasgui.on("tabAdd", () => setTimeout(shown));
  page.yasgui.on("tabClose", () => setTimeout(() => (page.yasgui.getTab() ? shown() : page.yasgui.addTab(true))));
  shown();
  visit();
  chooseAgain(early);
}

function visit() {
  const wanted = asked();
  if (!wanted) return;
  history.replaceState(null, "", "/sparql");
  open(wanted).query();
}

function listen() {
  run.addEventListener("click", () => page.yasgui.getTab().query());
  stop.addEventListener("click", () => page.yasgui.getTab().getYasqe().abortQuery());
  document.getElementById("share").addEventListener("click", copyLink);
  form.addEventListener("submit", download);
  document.addEventListener("click", follow);
  document.addEventListener("mouseover", (event) => explain(event, page.yasgui.getTab()?.getYasqe()), true);
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
