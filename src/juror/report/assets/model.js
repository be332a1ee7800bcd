// The joint distribution in the browser: p(x) = Σ_f λ_f Π_n A_n[x_n, f], asked as Python asks it.
// Evidence is a Map from the position of a variable to the sorted codes that it may have.

/** Read base64 of little-endian numbers, which is how every machine that runs a browser holds them. */
function bytesOf(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes.buffer;
}

export const doubles = (text) => new Float64Array(bytesOf(text));
export const floats = (text) => new Float32Array(bytesOf(text));

export class Joint {
  /**
   * @param {number[]} cardinalities how many labels each variable has
   * @param {Float64Array} weights λ, (F,)
   * @param {Float64Array} stacked all factors one above the other, (Σ I_n, F) row by row
   */
  constructor(cardinalities, weights, stacked) {
    this.cardinalities = cardinalities;
    this.weights = weights;
    this.stacked = stacked;
    this.firstRow = [0];
    for (const cardinality of cardinalities) this.firstRow.push(this.firstRow.at(-1) + cardinality);
  }

  get rank() {
    return this.weights.length;
  }

  /** The row of a factor: p(variable = code | class), (F,). */
  row(variable, code) {
    const start = (this.firstRow[variable] + code) * this.rank;
    return this.stacked.subarray(start, start + this.rank);
  }

  /** log λ_f + Σ log p(evidence on a variable | class), (F,), one variable left out if told: nothing underflows. */
  #logWeights(evidence, leftOut = -1) {
    const logs = this.weights.map(Math.log);
    for (const [variable, codes] of evidence) {
      if (variable === leftOut) continue;
      const mass = this.#massOf(variable, codes);
      for (let f = 0; f < logs.length; f++) logs[f] += Math.log(mass[f]);
    }
    return logs;
  }

  /** Σ over codes of p(variable = code | class), (F,). */
  #massOf(variable, codes) {
    if (codes.length === 1) return this.row(variable, codes[0]);
    const mass = new Float64Array(this.rank);
    for (const code of codes) {
      const row = this.row(variable, code);
      for (let f = 0; f < mass.length; f++) mass[f] += row[f];
    }
    return mass;
  }

  /** The marginal of every variable given evidence, and its log-probability; null when it has none. */
  given(evidence) {
    const logs = this.#logWeights(evidence);
    const logProbability = logSumExp(logs);
    if (logProbability === -Infinity) return null;
    const weights = logs.map((log) => Math.exp(log - logProbability));
    const marginals = this.cardinalities.map((cardinality, variable) =>
      evidence.has(variable)
        ? this.#within(variable, evidence)
        : Float64Array.from({ length: cardinality }, (_, code) => Math.min(1, dot(weights, this.row(variable, code)))),
    );
    // what is sure must not be more than sure by rounding
    return { marginals, logProbability: Math.min(0, logProbability) };
  }

  /** The distribution of a variable that is itself known to lie among some codes. */
  #within(variable, evidence) {
    const codes = evidence.get(variable);
    const marginal = new Float64Array(this.cardinalities[variable]);
    const others = this.#logWeights(evidence, variable);
    const logs = codes.map((code) => logSumExp(this.row(variable, code).map((p, f) => Math.log(p) + others[f])));
    const total = logSumExp(logs);
    codes.forEach((code, i) => (marginal[code] = Math.exp(logs[i] - total)));
    return marginal;
  }

  /** The joint table of two variables, an array of rows. */
  pair(a, b) {
    const table = [];
    for (let i = 0; i < this.cardinalities[a]; i++) {
      const weighted = this.row(a, i).map((p, f) => p * this.weights[f]);
      table.push(Float64Array.from({ length: this.cardinalities[b] }, (_, j) => dot(weighted, this.row(b, j))));
    }
    return table;
  }
}

/** log Σ exp of some logarithms, −∞ when all are. */
function logSumExp(logs) {
  const largest = logs.reduce((most, log) => Math.max(most, log), -Infinity);
  if (largest === -Infinity) return largest;
  return largest + Math.log(logs.reduce((sum, log) => sum + Math.exp(log - largest), 0));
}

function dot(a, b) {
  let sum = 0;
  for (let f = 0; f < a.length; f++) sum += a[f] * b[f];
  return sum;
}

/** The Jensen–Shannon divergence of two distributions in bits: 0 when they are equal, 1 when they share nothing. */
export function jensenShannon(p, q) {
  let bits = 0;
  for (let i = 0; i < p.length; i++) {
    const middle = (p[i] + q[i]) / 2;
    if (p[i] > 0) bits += (p[i] / 2) * Math.log2(p[i] / middle);
    if (q[i] > 0) bits += (q[i] / 2) * Math.log2(q[i] / middle);
  }
  return Math.min(1, Math.max(0, bits));
}
