// What the page carries about pairs of variables: counts of rows, fitted tables that its model misses, and intervals.

/** @import { PackedPairs, PackedTables } from "./types" */

import { bytesOf, logarithm } from "./model.js";

/** @typedef {{ numbers: Float64Array, starts: Map<number, number> }} Tables numbers of some pairs, and where each begins */

/**
 * Read deflated numbers whose first bytes come first, then all second bytes, and so on.
 *
 * @param {string} text
 * @param {number} size bytes of a number
 */
export async function inflate(text, size) {
  const stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("deflate"));
  const planes = new Uint8Array(await new Response(stream).arrayBuffer());
  const [count, bytes] = [planes.length / size, new Uint8Array(planes.length)];
  for (let i = 0; i < count; i++) for (let byte = 0; byte < size; byte++) bytes[i * size + byte] = planes[byte * count + i];
  return bytes.buffer;
}

/** @type {Record<string, (bytes: ArrayBuffer) => Float64Array>} */
const TYPES = {
  u4: (bytes) => Float64Array.from(new Uint32Array(bytes)),
  f4: (bytes) => Float64Array.from(new Float32Array(bytes)),
  u2: (bytes) => Float64Array.from(new Uint16Array(bytes), logarithm),
};

export class Pairs {
  #cardinalities;
  /** @type {Tables | null} */
  #counts = null;
  /** @type {Tables | null} */
  #fitted = null;
  /** @type {Tables | null} */
  #ends = null;
  /** @type {Uint8Array | null} */
  #apart = null;

  /** @param {number[]} cardinalities number of labels of each variable */
  constructor(cardinalities) {
    this.#cardinalities = cardinalities;
  }

  /**
   * @param {number[]} cardinalities
   * @param {PackedPairs} packed
   */
  static async of(cardinalities, { counts, fitted, intervals, apart }) {
    const pairs = new Pairs(cardinalities);
    pairs.#counts = await pairs.#read(counts, 1);
    pairs.#fitted = await pairs.#read(fitted, 1);
    pairs.#ends = await pairs.#read(intervals, 4);
    pairs.#apart = apart ? new Uint8Array(await inflate(apart, 1)) : null;
    return pairs;
  }

  /** Whether the page has counts of any pair. */
  get areCounted() {
    return this.#counts !== null;
  }

  /**
   * @param {PackedTables | undefined} packed
   * @param {number} each tables of a pair
   */
  async #read(packed, each) {
    if (!packed) return null;
    const numbers = TYPES[packed.type](await inflate(packed.numbers, Number(packed.type[1])));
    const sizes = this.#cardinalities.flatMap((one, a) => this.#cardinalities.slice(a + 1).map((other) => each * one * other));
    const starts = new Map();
    let start = 0;
    for (const pair of packed.pairs) {
      starts.set(pair, start);
      start += sizes[pair];
    }
    return { numbers, starts };
  }

  /**
   * The number of a pair of variables a < b, in the order of Python's combinations.
   *
   * @param {number} a
   * @param {number} b
   */
  #number(a, b) {
    return a * this.#cardinalities.length - (a * (a + 1)) / 2 + b - a - 1;
  }

  /**
   * A table of two variables, a row for each label of the first; null if the page does not have it.
   *
   * @param {Tables | null} tables
   * @param {number} a
   * @param {number} b
   * @param {number} [which] of several tables of a pair
   * @returns {number[][] | null}
   */
  #table(tables, a, b, which = 0) {
    const [first, second] = a < b ? [a, b] : [b, a];
    const start = tables?.starts.get(this.#number(first, second));
    if (!tables || start === undefined) return null;
    const [height, width] = [this.#cardinalities[first], this.#cardinalities[second]];
    const begin = start + which * height * width;
    /** @type {(i: number, j: number) => number} */
    const at = (i, j) => tables.numbers[begin + (a < b ? i * width + j : j * width + i)];
    const columns = [...Array(this.#cardinalities[b]).keys()];
    return Array.from({ length: this.#cardinalities[a] }, (_, i) => columns.map((j) => at(i, j)));
  }

  /**
   * @param {number} a
   * @param {number} b
   */
  counts(a, b) {
    return this.#table(this.#counts, a, b);
  }

  /**
   * The table of the fitted model, where that of the page's model is off.
   *
   * @param {number} a
   * @param {number} b
   */
  fitted(a, b) {
    return this.#table(this.#fitted, a, b);
  }

  /**
   * The ends of the intervals of a variable given one label of another; null if the page does not have them.
   *
   * @param {number} target
   * @param {number} given
   * @param {number} code
   */
  ends(target, given, code) {
    const isFirst = given < target;
    const low = this.#table(this.#ends, given, target, isFirst ? 0 : 2);
    const high = this.#table(this.#ends, given, target, isFirst ? 1 : 3);
    return low && high ? { low: low[code], high: high[code] } : null;
  }

  /**
   * By how many points answers about one of two variables given the other may be off; 0 for at most one.
   *
   * @param {number} a
   * @param {number} b
   */
  pointsOff(a, b) {
    if (this.#apart === null || this.fitted(a, b) !== null) return 0;
    return this.#apart[this.#number(Math.min(a, b), Math.max(a, b))];
  }
}
