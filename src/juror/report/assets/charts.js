// Small charts as SVG, drawn with the page's own colours. What they show stands beside them as text or a table too.

import { makeSvg, most, number } from "./dom.js";

const WIDTH = 420;
const HEIGHT = 220;
const MOST_POINTS = 1000;
const EDGE = { left: 86, right: 14, top: 12, bottom: 40 };

/** Ends of an axis for some values, a little wider than they are. */
function ends(values) {
  const [low, high] = [-most(values.map((value) => -value)), most(values)];
  const room = (high - low || Math.abs(high) || 1) * 0.05;
  return [low - room, high + room];
}

/** Three to five round numbers between two ends. */
function roundNumbers([low, high]) {
  const rough = (high - low) / 4;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((factor) => factor * size >= rough) * size;
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) => (first + i) * step);
}

function frame(title, xLabel, yLabel, xEnds, yEnds) {
  const x = (value) => EDGE.left + ((value - xEnds[0]) / (xEnds[1] - xEnds[0])) * (WIDTH - EDGE.left - EDGE.right);
  const y = (value) => HEIGHT - EDGE.bottom - ((value - yEnds[0]) / (yEnds[1] - yEnds[0])) * (HEIGHT - EDGE.top - EDGE.bottom);
  const text = (at, words, more = {}) => makeSvg("text", { ...at, ...more }, words);
  const svg = makeSvg(
    "svg",
    { class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": title },
    roundNumbers(yEnds).map((value) => [
      makeSvg("line", { class: "grid", x1: EDGE.left, x2: WIDTH - EDGE.right, y1: y(value), y2: y(value) }),
      text({ x: EDGE.left - 6, y: y(value) + 4 }, number(value, 6), { "text-anchor": "end" }),
    ]),
    roundNumbers(xEnds).map((value) =>
      text({ x: x(value), y: HEIGHT - EDGE.bottom + 16 }, number(value, 6), { "text-anchor": "middle" }),
    ),
    text({ x: (WIDTH + EDGE.left) / 2, y: HEIGHT - 6 }, xLabel, { "text-anchor": "middle", class: "axis" }),
    text({ x: 0, y: 0 }, yLabel, {
      "text-anchor": "middle",
      class: "axis",
      transform: `translate(12 ${(HEIGHT - EDGE.bottom) / 2}) rotate(-90)`,
    }),
  );
  return { svg, x, y };
}

/** A line through points [x, y], with one of them marked. */
export function lineChart({ title, xLabel, yLabel, points: all, marked = null }) {
  // more than the eye tells apart need not be drawn
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

/** Observed shares against predicted ones, beside the line on which they are equal; larger dots count for more. */
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

/** A ground for a cell: one colour above zero and another below, the stronger the further from it. */
export function tint(value, furthest) {
  const strength = furthest > 0 ? Math.round((55 * Math.abs(value)) / furthest) : 0;
  return `color-mix(in srgb, var(${value < 0 ? "--less" : "--more"}) ${strength}%, transparent)`;
}
