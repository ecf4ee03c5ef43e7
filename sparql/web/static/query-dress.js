// What YASGUI leaves out for who does not see its pages or does not use a mouse, and what our policy forbids it.

import { element } from "./query-table.js";

// Results are drawn piece by piece, some of it later, so each change is looked at.
export function keepDressed(yasr) {
  const changes = { childList: true, subtree: true, attributeFilter: ["class"] };
  new MutationObserver(() => dressViews(yasr)).observe(yasr.rootEl, changes);
  dressViews(yasr);
}

function dressViews({ rootEl }) {
  for (const button of rootEl.querySelectorAll(".yasr_btnGroup button")) {
    button.setAttribute("aria-disabled", button.classList.contains("disabled"));
    button.setAttribute("aria-pressed", button.classList.contains("selected"));
  }
  rootEl.querySelector(".tableSizer")?.setAttribute("aria-label", "Rows on a page");
  const first = rootEl.querySelector("table.dataTable th.dt-orderable-none .dt-column-title");
  if (first && first.textContent !== "#") first.textContent = "#";
  rootEl.querySelector(".yasr_results .CodeMirror textarea")?.setAttribute("aria-label", "Result as text");
}

// A list of tabs may hold nothing but tabs, so the button that adds one goes beside it.
export function dressTabs() {
  const list = document.querySelector("#yasgui .tabsList");
  const button = list.querySelector(".addTab");
  const row = element("div", undefined, "tabs");
  const nothing = element("a");
  nothing.hidden = true; // The arrow keys count it as the last tab.
  button.parentElement.replaceChildren(nothing);
  list.setAttribute("aria-label", "Queries");
  list.before(row);
  row.append(list, button);
}

// YASQE's own tooltip has a style attribute, which the policy forbids; the browser's says the same.
export function explain(event, yasqe) {
  const icon = event.target.closest?.(".parseErrorIcon");
  if (!icon) return;
  event.stopPropagation();
  const line = yasqe.coordsChar({ left: 0, top: icon.getBoundingClientRect().top + 5 }, "window").line;
  const { state } = yasqe.getTokenAt({ line, ch: yasqe.getDoc().getLine(line).length }, true);
  icon.title = state.errorMsg ?? `Not expected in SPARQL 1.1. Expected: ${state.possibleCurrent.join(", ")}`;
}
