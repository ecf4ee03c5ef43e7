// What the server answered, as YASR's views read it. Results come as TSV and N-Triples: a part of them can be shown, and
// their last line says that one is cut.

const ESCAPES = { t: "\t", n: "\n", r: "\r", b: "\b", f: "\f", '"': '"', "'": "'", "\\": "\\" };
const XSD = "http://www.w3.org/2001/XMLSchema#";
const TERM = /<<\(|\)>>|<([^>]*)>|_:([^\s)]+)|"((?:[^"\\]|\\.)*)"(?:@([A-Za-z0-9-]+)|\^\^<([^>]*)>)?|([^\s<>"()]+)/sy;
const TRIPLE = ["subject", "predicate", "object"];

// A number as the pages of this instance write it.
export const count = (value) => value.toLocaleString("en", { maximumSignificantDigits: 6 }).replaceAll(",", "\u202f");

// A count with its noun: one of a kind is not many.
export const counted = (value, noun) => `${count(value)} ${noun}${value === 1 ? "" : "s"}`;

const CUT = /^# truncated: (.*)$/;

function unescape(text) {
  if (!text.includes("\\")) return text;
  return text.replace(/\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))/gs, (_, four, eight, letter) =>
    letter === undefined ? String.fromCodePoint(parseInt(four ?? eight, 16)) : (ESCAPES[letter] ?? letter),
  );
}

function bare(word) {
  if (/^[+-]?\d+$/.test(word)) return `${XSD}integer`;
  if (/^[+-]?\d*\.\d+$/.test(word)) return `${XSD}decimal`;
  return /^(true|false)$/.test(word) ? `${XSD}boolean` : `${XSD}double`;
}

// The terms that stand in a text one after another, in the shape of the SPARQL results JSON.
export function terms(text) {
  const found = [];
  const open = [];
  let place = 0;
  while (place < text.length) {
    if (text[place] === " " || text[place] === "\t") {
      place += 1;
      continue;
    }
    TERM.lastIndex = place;
    const match = TERM.exec(text);
    if (!match) break;
    place = TERM.lastIndex;
    const [whole, iri, blank, literal, language, datatype, word] = match;
    let term;
    if (whole === "<<(") {
      open.push(found.splice(0));
      continue;
    } else if (whole === ")>>") {
      const [subject, predicate, object] = found.splice(0);
      found.push(...(open.pop() ?? []));
      term = { type: "triple", value: { subject, predicate, object } };
    } else if (iri !== undefined) term = { type: "uri", value: unescape(iri) };
    else if (blank !== undefined) term = { type: "bnode", value: blank };
    else if (literal !== undefined) {
      term = { type: "literal", value: unescape(literal) };
      if (language) term["xml:lang"] = language;
      if (datatype) term.datatype = datatype;
    } else if (word === ".") break;
    else term = { type: "literal", value: word, datatype: bare(word) };
    found.push(term);
  }
  return found;
}

function readTable(lines) {
  const names = lines[0].split("\t").map((name) => name.replace(/^[?$]/, ""));
  const bindings = lines.slice(1).map((line) => {
    const row = {};
    line.split("\t").forEach((field, column) => {
      if (field && column < names.length) row[names[column]] = terms(field)[0];
    });
    return row;
  });
  return { head: { vars: names.filter((name) => name) }, results: { bindings } };
}

function readTriples(lines) {
  const bindings = lines
    .filter((line) => line && !line.startsWith("#"))
    .map((line) => Object.fromEntries(terms(line).slice(0, 3).map((term, place) => [TRIPLE[place], term])));
  return { head: { vars: TRIPLE }, results: { bindings } };
}

// A term as people write it.
export function written(term) {
  if (!term) return "";
  if (term.type === "triple") return `<<( ${TRIPLE.map((part) => written(term.value[part])).join(" ")} )>>`;
  return term.type === "bnode" ? `_:${term.value}` : term.value;
}

/*
 * One answer: { text, contentType, status, ms, bytes, cache, cut, part, error, at }. `cut` says why the server left rows
 * out, `part` that the page did, `error` why there is nothing. It is kept with its tab as it is.
 */
export class Answer {
  constructor(outcome, ms) {
    this.outcome = { ms, ...outcome };
    const { text = "", contentType = "", error } = this.outcome;
    const lines = text.split(/\r?\n/);
    if (lines.at(-1) === "") lines.pop();
    const cut = CUT.exec(lines.at(-1) ?? "");
    if (cut) {
      lines.pop();
      this.outcome.cut = cut[1];
    }
    if (error !== undefined) this.json = null;
    else if (contentType.includes("tab-separated")) {
      const truth = /^(true|false)$/.exec(text.trim());
      this.json = truth ? { head: { vars: [] }, boolean: truth[1] === "true" } : readTable(lines.length ? lines : [""]);
    } else this.json = readTriples(lines);
    this.graph = contentType.includes("triples");
  }
  hasError() {
    return this.outcome.error !== undefined;
  }
  getError() {
    return this.hasError() ? { text: this.outcome.error, status: this.outcome.status } : undefined;
  }
  getAsJson() {
    return this.json ?? undefined;
  }
  getVariables() {
    return this.json?.head.vars ?? [];
  }
  getBindings() {
    return this.json?.results?.bindings ?? null;
  }
  getBoolean() {
    return this.json?.boolean;
  }
  getStatements() {
    return null;
  }
  getOriginalResponseAsString() {
    return this.hasError() ? "" : this.outcome.text;
  }
  getContentType() {
    return this.outcome.contentType;
  }
  getType() {
    return this.graph ? "ttl" : "tsv";
  }
  getStatus() {
    return this.outcome.status;
  }
  getResponseTime() {
    return this.outcome.ms;
  }
  asCsv() {
    return undefined;
  }
  // Null forgets it: errors, and what would fill the browser's storage.
  getAsStoreObject(most) {
    return this.hasError() || (this.outcome.text?.length ?? 0) > most ? undefined : { ...this.outcome, kept: true };
  }
}
