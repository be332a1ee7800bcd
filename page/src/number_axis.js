// The axis of a histogram: where positions of a law lie in pixels, and numbers near a pixel that are easy to read.

/** @import { Law } from "./law.js" */
/** @import { NumberText } from "./number_text.js" */

// Pixels beside the first and the last bin
export const SIDE = 9;
// A range is rounded to numbers that are at least so many pixels apart.
const APART = 2;

export class NumberAxis {
  /**
   * @param {[number, number]} ends positions
   * @param {number} width in pixels
   * @param {Law} law
   * @param {NumberText} text
   */
  constructor(ends, width, law, text) {
    this.ends = ends;
    this.width = width;
    this.law = law;
    this.text = text;
  }

  get left() {
    return SIDE;
  }

  get right() {
    return this.width - SIDE;
  }

  /** Both ends as floats. */
  get floats() {
    return this.ends.map((position) => this.text.float(position));
  }

  /** @param {number} position */
  x(position) {
    const [low, high] = this.ends;
    return this.left + ((position - low) / (high - low)) * (this.right - this.left);
  }

  /**
   * The same, but not beyond the ends of the axis.
   *
   * @param {number} position
   */
  within(position) {
    return Math.min(Math.max(this.x(position), this.left), this.right);
  }

  /**
   * The place of a number, which need not be one of the column.
   *
   * @param {number} value
   */
  xOf(value) {
    const [low, high] = this.floats;
    return this.left + ((value - low) / (high - low)) * (this.right - this.left);
  }

  /**
   * The position of a pixel, rounded to a number that is easy to read; null at the ends of the axis.
   *
   * @param {number} x
   * @returns {number | null}
   */
  position(x) {
    if (x <= this.left + APART || x >= this.right - APART) return null;
    const [low, high] = this.floats;
    return this.#rounded(low + ((x - this.left) / (this.right - this.left)) * (high - low));
  }

  /**
   * A position some steps further.
   *
   * @param {number} position
   * @param {number} steps
   */
  moved(position, steps) {
    return this.#rounded(this.text.float(position) + steps * this.#step);
  }

  get #step() {
    const [low, high] = this.floats;
    const rough = (APART * (high - low)) / (this.right - this.left);
    const step = this.text.step(rough);
    return this.law.isGrid ? Math.max(step, this.text.float(1) - this.text.float(0)) : step;
  }

  /** @param {number} value */
  #rounded(value) {
    const step = this.#step;
    return this.text.nearest(Number((Math.round(value / step) * step).toPrecision(12)));
  }
}
