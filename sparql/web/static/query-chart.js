// A chart of the numbers and dates in a result, as SVG, with the same as text.

import { count as amount, counted, written } from "./query-answer.js";
import { element } from "./query-table.js";
import { svg } from "./query-map.js";
import { DAY, isoDate, kindOf, moment, number, roundStep, ticks } from "./query-values.js";

const BARS = 40;
const LISTED = 1000;
const ROOM = { left: 64, right: 16, top: 12, bottom: 58 };
const HEIGHT = 340;

export class Chart {
  priority = 4;
  label = "Chart";

  constructor(yasr) {
    this.yasr = yasr;
  }
  columns() {
    const rows = this.yasr.results?.getBindings() ?? [];
    return (this.yasr.results?.getVariables() ?? []).map((name) => ({ name, kind: kindOf(rows, name) }));
  }
  canHandleResults() {
    return Boolean(this.yasr.results?.getBindings()?.length) && this.columns().some(({ kind }) => kind !== "text");
  }
  getIcon() {
    return null;
  }
  destroy() {
    this.sized?.disconnect();
  }

  draw(settings = {}) {
    this.destroy();
    const columns = this.columns();
    const numbers = columns.filter(({ kind }) => kind === "number");
    const across = [...columns.filter(({ kind }) => kind !== "number"), ...numbers].map(({ name }) => name);
    const kept = (value, among, otherwise) => (among.includes(value) ? value : otherwise);
    const date = columns.find(({ kind }) => kind === "date")?.name;
    this.x = kept(settings?.x, across, date ?? (numbers.length > 1 || across.length > numbers.length ? across[0] : ""));
    const upward = ["", ...numbers.map(({ name }) => name).filter((name) => name !== this.x || numbers.length === 1)];
    this.y = kept(settings?.y, upward, upward[1] ?? "");
    this.form = kept(settings?.form, ["bars", "line", "points"], "");
    const root = element("div", undefined, "picture chart");
    this.spot = element("p", "", "note");
    this.spot.setAttribute("aria-live", "polite");
    this.drawing = svg("svg", { tabindex: "0", role: "img" });
    this.drawing.classList.add("drawing");
    this.drawing.addEventListener("keydown", (event) => this.press(event));
    this.note = element("p", "", "note");
    this.list = element("details");
    root.append(this.controls(across, upward), this.drawing, this.spot, this.note, this.list);
    this.yasr.resultsEl.append(root);
    this.read();
    this.sized = new ResizeObserver(() => this.show());
    this.sized.observe(root);
  }

  controls(across, upward) {
    const bar = element("p", undefined, "actions");
    const choice = (title, key, options) => {
      const label = element("label", `${title} `);
      const select = element("select");
      for (const [value, text] of options) select.append(new Option(text, value, false, value === this[key]));
      select.addEventListener("change", () => {
        this[key] = select.value;
        this.yasr.storePluginConfig("chart", { x: this.x, y: this.y, form: this.form });
        this.read();
        this.show();
      });
      label.append(select);
      return label;
    };
    bar.append(
      choice("Across", "x", [["", "row by row"], ...across.map((name) => [name, `?${name}`])]),
      choice("Upward", "y", upward.map((name) => [name, name ? `?${name}` : "number of rows"])),
      choice("As", "form", [["", "what fits"], ["bars", "bars"], ["line", "line"], ["points", "points"]]),
    );
    return bar;
  }

  // The values that are drawn: { x, y, text }.
  read() {
    const rows = this.yasr.results.getBindings();
    this.kind = this.x ? kindOf(rows, this.x) : "number";
    const across = (row, place) => (!this.x ? place + 1 : this.kind === "date" ? moment(row[this.x]) : this.kind === "number" ? number(row[this.x]) : place);
    let values = rows.map((row, place) => ({ x: across(row, place), y: this.y ? number(row[this.y]) : 1, text: this.x ? written(row[this.x]) : `row ${place + 1}` }));
    values = values.filter(({ x, y }) => Number.isFinite(x) && Number.isFinite(y));
    this.skipped = rows.length - values.length;
    this.counted = !this.y;
    if (this.counted) values = this.count(values);
    this.as = this.form || (this.kind === "text" || this.counted ? "bars" : this.kind === "date" || !this.x ? "line" : "points");
    if (this.kind !== "text") values.sort((a, b) => a.x - b.x);
    this.left = this.as === "bars" && this.kind === "text" ? Math.max(0, values.length - BARS) : 0;
    if (this.left) values = values.slice(0, BARS);
    this.values = values;
    this.at = -1;
    this.describe();
  }

  // Rows by value; dates by day, month or year, as many as fit.
  count(values) {
    const times = values.map(({ x }) => x);
    const days = values.length ? (times.reduce((a, b) => Math.max(a, b)) - times.reduce((a, b) => Math.min(a, b))) / DAY : 0;
    this.unit = days > 1500 ? "year" : days > 60 ? "month" : "day";
    const found = new Map();
    for (const value of values) {
      const key = this.kind === "date" ? isoDate(value.x, this.unit) : value.text;
      const entry = found.get(key) ?? { ...value, text: key, y: 0 };
      entry.y += 1;
      found.set(key, entry);
    }
    const all = [...found.values()];
    return this.kind === "text" ? all.sort((a, b) => b.y - a.y) : all;
  }

  describe() {
    const ys = this.values.map(({ y }) => y);
    const upward = this.y ? `?${this.y}` : "number of rows";
    const across = this.x ? `?${this.x}` : "row";
    const least = ys.reduce((a, b) => Math.min(a, b), Infinity);
    const most = ys.reduce((a, b) => Math.max(a, b), -Infinity);
    const where = (value) => this.values.find(({ y }) => y === value)?.text;
    const summary = ys.length
      ? `${upward} by ${across}: ${counted(ys.length, "value")}, least ${amount(least)} (${where(least)}), most ${amount(most)} (${where(most)}).`
      : "There is nothing to draw.";
    const left = [this.left && `${counted(this.left, "more bar")} left out`, this.skipped && `${counted(this.skipped, "row")} without a value`].filter(Boolean);
    this.note.textContent = `${summary}${left.length ? ` ${left.join("; ")}.` : ""}`;
    this.drawing.setAttribute("aria-label", `Chart. ${summary} Arrow keys go from value to value.`);
    this.spot.textContent = "";
    const body = element("tbody");
    for (const { text, y } of this.values.slice(0, LISTED)) {
      const line = element("tr");
      const name = element("th", text);
      name.scope = "row";
      line.append(name, element("td", amount(y), "figure"));
      body.append(line);
    }
    const head = element("tr");
    for (const name of [across, upward]) {
      const cell = element("th", name);
      cell.scope = "col";
      head.append(cell);
    }
    const top = element("thead");
    top.append(head);
    const table = element("table");
    table.append(top, body);
    this.list.replaceChildren(element("summary", `Values as a table (${Math.min(LISTED, ys.length)} of ${ys.length})`), table);
  }

  show() {
    const width = Math.max(280, this.drawing.clientWidth || 900);
    this.drawing.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    const { values } = this;
    if (!values.length) return this.drawing.replaceChildren();
    const ys = values.map(({ y }) => y);
    const floor = this.as === "bars" ? 0 : Infinity;
    let least = ys.reduce((a, b) => Math.min(a, b), floor);
    let most = ys.reduce((a, b) => Math.max(a, b), this.as === "bars" ? 0 : -Infinity);
    if (least === most) [least, most] = [least - 1, most + 1];
    const step = roundStep(least, most, 5);
    [least, most] = [Math.floor(least / step) * step, Math.ceil(most / step) * step];
    const inner = width - ROOM.left - ROOM.right;
    const high = HEIGHT - ROOM.top - ROOM.bottom;
    this.up = (y) => ROOM.top + high * (1 - (y - least) / (most - least));
    this.place(inner);
    const marks = ticks(least, most, 5).map((y) => {
      const group = svg("g");
      group.append(
        svg("path", { class: y === 0 ? "zero" : "graticule", d: `M${ROOM.left} ${this.up(y)}H${width - ROOM.right}` }),
        svg("text", { x: ROOM.left - 8, y: this.up(y) + 4, "text-anchor": "end" }, amount(y)),
      );
      return group;
    });
    const cursor = svg("g", { class: "cursor" });
    this.cursor = cursor;
    this.drawing.replaceChildren(...marks, ...this.names(inner), ...this.figures(), cursor);
    this.point();
  }

  // Where each value stands; bars by numbers and dates have places of their own, one after another.
  place(inner) {
    const { values } = this;
    if (this.as === "bars" || this.kind === "text") {
      this.band = inner / values.length;
      this.over = (value, place) => ROOM.left + this.band * (place + 0.5);
    } else {
      const [first, last] = [values[0].x, values.at(-1).x];
      this.over = ({ x }) => ROOM.left + (last === first ? inner / 2 : (inner * (x - first)) / (last - first));
    }
  }

  names(inner) {
    const low = HEIGHT - ROOM.bottom + 16;
    const { values } = this;
    if (this.as === "bars" || this.kind === "text") {
      const every = Math.max(1, Math.ceil(values.length / Math.floor(inner / 26)));
      return values.flatMap(({ text }, place) => {
        if (place % every) return [];
        const x = this.over(values[place], place);
        const short = text.replace(/^.*[/#](?=[^/#]+$)/s, "");
        return svg("text", { x, y: low, transform: `rotate(24 ${x} ${low})` }, short.length > 18 ? `${short.slice(0, 17)}…` : short);
      });
    }
    const [first, last] = [values[0].x, values.at(-1).x];
    const count = Math.max(2, Math.floor(inner / 110));
    const label = (x, text) => {
      const at = this.over({ x });
      return svg("text", { x: at, y: low, "text-anchor": at > ROOM.left + inner - 30 ? "end" : "middle" }, text);
    };
    if (this.kind !== "date") return ticks(first, last, count).map((x) => label(x, amount(x)));
    const years = ticks(new Date(first).getUTCFullYear(), new Date(last).getUTCFullYear() + 1, count);
    const starts = years.filter(Number.isInteger).map((year) => [new Date(0).setUTCFullYear(year, 0, 1), String(year)]);
    const inside = starts.filter(([x]) => x >= first && x <= last);
    if (inside.length > 2) return inside.map(([x, text]) => label(x, text));
    return Array.from({ length: count + 1 }, (_, n) => first + ((last - first) * n) / count).map((x) => label(x, isoDate(x)));
  }

  figures() {
    const { values } = this;
    if (this.as === "bars") {
      const wide = Math.max(1, Math.min(48, this.band * 0.78));
      return values.map((value, place) => {
        const [top, zero] = [this.up(value.y), this.up(0)];
        const made = svg("rect", { class: "bar", x: this.over(value, place) - wide / 2, y: Math.min(top, zero), width: wide, height: Math.max(1, Math.abs(zero - top)) });
        made.append(svg("title", {}, `${value.text}: ${amount(value.y)}`));
        return made;
      });
    }
    const at = values.map((value, place) => [this.over(value, place), this.up(value.y)]);
    const line = this.as === "line" ? [svg("path", { class: "curve", d: `M${at.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}` })] : [];
    if (this.as === "line" && values.length > 200) return line;
    const points = at.map(([cx, cy], place) => {
      const made = svg("circle", { class: "point", cx, cy, r: this.as === "line" ? 2.5 : 4 });
      made.append(svg("title", {}, `${values[place].text}: ${amount(values[place].y)}`));
      return made;
    });
    return [...line, ...points];
  }

  press(event) {
    const last = this.values.length - 1;
    const to = { ArrowLeft: this.at - 1, ArrowRight: this.at + 1, Home: 0, End: last }[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.at = Math.min(last, Math.max(0, to));
    const value = this.values[this.at];
    if (value) this.spot.textContent = `${value.text}: ${amount(value.y)} (${this.at + 1} of ${last + 1})`;
    this.point();
  }

  point() {
    const value = this.values[this.at];
    if (!value || !this.cursor) return;
    const x = this.over(value, this.at);
    this.cursor.replaceChildren(
      svg("path", { d: `M${x} ${ROOM.top}V${HEIGHT - ROOM.bottom}` }),
      svg("circle", { cx: x, cy: this.up(value.y), r: 5 }),
    );
  }
}
