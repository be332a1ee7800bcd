// The joint distribution in the browser, a sum over blocks of classes, with the same answers as in Python.

/** @import { Evidence, ModelFacts } from "./types" */

import { Block, logSumExp } from "./block.js";

/**
 * Read base64 of little-endian numbers, the byte order of every machine that runs a browser.
 *
 * @param {string} text
 */
export function bytesOf(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes.buffer;
}

/** @param {string} text */
export const floats = (text) => new Float32Array(bytesOf(text));

// Of numbers as logarithms: the smallest above zero, and the code of zero; report/packing_numbers.py has the same.
const [LEAST, ZERO] = [1e-30, 65535];
const STEP = -Math.log(LEAST) / (ZERO - 1);

/**
 * The number of a 16-bit code.
 *
 * @param {number} code
 */
export const logarithm = (code) => (code === ZERO ? 0 : Math.exp(-STEP * code));

/** @param {string} text */
async function logarithms(text) {
  const stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("deflate"));
  const codes = new Uint16Array(await new Response(stream).arrayBuffer());
  return Float64Array.from(codes, logarithm);
}

/** @type {Record<number, (text: string) => Float64Array | Promise<Float64Array>>} */
const NUMBERS = {
  64: (text) => new Float64Array(bytesOf(text)),
  32: (text) => Float64Array.from(floats(text)),
  16: logarithms,
};

export class Joint {
  /**
   * @param {number[]} cardinalities number of labels of each variable
   * @param {Block[]} blocks
   */
  constructor(cardinalities, blocks) {
    this.cardinalities = cardinalities;
    this.blocks = blocks;
  }

  /**
   * Read the numbers of a model.
   *
   * @param {number[]} cardinalities
   * @param {ModelFacts} facts
   */
  static async of(cardinalities, { blocks, bits }) {
    const read = blocks.map(async ({ weights, parents, sizes, tables }) =>
      new Block(await NUMBERS[bits](weights), parents, sizes, await NUMBERS[bits](tables)),
    );
    const joint = new Joint(cardinalities, await Promise.all(read));
    if (bits < 64) joint.#normalise();
    return joint;
  }

  /** Rounded numbers sum to one only up to their rounding. */
  #normalise() {
    let total = 0;
    for (const { weights } of this.blocks) for (const weight of weights) total += weight;
    for (const block of this.blocks) {
      block.weights.forEach((weight, f) => (block.weights[f] = weight / total));
      block.normalise();
    }
  }

  /**
   * The marginal of every variable given evidence, and the log-probability of the evidence; null if it is impossible.
   *
   * @param {Evidence} evidence
   */
  given(evidence) {
    const collected = this.blocks.map((block) => block.collect(evidence));
    const logProbability = logSumExp(collected.map(({ logs }) => logSumExp(logs)));
    if (logProbability === -Infinity) return null;
    const marginals = this.cardinalities.map((cardinality) => new Float64Array(cardinality));
    collected.forEach(({ logs, below }, b) => {
      const weights = logs.map((log) => Math.exp(log - logProbability));
      this.blocks[b].distribute(weights, below, marginals);
    });
    // Rounding must not lift a probability above one.
    for (const marginal of marginals) marginal.forEach((p, code) => (marginal[code] = Math.min(1, p)));
    return { marginals, logProbability: Math.min(0, logProbability) };
  }

  /**
   * The joint table of two variables, an array of rows.
   *
   * @param {number} a
   * @param {number} b
   */
  pair(a, b) {
    /** @type {number[][]} */
    const table = Array.from({ length: this.cardinalities[a] }, () => Array(this.cardinalities[b]).fill(0));
    for (const block of this.blocks) block.addPair(a, b, table);
    return table;
  }
}

/**
 * The Jensen–Shannon divergence of two distributions in bits: 0 when they are equal, 1 when they share nothing.
 *
 * @param {Float64Array | number[]} p
 * @param {Float64Array | number[]} q
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
