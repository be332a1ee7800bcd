// What a histogram draws: bars whose areas are probabilities, outlines beside them, stems, the median and an axis.

/** @import { NumberFacts, Variable } from "./types" */
/** @import { Backing } from "./answers.js" */
/** @import { Ends, Law } from "./law.js" */
/** @import { NumberAxis } from "./number_axis.js" */

import { roundNumbers } from "./charts.js";
import { makeSvg, most, number, percent } from "./dom.js";

/** @typedef {Float64Array | number[]} Shares probabilities of the labels */
/** @typedef {{ probabilities: Shares, marginal: Shares, ends: Ends, isKnown: boolean, backing: Backing | null }} Shown */

// Pixels: the height, and the room above and below the bars
export const HEIGHT = 132;
export const [TOP, BOTTOM] = [18, 28];
const BASE = HEIGHT - BOTTOM;
// A stem of less is not written, and less beyond the axis has no mark.
const [WRITTEN, WORTH_A_MARK] = [0.05, 5e-4];
// Bars of the rows and ends of intervals may be higher than those of the model, up to this.
const HIGHEST = 1.08;
// Pixels of a letter, and between two marks
const [LETTER, MARK] = [6.4, 14];
const TICKS = 5;

/** @type {Ends} */
const EVERYTHING = [null, null];

/**
 * The probability of all numbers; missing cells do not count.
 *
 * @param {Law} law
 * @param {Shares} shares
 */
export function totalOf(law, shares) {
  let total = 0;
  for (let code = 0; code < law.nIntervals; code++) total += shares[code];
  return total;
}

export class HistogramPicture {
  #facts;
  #law;
  #text;
  #axis;
  #shown;
  #bounds;
  #isStem;
  #x;

  /**
   * @param {Variable & { law: Law, number: NumberFacts }} variable
   * @param {NumberAxis} axis
   * @param {Shown} shown
   */
  constructor(variable, axis, shown) {
    this.#facts = variable.number;
    this.#law = variable.law;
    this.#text = axis.text;
    this.#axis = axis;
    this.#shown = shown;
    const { bins, stems } = this.#facts;
    const starts = new Set(stems.map((bin) => bins[bin]));
    // A bar ends where a range ends.
    const added = shown.ends.flatMap((end) => (end !== null && end > bins[0] && end < bins[bins.length - 1] ? [end] : []));
    this.#bounds = [...new Set([...bins, ...added])].sort((a, b) => a - b);
    this.#isStem = this.#bounds.slice(0, -1).map((bound) => starts.has(bound));
    this.#x = this.#bounds.map((bound) => axis.within(bound).toFixed(2));
  }

  /** All parts, in the order in which they are painted. */
  parts() {
    const { probabilities, marginal, ends, isKnown, backing } = this.#shown;
    const [now, before] = [this.#masses(probabilities, ends), this.#masses(marginal, EVERYTHING)];
    const rows = backing?.shares ? this.#masses(backing.shares, EVERYTHING) : null;
    const heights = this.#heights(now);
    const top = most([...heights, ...this.#heights(before)]) || 1;
    /** @param {number} height */
    const y = (height) => (BASE - Math.min(height / top, HIGHEST) * (BASE - TOP)).toFixed(2);
    const x = this.#x;
    const bars = heights.map((height, i) => (height > 0 && x[i] !== x[i + 1] ? `M${x[i]} ${BASE}V${y(height)}H${x[i + 1]}V${BASE}Z` : ""));
    /** @param {number[]} masses */
    const outline = (masses) => `M${x[0]} ${BASE}${this.#heights(masses).map((height, i) => `V${y(height)}H${x[i + 1]}`).join("")}V${BASE}`;
    const median = this.#axis.within(this.#law.quantile(probabilities, 0.5, ends));
    return [
      makeSvg("path", { class: isKnown ? "bars-now known" : "bars-now", d: bars.join("") }),
      makeSvg("path", { class: "bars-before", d: outline(before) }),
      ...(rows ? [makeSvg("path", { class: "bars-rows", d: outline(rows) })] : []),
      makeSvg("path", { class: "whiskers", d: this.#whiskers(heights, y) }),
      makeSvg("line", { class: "base", x1: 0, x2: this.#axis.width, y1: BASE, y2: BASE }),
      ...this.#stems(now, before),
      // There is none if the cell is known to be missing.
      ...(median >= 0 ? [makeSvg("line", { class: "median", x1: median, x2: median, y1: TOP - 4, y2: BASE })] : []),
      ...this.#beyond(),
      ...this.#differing(heights, y),
      ...this.#ticks(),
    ];
  }

  /**
   * The probability of every bin.
   *
   * @param {Shares} shares
   * @param {Ends} ends
   */
  #masses(shares, ends) {
    const last = this.#bounds.length - 1;
    // The last position itself may hold a point.
    const levels = this.#bounds.map((bound, i) => (i === last ? totalOf(this.#law, shares) : this.#law.below(shares, bound, ends)));
    return levels.slice(1).map((level, i) => Math.max(level - levels[i], 0));
  }

  /** @param {number[]} masses */
  #heights(masses) {
    return masses.map((mass, i) => (this.#isStem[i] ? 0 : mass / (this.#bounds[i + 1] - this.#bounds[i])));
  }

  /**
   * Lines from the low to the high end of the intervals of bars that lie in one interval of the number.
   *
   * @param {number[]} heights
   * @param {(height: number) => string} y
   */
  #whiskers(heights, y) {
    const { probabilities, backing } = this.#shown;
    const [ends, x, bounds] = [backing?.ends, this.#x, this.#bounds];
    if (!ends) return "";
    const lines = heights.map((height, i) => {
      const code = this.#law.interval(bounds[i]);
      const p = probabilities[code];
      const isPart = i === heights.length - 1 || bounds[i + 1] <= this.#law.cuts[code + 1];
      if (!isPart || !(height > 0) || !(p > 0) || x[i] === x[i + 1]) return "";
      const middle = ((Number(x[i]) + Number(x[i + 1])) / 2).toFixed(2);
      return `M${middle} ${y((height * ends.low[code]) / p)}V${y((height * ends.high[code]) / p)}`;
    });
    return lines.join("");
  }

  /**
   * Values that stand out, as lines with their probability; the most probable has the full height.
   *
   * @param {number[]} now
   * @param {number[]} before
   */
  #stems(now, before) {
    const [low, high] = this.#axis.ends;
    const some = [...this.#isStem.keys()].filter((i) => this.#isStem[i] && this.#bounds[i] >= low && this.#bounds[i] <= high);
    const largest = most(some.flatMap((i) => [now[i], before[i]]));
    /** @param {number} mass */
    const y = (mass) => BASE - (largest > 0 ? mass / largest : 0) * (BASE - TOP);
    const lines = some.flatMap((i) => {
      const x = this.#axis.x(this.#bounds[i]);
      return [
        makeSvg("line", { class: "stem", x1: x, x2: x, y1: BASE, y2: y(now[i]) }),
        makeSvg("circle", { class: "stem-head", cx: x, cy: y(now[i]), r: now[i] > 0 ? 3.5 : 0 }),
        makeSvg("line", { class: "stem-before", x1: x - 5, x2: x + 5, y1: y(before[i]), y2: y(before[i]) }),
      ];
    });
    /** @type {[number, number][]} */
    const taken = [];
    const texts = some
      .filter((i) => now[i] >= WRITTEN)
      .sort((a, b) => now[b] - now[a])
      .flatMap((i) => {
        const [x, text] = [this.#axis.x(this.#bounds[i]), percent(now[i])];
        const wide = LETTER * text.length + 10;
        // At the right end the text stands to the left.
        const isLate = x + wide > this.#axis.width;
        const [from, to] = isLate ? [x - wide, x] : [x, x + wide];
        if (taken.some(([start, end]) => from < end && to > start)) return [];
        taken.push([from, to]);
        const place = { x: isLate ? x - 7 : x + 7, y: Math.max(y(now[i]) + 2, 11), "text-anchor": isLate ? "end" : "start" };
        return [makeSvg("text", { class: "stem-text", ...place }, text)];
      });
    return [...lines, ...texts];
  }

  /** How much lies beyond both ends of the axis. */
  #beyond() {
    const { probabilities: p, ends } = this.#shown;
    const [low, high] = this.#axis.ends.map((end) => this.#law.below(p, end, ends));
    const above = totalOf(this.#law, p) - high;
    return [
      ...(low >= WORTH_A_MARK ? [makeSvg("text", { class: "beyond", x: 1, y: 10 }, `← ${percent(low)}`)] : []),
      ...(above >= WORTH_A_MARK ? [makeSvg("text", { class: "beyond", x: this.#axis.width - 1, y: 10, "text-anchor": "end" }, `${percent(above)} →`)] : []),
    ];
  }

  /**
   * Marks where the rows differ by more than chance would, as many as there is room for.
   *
   * @param {number[]} heights
   * @param {(height: number) => string} y
   */
  #differing(heights, y) {
    const [low, high] = this.#axis.ends;
    let free = -Infinity;
    return (this.#shown.backing?.differs ?? []).flatMap((differs, code) => {
      const [from, to] = [Math.max(this.#law.cuts[code] ?? NaN, low), Math.min(this.#law.cuts[code + 1] ?? NaN, high)];
      const x = this.#axis.x((from + to) / 2);
      if (!differs || !(from < to) || x < free) return [];
      free = x + MARK;
      const bin = this.#bounds.filter((bound) => bound <= (from + to) / 2).length - 1;
      return [makeSvg("text", { class: "differs", x, y: Number(y(heights[bin] ?? 0)) - 3, "text-anchor": "middle" }, "≠")];
    });
  }

  #ticks() {
    const [low, high] = this.#axis.ends;
    if (this.#facts.calendar) {
      const days = [0.14, 0.5, 0.86].map((share) => Math.round(low + share * (high - low)));
      return days.flatMap((day) => this.#tick(this.#axis.x(day), this.#text.exact(day).slice(0, 10)));
    }
    const [from, to] = this.#axis.floats;
    return roundNumbers([from, to], TICKS).flatMap((value) => {
      const short = value.toLocaleString("en-GB", { notation: "compact", maximumSignificantDigits: 4 }).replace("-", "−");
      return this.#tick(this.#axis.xOf(value), Math.abs(value) >= 1e5 ? short : number(value, 6));
    });
  }

  /**
   * @param {number} x
   * @param {string} text
   */
  #tick(x, text) {
    const wide = (LETTER / 2) * text.length;
    return [
      makeSvg("line", { class: "base", x1: x, x2: x, y1: BASE, y2: BASE + 4 }),
      makeSvg("text", { class: "tick", x: Math.min(Math.max(x, wide), this.#axis.width - wide), y: HEIGHT - 3, "text-anchor": "middle" }, text),
    ];
  }
}
