// The joint distribution in the browser: p(x) = Σ_f λ_f Π_n A_n[x_n, f], asked as Python asks it.
// Evidence is a Map from the position of a variable to the sorted codes that it may have.

/** Read base64 of little-endian doubles, which is how every machine that runs a browser holds them. */
export function doubles(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return new Float64Array(bytes.buffer);
}

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

  /**
   * The class weights given evidence, scaled to sum to one after every variable so that nothing underflows, and the
   * log of the evidence's probability; null when it has none. One variable may be left out.
   */
  posterior(evidence, leftOut = -1) {
    const weights = Float64Array.from(this.weights);
    let logMass = 0;
    for (const [variable, codes] of evidence) {
      if (variable === leftOut) continue;
      const mass = this.#massOf(variable, codes);
      let total = 0;
      for (let f = 0; f < weights.length; f++) total += weights[f] *= mass[f];
      if (!(total > 0)) return null;
      for (let f = 0; f < weights.length; f++) weights[f] /= total;
      logMass += Math.log(total);
    }
    return { weights, logMass };
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

  /** The marginal of every variable given evidence, and its probability; null when it has none. */
  given(evidence) {
    const known = this.posterior(evidence);
    if (known === null) return null;
    const marginals = this.cardinalities.map((cardinality, variable) =>
      evidence.has(variable)
        ? this.#within(variable, evidence)
        : Float64Array.from({ length: cardinality }, (_, code) => dot(known.weights, this.row(variable, code))),
    );
    // what is sure must not be more than sure by rounding
    return { marginals, logProbability: Math.min(0, known.logMass) };
  }

  /** The distribution of a variable that is itself known to lie among some codes. */
  #within(variable, evidence) {
    const codes = evidence.get(variable);
    const marginal = new Float64Array(this.cardinalities[variable]);
    if (codes.length === 1) {
      marginal[codes[0]] = 1;
      return marginal;
    }
    const { weights } = this.posterior(evidence, variable);
    for (const code of codes) marginal[code] = dot(weights, this.row(variable, code));
    const total = marginal.reduce((sum, p) => sum + p, 0);
    return marginal.map((p) => p / total);
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
