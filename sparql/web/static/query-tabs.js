// Tabs, and the form that follows the one that is open: its graphs, the formats that fit, the bar below its editor.

import { keepDressed } from "./query-dress.js";
import { bar, boxes, format, GRAPHS, graphsOf, page } from "./query-page.js";
import { unmark } from "./query-sending.js";
import { retell, say, summary, wasTold } from "./query-status.js";

function same(tab, wanted) {
  const { yasqe, requestConfig } = tab.getPersistedJson();
  return yasqe.value.trim() === wanted.query.trim() && JSON.stringify(requestConfig.args ?? []) === JSON.stringify(wanted.args);
}

export function open(wanted) {
  let tab = Object.values(page.yasgui._tabs).find((one) => same(one, wanted));
  if (tab) page.yasgui.selectTabId(tab.getId());
  else {
    const name = wanted.name ? { name: page.yasgui.createTabName(wanted.name) } : {};
    tab = page.yasgui.addTab(true, { ...name, yasqe: { value: wanted.query } });
    tab.setRequestConfig({ args: wanted.args });
  }
  tab.getYasr().selectPlugin(wanted.view ?? "table");
  shown();
  return tab;
}

// The form follows the tab: its graphs are ticked, and the bar stands below its editor.
export function shown() {
  const tab = page.yasgui.getTab();
  if (!tab?.getYasqe()) return;
  const chosen = graphsOf(tab);
  for (const box of boxes) box.checked = chosen.some(({ name, value }) => name === box.name && value === box.value);
  tellGraphs(chosen);
  tab.getYasqe().rootEl.closest(".tabPanel").querySelector(".editorwrapper").append(bar);
  dress(tab);
  offer(tab);
  const answer = tab.getYasr().results;
  if (!wasTold(tab) && answer) say(tab, summary(answer), answer.hasError());
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

export function choose(event) {
  const { name, value, checked } = event.target;
  if (name === GRAPHS[0]) {
    // What is asked is mostly asked of both, by a plain pattern and by GRAPH.
    for (const box of boxes) if (box.name === GRAPHS[1] && box.value === value) box.checked = checked;
  }
  const args = boxes.filter((box) => box.checked).map((box) => ({ name: box.name, value: box.value }));
  page.yasgui.getTab().setRequestConfig({ args });
  tellGraphs(args);
}

// What was ticked while the editor was on its way counts for the tab that is open.
export function chooseAgain(early) {
  for (const box of early) {
    box.checked = !box.defaultChecked;
    choose({ target: box });
  }
}

// Offers the formats that the kind of the query has.
function offer(tab) {
  const graph = ["CONSTRUCT", "DESCRIBE"].includes(tab.getYasqe().getQueryType());
  const [solutions, graphs] = format.querySelectorAll("optgroup");
  [solutions.disabled, graphs.disabled] = [graph, !graph];
  if (format.selectedOptions[0]?.parentElement.disabled) format.value = format.querySelector("optgroup:not([disabled]) option").value;
}
