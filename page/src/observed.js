// The model compared with data: observed and fitted shares, unusual rows, and whether predictions come true.

/** @import { CalibrationFacts, FitFacts, MarginalFacts, ObservedFacts, UnusualRow, Variable } from "./types" */
/** @import { Joint } from "./model.js" */
/** @import { Pairs } from "./pairs.js" */

import { calibrationChart } from "./charts.js";
import { comparePairs, excess, gap } from "./compared_pairs.js";
import { byId, dataTable, factList, make, most, number, percent, plural, points } from "./dom.js";
import { inWords } from "./evidence.js";

const CELLS_SHOWN = 4;
const SURPRISING = 0.1;

/**
 * @param {ObservedFacts} observed
 * @param {Variable[]} variables
 * @param {Joint} joint
 * @param {Pairs} carried
 * @param {FitFacts | null} fit
 */
export function showObserved(observed, variables, joint, carried, fit) {
  byId("observed-facts").replaceChildren(...caution(observed, fit), ...wholeRows(observed));
  byId("observed-together").replaceChildren(...together(observed));
  byId("observed-wrong").replaceChildren(...wrongAnswers(observed));
  byId("observed-marginals").replaceChildren(...marginals(observed, variables));
  byId("observed-pairs").replaceChildren(...comparePairs(observed, variables, joint, carried));
  byId("observed-rows").replaceChildren(...unusual(observed, variables));
  byId("observed-calibration").replaceChildren(...calibrations(observed));
  byId("observed").classList.add("filled");
}

/**
 * A model looks better on the rows that it was fitted to.
 *
 * @param {ObservedFacts} observed
 * @param {FitFacts | null} fit
 */
function caution(observed, fit) {
  if (observed.source === "fit") {
    const words =
      "The model keeps the counts of the rows that it was fitted to, and is compared with them here, which flatters it. " +
      "A report with data also judges single rows: juror report MODEL DATA.";
    return [make("p", { class: "notice" }, words)];
  }
  if (fit === null || observed.n_rows !== fit.n_rows) return [];
  const words =
    "These are as many rows as the model was fitted to. If they are the same rows, what follows flatters the model: " +
    "judge it by rows that it has not seen.";
  return [make("p", { class: "notice" }, words)];
}

/**
 * Pairs of variables that rows do not show together. The model's answers about them rest on other variables.
 *
 * @param {ObservedFacts} observed
 */
function together({ together: { n_never: never, n_seldom: seldom, pairs: named } }) {
  const head = make("h3", {}, "Never asked together");
  if (never + seldom === 0) {
    return [head, make("p", {}, "Every two variables are seen together in at least a tenth of the rows that show one of them.")];
  }
  /** @param {number} n */
  const pairsAre = (n) => `${plural(n, "pair")} of variables ${n === 1 ? "is" : "are"}`;
  const found = [
    ...(never ? [`${pairsAre(never)} in no row together.`] : []),
    ...(seldom ? [`${pairsAre(seldom)} together in fewer than a tenth of the rows that show one of the two.`] : []),
  ];
  const words =
    `${found.join(" ")} This is about missing cells, not about the model: what it says about these pairs comes from what ` +
    "both have in common with other variables.";
  const table = dataTable(
    `Pairs that are seldom seen together${named.length < never + seldom ? `, the first ${named.length}` : ""}`,
    ["pair", "rows with both", "of the rows with one"],
    named.map(({ variables: names, n, share }) => [names.join(" and "), number(n), percent(share)]),
  );
  return [head, make("p", {}, words), table];
}

/**
 * What the model gets wrong, beyond chance: answers about one variable given another, over rows that show both.
 *
 * @param {ObservedFacts} observed
 */
function wrongAnswers({ check: { n_cells: nCells, n_well: nWell, n_off: nOff, n_pairs_off: nPairsOff, questions } }) {
  const head = make("h3", {}, "Where the model is wrong");
  if (!nCells) return [head, make("p", {}, "There are too few rows to tell.")];
  const well =
    `Of ${plural(nCells, "share")} of a label given a label of another variable that enough rows show, the model ` +
    `reproduces ${number(nWell)} well.`;
  if (!questions.length) return [head, make("p", {}, `${well} No answer differs from its share by more than chance would.`)];
  const off = nOff
    ? ` ${plural(nOff, "question")} about labels or ranges ${nOff === 1 ? "is" : "are"} off by more than ten points, or ` +
      `five where all rows agree, in ${plural(nPairsOff, "pair")} of variables.`
    : " No question about labels or ranges is off by more than ten points and more than rare chance.";
  const table = dataTable(
    "Answers that differ from the share of the rows by more than chance would, the worst of each pair of variables",
    ["question", "model", "rows say", "points apart", "rows"],
    questions.map(({ question, probability, share, rows }) => [
      question,
      percent(probability),
      percent(share),
      points(share - probability),
      number(rows),
    ]),
  );
  return [head, make("p", {}, well + off), table];
}

/** @param {ObservedFacts} observed */
function wholeRows(observed) {
  if (observed.is_sampled === null) return [factList([["rows", number(observed.n_rows)]])];
  /** @param {number | null} value */
  const nats = (value) => (value === null ? "−∞: some rows are impossible" : `${number(value, 5)} nats`);
  return [
    factList([
      ["rows", number(observed.n_rows)],
      ["judged one by one", observed.is_sampled ? `${number(observed.n_rows_judged)}, drawn at random` : "all of them"],
      ["impossible rows", observed.n_impossible ? number(observed.n_impossible) : null],
      ["mean log-probability", nats(observed.mean_log_prob)],
      ["if all were independent", nats(observed.mean_log_prob_independent)],
      ["if all rows were equally likely", nats(observed.mean_log_prob_uniform)],
    ]),
  ];
}

const NOISE =
  "A gap is half the sum of the differences between observed and fitted shares. Beside it is the gap that chance alone " +
  "would give in as many rows if the model were true. Rows that the model was fitted to give smaller gaps than that.";

/**
 * @param {ObservedFacts} observed
 * @param {Variable[]} variables
 */
function marginals({ marginals: known, missing }, variables) {
  if (known === null || missing === null) return [];
  const detail = make("div", {});
  /** @param {number} n */
  const show = (n) => detail.replaceChildren(labelTable(known[n], variables[n]));
  const order = known.map((_, n) => n).sort((a, b) => excess(known[b]) - excess(known[a]));
  show(order[0]);
  return [
    make("h3", {}, "Every variable"),
    make("p", {}, NOISE),
    make(
      "div",
      { class: "columns" },
      dataTable(
        "Observed and fitted marginals, the largest gap beyond chance first",
        ["variable", "missing", "gap", "of chance"],
        order.map((n) => {
          const { variable, distance, noise } = known[n];
          const open = make("button", { class: "link", onclick: () => show(n) }, variable);
          return [open, percent(missing[n]), gap(distance), gap(noise)];
        }),
      ),
      detail,
    ),
  ];
}

/**
 * @param {MarginalFacts} marginal
 * @param {Variable} variable
 */
function labelTable({ variable, counts, observed, fitted }, { labels }) {
  if (observed === null) return make("p", {}, `No row shows ${variable}.`);
  return dataTable(
    variable,
    ["label", "rows", "observed", "fitted", "points apart"],
    labels.map((label, i) => [label, number(counts[i]), percent(observed[i]), percent(fitted[i]), points(observed[i] - fitted[i])]),
  );
}

/**
 * @param {ObservedFacts} observed
 * @param {Variable[]} variables
 */
function unusual(observed, variables) {
  if (observed.unusual === null || observed.marginals === null) return [];
  // The average probability of a label, Σ p²: a fifth where five labels are equally common.
  const usual = observed.marginals.map(({ fitted }) => fitted.reduce((sum, p) => sum + p * p, 0));
  const rows = observed.unusual.filter(({ impossible, surprise }) => impossible || (surprise ?? 0) > 0);
  if (!rows.length) return [make("h3", {}, "The most unusual rows"), make("p", {}, "No row is less probable than usual.")];
  const several = rows.some(({ file }) => file !== null);
  return [
    make("h3", {}, "The most unusual rows"),
    make(
      "p",
      {},
      "Surprise says how many nats less probable a row is than the average row with the same cells seen. The most " +
        "surprising cells are listed with their probability given the rest of the row. They are marked where it is less " +
        "than a tenth of what is usual for the variable. Rows are numbered from 0, below the names of the columns.",
    ),
    dataTable(
      "Unusual rows, the most unusual first",
      ["row", ...(several ? ["file"] : []), "surprise", "draws as improbable", "surprising cells"],
      rows.map((row) => [
        number(row.row),
        ...(several ? [row.file] : []),
        row.impossible ? "impossible" : `${number(row.surprise, 3)} nats`,
        row.as_improbable === 0 ? "none" : percent(row.as_improbable),
        surprisingCells(row, variables, usual),
      ]),
    ),
  ];
}

/**
 * The cells that are least probable given the rest of the row, relative to what is usual for their variable.
 *
 * @param {UnusualRow} row
 * @param {Variable[]} variables
 * @param {number[]} usual
 */
function surprisingCells({ cells, cell_probabilities: probabilities }, variables, usual) {
  const seen = cells.flatMap((label, n) => {
    if (label === null) return [];
    const p = probabilities[n];
    const known = { codes: [variables[n].labels.indexOf(label)], weights: null, ends: null };
    const text = inWords(variables[n], known) + (p === null ? "" : ` (${percent(p)})`);
    return [{ text, ratio: p === null ? Infinity : p / usual[n] }];
  });
  const known = seen.filter(({ ratio }) => ratio < Infinity);
  const oddest = known.sort((a, b) => a.ratio - b.ratio).slice(0, CELLS_SHOWN);
  return make(
    "div",
    { class: "row-cells" },
    oddest.map(({ text, ratio }) => make("span", { class: ratio < SURPRISING ? "cell surprising" : "cell" }, text)),
    make("details", {}, make("summary", {}, "the whole row"), seen.map(({ text }) => text).join(", ")),
  );
}

/**
 * @param {ObservedFacts} observed
 * @returns {Node[]}
 */
function calibrations({ calibration, marginals: alone, n_rows_calibrated: nRows }) {
  if (calibration === null || alone === null || nRows === null) return [];
  const known = calibration.filter((one) => one !== null);
  const unknown = alone.filter((_, n) => calibration[n] === null).map(({ variable }) => variable);
  const missed = unknown.length ? `No row judged shows ${unknown.join(", ")}, so predictions of it cannot be checked.` : "";
  if (!known.length) return [make("h3", {}, "Do predictions come true"), make("p", {}, missed)];
  const impossible = most(known.map((one) => one.n_impossible));
  const left = impossible ? ` Rows that are impossible under the model are left out, up to ${number(impossible)}.` : "";
  const order = [...known].sort((a, b) => b.error - b.noise - (a.error - a.noise));
  const chart = make("figure", {});
  /** @param {CalibrationFacts} one */
  const show = (one) =>
    chart.replaceChildren(
      make("figcaption", {}, `${one.target}: observed against predicted, for ${plural(one.n_rows, "row")}`),
      calibrationChart(`Calibration of ${one.target}`, one.predicted, one.observed, one.weight),
    );
  show(order[0]);
  /** @param {number | null} value */
  const nats = (value) => (value === null ? "∞" : number(value, 3));
  return [
    make("h3", {}, "Do predictions come true"),
    make(
      "p",
      {},
      `Every variable is predicted from the other cells of ${plural(nRows, "row")}. A label that is ` +
        "predicted with probability p should be there in a share p of the rows. The error is the mean distance from " +
        "that; beside it is the error that chance alone would give. Hits and loss are compared with those of always " +
        `predicting the marginal.${left} ${missed}`,
    ),
    make(
      "div",
      { class: "columns" },
      dataTable(
        "Predictions of every variable, the largest error beyond chance first",
        ["variable", "hits", "by marginal", "loss, nats", "by marginal", "error", "of chance"],
        order.map((one) => [
          make("button", { class: "link", onclick: () => show(one) }, one.target),
          percent(one.accuracy),
          percent(one.reference_accuracy),
          nats(one.log_loss),
          nats(one.reference_log_loss),
          percent(one.error),
          percent(one.noise),
        ]),
      ),
      chart,
    ),
  ];
}
