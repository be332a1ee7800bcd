// How the model was fitted: what FitInfo says.

/** @import { FitFacts, ModelFacts } from "./types" */
/** @import { Point } from "./charts.js" */

import { lineChart } from "./charts.js";
import { byId, dataTable, factList, make, number, plural } from "./dom.js";

/**
 * @param {FitFacts | null} fit
 * @param {ModelFacts} model
 */
export function showFit(fit, model) {
  const isMean = fit !== null && (fit.n_draws > 0 || fit.n_members > 1);
  /** @type {[string, string | null][]} */
  const size = [
    ["variables", number(model.n_variables)],
    ["classes", number(model.fitted_rank)],
    // The number of parameters says nothing about how flexible a mean of many fits is.
    ["free parameters", isMean ? null : number(model.n_parameters)],
    ["blocks", model.fitted_blocks > 1 ? number(model.fitted_blocks) : null],
    ["classes of this page", model.rank < model.fitted_rank ? aboutPage(model) : null],
    ["blocks of this page", model.blocks.length < model.fitted_blocks ? number(model.blocks.length) : null],
    ["numbers of this page", model.bits < 64 ? aboutNumbers(model) : null],
  ];
  if (!fit) {
    byId("fit-facts").replaceChildren(factList(size), make("p", {}, "The model does not say how it was fitted."));
    return;
  }
  byId("fit-facts").replaceChildren(factList([...size, ...entries(fit)]));
  byId("fit-warnings").replaceChildren(...warnings(fit.warnings));
  byId("fit-charts").replaceChildren(...[rankPath(fit), trace(fit), starts(fit)].filter((chart) => chart !== null));
}

/** @param {number} error */
const standardError = (error) => (error ? ` (standard error ${number(error, 2)})` : "");

/** @param {ModelFacts} model */
function aboutPage({ rank, loss, standard_error: error, pair_difference: difference }) {
  return `${number(rank)}, the nearest model with that many: ${number(loss, 3)} nats a row from the fitted one${standardError(error)}, tables of two variables differ by at most ${number(difference, 2)}`;
}

/** @param {ModelFacts} model */
function aboutNumbers({ bits, rank, fitted_rank: fittedRank, loss, pair_difference: difference }) {
  const rounded = `rounded to ${bits === 32 ? "seven" : "three"} digits, to keep the page small`;
  if (rank < fittedRank) return rounded;
  return `${rounded}: ${number(loss, 2)} nats a row from the fitted model, tables of two variables differ by at most ${number(difference, 2)}`;
}

/**
 * @param {FitFacts} fit
 * @returns {[string, string | null | undefined][]}
 */
function entries(fit) {
  const perRow = typeof fit.log_likelihood === "number" && fit.n_rows ? fit.log_likelihood / fit.n_rows : null;
  const chosen = fit.rank_path.find((step) => step.rank === fit.chosen_rank && step.score !== null);
  return [
    ["method", fit.method],
    ["why", fit.why],
    ["rows", number(fit.n_rows)],
    ["distinct rows", fit.n_distinct === null ? null : number(fit.n_distinct)],
    ["mean of", fit.n_draws ? plural(fit.n_draws, "draw") : fit.n_members > 1 ? plural(fit.n_members, "fit") : null],
    ["log-likelihood", fit.log_likelihood === null ? null : `${number(fit.log_likelihood, 8)} nats`],
    ["a row", perRow === null ? null : `${number(perRow, 5)} nats`],
    ["held-out score", chosen && `${number(chosen.score, 5)}${fit.chosen_by ? ` (${fit.chosen_by})` : ""}`],
    ["AIC", fit.aic === null ? null : number(fit.aic, 8)],
    ["BIC", fit.bic === null ? null : number(fit.bic, 8)],
    ["smoothing", fit.n_draws ? null : number(fit.smoothing)],
    ["iterations", number(fit.n_iter)],
    ["stopped", fit.stopped],
    [fit.n_draws ? "chains" : "starts", number(fit.starts.length)],
    ["target", fit.target],
    ["searched in", fit.n_searched === null ? null : plural(fit.n_searched, "row")],
    // fields of the record that are shown as they are
    ...Object.entries(fit.diagnostics),
    ["rho", fit.rho === null ? null : number(fit.rho)],
    ...fit.compressed.map(
      ({ rank, loss, standard_error: error }) =>
        /** @type {[string, string]} */ ([
          "compressed",
          `from ${number(rank)} classes, ${number(loss, 3)} nats a row away${standardError(error)}`,
        ]),
    ),
    ["seed", number(fit.seed)],
    ...Object.entries(fit.mixing).map(
      ([name, [rhat, ess]]) =>
        /** @type {[string, string]} */ ([
          `mixing of ${name}`,
          `R̂ ${number(rhat, 4)}, effective size ${number(ess, 4)}${name === "log-likelihood" ? ", for comparison only: classes trade places" : ""}`,
        ]),
    ),
  ];
}

/** @param {string[]} texts */
function warnings(texts) {
  if (!texts.length) return [make("p", {}, "The fit gave no warnings.")];
  return [make("h3", {}, "Warnings"), make("ul", { class: "warnings" }, texts.map((text) => make("li", {}, text)))];
}

/**
 * @param {string} caption
 * @param {Element} chart
 * @param {Element} table
 */
function figure(caption, chart, table) {
  return make("figure", {}, make("figcaption", {}, caption), chart, make("details", {}, make("summary", {}, "as a table"), table));
}

/**
 * Which rank was chosen, and how it compares with the other ranks tried.
 *
 * @param {FitFacts} fit
 */
function aboutChoice({ rank_path: path, chosen_rank: rank }) {
  if (rank === null) return "";
  const tried = path.flatMap(({ score, ...step }) => (score === null ? [] : [{ ...step, score }]));
  const chosen = tried.find((step) => step.rank === rank);
  if (!chosen) return `; rank ${number(rank)} was chosen`;
  const best = tried.reduce((one, other) => (other.score > one.score ? other : one));
  if (best.score > chosen.score) {
    const full = best.rank > rank && best.n_occupied <= chosen.n_occupied ? ", without more classes in use" : "";
    return `; rank ${number(rank)} was chosen, though rank ${number(best.rank)} scored ${number(best.score - chosen.score, 2)} more${full}`;
  }
  const isLast = tried.every((step) => step.rank <= rank);
  const end = isLast ? "It is the largest tried, so more classes might score higher still" : "No larger rank tried scored higher";
  return `; rank ${number(rank)} was chosen. ${end}`;
}

/** @param {FitFacts} fit */
function rankPath(fit) {
  const points = fit.rank_path.flatMap(({ rank, score }) => (score === null ? [] : [/** @type {Point} */ ([rank, score])]));
  if (points.length < 2) return null;
  return figure(
    `Rank path: the score of every rank tried${aboutChoice(fit)}`,
    lineChart({
      title: "Held-out score against rank",
      xLabel: "rank",
      yLabel: "score",
      points: points.sort((a, b) => a[0] - b[0]),
      marked: fit.chosen_rank,
    }),
    dataTable("Rank path", ["rank", "score", "occupied classes"], fit.rank_path.map((step) => [
      number(step.rank), step.score === null ? "impossible" : number(step.score, 6), number(step.n_occupied),
    ])),
  );
}

/**
 * Numbers as points over 1, 2, 3, …; null when there are too few of them, or one is not finite.
 *
 * @param {(number | null)[]} values
 */
function numbered(values) {
  const known = values.filter((value) => value !== null);
  if (known.length < 3 || known.length < values.length) return null;
  return known.map((value, i) => /** @type {Point} */ ([i + 1, value]));
}

/** @param {FitFacts} fit */
function trace(fit) {
  const points = numbered(fit.trace);
  if (points === null) return null;
  const step = Math.max(1, Math.floor(points.length / 20));
  return figure(
    "Objective along the best start",
    lineChart({ title: "Objective against step", xLabel: "step", yLabel: "objective", points }),
    dataTable("Objective along the best start", ["step", "objective"],
      points.filter((_, i) => i % step === 0).map(([i, value]) => [number(i), number(value, 9)])),
  );
}

/** @param {FitFacts} fit */
function starts(fit) {
  const points = numbered(fit.starts);
  if (points === null) return null;
  const sorted = points.map(([, value]) => value).sort((a, b) => a - b);
  return figure(
    "What every start reached",
    lineChart({
      title: "Objective of every start, sorted",
      xLabel: "start, sorted",
      yLabel: "objective",
      points: sorted.map((value, i) => [i + 1, value]),
    }),
    dataTable("What every start reached", ["start", "objective"], points.map(([i, value]) => [number(i), number(value, 9)])),
  );
}
