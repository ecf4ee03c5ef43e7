// Sends a query and reads as much of the result as a page can show. Ending it closes the connection, and the server ends
// the query then.

export const MOST_ROWS = 10_000;
export const MOST_BYTES = 8_000_000;
const ACCEPT = "text/tab-separated-values, application/n-triples;q=0.9, application/json;q=0.1";
const NEWLINE = 10;

// The parameters of the SPARQL Protocol, with the graphs of a tab.
export function parameters(query, graphs) {
  const sent = new URLSearchParams({ query });
  for (const { name, value } of graphs) sent.append(name, value);
  return sent;
}

export function request(query, graphs, signal) {
  return new Request("/sparql", {
    method: "POST",
    headers: { Accept: ACCEPT, "Content-Type": "application/x-www-form-urlencoded;charset=UTF-8" },
    body: parameters(query, graphs).toString(),
    signal,
  });
}

function rowsIn(bytes) {
  let count = 0;
  for (let place = bytes.indexOf(NEWLINE); place !== -1; place = bytes.indexOf(NEWLINE, place + 1)) count += 1;
  return count;
}

// Whole lines of a body: { text, bytes, part, broken }.
async function read(response) {
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  let rows = 0;
  const lines = () => text.slice(0, text.lastIndexOf("\n") + 1);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return { text: text + decoder.decode(), bytes };
      bytes += value.length;
      rows += rowsIn(value);
      text += decoder.decode(value, { stream: true });
      if (rows > MOST_ROWS || bytes > MOST_BYTES) {
        await reader.cancel();
        return { text: first(lines(), MOST_ROWS + 1), bytes, part: true };
      }
    }
  } catch (error) {
    if (error.name === "AbortError") throw error;
    return { text: lines(), bytes, broken: true };
  }
}

function first(text, count) {
  let end = 0;
  for (let line = 0; line < count; line += 1) {
    const next = text.indexOf("\n", end);
    if (next === -1) return text;
    end = next + 1;
  }
  return text.slice(0, end);
}

function reason(body, status) {
  try {
    return JSON.parse(body).message;
  } catch {
    return body.trim() || `The server answered with the status ${status} and no reason.`; // A proxy's page, as it is.
  }
}

// What a request gave, as Answer takes it; raises AbortError alone.
export async function ask(sent) {
  const began = performance.now();
  const outcome = { at: new Date().toISOString() };
  try {
    const response = await fetch(sent);
    outcome.status = response.status;
    outcome.contentType = response.headers.get("Content-Type") ?? "";
    outcome.cache = response.headers.get("X-Cache");
    if (response.ok) Object.assign(outcome, await read(response));
    else outcome.error = reason(await response.text(), response.status);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    outcome.error = "The server cannot be reached, or the connection broke off. Try again.";
  }
  outcome.ms = Math.round(performance.now() - began);
  if (outcome.broken && !/(^|\n)# truncated: [^\n]*\n?$/.test(outcome.text)) {
    outcome.cut = "the connection broke off before the end of the result.";
  }
  return outcome;
}
