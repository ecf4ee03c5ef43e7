// Completes prefixes, classes and properties with what the graphs of this instance hold, the most frequent first.

import { count } from "./query-answer.js";

const LOCAL = /^[A-Za-z_](?:[\w-]*\w)?$/;
const MOST = 60;
let known = { prefixes: {}, classes: [], properties: [] };

export async function loadTerms() {
  const response = await fetch("/sparql/terms.json");
  if (response.ok) known = await response.json();
  for (const entry of [...known.classes, ...known.properties]) entry.name = entry.iri.replace(/^.*[/#:]/s, "").toLowerCase();
}

export function prefixes() {
  return known.prefixes;
}

// An IRI with the prefixes of the query, else with those that everybody knows; these come to the query when they are used.
function shortened(iri, declared) {
  for (const table of [declared, known.prefixes]) {
    for (const [prefix, namespace] of Object.entries(table)) {
      const taken = table !== declared && prefix in declared;
      if (!taken && iri.startsWith(namespace) && LOCAL.test(iri.slice(namespace.length))) {
        return `${prefix}:${iri.slice(namespace.length)}`;
      }
    }
  }
  return `<${iri}>`;
}

// `foaf:na` is the beginning of an IRI, `<http://…` too; any other word is looked for in the names, then in the
// whole.
function matching(entries, typed, declared) {
  const colon = typed.indexOf(":");
  const namespace = typed.startsWith("<") ? "" : (declared[typed.slice(0, colon)] ?? known.prefixes[typed.slice(0, colon)]);
  if (typed.startsWith("<")) return entries.filter(({ iri }) => iri.startsWith(typed.slice(1).replace(/>$/, "")));
  if (colon !== -1) {
    if (namespace === undefined) return [];
    const begun = (namespace + typed.slice(colon + 1)).toLowerCase();
    return entries.filter(({ iri }) => iri.toLowerCase().startsWith(begun));
  }
  const word = typed.toLowerCase();
  const rank = ({ iri, name }) => (name.startsWith(word) ? 0 : name.includes(word) ? 1 : iri.toLowerCase().includes(word) ? 2 : 3);
  return [0, 1, 2].flatMap((wanted) => entries.filter((entry) => rank(entry) === wanted));
}

function completer(entries, unit) {
  return {
    get(yasqe, token) {
      const typed = token?.string.trim() ?? "";
      const declared = yasqe.getPrefixesFromQuery();
      return matching(entries(), typed, declared).slice(0, MOST).map(({ iri }) => shortened(iri, declared));
    },
    preProcessToken: (_, token) => token,
    postProcessSuggestion: (_yasqe, _token, suggestion) => suggestion,
    postprocessHints(yasqe, hints) {
      const declared = yasqe.getPrefixesFromQuery();
      const counts = new Map(entries().map((entry) => [shortened(entry.iri, declared), entry[unit]]));
      return hints.map((hint) => ({
        ...hint,
        displayText: `${hint.text}   ${count(counts.get(hint.text) ?? 0)} ${unit}`,
      }));
    },
    bulk: false,
  };
}

// Takes the place of the completers that ask other hosts.
export function replaceCompleters(Yasqe) {
  Object.assign(Yasqe.Autocompleters.class, completer(() => known.classes, "entities"));
  Object.assign(Yasqe.Autocompleters.property, completer(() => known.properties, "triples"));
  Object.assign(Yasqe.Autocompleters.prefixes, {
    get: () => Object.entries(known.prefixes).map(([prefix, namespace]) => `${prefix}: <${namespace}>`),
    persistenceId: null,
  });
}
