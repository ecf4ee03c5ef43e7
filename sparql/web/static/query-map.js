// A map of the places in a result: coast lines and a graticule, no tiles, no other host.

import { element, entity } from "./query-table.js";
import { hasPlaces, placesIn } from "./query-places.js";

const SVG = "http://www.w3.org/2000/svg";
const LISTED = 500;
const STEPS = [45, 30, 15, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01];
const WIDTH = 960;
const HEIGHT = 480;
let coast = null;

export function svg(name, attributes = {}, content) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (content !== undefined) made.textContent = content;
  return made;
}

// Source: the TopoJSON format, "Arcs" and "Transforms": arcs are differences of whole numbers.
function readCoast(topology) {
  const { scale, translate } = topology.transform;
  const arcs = topology.arcs.map((arc) => {
    let x = 0;
    let y = 0;
    return arc.map(([dx, dy]) => [(x += dx) * scale[0] + translate[0], (y += dy) * scale[1] + translate[1]]);
  });
  const ring = (places) => places.flatMap((place) => (place < 0 ? [...arcs[~place]].reverse() : arcs[place]));
  const rings = topology.objects.land.geometries.flatMap(({ arcs: polygons }) => polygons.flatMap((polygon) => polygon.map(ring)));
  return rings.flatMap(unrolled);
}

// A ring that crosses the antimeridian goes on beyond 180° and stands at both ends of the map.
function unrolled(ring) {
  let turn = 0;
  const whole = ring.map(([x, y], place) => {
    const step = place ? x - ring[place - 1][0] : 0;
    turn -= step > 180 ? 360 : step < -180 ? -360 : 0;
    return [x + turn, y];
  });
  const shifted = (by) => whole.map(([x, y]) => [x + by, y]);
  const beyond = [whole.some(([x]) => x > 180.01) && -360, whole.some(([x]) => x < -180.01) && 360].filter(Boolean);
  return [whole, ...beyond.map(shifted)];
}

async function loadCoast() {
  const response = await fetch("/static/yasgui/land-110m.json");
  return response.ok ? readCoast(await response.json()) : [];
}

function bounds(places) {
  const box = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { shape } of places) {
    for (const [x, y] of shape.lines.flat()) {
      box[0] = Math.min(box[0], x);
      box[1] = Math.min(box[1], y);
      box[2] = Math.max(box[2], x);
      box[3] = Math.max(box[3], y);
    }
  }
  return box;
}

const path = (lines, closed) =>
  lines.map((line) => `M${line.map(([x, y]) => `${x.toFixed(4)} ${(-y).toFixed(4)}`).join("L")}${closed ? "Z" : ""}`).join("");

const degrees = (value, positive, negative) => `${+Math.abs(value).toFixed(2)}°${value > 0 ? positive : value < 0 ? negative : ""}`;

export class PlaceMap {
  priority = 5;
  label = "Map";

  constructor(yasr) {
    this.yasr = yasr;
  }
  canHandleResults() {
    return hasPlaces(this.yasr.results);
  }
  getIcon() {
    return null;
  }
  destroy() {
    this.sized?.disconnect();
  }

  async draw() {
    this.destroy();
    const { places, other, bad } = placesIn(this.yasr.results);
    coast ??= await loadCoast().catch(() => []);
    this.places = places;
    this.fit();
    const root = element("div", undefined, "picture map");
    root.append(this.controls(), this.frame(), this.summary(places, other, bad), this.list(places));
    this.yasr.resultsEl.append(root);
    this.sized = new ResizeObserver(() => this.show());
    this.sized.observe(this.drawing);
    this.show();
  }

  // The whole of the places, with room around them.
  fit() {
    const [west, south, east, north] = this.places.length ? bounds(this.places) : [-180, -60, 180, 80];
    this.middle = [(west + east) / 2, (south + north) / 2];
    this.stretch = Math.max(0.2, Math.cos((this.middle[1] * Math.PI) / 180));
    this.span = Math.min(360, Math.max(0.05, (east - west) * 1.2, ((north - south) * 1.3 * WIDTH) / HEIGHT / this.stretch));
  }

  frame() {
    this.drawing = svg("svg", { tabindex: "0", role: "img", "aria-label": this.description(), preserveAspectRatio: "xMidYMid meet" });
    this.drawing.classList.add("drawing");
    this.drawing.addEventListener("keydown", (event) => this.press(event));
    this.drawing.addEventListener("pointerdown", (event) => this.drag(event));
    return this.drawing;
  }

  description() {
    const count = this.places.length;
    if (!count) return "A map without places";
    const [west, south, east, north] = bounds(this.places);
    return (
      `A map of ${count} ${count === 1 ? "place" : "places"} between ${degrees(south, "N", "S")} and ${degrees(north, "N", "S")}, ` +
      `${degrees(west, "E", "W")} and ${degrees(east, "E", "W")}. Arrow keys move it, plus and minus change its scale.`
    );
  }

  controls() {
    const bar = element("p", undefined, "actions");
    const act = (name, title, action) => {
      const button = element("button", name);
      button.type = "button";
      button.title = title;
      button.setAttribute("aria-label", title);
      button.addEventListener("click", () => {
        action();
        this.show();
      });
      return button;
    };
    const steps = [
      ["+", "Closer", () => this.scale(0.5)],
      ["−", "Farther", () => this.scale(2)],
      ["←", "West", () => this.move(-1, 0)],
      ["→", "East", () => this.move(1, 0)],
      ["↑", "North", () => this.move(0, 1)],
      ["↓", "South", () => this.move(0, -1)],
      ["All places", "All places", () => this.fit()],
    ];
    bar.append(...steps.map((step) => act(...step)));
    return bar;
  }

  scale(factor) {
    this.span = Math.min(360, Math.max(0.01, this.span * factor));
  }
  move(x, y) {
    this.middle = [
      Math.min(180, Math.max(-180, this.middle[0] + (x * this.span) / 5)),
      Math.min(90, Math.max(-90, this.middle[1] + (y * this.span * this.stretch) / 10)),
    ];
  }

  press(event) {
    const keys = {
      ArrowLeft: () => this.move(-1, 0),
      ArrowRight: () => this.move(1, 0),
      ArrowUp: () => this.move(0, 1),
      ArrowDown: () => this.move(0, -1),
      "+": () => this.scale(0.5),
      "=": () => this.scale(0.5),
      "-": () => this.scale(2),
      0: () => this.fit(),
    };
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
    this.show();
  }

  drag(start) {
    if (start.button) return;
    const [x, y] = this.middle;
    const unit = this.span / this.drawing.clientWidth;
    const follow = (event) => {
      this.middle = [x - (event.clientX - start.clientX) * unit, y + (event.clientY - start.clientY) * unit * this.stretch];
      cancelAnimationFrame(this.frameAsked);
      this.frameAsked = requestAnimationFrame(() => this.show());
    };
    const end = () => {
      this.drawing.removeEventListener("pointermove", follow);
      this.drawing.removeEventListener("pointerup", end);
      this.drawing.removeEventListener("pointercancel", end);
    };
    this.drawing.setPointerCapture(start.pointerId);
    this.drawing.addEventListener("pointermove", follow);
    this.drawing.addEventListener("pointerup", end);
    this.drawing.addEventListener("pointercancel", end);
  }

  show() {
    const width = this.span;
    const height = (width * HEIGHT) / WIDTH;
    const left = this.middle[0] - width / 2;
    const top = -this.middle[1] / this.stretch - height / 2;
    this.drawing.setAttribute("viewBox", `${left} ${top} ${width} ${height}`);
    const unit = width / (this.drawing.clientWidth || WIDTH);
    const world = svg("g", { transform: `scale(1 ${1 / this.stretch})` });
    world.append(svg("path", { class: "land", d: path(coast, true) }), this.graticule(left, top, width, height, unit));
    world.append(...this.shapes());
    this.drawing.replaceChildren(world, ...this.marks(unit), ...this.degrees(left, top, width, height, unit));
  }

  graticule(left, top, width, height) {
    this.step = STEPS.find((step) => width / step >= 5) ?? STEPS.at(-1);
    const lines = [];
    this.meridians = [];
    this.parallels = [];
    for (let x = Math.ceil(left / this.step) * this.step; x < left + width; x += this.step) this.meridians.push(x);
    const low = top * this.stretch;
    for (let y = Math.ceil(low / this.step) * this.step; y < low + height * this.stretch; y += this.step) this.parallels.push(y);
    for (const x of this.meridians) lines.push(`M${x} ${low}V${low + height * this.stretch}`);
    for (const y of this.parallels) lines.push(`M${left} ${y}H${left + width}`);
    return svg("path", { class: "graticule", d: lines.join("") });
  }

  degrees(left, top, width, height, unit) {
    const size = 11 * unit;
    const east = this.meridians.map((x) => [x + 2 * unit, top + height - 4 * unit, degrees(x, "E", "W")]);
    const north = this.parallels.map((y) => [left + 4 * unit, y / this.stretch - 2 * unit, degrees(-y, "N", "S")]);
    return [...east, ...north].map(([x, y, text]) => {
      const made = svg("text", { x, y }, text);
      made.style.fontSize = `${size}px`;
      return made;
    });
  }

  shapes() {
    return this.places
      .filter(({ shape }) => shape.kind !== "point")
      .map(({ shape, text }) => {
        const made = svg("path", { class: shape.kind, d: path(shape.lines, shape.kind === "polygon") });
        made.append(svg("title", {}, text));
        return made;
      });
  }

  marks(unit) {
    return this.places
      .filter(({ shape }) => shape.kind === "point")
      .flatMap((place) =>
        place.shape.lines.map(([[x, y]]) => {
          const chosen = place === this.chosen;
          const made = svg("circle", { cx: x, cy: -y / this.stretch, r: (chosen ? 9 : 4.5) * unit, class: chosen ? "point chosen" : "point" });
          made.append(svg("title", {}, place.text));
          return made;
        }),
      );
  }

  summary(places, other, bad) {
    const left = [other && `${other} in another reference system`, bad && `${bad} that cannot be read`].filter(Boolean);
    const text = `${places.length} ${places.length === 1 ? "place" : "places"}${left.length ? `; left out: ${left.join(", ")}` : ""}. `;
    return element("p", `${text}Coast lines: Natural Earth, coarse.`, "note");
  }

  // The same as text; a place that has the focus is marked on the map.
  list(places) {
    const box = element("details");
    box.append(element("summary", `Places as a list (${Math.min(LISTED, places.length)} of ${places.length})`));
    const items = element("ul", undefined, "places");
    for (const place of places.slice(0, LISTED)) {
      const item = element("li");
      const name = element(place.iri ? "a" : "span", place.text || "without a name");
      if (place.iri) name.href = entity(place.iri);
      const [x, y] = place.shape.lines[0][0];
      item.append(name, element("small", ` ${place.shape.kind}, ${degrees(y, "N", "S")} ${degrees(x, "E", "W")}`, "tag"));
      const mark = (chosen) => () => {
        this.chosen = chosen;
        this.show();
      };
      for (const [event, chosen] of [["focusin", place], ["mouseenter", place], ["focusout", null], ["mouseleave", null]]) {
        item.addEventListener(event, mark(chosen));
      }
      items.append(item);
    }
    box.append(items);
    return box;
  }
}
