// The joint distribution in the browser: p(x) = Σ_f λ_f Π_n A_n[x_n, f], with the same answers as in Python.

/** @import { Evidence } from "./types" */

/**
 * Read base64 of little-endian numbers, the byte order of every machine that runs a browser.
 *
 * @param {string} text
 */
function bytesOf(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes.buffer;
}

/** @param {string} text */
export const doubles = (text) => new Float64Array(bytesOf(text));

/** @param {string} text */
export const floats = (text) => new Float32Array(bytesOf(text));

export class Joint {
  /**
   * @param {number[]} cardinalities number of labels of each variable
   * @param {Float64Array} weights λ, (F,)
   * @param {Float64Array} stacked all factors one above the other, (Σ I_n, F) row by row
   */
  constructor(cardinalities, weights, stacked) {
    this.cardinalities = cardinalities;
    this.weights = weights;
    this.stacked = stacked;
    let row = 0;
    this.firstRow = cardinalities.map((cardinality) => (row += cardinality) - cardinality);
  }

  get rank() {
    return this.weights.length;
  }

  /**
   * The row of a factor: p(variable = code | class), (F,).
   *
   * @param {number} variable
   * @param {number} code
   */
  row(variable, code) {
    const start = (this.firstRow[variable] + code) * this.rank;
    return this.stacked.subarray(start, start + this.rank);
  }

  /**
   * log λ_f + Σ log p(evidence on a variable | class), (F,), without the variable `leftOut`. Logarithms do not underflow.
   *
   * @param {Evidence} evidence
   * @param {number} [leftOut]
   */
  #logWeights(evidence, leftOut = -1) {
    const logs = this.weights.map(Math.log);
    for (const [variable, codes] of evidence) {
      if (variable === leftOut) continue;
      const mass = this.#massOf(variable, codes);
      for (let f = 0; f < logs.length; f++) logs[f] += Math.log(mass[f]);
    }
    return logs;
  }

  /**
   * Σ over codes of p(variable = code | class), (F,).
   *
   * @param {number} variable
   * @param {number[]} codes
   */
  #massOf(variable, codes) {
    if (codes.length === 1) return this.row(variable, codes[0]);
    const mass = new Float64Array(this.rank);
    for (const code of codes) {
      const row = this.row(variable, code);
      for (let f = 0; f < mass.length; f++) mass[f] += row[f];
    }
    return mass;
  }

  /**
   * The marginal of every variable given evidence, and the log-probability of the evidence; null if it is impossible.
   *
   * @param {Evidence} evidence
   */
  given(evidence) {
    const logs = this.#logWeights(evidence);
    const logProbability = logSumExp(logs);
    if (logProbability === -Infinity) return null;
    const weights = logs.map((log) => Math.exp(log - logProbability));
    const marginals = this.cardinalities.map((cardinality, variable) => {
      const codes = evidence.get(variable);
      if (codes) return this.#within(variable, codes, evidence);
      return Float64Array.from({ length: cardinality }, (_, code) => Math.min(1, dot(weights, this.row(variable, code))));
    });
    // Rounding must not lift a probability above one.
    return { marginals, logProbability: Math.min(0, logProbability) };
  }

  /**
   * The distribution of a variable that has evidence of its own, the codes that it may have.
   *
   * @param {number} variable
   * @param {number[]} codes
   * @param {Evidence} evidence
   */
  #within(variable, codes, evidence) {
    const marginal = new Float64Array(this.cardinalities[variable]);
    const others = this.#logWeights(evidence, variable);
    const logs = codes.map((code) => logSumExp(this.row(variable, code).map((p, f) => Math.log(p) + others[f])));
    const total = logSumExp(logs);
    codes.forEach((code, i) => (marginal[code] = Math.exp(logs[i] - total)));
    return marginal;
  }

  /**
   * The joint table of two variables, an array of rows.
   *
   * @param {number} a
   * @param {number} b
   */
  pair(a, b) {
    return Array.from({ length: this.cardinalities[a] }, (_, i) => {
      const weighted = this.row(a, i).map((p, f) => p * this.weights[f]);
      return Array.from({ length: this.cardinalities[b] }, (__, j) => dot(weighted, this.row(b, j)));
    });
  }
}

/**
 * log Σ exp of some logarithms, −∞ when all are.
 *
 * @param {number[] | Float64Array} logs
 */
function logSumExp(logs) {
  let [largest, sum] = [-Infinity, 0];
  for (const log of logs) largest = Math.max(largest, log);
  if (largest === -Infinity) return largest;
  for (const log of logs) sum += Math.exp(log - largest);
  return largest + Math.log(sum);
}

/**
 * @param {Float64Array} a
 * @param {Float64Array} b
 */
function dot(a, b) {
  let sum = 0;
  for (let f = 0; f < a.length; f++) sum += a[f] * b[f];
  return sum;
}

/**
 * The Jensen–Shannon divergence of two distributions in bits: 0 when they are equal, 1 when they share nothing.
 *
 * @param {Float64Array} p
 * @param {Float64Array} q
 */
export function jensenShannon(p, q) {
  let bits = 0;
  for (let i = 0; i < p.length; i++) {
    const middle = (p[i] + q[i]) / 2;
    if (p[i] > 0) bits += (p[i] / 2) * Math.log2(p[i] / middle);
    if (q[i] > 0) bits += (q[i] / 2) * Math.log2(q[i] / middle);
  }
  return Math.min(1, Math.max(0, bits));
}
