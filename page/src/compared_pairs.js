// Tables of two variables, as the rows have them and as they were fitted.

/** @import { Gap, ObservedFacts, PairFacts, Variable } from "./types" */
/** @import { Joint } from "./model.js" */
/** @import { Pairs } from "./pairs.js" */

import { tint } from "./charts.js";
import { dataTable, make, most, number, percent, plural, points } from "./dom.js";

const PAIRS_SHOWN = 20;
const [MOST_ROUNDS, CLOSE] = [200, 1e-6];

/** @param {number | null} value */
export const gap = (value) => (value === null ? "–" : percent(value));

/** @param {Gap} one */
export const excess = ({ distance, noise }) => (distance === null || noise === null ? -1 : distance - noise);

/**
 * @param {ObservedFacts} observed
 * @param {Variable[]} variables
 * @param {Joint} joint
 * @param {Pairs} carried
 */
export function comparePairs(observed, variables, joint, carried) {
  const byName = new Map(variables.map((variable) => [variable.name, variable]));
  const detail = make("div", {});
  const shown = observed.pairs.filter((pair) => excess(pair) > 0).slice(0, PAIRS_SHOWN);
  if (!shown.length) {
    const words = observed.pairs.length ? "No pair is further from the model than chance explains." : "No row shows two variables.";
    return [make("h3", {}, "Every pair"), make("p", {}, words)];
  }
  /** @param {PairFacts} pair */
  const countsOf = ({ variables: names }) => {
    const [a, b] = [byName.get(names[0]), byName.get(names[1])];
    const counts = a && b ? carried.counts(a.position, b.position) : null;
    return a && b && counts ? { a, b, counts } : null;
  };
  /** @param {PairFacts} pair */
  const show = (pair) => {
    const found = countsOf(pair);
    if (!found) return;
    const { a, b, counts } = found;
    const fitted = carried.fitted(a.position, b.position) ?? joint.pair(a.position, b.position);
    detail.replaceChildren(differenceTable(a, b, counts, pair.is_adjusted ? adjusted(fitted, counts) : fitted));
  };
  const first = shown.find(countsOf);
  if (first) show(first);
  const rest = observed.n_pairs > shown.length ? ` (${shown.length} of ${plural(observed.n_pairs, "pair")} further off than chance)` : "";
  const words = shown.some((pair) => pair.is_adjusted)
    ? "Rows that show both variables may differ from all rows. Where some rows do not, the fitted table is first adjusted " +
      "to the labels of those that do, so that a gap is not one of missing cells."
    : "";
  return [
    make("h3", {}, "Every pair"),
    make("p", {}, words),
    make(
      "div",
      { class: "columns" },
      dataTable(
        `Observed and fitted tables of two variables${rest}, the largest gap beyond chance first`,
        ["pair", "rows", "gap", "of chance"],
        shown.map((pair) => {
          const name = pair.variables.join(" and ");
          const open = countsOf(pair) === null ? name : make("button", { class: "link", onclick: () => show(pair) }, name);
          return [open, number(pair.n), gap(pair.distance), gap(pair.noise)];
        }),
      ),
      detail,
    ),
  ];
}

/**
 * A table whose rows and columns are multiplied until its margins are those of counts, as in Python:
 * answers/pair_questions.py.
 *
 * @param {number[][]} fitted
 * @param {number[][]} counts
 */
function adjusted(fitted, counts) {
  const total = counts.flat().reduce((sum, n) => sum + n, 0);
  /** @type {(table: number[][]) => number[]} */
  const rows = (table) => table.map((row) => row.reduce((sum, p) => sum + p, 0));
  /** @type {(table: number[][]) => number[][]} */
  const turned = (table) => table[0].map((_, j) => table.map((row) => row[j]));
  /** @type {(table: number[][], wanted: number[]) => number[][]} */
  const scaled = (table, wanted) => {
    const sums = rows(table);
    return table.map((row, i) => row.map((p) => (sums[i] > 0 ? (p * wanted[i]) / sums[i] : 0)));
  };
  const shares = counts.map((row) => row.map((n) => n / total));
  const [wantedRows, wantedColumns] = [rows(shares), rows(turned(shares))];
  let table = fitted;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    table = turned(scaled(turned(table), wantedColumns));
    const apart = most(rows(table).map((sum, i) => Math.abs(sum - wantedRows[i])));
    table = scaled(table, wantedRows);
    if (apart <= CLOSE) break;
  }
  return table;
}

/**
 * Observed minus fitted, in points.
 *
 * @param {Variable} a
 * @param {Variable} b
 * @param {number[][]} counts
 * @param {number[][]} fitted
 */
function differenceTable(a, b, counts, fitted) {
  const total = counts.flat().reduce((sum, n) => sum + n, 0);
  const differences = counts.map((row, i) => row.map((n, j) => n / total - fitted[i][j]));
  const furthest = most(differences.flat().map(Math.abs));
  return dataTable(
    `${a.name} and ${b.name}: points that the observed share is above the fitted one`,
    [`${a.name} ↓ ${b.name} →`, ...b.labels],
    a.labels.map((label, i) => [
      label,
      ...b.labels.map((_, j) => {
        const title = `${number(counts[i][j])} rows, ${percent(counts[i][j] / total)}; fitted ${percent(fitted[i][j])}`;
        const cell = make("span", { class: "tinted", title }, points(differences[i][j]));
        cell.style.background = tint(differences[i][j], furthest);
        return cell;
      }),
    ]),
    "matrix",
  );
}
