// Small charts as SVG, drawn with the page's own colours. The same numbers are also on the page as text or a table.

import { makeSvg, most, number } from "./dom.js";

/** @typedef {[number, number]} Point two coordinates, or the two ends of an axis */

const WIDTH = 420;
const HEIGHT = 220;
const MOST_POINTS = 1000;
const EDGE = { left: 86, right: 14, top: 12, bottom: 40 };

/**
 * Ends of an axis for some values, a little wider than they are.
 *
 * @param {number[]} values
 * @returns {Point}
 */
function ends(values) {
  const [low, high] = [-most(values.map((value) => -value)), most(values)];
  const room = (high - low || Math.abs(high) || 1) * 0.05;
  return [low - room, high + room];
}

/**
 * Round numbers between two ends, about as many as wanted and one more.
 *
 * @param {Point} ends
 * @param {number} [wanted]
 */
export function roundNumbers([low, high], wanted = 4) {
  const rough = (high - low) / wanted;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5].find((factor) => factor * size >= rough) ?? 10) * size;
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) => (first + i) * step);
}

/**
 * Axes with their labels, and the functions that place a value on them.
 *
 * @param {string} title
 * @param {string} xLabel
 * @param {string} yLabel
 * @param {Point} xEnds
 * @param {Point} yEnds
 */
function frame(title, xLabel, yLabel, xEnds, yEnds) {
  /** @param {number} value */
  const x = (value) => EDGE.left + ((value - xEnds[0]) / (xEnds[1] - xEnds[0])) * (WIDTH - EDGE.left - EDGE.right);
  /** @param {number} value */
  const y = (value) => HEIGHT - EDGE.bottom - ((value - yEnds[0]) / (yEnds[1] - yEnds[0])) * (HEIGHT - EDGE.top - EDGE.bottom);
  const svg = makeSvg(
    "svg",
    { class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": title },
    roundNumbers(yEnds).map((value) => [
      makeSvg("line", { class: "grid", x1: EDGE.left, x2: WIDTH - EDGE.right, y1: y(value), y2: y(value) }),
      makeSvg("text", { x: EDGE.left - 6, y: y(value) + 4, "text-anchor": "end" }, number(value, 6)),
    ]),
    roundNumbers(xEnds).map((value) =>
      makeSvg("text", { x: x(value), y: HEIGHT - EDGE.bottom + 16, "text-anchor": "middle" }, number(value, 6)),
    ),
    makeSvg("text", { x: (WIDTH + EDGE.left) / 2, y: HEIGHT - 6, "text-anchor": "middle", class: "axis" }, xLabel),
    makeSvg(
      "text",
      {
        x: 0,
        y: 0,
        "text-anchor": "middle",
        class: "axis",
        transform: `translate(12 ${(HEIGHT - EDGE.bottom) / 2}) rotate(-90)`,
      },
      yLabel,
    ),
  );
  return { svg, x, y };
}

/**
 * A line through points. The point at `marked` on the x axis is drawn larger.
 *
 * @param {{ title: string, xLabel: string, yLabel: string, points: Point[], marked?: number | null }} chart
 */
export function lineChart({ title, xLabel, yLabel, points: all, marked = null }) {
  // Nobody can tell more points apart.
  const step = Math.ceil(all.length / MOST_POINTS);
  const points = all.filter((_, i) => i % step === 0 || i === all.length - 1);
  const { svg, x, y } = frame(title, xLabel, yLabel, ends(points.map((p) => p[0])), ends(points.map((p) => p[1])));
  svg.append(
    makeSvg("polyline", { class: "line", points: points.map((p) => `${x(p[0])},${y(p[1])}`).join(" ") }),
    ...(points.length <= 60
      ? points.map((p) =>
          makeSvg(
            "circle",
            { class: p[0] === marked ? "dot marked" : "dot", cx: x(p[0]), cy: y(p[1]), r: p[0] === marked ? 6 : 3 },
            makeSvg("title", {}, `${xLabel} ${number(p[0])}: ${number(p[1], 6)}`),
          ),
        )
      : []),
  );
  return svg;
}

/**
 * Observed against predicted shares, with the line on which they are equal. A larger dot has more weight.
 *
 * @param {string} title
 * @param {number[]} predicted
 * @param {number[]} observed
 * @param {number[]} weight
 */
export function calibrationChart(title, predicted, observed, weight) {
  const { svg, x, y } = frame(title, "predicted", "observed", [-0.03, 1.03], [-0.03, 1.03]);
  const heaviest = most(weight);
  svg.append(
    makeSvg("line", { class: "reference", x1: x(0), y1: y(0), x2: x(1), y2: y(1) }),
    makeSvg("polyline", { class: "line thin", points: predicted.map((p, i) => `${x(p)},${y(observed[i])}`).join(" ") }),
    ...predicted.map((p, i) =>
      makeSvg(
        "circle",
        { class: "dot", cx: x(p), cy: y(observed[i]), r: 3 + 6 * Math.sqrt(weight[i] / heaviest) },
        makeSvg("title", {}, `predicted ${number(p, 3)}, observed ${number(observed[i], 3)}, ${number(weight[i])} cells`),
      ),
    ),
  );
  return svg;
}

/**
 * The background of a cell: one colour above zero, another below, stronger for larger values.
 *
 * @param {number} value
 * @param {number} furthest
 */
export function tint(value, furthest) {
  const strength = furthest > 0 ? Math.round((55 * Math.abs(value)) / furthest) : 0;
  return `color-mix(in srgb, var(${value < 0 ? "--less" : "--more"}) ${strength}%, transparent)`;
}
