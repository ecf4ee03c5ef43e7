// Addresses of queries: the link of a tab, what an address asks for, and the way to a download.

import { form, format, GRAPHS, graphsOf, page, plain } from "./query-page.js";
import { parameters } from "./query-request.js";
import { say } from "./query-status.js";
import { element } from "./query-table.js";

const LONGEST_LINK = 6000;

export function link(tab) {
  const sent = parameters(tab.getQuery(), graphsOf(tab));
  const view = tab.getYasr()?.getSelectedPluginName();
  const short = `/sparql?${sent}`;
  if (view && view !== "table") sent.set("outputFormat", view);
  const whole = short.length > LONGEST_LINK || sent.has("outputFormat") ? `/sparql#${sent}` : short;
  return new URL(whole, location.href).href;
}

// What the address asks for: /sparql?query=… as programs send it, /sparql#query=… as YASGUI writes it.
export function asked() {
  const given = new URLSearchParams(location.hash.length > 1 ? location.hash.slice(1) : location.search);
  if (!given.has("query")) return null;
  const args = GRAPHS.flatMap((name) => {
    const yasguiName = name.replace("-graph-uri", "Graph");
    return [...given.getAll(name), ...given.getAll(yasguiName)].map((value) => ({ name, value }));
  });
  const view = given.get("outputFormat");
  return { query: given.get("query"), args, name: given.get("tabTitle"), view: Yasgui.Yasr.plugins[view] ? view : "table" };
}

export async function copyLink() {
  const address = link(page.yasgui.getTab());
  const field = document.getElementById("address");
  field.value = address;
  field.hidden = false;
  field.select();
  try {
    await navigator.clipboard.writeText(address);
    say(page.yasgui.getTab(), "The link to this query is copied.");
  } catch {
    say(page.yasgui.getTab(), "Copy the link to this query.");
  }
}

// The whole result comes from the server by itself; a query too long for an address goes by POST.
export function download(event) {
  const tab = page.yasgui.getTab();
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
