// Finds places in a result: WKT literals, and columns or properties of latitude and longitude.

import { written } from "./query-answer.js";

const WKT = "http://www.opengis.net/ont/geosparql#wktLiteral";
const WGS84 = "http://www.w3.org/2003/01/geo/wgs84_pos#";
const CRS84 = /\/(OGC\/1\.3\/CRS84|CRS84)$/i;
const EPSG4326 = /EPSG\/.*\/4326$|EPSG::4326$/i;
const SHAPE = /^\s*(?:<([^>]*)>\s*)?(?:MULTI)?(POINT|LINESTRING|POLYGON)\s*(?:Z|M|ZM)?\s*(\(.*\))\s*$/is;
const LATITUDE = /(^|_|[a-z])lat(itude)?$/i;
const LONGITUDE = /(^|_|[a-z])(long?|lng|longitude)$/i;

// { kind, lines } with lines of [longitude, latitude]; null for what is no shape here; "crs" for another reference system.
export function parseShape(text) {
  const match = SHAPE.exec(text);
  if (!match) return null;
  const [, crs, kind, body] = match;
  const flipped = crs !== undefined && EPSG4326.test(crs);
  if (crs !== undefined && !flipped && !CRS84.test(crs)) return "crs";
  const lines = [];
  for (const [, inner] of body.matchAll(/\(([^()]*)\)/g)) {
    const line = inner.split(",").map((pair) => {
      const [first, second] = pair.trim().split(/\s+/).map(Number);
      return flipped ? [second, first] : [first, second];
    });
    if (!line.every(onEarth)) return null;
    lines.push(line);
  }
  const name = kind.toLowerCase();
  return lines.length ? { kind: name, lines: name === "point" ? lines.flat().map((place) => [place]) : lines } : null;
}

function onEarth([longitude, latitude]) {
  return Math.abs(latitude) <= 90 && Math.abs(longitude) <= 360;
}

function number(term) {
  return term?.type === "literal" && term.value.trim() !== "" ? Number(term.value) : NaN;
}

function isShape(term) {
  return term?.type === "literal" && (term.datatype === WKT || SHAPE.test(term.value));
}

function point(longitude, latitude) {
  const place = [longitude, latitude];
  return Number.isFinite(longitude) && Number.isFinite(latitude) && onEarth(place) ? { kind: "point", lines: [[place]] } : null;
}

// The pairs of columns whose names say that they belong together: ?lat ?long, ?placeLat ?placeLong.
function pairs(names) {
  const bases = new Map(names.filter((name) => LONGITUDE.test(name)).map((name) => [name.replace(/(long?|lng|longitude)$/i, ""), name]));
  return names
    .filter((name) => LATITUDE.test(name))
    .map((name) => [name, bases.get(name.replace(/lat(itude)?$/i, ""))])
    .filter(([, longitude]) => longitude);
}

function label(row, names, used) {
  const spoken = names.filter((name) => !used.includes(name) && row[name] && !isShape(row[name]));
  const literal = spoken.find((name) => row[name].type === "literal" && !Number.isFinite(number(row[name])));
  const link = spoken.find((name) => row[name].type === "uri");
  return { text: written(row[literal ?? link ?? spoken[0]]), iri: link && row[link].value };
}

function fromTriples(rows) {
  const subjects = new Map();
  const found = [];
  for (const { subject, predicate, object } of rows) {
    const name = written(subject);
    const about = subjects.get(name) ?? { iri: subject?.type === "uri" ? name : undefined };
    subjects.set(name, about);
    if (predicate?.value === `${WGS84}lat`) about.latitude = number(object);
    if (predicate?.value === `${WGS84}long`) about.longitude = number(object);
    if (/label$|name$|title$/i.test(predicate?.value ?? "")) about.text ??= written(object);
    if (isShape(object)) found.push([about, name, object.value]);
  }
  const shapes = found.map(([about, name, text]) => ({ shape: parseShape(text), text: about.text ?? name, iri: about.iri }));
  const points = [...subjects].map(([name, about]) => ({
    shape: point(about.longitude ?? NaN, about.latitude ?? NaN),
    text: about.text ?? name,
    iri: about.iri,
  }));
  return [...shapes, ...points.filter(({ shape }) => shape)];
}

// { places: [{ shape, text, iri }], other, bad }: `other` stand in another reference system, `bad` cannot be read.
export function placesIn(answer) {
  const rows = answer?.getBindings() ?? [];
  const names = answer?.getVariables() ?? [];
  let found = [];
  if (answer?.graph) found = fromTriples(rows);
  else {
    const both = pairs(names);
    for (const row of rows) {
      for (const name of names) {
        if (isShape(row[name])) found.push({ shape: parseShape(row[name].value), ...label(row, names, [name]) });
      }
      for (const [latitude, longitude] of both) {
        const shape = point(number(row[longitude]), number(row[latitude]));
        if (shape) found.push({ shape, ...label(row, names, [latitude, longitude]) });
      }
    }
  }
  return {
    places: found.filter(({ shape }) => shape && shape !== "crs"),
    other: found.filter(({ shape }) => shape === "crs").length,
    bad: found.filter(({ shape }) => shape === null).length,
  };
}

// Whether a map is worth offering; looks no further than the first place.
export function hasPlaces(answer) {
  const rows = answer?.getBindings() ?? [];
  if (answer?.graph) return rows.some(({ predicate, object }) => predicate?.value === `${WGS84}lat` || isShape(object));
  const names = answer?.getVariables() ?? [];
  const both = pairs(names);
  return rows.some(
    (row) =>
      names.some((name) => isShape(row[name])) ||
      both.some(([latitude, longitude]) => point(number(row[longitude]), number(row[latitude]))),
  );
}
