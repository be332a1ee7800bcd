// Elements and numbers. Names and labels only ever become text nodes and attributes, never markup.

/** Make an element; `onclick` and its like are listeners, true is an attribute without a value, false is none. */
export function make(tag, attributes = {}, ...children) {
  return dress(document.createElement(tag), attributes, children);
}

export function makeSvg(tag, attributes = {}, ...children) {
  return dress(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function dress(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null));
  return element;
}

export const byId = (id) => document.getElementById(id);

// rounding leaves what is sure so far from it
const SURE = 1e-12;

/** A share in per cent: what is almost nothing or almost all is told from what is. */
export function percent(p) {
  const value = 100 * p;
  if (p === 0) return "0 %";
  if (1 - p < SURE) return "100 %";
  if (value < 0.01) return "<0.01 %";
  if (value > 99.99) return ">99.99 %";
  return `${value.toFixed(value < 10 || value > 99.9 ? 2 : 1)} %`;
}

/** Percentage points with their sign. */
export function points(difference) {
  const value = 100 * difference;
  const text = Math.abs(value).toFixed(Math.abs(value) >= 9.95 ? 0 : Math.abs(value) >= 0.095 ? 1 : 2);
  return Number(text) === 0 ? "0" : `${value < 0 ? "−" : "+"}${text}`;
}

/** A number as a person writes it: whole ones with separators, others to some significant digits. */
export function number(value, digits = 4) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value)) return value.toLocaleString("en-GB").replace("-", "−");
  const size = Math.abs(value);
  const isPlain = size >= 1e-4 && size < 1e12;
  const text = isPlain
    ? value.toLocaleString("en-GB", { maximumSignificantDigits: digits })
    : value.toExponential(digits - 1).replace("e+", "e");
  return text.replaceAll("-", "−");
}

export const plural = (n, one, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`;

/** The largest of some numbers, however many they are: a call takes only so many arguments. */
export const most = (values) => values.reduce((largest, value) => Math.max(largest, value), -Infinity);

/** A table of two columns: names and values. */
export function factList(entries) {
  const known = entries.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return make("dl", { class: "facts" }, known.map(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
}

/** A table with a head, whose first column names its rows; a caption says what it is. */
export function dataTable(caption, head, rows) {
  const cell = (value, column) =>
    column === 0 ? make("th", { scope: "row" }, value) : make("td", {}, value);
  return make(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    make(
      "table",
      {},
      make("caption", {}, caption),
      make("thead", {}, make("tr", {}, head.map((name) => make("th", { scope: "col" }, name)))),
      make("tbody", {}, rows.map((row) => make("tr", {}, row.map(cell)))),
    ),
  );
}
