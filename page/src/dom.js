// Elements and numbers. Names and labels only ever become text nodes and attributes, never markup.

/** @import { Attributes, Child } from "./types" */

/**
 * Make an element. Names that begin with "on" are listeners; true gives an attribute without a value, false gives none.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function make(tag, attributes = {}, ...children) {
  return furnish(document.createElement(tag), attributes, children);
}

/**
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, string | number>} [attributes]
 * @param {...Child} children
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function makeSvg(tag, attributes = {}, ...children) {
  return furnish(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/**
 * Give an element its attributes, listeners and children.
 *
 * @template {Element} Made
 * @param {Made} element
 * @param {object} attributes
 * @param {Child[]} children
 * @returns {Made}
 */
function furnish(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  // The type of flat(Infinity) is too deep for the checker.
  const flat = /** @type {any[]} */ (children).flat(Infinity);
  element.append(...flat.filter((child) => child !== null));
  return element;
}

/**
 * The elements of page.html that are more than an HTMLElement to the code.
 *
 * @typedef {Record<"search", HTMLInputElement>
 *   & Record<"sort" | "asked" | "pair-a" | "pair-b" | "pair-what" | "map-of", HTMLSelectElement>
 *   & Record<"undo" | "reset", HTMLButtonElement>
 *   & Record<"map", HTMLCanvasElement>} Known
 */

/**
 * @template {string} Id
 * @param {Id} id
 * @returns {Id extends keyof Known ? Known[Id] : HTMLElement}
 */
export function byId(id) {
  return /** @type {any} */ (document.getElementById(id));
}

// Rounding leaves a certain event this far from one.
const SURE = 1e-12;

/**
 * A share in per cent. Almost nothing is not shown as nothing, nor almost all as all.
 *
 * @param {number} p
 */
export function percent(p) {
  const value = 100 * p;
  if (p === 0) return "0 %";
  if (1 - p < SURE) return "100 %";
  if (value < 0.01) return "<0.01 %";
  if (value > 99.99) return ">99.99 %";
  return `${value.toFixed(value < 10 || value > 99.9 ? 2 : 1)} %`;
}

/**
 * Percentage points with their sign.
 *
 * @param {number} difference
 */
export function points(difference) {
  const value = 100 * difference;
  const text = Math.abs(value).toFixed(Math.abs(value) >= 9.95 ? 0 : Math.abs(value) >= 0.095 ? 1 : 2);
  return Number(text) === 0 ? "0" : `${value < 0 ? "−" : "+"}${text}`;
}

/**
 * A number as a person writes it: integers with separators, others to some significant digits.
 *
 * @param {number | string | null | undefined} value
 * @param {number} [digits]
 */
export function number(value, digits = 4) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return value;
  if (Number.isInteger(value)) return value.toLocaleString("en-GB").replace("-", "−");
  const size = Math.abs(value);
  const isPlain = size >= 1e-4 && size < 1e12;
  const text = isPlain
    ? value.toLocaleString("en-GB", { maximumSignificantDigits: digits })
    : value.toExponential(digits - 1).replace("e+", "e");
  return text.replaceAll("-", "−");
}

/**
 * @param {number} n
 * @param {string} one
 * @param {string} [many]
 */
export const plural = (n, one, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`;

/**
 * The largest of some numbers. Math.max(...values) fails for long arrays: a call takes a limited number of arguments.
 *
 * @param {number[] | Float64Array} values
 * @returns {number}
 */
export function most(values) {
  let largest = -Infinity;
  for (const value of values) largest = Math.max(largest, value);
  return largest;
}

/**
 * A list of names and values. Entries without a value are left out.
 *
 * @param {[string, string | null | undefined][]} entries
 */
export function factList(entries) {
  const known = entries.flatMap(([name, value]) => (value ? [[make("dt", {}, name), make("dd", {}, value)]] : []));
  return make("dl", { class: "facts" }, known);
}

/**
 * A table with a head. Its first column names the rows, its caption says what it shows.
 *
 * Where the screen is narrow, each row of a list becomes a few lines: its name, and each value after its head. The roles
 * keep it a table for screen readers.
 *
 * @param {string} caption
 * @param {string[]} head
 * @param {Child[][]} rows
 * @param {"list" | "matrix"} [kind] a matrix stays a table on every screen
 */
export function dataTable(caption, head, rows, kind = "list") {
  /** @type {(value: Child, column: number) => Child} */
  const cell = (value, column) =>
    column === 0
      ? make("th", { scope: "row", role: "rowheader" }, value)
      : make("td", { role: "cell", "data-head": head[column] }, value);
  return make(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    make(
      "table",
      { class: kind, role: "table" },
      make("caption", {}, caption),
      make("thead", { role: "rowgroup" }, make("tr", { role: "row" }, head.map((name) => make("th", { scope: "col", role: "columnheader" }, name)))),
      make("tbody", { role: "rowgroup" }, rows.map((row) => make("tr", { role: "row" }, row.map(cell)))),
    ),
  );
}
