// Sends the query of a tab, and shows in its editor what the server complains of.

import { graphsOf, page } from "./query-page.js";
import { ask, request } from "./query-request.js";
import { say, summary, tick } from "./query-status.js";

const PLACE = /line (\d+), column (\d+)/;

export function unmark(yasqe) {
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
export async function query() {
  const yasqe = this;
  const tab = Object.values(page.yasgui._tabs).find((one) => one.getYasqe() === yasqe || one.getYasqe()?.rootEl === yasqe.rootEl);
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
