// The answers of the explorer, and what stands behind each of them: rows, intervals, and how exact it is.

/** @import { Evidence, Known, Variable } from "./types" */
/** @import { Joint } from "./model.js" */
/** @import { Pairs } from "./pairs.js" */

import { percent } from "./dom.js";

/**
 * What stands behind the answer about one variable.
 *
 * @typedef {object} Backing
 * @property {number | null} rows how many rows meet the condition and show the variable; null where they are not known
 * @property {number[] | null} shares their shares
 * @property {boolean[] | null} differs where share and probability differ by more than chance would
 * @property {{ low: number[], high: number[] } | null} ends both ends of the intervals
 * @property {number} pointsOff how far the answer may be from that of the model's file, in points; 0 for at most one
 */

/** @typedef {{ marginals: (Float64Array | number[])[], logProbability: number, backing: Backing[] }} Answer */

// A share differs from a probability beyond this many standard errors and rows, as in Python: answers/support.py.
const [STANDARD_ERRORS, ROWS] = [3, 1];

/** @type {Backing} */
const NOTHING = { rows: null, shares: null, differs: null, ends: null, pointsOff: 0 };

export class Answers {
  /**
   * @param {Variable[]} variables
   * @param {Joint} joint
   * @param {Pairs} pairs
   * @param {{ singles: number[][] | null, worth: number }} rows counts of every variable; how many rows a weight is worth
   */
  constructor(variables, joint, pairs, { singles, worth }) {
    this.variables = variables;
    this.joint = joint;
    this.pairs = pairs;
    this.singles = singles;
    this.worth = worth;
  }

  /**
   * The distribution of every variable given evidence; null if it is impossible.
   *
   * With at most one condition, answers are those of the fitted model, also where the page has a smaller one.
   *
   * @param {Evidence} evidence
   * @returns {Answer | null}
   */
  given(evidence) {
    const answer = this.joint.given(evidence);
    if (answer === null) return null;
    if (evidence.size === 0) return this.#withoutCondition(answer);
    if (evidence.size === 1) return this.#withOne(answer, [...evidence][0]);
    return { ...answer, backing: this.variables.map(() => NOTHING) };
  }

  /** @param {NonNullable<ReturnType<Joint["given"]>>} answer */
  #withoutCondition({ marginals, logProbability }) {
    const exact = this.variables.map(({ probabilities }, n) => probabilities ?? marginals[n]);
    const backing = this.variables.map(({ low, high }, n) => ({
      ...this.#rowsBehind(exact[n], this.singles?.[n] ?? null),
      ends: low && high ? { low, high } : null,
      pointsOff: 0,
    }));
    return { marginals: exact, logProbability, backing };
  }

  /**
   * @param {NonNullable<ReturnType<Joint["given"]>>} answer
   * @param {[number, Known]} condition
   */
  #withOne({ marginals, logProbability }, [given, { codes, weights }]) {
    const alone = this.variables[given].probabilities;
    /** @param {number} code */
    const weight = (code) => (weights ? weights[codes.indexOf(code)] : 1);
    const inside = alone ? codes.reduce((sum, code) => sum + weight(code) * alone[code], 0) : null;
    const exact = this.variables.map(({ position: n }) => {
      if (n === given) {
        return alone && inside ? alone.map((p, code) => (codes.includes(code) ? (weight(code) * p) / inside : 0)) : marginals[n];
      }
      const table = this.pairs.fitted(given, n);
      const joint = table && added(codes.map((code) => table[code].map((p) => weight(code) * p)));
      const total = joint ? sumOf(joint) : 0;
      return joint && total > 0 ? joint.map((p) => p / total) : marginals[n];
    });
    const backing = this.variables.map(({ position: n }) => {
      if (n === given) return NOTHING;
      // Rows are counted by intervals: what lies within a part of one is not known.
      const table = weights ? null : this.pairs.counts(given, n);
      return {
        ...this.#rowsBehind(exact[n], table && added(codes.map((code) => table[code]))),
        ends: codes.length === 1 && weights === null ? this.pairs.ends(n, given, codes[0]) : null,
        pointsOff: this.pairs.pointsOff(given, n),
      };
    });
    return { marginals: exact, logProbability: inside ? Math.min(0, Math.log(inside)) : logProbability, backing };
  }

  /**
   * @param {Float64Array | number[]} probabilities
   * @param {number[] | null} counts
   */
  #rowsBehind(probabilities, counts) {
    if (counts === null) return { rows: null, shares: null, differs: null };
    const rows = sumOf(counts);
    if (rows === 0) return { rows, shares: null, differs: null };
    const [shares, n] = [counts.map((count) => count / rows), rows * this.worth];
    const differs = shares.map((share, code) => {
      const p = probabilities[code];
      return Math.abs(share - p) > STANDARD_ERRORS * Math.sqrt(Math.max(p * (1 - p), 0) / n) + ROWS / n;
    });
    return { rows, shares, differs };
  }
}

/** @param {number[]} values */
const sumOf = (values) => values.reduce((sum, value) => sum + value, 0);

/**
 * The sum of some rows of a table.
 *
 * @param {number[][]} rows
 */
function added(rows) {
  return rows[0].map((_, j) => sumOf(rows.map((row) => row[j])));
}

// Errors of less are not told.
const OFF = 5e-4;

/**
 * Say how far answers may be off because the page has a simpler law of a number than the model's file; empty if not by
 * much. Shares e of intervals i that a range divides are off by up to ε, and so are answers by up to Σ P(i) ε / e.
 *
 * @param {Variable} variable
 * @param {Known} known
 * @param {Float64Array | number[]} probabilities of the variable given all evidence
 */
export function partsOff({ law, name }, { codes, weights }, probabilities) {
  if (!law?.error || !weights) return "";
  const off = codes.reduce((sum, code, i) => sum + (weights[i] < 1 ? (probabilities[code] * law.error) / weights[i] : 0), 0);
  if (off < OFF) return "";
  return `The page knows how ${name} lies inside its intervals to ${percent(law.error)}, so answers may be off by ${percent(Math.min(off, 1))}.`;
}
