// The law of a number, as in Python (domain/law.py): how its values lie inside each interval. All places are positions:
// multiples of the column's step from its origin, or the numbers themselves if the column has no step.

/** @import { NumberFacts } from "./types" */

/** @typedef {[number | null, number | null]} Ends a range from one position to below another; null where it has no end */

/** @type {Ends} */
const EVERYTHING = [null, null];

export class Law {
  #bounds;
  #masses;
  /** The mass before each piece, and of all. @type {number[]} */
  #before = [0];
  /** The mass before each interval, and of all up to the last. */
  #levels;
  /** How many positions the numbers of the rows lie apart. */
  #stride;

  /**
   * @param {NumberFacts} facts
   * @param {Float64Array} pieces all bounds, then all masses
   */
  constructor(facts, pieces) {
    const n = (pieces.length - 1) / 2;
    this.#bounds = pieces.subarray(0, n + 1);
    this.#masses = pieces.subarray(n + 1);
    for (const mass of this.#masses) this.#before.push(this.#before[this.#before.length - 1] + mass);
    this.isGrid = facts.decimals !== null;
    this.#stride = facts.stride;
    this.error = facts.error;
    this.cuts = facts.cuts.map((cut, i) => cut ?? (i ? Infinity : -Infinity));
    this.#levels = this.cuts.map((cut) => this.#below(cut));
  }

  get nIntervals() {
    return this.cuts.length - 1;
  }

  /**
   * The mass below a position.
   *
   * @param {number} position
   */
  #below(position) {
    // The last piece that begins before the position.
    let [low, high] = [0, this.#masses.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#bounds[middle] < position) low = middle + 1;
      else high = middle;
    }
    const piece = Math.max(low - 1, 0);
    const [start, end] = [this.#bounds[piece], this.#bounds[piece + 1]];
    if (position <= start) return this.#before[piece];
    const share = position < end ? (position / 2 - start / 2) / (end / 2 - start / 2) : 1;
    return this.#before[piece] + Math.min(share, 1) * this.#masses[piece];
  }

  /**
   * The lowest position up to which the law has a mass.
   *
   * @param {number} level
   */
  #at(level) {
    let [low, high] = [0, this.#masses.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#before[middle + 1] < level) low = middle + 1;
      else high = middle;
    }
    const [start, end, mass] = [this.#bounds[low], this.#bounds[low + 1], this.#masses[low]];
    const share = mass > 0 ? Math.min(Math.max((level - this.#before[low]) / mass, 0), 1) : 0;
    const position = start * (1 - share) + end * share;
    return this.isGrid ? Math.min(Math.max(Math.floor(position), start), end - 1) : position;
  }

  /**
   * The position of a number like those of the rows, in [low, high): the last multiple of the stride that is not larger,
   * or else the first; in a range without any, the position.
   *
   * @param {number} position
   * @param {number} low
   * @param {number} high
   */
  #placed(position, low, high) {
    if (this.#stride === 1) return position;
    const multiple = Math.floor(position / this.#stride) * this.#stride;
    const placed = multiple < Math.max(low, this.#bounds[0]) ? multiple + this.#stride : multiple;
    return placed < Math.min(high, this.#bounds[this.#bounds.length - 1]) ? placed : position;
  }

  /**
   * The interval of a position; the outer ones for positions beyond them.
   *
   * @param {number} position
   */
  interval(position) {
    let code = 0;
    while (code < this.nIntervals - 1 && this.cuts[code + 1] <= position) code++;
    return code;
  }

  /**
   * Which share of an interval's law lies below a position.
   *
   * @param {number} code
   * @param {number} position
   */
  #share(code, position) {
    if (position <= this.cuts[code]) return 0;
    if (position >= this.cuts[code + 1]) return 1;
    const room = this.#levels[code + 1] - this.#levels[code];
    return room > 0 ? Math.min(Math.max((this.#below(position) - this.#levels[code]) / room, 0), 1) : 0;
  }

  /**
   * Which share of an interval's law lies in a range.
   *
   * @param {number} code
   * @param {Ends} ends
   */
  weight(code, [low, high]) {
    return (high === null ? 1 : this.#share(code, high)) - (low === null ? 0 : this.#share(code, low));
  }

  /**
   * The probability of all numbers below a position, given that they lie in a range.
   *
   * @param {Float64Array | number[]} probabilities of the intervals
   * @param {number} position
   * @param {Ends} [ends]
   */
  below(probabilities, position, ends = EVERYTHING) {
    let sum = 0;
    for (let code = 0; code < this.nIntervals && this.cuts[code] < position; code++) {
      const [low, high] = [ends[0] ?? -Infinity, Math.min(ends[1] ?? Infinity, position)];
      const room = this.weight(code, ends);
      if (room > 0 && high > low) sum += (probabilities[code] * Math.max(this.weight(code, [ends[0], high]), 0)) / room;
    }
    return sum;
  }

  /**
   * The position that a share of the distribution does not exceed, of numbers that lie in a range.
   *
   * @param {Float64Array | number[]} probabilities of the intervals; what is missing is not counted
   * @param {number} level
   * @param {Ends} [ends]
   */
  quantile(probabilities, level, ends = EVERYTHING) {
    const codes = [...this.cuts.keys()].slice(0, -1).filter((code) => probabilities[code] > 0);
    const total = codes.reduce((sum, code) => sum + probabilities[code], 0);
    let before = 0;
    for (const code of codes) {
      const share = probabilities[code] / total;
      if (before + share >= level || code === codes[codes.length - 1]) {
        const within = Math.min(Math.max((level - before) / share, 0), 1);
        const first = ends[0] === null ? 0 : this.#share(code, ends[0]);
        const [low, room] = [this.#levels[code], this.#levels[code + 1] - this.#levels[code]];
        const position = this.#at(low + (first + within * this.weight(code, ends)) * room);
        const most = Math.min(this.cuts[code + 1], ends[1] ?? Infinity);
        const inside = this.isGrid ? Math.min(position, most - 1) : Math.min(position, most);
        const least = Math.max(this.cuts[code], ends[0] ?? -Infinity);
        return room > 0 ? this.#placed(Math.max(inside, least), least, most) : position;
      }
      before += share;
    }
    return NaN;
  }
}
