// A block of the model: classes that share a forest over the variables, Σ_f λ_f Π_n A_n[x_pa(n), x_n, f].
// Arrays are flat with the class innermost: a table is [x_pa][x][f], a message or a belief [x][f].

/** @import { Evidence } from "./types" */

/**
 * The evidence on a node and below it. What is `scaled` has the factor exp(top[f]) left out.
 *
 * @typedef {object} Below
 * @property {number[]} labels the labels that the evidence on the node itself allows
 * @property {Float64Array} scaled p(evidence | x, class), [x][f], scaled; at most one
 * @property {Float64Array} sums p(evidence | x_pa, class), [x_pa][f], scaled; one row for a root
 * @property {Float64Array} top (F,)
 * @property {Logs | null} logs the same as logarithms, where numbers could underflow
 */

/** @typedef {Pick<import("./types").Known, "codes" | "weights">} Allowed the labels that evidence allows, and their weights */

/** @typedef {{ scaled: Float64Array, sums: Float64Array }} Logs logarithms of both, with nothing left out */

/** @typedef {{ logs: Float64Array, below: (Below | null)[] }} Collected log λ_f p(evidence | class), and the messages */

// Numbers below this may have lost digits; they are computed again with logarithms.
const TINY = 1e-200;

export class Block {
  /** @type {Float64Array[] | null} */
  #shares = null;

  /**
   * @param {Float64Array} weights (F,)
   * @param {number[]} parents −1 for none
   * @param {number[]} sizes the number of labels of every node
   * @param {Float64Array} all the tables of all nodes, one after the other
   */
  constructor(weights, parents, sizes, all) {
    this.weights = weights;
    this.parents = parents;
    this.sizes = sizes;
    let start = 0;
    this.tables = sizes.map((size, n) => {
      const end = start + this.#above(n) * size * this.rank;
      const table = all.subarray(start, end);
      start = end;
      return table;
    });
    this.order = downward(parents);
  }

  get rank() {
    return this.weights.length;
  }

  /**
   * The number of labels of a node's parent, one for a root.
   *
   * @param {number} n
   */
  #above(n) {
    return this.parents[n] < 0 ? 1 : this.sizes[this.parents[n]];
  }

  /** Scale weights and columns to sum to one: rounded numbers miss it. */
  normalise() {
    const F = this.rank;
    this.tables.forEach((table, n) => {
      for (let row = 0; row < this.#above(n); row++) {
        const first = row * this.sizes[n] * F;
        for (let f = 0; f < F; f++) {
          let total = 0;
          for (let x = 0; x < this.sizes[n]; x++) total += table[first + x * F + f];
          for (let x = 0; x < this.sizes[n]; x++) table[first + x * F + f] /= total;
        }
      }
    });
  }

  /**
   * Send messages from the leaves to the roots. Parts of the forest without evidence send none: theirs would be ones.
   *
   * @param {Evidence} evidence
   * @returns {Collected}
   */
  collect(evidence) {
    const logs = this.weights.map(Math.log);
    /** @type {(Below | null)[]} */
    const below = this.sizes.map(() => null);
    /** @type {Below[][]} */
    const arrived = this.sizes.map(() => []);
    for (let k = this.order.length - 1; k >= 0; k--) {
      const n = this.order[k];
      const known = evidence.get(n);
      if (known === undefined && arrived[n].length === 0) continue;
      const found = this.#summed(n, known ?? { codes: range(this.sizes[n]), weights: null }, arrived[n]);
      below[n] = found;
      if (this.parents[n] >= 0) arrived[this.parents[n]].push(found);
      else for (let f = 0; f < logs.length; f++) logs[f] += found.logs ? found.logs.sums[f] : Math.log(found.sums[f]) + found.top[f];
    }
    return { logs, below };
  }

  /**
   * What a node tells its parent: Σ_x A[x_pa, x, f] b[x, f] over the labels that are allowed.
   *
   * @param {number} n
   * @param {Allowed} allowed
   * @param {Below[]} children whose messages are multiplied to b
   * @returns {Below}
   */
  #summed(n, allowed, children) {
    const [F, labels] = [this.rank, allowed.codes];
    const product = this.#product(n, allowed, children);
    const table = this.tables[n];
    const sums = new Float64Array(this.#above(n) * F);
    let least = 1;
    for (let row = 0; product && row < this.#above(n); row++) {
      for (const x of labels) {
        for (let f = 0, i = x * F, j = (row * this.sizes[n] + x) * F, k = row * F; f < F; f++, i++, j++, k++) {
          sums[k] += table[j] * product.scaled[i];
        }
      }
      for (let k = row * F; k < (row + 1) * F; k++) if (sums[k] < least) least = sums[k];
    }
    return product && least > TINY ? { labels, ...product, sums, logs: null } : this.#summedLogs(n, allowed, children);
  }

  /**
   * The product of the messages of the children, scaled so that the largest of a class is one; null if digits are lost.
   *
   * @param {number} n
   * @param {Allowed} allowed
   * @param {Below[]} children
   */
  #product(n, { codes: labels, weights }, children) {
    const F = this.rank;
    const scaled = new Float64Array(this.sizes[n] * F);
    const top = new Float64Array(F);
    labels.forEach((x, i) => scaled.fill(weights ? weights[i] : 1, x * F, (x + 1) * F));
    if (children.length === 0) return { scaled, top };
    if (children.some(({ logs }) => logs)) return null;
    for (const child of children) {
      for (let f = 0; f < F; f++) top[f] += child.top[f];
      for (const x of labels) for (let i = x * F; i < (x + 1) * F; i++) scaled[i] *= child.sums[i];
    }
    const largest = new Float64Array(F);
    for (const x of labels) {
      for (let f = 0, i = x * F; f < F; f++, i++) {
        if (scaled[i] < TINY) return null;
        if (scaled[i] > largest[f]) largest[f] = scaled[i];
      }
    }
    for (const x of labels) for (let f = 0, i = x * F; f < F; f++, i++) scaled[i] /= largest[f];
    for (let f = 0; f < F; f++) top[f] += Math.log(largest[f]);
    return { scaled, top };
  }

  /**
   * The same as #summed with logarithms, for numbers that are too small, or zero.
   *
   * @param {number} n
   * @param {Allowed} allowed
   * @param {Below[]} children
   * @returns {Below}
   */
  #summedLogs(n, { codes: labels, weights }, children) {
    const F = this.rank;
    const logs = { scaled: new Float64Array(this.sizes[n] * F).fill(-Infinity), sums: new Float64Array(this.#above(n) * F) };
    for (const [place, x] of labels.entries()) {
      for (let f = 0, i = x * F; f < F; f++, i++) {
        logs.scaled[i] = weights ? Math.log(weights[place]) : 0;
        for (const child of children) logs.scaled[i] += child.logs ? child.logs.sums[i] : Math.log(child.sums[i]) + child.top[f];
      }
    }
    for (let row = 0; row < this.#above(n); row++) {
      for (let f = 0; f < F; f++) logs.sums[row * F + f] = logSumExp(labels.map((x) => this.#logTerm(n, row, x, f, logs)));
    }
    const none = new Float64Array(0);
    return { labels, scaled: none, sums: none, top: none, logs };
  }

  /**
   * log A[x_pa, x, f] b[x, f].
   *
   * @param {number} n
   * @param {number} row
   * @param {number} x
   * @param {number} f
   * @param {Logs} logs
   */
  #logTerm(n, row, x, f, { scaled }) {
    return Math.log(this.tables[n][(row * this.sizes[n] + x) * this.rank + f]) + scaled[x * this.rank + f];
  }

  /**
   * Go from the roots to the leaves: Σ over classes of weights_f p(x | class, evidence) of every variable is added.
   *
   * @param {Float64Array} weights the weight of every class given the evidence, (F,)
   * @param {Collected["below"]} below
   * @param {Float64Array[]} marginals
   */
  distribute(weights, below, marginals) {
    const beliefs = this.#beliefs(weights, below);
    marginals.forEach((marginal, n) => {
      for (let x = 0; x < marginal.length; x++) marginal[x] += sum(beliefs[n].subarray(x * this.rank, (x + 1) * this.rank));
    });
  }

  /**
   * weights_f p(x | class, evidence) of every node, [x][f].
   *
   * @param {Float64Array} weights
   * @param {Collected["below"]} below
   */
  #beliefs(weights, below) {
    const F = this.rank;
    /** @type {Float64Array[]} */
    const beliefs = this.sizes.map((size) => new Float64Array(size * F));
    for (const n of this.order) {
      const parent = this.parents[n];
      for (let row = 0; row < this.#above(n); row++) {
        const shares = parent < 0 ? weights : beliefs[parent].subarray(row * F, (row + 1) * F);
        const told = below[n];
        if (told) this.#spreadGiven(n, row, shares, told, beliefs[n]);
        else this.#spread(n, row, shares, beliefs[n]);
      }
    }
    return beliefs;
  }

  /**
   * Add shares[f] · A[row, x, f].
   *
   * @param {number} n
   * @param {number} row
   * @param {Float64Array} shares
   * @param {Float64Array} belief
   */
  #spread(n, row, shares, belief) {
    const F = this.rank;
    const table = this.tables[n];
    for (let x = 0, i = 0, j = row * this.sizes[n] * F; x < this.sizes[n]; x++) {
      for (let f = 0; f < F; f++, i++, j++) belief[i] += shares[f] * table[j];
    }
  }

  /**
   * Add shares[f] · A[row, x, f] b[x, f] / Σ_x A[row, x, f] b[x, f].
   *
   * @param {number} n
   * @param {number} row
   * @param {Float64Array} shares
   * @param {Below} below
   * @param {Float64Array} belief
   */
  #spreadGiven(n, row, shares, { labels, scaled, sums, logs }, belief) {
    const F = this.rank;
    const table = this.tables[n];
    if (logs) {
      for (let f = 0; f < F; f++) {
        const log = logs.sums[row * F + f];
        if (shares[f] === 0 || log === -Infinity) continue;
        for (const x of labels) belief[x * F + f] += shares[f] * Math.exp(this.#logTerm(n, row, x, f, logs) - log);
      }
      return;
    }
    const factors = shares.map((share, f) => share / sums[row * F + f]);
    for (const x of labels) {
      for (let f = 0, i = x * F, j = (row * this.sizes[n] + x) * F; f < F; f++, i++, j++) {
        belief[i] += factors[f] * table[j] * scaled[i];
      }
    }
  }

  /**
   * Add the joint table of two variables: Σ_f λ_f Σ_c p(c | f) p(x_a | c, f) p(x_b | c, f), where c are the labels of
   * the node at which the ways from both variables to the root meet.
   *
   * @param {number} a
   * @param {number} b
   * @param {number[][]} table
   */
  addPair(a, b, table) {
    const F = this.rank;
    const aboveA = this.#way(a);
    const meet = this.#way(b).find((n) => aboveA.includes(n)) ?? -1;
    this.#shares ??= this.#beliefs(new Float64Array(F).fill(1), this.sizes.map(() => null));
    const [downA, downB] = [this.#down(meet, a), this.#down(meet, b)];
    /** @type {(n: number, c: number) => number[]} */
    const labels = (n, c) => (n === meet ? [c] : range(this.sizes[n]));
    /** @type {(down: Float64Array | null, n: number, c: number, x: number) => Float64Array | null} */
    const rowOf = (down, n, c, x) => down && down.subarray((c * this.sizes[n] + x) * F, (c * this.sizes[n] + x + 1) * F);
    for (let c = 0; c < (meet < 0 ? 1 : this.sizes[meet]); c++) {
      const here = meet < 0 ? this.weights : this.weights.map((p, f) => p * /** @type {Float64Array[]} */ (this.#shares)[meet][c * F + f]);
      for (const i of labels(a, c)) {
        const row = rowOf(downA, a, c, i);
        const first = row ? here.map((p, f) => p * row[f]) : here;
        for (const j of labels(b, c)) {
          const other = rowOf(downB, b, c, j);
          table[i][j] += other ? dot(first, other) : sum(first);
        }
      }
    }
  }

  /**
   * A node and its ancestors, up to the root.
   *
   * @param {number} n
   */
  #way(n) {
    const way = [n];
    while (this.parents[way[way.length - 1]] >= 0) way.push(this.parents[way[way.length - 1]]);
    return way;
  }

  /**
   * p(x_n | x_top, class), [x_top][x_n][f]; p(x_n | class) when `top` is −1, null when both are the same node.
   *
   * @param {number} top
   * @param {number} n
   * @returns {Float64Array | null}
   */
  #down(top, n) {
    if (top === n) return null;
    if (top < 0) return /** @type {Float64Array[]} */ (this.#shares)[n];
    const F = this.rank;
    const parent = this.parents[n];
    const before = this.#down(top, parent);
    if (before === null) return this.tables[n];
    const block = this.sizes[n] * F;
    const down = new Float64Array(this.sizes[top] * block);
    for (let c = 0; c < this.sizes[top]; c++) {
      for (let row = 0; row < this.sizes[parent]; row++) {
        const shares = before.subarray((c * this.sizes[parent] + row) * F, (c * this.sizes[parent] + row + 1) * F);
        this.#spread(n, row, shares, down.subarray(c * block, (c + 1) * block));
      }
    }
    return down;
  }
}

/**
 * The nodes of a forest, every parent before its children.
 *
 * @param {number[]} parents
 */
function downward(parents) {
  const order = range(parents.length).filter((n) => parents[n] < 0);
  for (const n of order) parents.forEach((parent, child) => parent === n && order.push(child));
  return order;
}

/** @param {number} size */
const range = (size) => Array.from({ length: size }, (_, i) => i);

/**
 * log Σ exp of some logarithms, −∞ when all are.
 *
 * @param {Iterable<number>} logs
 */
export function logSumExp(logs) {
  let [largest, total] = [-Infinity, 0];
  for (const log of logs) largest = Math.max(largest, log);
  if (largest === -Infinity) return largest;
  for (const log of logs) total += Math.exp(log - largest);
  return largest + Math.log(total);
}

/** @param {Float64Array} values */
function sum(values) {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i];
  return total;
}

/**
 * @param {Float64Array} a
 * @param {Float64Array} b
 */
function dot(a, b) {
  let total = 0;
  for (let f = 0; f < a.length; f++) total += a[f] * b[f];
  return total;
}
