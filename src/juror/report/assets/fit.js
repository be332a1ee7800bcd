// How the model was fitted, as FitInfo tells it.

import { lineChart } from "./charts.js";
import { byId, dataTable, factList, make, number, plural } from "./dom.js";

export function showFit(fit, model) {
  const isMean = fit !== null && (fit.n_draws > 0 || fit.n_members > 1);
  const size = [
    ["variables", number(model.n_variables)],
    ["classes", number(model.fitted_rank)],
    // of a mean of many fits they say nothing about how much it can bend
    ["free parameters", isMean ? null : number(model.n_parameters)],
    ["classes of this page", model.rank < model.fitted_rank ? carriedBy(model) : null],
  ];
  if (!fit) {
    byId("fit-facts").replaceChildren(factList(size), make("p", {}, "The model does not say how it was fitted."));
    return;
  }
  byId("fit-facts").replaceChildren(factList([...size, ...told(fit)]));
  byId("fit-warnings").replaceChildren(...warnings(fit.warnings));
  byId("fit-charts").replaceChildren(...[rankPath(fit), trace(fit), starts(fit)].filter((chart) => chart !== null));
}

function carriedBy({ rank, loss, standard_error: error, pair_difference: difference }) {
  const chance = error ? ` (standard error ${number(error, 2)})` : "";
  return `${number(rank)}, the nearest model of so many: ${number(loss, 3)} nats a row from the fitted one${chance}, tables of two variables differ by at most ${number(difference, 2)}`;
}

function told(fit) {
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
    ["classes that hold a row", fit.occupied && `${number(fit.occupied[1])}, between ${number(fit.occupied[0])} and ${number(fit.occupied[2])}`],
    ["projections", fit.projected],
    ["rho", fit.rho === null ? null : number(fit.rho)],
    ...fit.compressed.map(({ rank, loss, standard_error: error }) => [
      "compressed",
      `from ${number(rank)} classes, ${number(loss, 3)} nats a row away${error ? ` (standard error ${number(error, 2)})` : ""}`,
    ]),
    ["seed", number(fit.seed)],
    ...Object.entries(fit.mixing).map(([name, [rhat, ess]]) => [
      `mixing of ${name}`,
      `R̂ ${number(rhat, 4)}, effective size ${number(ess, 4)}${name === "log-likelihood" ? ", for comparison only: classes trade places" : ""}`,
    ]),
  ];
}

function warnings(texts) {
  if (!texts.length) return [make("p", {}, "The fit warned of nothing.")];
  return [make("h3", {}, "Warnings"), make("ul", { class: "warnings" }, texts.map((text) => make("li", {}, text)))];
}

function figure(caption, chart, table) {
  return make("figure", {}, make("figcaption", {}, caption), chart, make("details", {}, make("summary", {}, "as a table"), table));
}

function rankPath(fit) {
  const steps = fit.rank_path.filter((step) => step.score !== null);
  if (steps.length < 2) return null;
  const end = fit.chosen_rank === null ? "" : `; rank ${fit.chosen_rank} was chosen, from which on more classes gained too little`;
  return figure(
    `Rank path: the score of every rank tried${end}`,
    lineChart({
      title: "Held-out score against rank",
      xLabel: "rank",
      yLabel: "score",
      points: steps.map(({ rank, score }) => [rank, score]).sort((a, b) => a[0] - b[0]),
      marked: fit.chosen_rank,
    }),
    dataTable("Rank path", ["rank", "score", "occupied classes"], fit.rank_path.map((step) => [
      number(step.rank), step.score === null ? "impossible" : number(step.score, 6), number(step.n_occupied),
    ])),
  );
}

function trace(fit) {
  if (fit.trace.length < 3 || fit.trace.includes(null)) return null;
  const step = Math.max(1, Math.floor(fit.trace.length / 20));
  return figure(
    "Objective along the best start",
    lineChart({
      title: "Objective against step",
      xLabel: "step",
      yLabel: "objective",
      points: fit.trace.map((value, i) => [i + 1, value]),
    }),
    dataTable("Objective along the best start", ["step", "objective"],
      fit.trace.map((value, i) => [number(i + 1), number(value, 9)]).filter((_, i) => i % step === 0)),
  );
}

function starts(fit) {
  if (fit.starts.length < 3 || fit.starts.includes(null)) return null;
  return figure(
    "What every start reached",
    lineChart({
      title: "Objective of every start, sorted",
      xLabel: "start, sorted",
      yLabel: "objective",
      points: [...fit.starts].sort((a, b) => a - b).map((value, i) => [i + 1, value]),
    }),
    dataTable("What every start reached", ["start", "objective"], fit.starts.map((value, i) => [number(i + 1), number(value, 9)])),
  );
}
