// Reads the values of a column as numbers, dates or names.

const XSD = "http://www.w3.org/2001/XMLSchema#";
const DATES = new Set(["date", "dateTime", "dateTimeStamp", "gYear", "gYearMonth"].map((name) => XSD + name));
const DATE = /^-?\d{4,}(-\d\d(-\d\d(T[\d:.]+)?)?)?(Z|[+-]\d\d:\d\d)?$/;
const SHARE = 0.8;
export const DAY = 86_400_000;

export function number(term) {
  if (term?.type !== "literal" || DATES.has(term.datatype) || term["xml:lang"] || term.value.trim() === "") return NaN;
  return Number(term.value);
}

// Milliseconds since 1970; years before 0 and beyond 9999, too.
export function moment(term) {
  if (term?.type !== "literal" || !(DATES.has(term.datatype) || /^\d{4}-\d\d-\d\d/.test(term.value)) || !DATE.test(term.value)) return NaN;
  const [, sign, year, month = "01", day = "01", time = ""] = /^(-?)(\d{4,})(?:-(\d\d)(?:-(\d\d)(?:T([\d:.]+))?)?)?/.exec(term.value);
  const [hour = 0, minute = 0, second = 0] = time.split(":").map(Number);
  return new Date(0).setUTCFullYear(Number(sign + year), Number(month) - 1, Number(day)) + ((hour * 60 + minute) * 60 + second) * 1000;
}

// "number", "date", or "text", by what most of the values are.
export function kindOf(rows, name) {
  const terms = rows.map((row) => row[name]).filter(Boolean);
  const most = (read) => terms.length && terms.filter((term) => Number.isFinite(read(term))).length >= terms.length * SHARE;
  return most(moment) ? "date" : most(number) ? "number" : "text";
}

export function isoDate(milliseconds, unit = "day") {
  const date = new Date(milliseconds);
  const year = String(date.getUTCFullYear());
  if (unit === "year") return year;
  const month = `${year}-${String(date.getUTCMonth() + 1).padStart(2, "0")}`;
  return unit === "month" ? month : `${month}-${String(date.getUTCDate()).padStart(2, "0")}`;
}

// Source: Heckbert, "Nice numbers for graph labels" (Graphics Gems, 1990).
export function roundStep(least, most, count) {
  const raw = (most - least || 1) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  return power * [1, 2, 5, 10].find((factor) => raw <= factor * power * 1.0001);
}

export function ticks(least, most, count) {
  const step = roundStep(least, most, count);
  const found = [];
  for (let value = Math.ceil(least / step - 1e-9) * step; value <= most + step * 1e-9; value += step) found.push(+value.toPrecision(12));
  return found;
}
