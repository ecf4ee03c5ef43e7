// The table of YASR with links to our pages about things, and errors in the server's words.

import { written } from "./query-answer.js";

const CHARACTERS = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

function escaped(text) {
  return text.replace(/[&<>"']/g, (character) => CHARACTERS[character]);
}

export function entity(iri) {
  return `/entity?iri=${encodeURIComponent(iri)}`;
}

export function element(name, content, className) {
  const made = document.createElement(name);
  if (content !== undefined) made.textContent = content;
  if (className) made.className = className;
  return made;
}

export function tableOf(Table) {
  return class extends Table {
    helpReference = undefined;

    // What is sorted and searched is text, too; DataTables reads it as HTML.
    getColumns() {
      const [number, ...columns] = super.getColumns();
      const text = (render) => (term, type, ...more) => (type === "display" ? render(term, type, ...more) : escaped(written(term)));
      return [number, ...columns.map((column) => ({ ...column, render: text(column.render) }))];
    }

    getUriLinkFromBinding(binding, prefixes = {}) {
      const iri = binding.value;
      const known = Object.entries(prefixes).find(([, namespace]) => namespace && iri.startsWith(namespace));
      const shown = known ? `${known[0]}:${iri.slice(known[1].length)}` : iri;
      return `<a class="iri" href="${escaped(entity(iri))}" title="${escaped(iri)}">${escaped(shown)}</a>`;
    }

    getCellContent(binding, prefixes) {
      if (binding.type === "uri") return `<div><span>${this.getUriLinkFromBinding(binding, prefixes)}</span></div>`;
      const text = escaped(written(binding));
      if (binding.type !== "literal") return `<div><span class="nonIri">${text}</span></div>`;
      let tag = "";
      if (binding["xml:lang"]) tag = `@${escaped(binding["xml:lang"])}`;
      else if (binding.datatype) tag = escaped(binding.datatype.replace("http://www.w3.org/2001/XMLSchema#", "xsd:"));
      if (this.persistentConfig.compact) tag = "";
      return `<div><span class="nonIri">${text}${tag && ` <small class="tag">${tag}</small>`}</span></div>`;
    }
  };
}

// The first line is the reason; what follows shows the place in the query.
export class Failure {
  priority = 20;
  hideFromSelection = true;

  constructor(yasr) {
    this.yasr = yasr;
  }
  canHandleResults() {
    return Boolean(this.yasr.results?.getError());
  }
  draw() {
    const { text, status } = this.yasr.results.getError();
    const [first, ...rest] = text.split("\n");
    const box = element("div", undefined, "failure");
    box.append(element("h2", status ? `No result (HTTP ${status})` : "No result"), element("p", first));
    if (rest.length) box.append(element("pre", rest.join("\n")));
    this.yasr.resultsEl.append(box);
  }
  getIcon() {
    return null;
  }
}
