// The parts of the query page, and the editor in it once it stands.

export const GRAPHS = ["default-graph-uri", "named-graph-uri"];
export const page = { yasgui: null };
export const form = document.getElementById("query-form");
export const plain = document.getElementById("query");
export const bar = document.getElementById("bar");
export const run = document.getElementById("run");
export const stop = document.getElementById("stop");
export const format = document.getElementById("format");
export const boxes = [...document.querySelectorAll("input[name$=graph-uri]")];

export function graphsOf(tab) {
  const sent = tab.getRequestConfig().args;
  return (Array.isArray(sent) ? sent : []).filter(({ name }) => GRAPHS.includes(name));
}
