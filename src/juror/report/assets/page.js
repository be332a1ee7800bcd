// src/dom.js
function make(tag, attributes = {}, ...children) {
  return furnish(document.createElement(tag), attributes, children);
}
function makeSvg(tag, attributes = {}, ...children) {
  return furnish(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}
function furnish(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null && value !== void 0) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  const flat = (
    /** @type {any[]} */
    children.flat(Infinity)
  );
  element.append(...flat.filter((child) => child !== null));
  return element;
}
function byId(id) {
  return (
    /** @type {any} */
    document.getElementById(id)
  );
}
var SURE = 1e-12;
function percent(p) {
  const value = 100 * p;
  if (p === 0) return "0 %";
  if (1 - p < SURE) return "100 %";
  if (value < 0.01) return "<0.01 %";
  if (value > 99.99) return ">99.99 %";
  return `${value.toFixed(value < 10 || value > 99.9 ? 2 : 1)} %`;
}
function points(difference) {
  const value = 100 * difference;
  const text = Math.abs(value).toFixed(Math.abs(value) >= 9.95 ? 0 : Math.abs(value) >= 0.095 ? 1 : 2);
  return Number(text) === 0 ? "0" : `${value < 0 ? "−" : "+"}${text}`;
}
function number(value, digits = 4) {
  if (value === null || value === void 0) return "–";
  if (typeof value !== "number") return value;
  if (Number.isInteger(value)) return value.toLocaleString("en-GB").replace("-", "−");
  const size = Math.abs(value);
  const isPlain = size >= 1e-4 && size < 1e12;
  const text = isPlain ? value.toLocaleString("en-GB", { maximumSignificantDigits: digits }) : value.toExponential(digits - 1).replace("e+", "e");
  return text.replaceAll("-", "−");
}
var plural = (n, one, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`;
function most(values) {
  let largest = -Infinity;
  for (const value of values) largest = Math.max(largest, value);
  return largest;
}
function factList(entries2) {
  const known = entries2.flatMap(([name, value]) => value ? [[make("dt", {}, name), make("dd", {}, value)]] : []);
  return make("dl", { class: "facts" }, known);
}
function dataTable(caption, head, rows, kind = "list") {
  const cell = (value, column) => column === 0 ? make("th", { scope: "row", role: "rowheader" }, value) : make("td", { role: "cell", "data-head": head[column] }, value);
  return make(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    make(
      "table",
      { class: kind, role: "table" },
      make("caption", {}, caption),
      make("thead", { role: "rowgroup" }, make("tr", { role: "row" }, head.map((name) => make("th", { scope: "col", role: "columnheader" }, name)))),
      make("tbody", { role: "rowgroup" }, rows.map((row) => make("tr", { role: "row" }, row.map(cell))))
    )
  );
}

// src/answers.js
var [STANDARD_ERRORS, ROWS] = [3, 1];
var NOTHING = { rows: null, shares: null, differs: null, ends: null, pointsOff: 0 };
var Answers = class {
  /**
   * @param {Variable[]} variables
   * @param {Joint} joint
   * @param {Pairs} pairs
   * @param {{ singles: number[][] | null, worth: number }} rows counts of every variable; how many rows a weight is worth
   */
  constructor(variables2, joint2, pairs2, { singles: singles2, worth }) {
    this.variables = variables2;
    this.joint = joint2;
    this.pairs = pairs2;
    this.singles = singles2;
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
  #withoutCondition({ marginals: marginals2, logProbability }) {
    const exact = this.variables.map(({ probabilities }, n) => probabilities ?? marginals2[n]);
    const backing = this.variables.map(({ low, high }, n) => ({
      ...this.#rowsBehind(exact[n], this.singles?.[n] ?? null),
      ends: low && high ? { low, high } : null,
      pointsOff: 0
    }));
    return { marginals: exact, logProbability, backing };
  }
  /**
   * @param {NonNullable<ReturnType<Joint["given"]>>} answer
   * @param {[number, Known]} condition
   */
  #withOne({ marginals: marginals2, logProbability }, [given, { codes, weights }]) {
    const alone = this.variables[given].probabilities;
    const weight = (code) => weights ? weights[codes.indexOf(code)] : 1;
    const inside = alone ? codes.reduce((sum2, code) => sum2 + weight(code) * alone[code], 0) : null;
    const exact = this.variables.map(({ position: n }) => {
      if (n === given) {
        return alone && inside ? alone.map((p, code) => codes.includes(code) ? weight(code) * p / inside : 0) : marginals2[n];
      }
      const table = this.pairs.fitted(given, n);
      const joint2 = table && added(codes.map((code) => table[code].map((p) => weight(code) * p)));
      const total = joint2 ? sumOf(joint2) : 0;
      return joint2 && total > 0 ? joint2.map((p) => p / total) : marginals2[n];
    });
    const backing = this.variables.map(({ position: n }) => {
      if (n === given) return NOTHING;
      const table = weights ? null : this.pairs.counts(given, n);
      return {
        ...this.#rowsBehind(exact[n], table && added(codes.map((code) => table[code]))),
        ends: codes.length === 1 && weights === null ? this.pairs.ends(n, given, codes[0]) : null,
        pointsOff: this.pairs.pointsOff(given, n)
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
};
var sumOf = (values) => values.reduce((sum2, value) => sum2 + value, 0);
function added(rows) {
  return rows[0].map((_, j) => sumOf(rows.map((row) => row[j])));
}
var OFF = 5e-4;
function partsOff({ law, name }, { codes, weights }, probabilities) {
  if (!law?.error || !weights) return "";
  const off = codes.reduce((sum2, code, i) => sum2 + (weights[i] < 1 ? probabilities[code] * law.error / weights[i] : 0), 0);
  if (off < OFF) return "";
  return `The page knows how ${name} lies inside its intervals to ${percent(law.error)}, so answers may be off by ${percent(Math.min(off, 1))}.`;
}

// src/evidence.js
function clicked(evidence, variable, code, several) {
  const before = evidence.get(variable.position);
  const known = before && before.weights === null ? before.codes : [];
  const isKnown = known.includes(code);
  if (!several) return withCodes(evidence, variable, isKnown && known.length === 1 ? [] : [code]);
  const codes = isKnown ? known.filter((other) => other !== code) : [...known, code];
  return withCodes(evidence, variable, codes);
}
function withCodes(evidence, variable, codes) {
  const next = new Map(evidence);
  if (codes.length === 0 || codes.length === variable.labels.length) next.delete(variable.position);
  else next.set(variable.position, { codes: [...codes].sort((a, b) => a - b), weights: null, ends: null });
  return next;
}
function withRange(evidence, variable, ends2) {
  const { law } = variable;
  if (law === null) return evidence;
  const shares = Array.from({ length: law.nIntervals }, (_, code) => law.weight(code, ends2));
  const codes = [...shares.keys()].filter((code) => shares[code] > 0);
  const weights = codes.map((code) => shares[code]);
  if (codes.length && weights.every((weight) => weight === 1)) return withCodes(evidence, variable, codes);
  return new Map(evidence).set(variable.position, { codes, weights, ends: ends2 });
}
function span(from, to) {
  const [low, high] = from <= to ? [from, to] : [to, from];
  return Array.from({ length: high - low + 1 }, (_, i) => low + i);
}
function same(one, other) {
  return JSON.stringify([...one]) === JSON.stringify([...other]);
}
function rangeOf(variable, codes) {
  const [low, high] = [codes[0], codes[codes.length - 1]];
  const last = variable.n_ordered - 1;
  const fewest = variable.number ? 1 : 2;
  if (codes.length < fewest || high - low + 1 !== codes.length || high > last || codes.length > last) return null;
  return { low: low > 0 ? low : null, high: high < last ? high : null };
}
function endsOf(variable, { codes, ends: ends2 }) {
  if (ends2 || variable.number === null) return ends2;
  const range2 = rangeOf(variable, codes);
  const { cuts } = variable.number;
  return range2 && [range2.low === null ? null : cuts[range2.low], range2.high === null ? null : cuts[range2.high + 1]];
}
function rangeInSigns({ name, law, text }, [low, high]) {
  if (text === null) return name;
  if (low !== null && high !== null && law?.isGrid && high - low === 1) return `${name} = ${text.short(low)}`;
  if (low === null) return high === null ? name : `${name} < ${text.short(high)}`;
  return high === null ? `${name} ≥ ${text.short(low)}` : `${text.short(low)} ≤ ${name} < ${text.short(high)}`;
}
function rangeInWords(variable, { low, high }) {
  if (low === null) return `at most ${variable.labels[high ?? 0]}`;
  return high === null ? `at least ${variable.labels[low]}` : `from ${variable.labels[low]} to ${variable.labels[high]}`;
}
function inWords(variable, known) {
  const { codes } = known;
  const ends2 = endsOf(variable, known);
  if (ends2) return rangeInSigns(variable, ends2);
  const label = (code) => variable.labels[code] || "(empty)";
  const range2 = rangeOf(variable, codes);
  if (range2) return `${variable.name} is ${rangeInWords(variable, range2)}`;
  if (codes.length > 1 && codes.length === variable.labels.length - 1) {
    return `${variable.name} is not ${label(variable.labels.findIndex((_, code) => !codes.includes(code)))}`;
  }
  const names = codes.map(label);
  return `${variable.name} is ${names.length < 2 ? names[0] : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`}`;
}
function question(target, evidence, variables2) {
  const conditions = [...evidence].flatMap(([n, known]) => conditionsOf(variables2[n], known));
  return term(target.name) + (conditions.length ? ` | ${conditions.join(", ")}` : "");
}
function conditionsOf(variable, known) {
  const { codes } = known;
  const name = term(variable.name);
  const ends2 = endsOf(variable, known);
  if (ends2 && variable.text) {
    const [low, high] = ends2.map((end) => end === null ? null : term(
      /** @type {any} */
      variable.text.exact(end),
      true
    ));
    return [...low === null ? [] : [`${name} >= ${low}`], ...high === null ? [] : [`${name} < ${high}`]];
  }
  const label = (code) => term(variable.labels[code]);
  const range2 = rangeOf(variable, codes);
  if (range2) {
    const low = range2.low === null ? [] : [`${name} >= ${label(range2.low)}`];
    return range2.high === null ? low : [...low, `${name} <= ${label(range2.high)}`];
  }
  return [codes.length === 1 ? `${name} = ${label(codes[0])}` : `${name} in {${codes.map(label).join(", ")}}`];
}
function term(text, isNumber = false) {
  if (isNumber && /^-?[\d.]+(e[+-]?\d+)?$/.test(text)) return text;
  const isWord = /^[\p{L}\p{N}_][\p{L}\p{N}_.:/%+-]*$/u.test(text) && !/^(not|in)$/i.test(text);
  return isWord ? text : `"${text.replace(/["\\]/g, "\\$&")}"`;
}
function askLine(file, text) {
  const path = file.startsWith("-") ? `./${file}` : file;
  return `juror ask ${/^[\w./@%+:-]+$/.test(path) ? path : quoted(path)} ${quoted(text)}`;
}
function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
function toFragment(evidence, variables2) {
  const words = new URLSearchParams();
  for (const [n, { codes, ends: ends2 }] of evidence) {
    const { name, labels, text } = variables2[n];
    if (ends2 && text) {
      if (ends2[0] !== null) words.append(`from.${name}`, text.exact(ends2[0]));
      if (ends2[1] !== null) words.append(`below.${name}`, text.exact(ends2[1]));
    } else for (const code of codes) words.append(`given.${name}`, labels[code]);
  }
  return words.toString();
}
var PARTS = /^(given|from|below)\.(.*)$/s;
function fromFragment(text, variables2) {
  const wanted = /* @__PURE__ */ new Map();
  const ranges = /* @__PURE__ */ new Map();
  const problems = [];
  for (const [key, label] of new URLSearchParams(text.replace(/^#/, "").replaceAll("&amp;", "&"))) {
    const [, part, name] = PARTS.exec(key) ?? [];
    const variable = variables2.find((one) => one.name === name);
    if (name === void 0) problems.push(`The link has “${key}”, which is not understood. The link may have been cut.`);
    else if (!variable) problems.push(`The link names “${name}”, which this model does not have.`);
    else if (part === "given") {
      const code = variable.labels.indexOf(label);
      if (code < 0) problems.push(`The link has ${name} = “${label}”, which is not among its labels.`);
      else wanted.set(variable, [.../* @__PURE__ */ new Set([...wanted.get(variable) ?? [], code])]);
    } else {
      const position = variable.law && variable.text ? variable.text.read(label) : null;
      const [low, high] = ranges.get(variable) ?? [null, null];
      if (position === null) problems.push(`The link has “${label}” as an end of ${name}, which is no number of it.`);
      else ranges.set(variable, part === "from" ? [position, high] : [low, position]);
    }
  }
  let evidence = /* @__PURE__ */ new Map();
  for (const [variable, codes] of wanted) evidence = withCodes(evidence, variable, codes);
  for (const [variable, ends2] of ranges) evidence = withRange(evidence, variable, ends2);
  return { evidence, problems };
}

// src/charts.js
var WIDTH = 420;
var HEIGHT = 220;
var MOST_POINTS = 1e3;
var EDGE = { left: 86, right: 14, top: 12, bottom: 40 };
function ends(values) {
  const [low, high] = [-most(values.map((value) => -value)), most(values)];
  const room = (high - low || Math.abs(high) || 1) * 0.05;
  return [low - room, high + room];
}
function roundNumbers([low, high], wanted = 4) {
  const rough = (high - low) / wanted;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5].find((factor) => factor * size >= rough) ?? 10) * size;
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) => (first + i) * step);
}
function frame(title, xLabel, yLabel, xEnds, yEnds) {
  const x = (value) => EDGE.left + (value - xEnds[0]) / (xEnds[1] - xEnds[0]) * (WIDTH - EDGE.left - EDGE.right);
  const y = (value) => HEIGHT - EDGE.bottom - (value - yEnds[0]) / (yEnds[1] - yEnds[0]) * (HEIGHT - EDGE.top - EDGE.bottom);
  const svg = makeSvg(
    "svg",
    { class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": title },
    roundNumbers(yEnds).map((value) => [
      makeSvg("line", { class: "grid", x1: EDGE.left, x2: WIDTH - EDGE.right, y1: y(value), y2: y(value) }),
      makeSvg("text", { x: EDGE.left - 6, y: y(value) + 4, "text-anchor": "end" }, number(value, 6))
    ]),
    roundNumbers(xEnds).map(
      (value) => makeSvg("text", { x: x(value), y: HEIGHT - EDGE.bottom + 16, "text-anchor": "middle" }, number(value, 6))
    ),
    makeSvg("text", { x: (WIDTH + EDGE.left) / 2, y: HEIGHT - 6, "text-anchor": "middle", class: "axis" }, xLabel),
    makeSvg(
      "text",
      {
        x: 0,
        y: 0,
        "text-anchor": "middle",
        class: "axis",
        transform: `translate(12 ${(HEIGHT - EDGE.bottom) / 2}) rotate(-90)`
      },
      yLabel
    )
  );
  return { svg, x, y };
}
function lineChart({ title, xLabel, yLabel, points: all, marked = null }) {
  const step = Math.ceil(all.length / MOST_POINTS);
  const points2 = all.filter((_, i) => i % step === 0 || i === all.length - 1);
  const { svg, x, y } = frame(title, xLabel, yLabel, ends(points2.map((p) => p[0])), ends(points2.map((p) => p[1])));
  svg.append(
    makeSvg("polyline", { class: "line", points: points2.map((p) => `${x(p[0])},${y(p[1])}`).join(" ") }),
    ...points2.length <= 60 ? points2.map(
      (p) => makeSvg(
        "circle",
        { class: p[0] === marked ? "dot marked" : "dot", cx: x(p[0]), cy: y(p[1]), r: p[0] === marked ? 6 : 3 },
        makeSvg("title", {}, `${xLabel} ${number(p[0])}: ${number(p[1], 6)}`)
      )
    ) : []
  );
  return svg;
}
function calibrationChart(title, predicted, observed, weight) {
  const { svg, x, y } = frame(title, "predicted", "observed", [-0.03, 1.03], [-0.03, 1.03]);
  const heaviest = most(weight);
  svg.append(
    makeSvg("line", { class: "reference", x1: x(0), y1: y(0), x2: x(1), y2: y(1) }),
    makeSvg("polyline", { class: "line thin", points: predicted.map((p, i) => `${x(p)},${y(observed[i])}`).join(" ") }),
    ...predicted.map(
      (p, i) => makeSvg(
        "circle",
        { class: "dot", cx: x(p), cy: y(observed[i]), r: 3 + 6 * Math.sqrt(weight[i] / heaviest) },
        makeSvg("title", {}, `predicted ${number(p, 3)}, observed ${number(observed[i], 3)}, ${number(weight[i])} cells`)
      )
    )
  );
  return svg;
}
function tint(value, furthest) {
  const strength = furthest > 0 ? Math.round(55 * Math.abs(value) / furthest) : 0;
  return `color-mix(in srgb, var(${value < 0 ? "--less" : "--more"}) ${strength}%, transparent)`;
}

// src/histogram_picture.js
var HEIGHT2 = 132;
var [TOP, BOTTOM] = [18, 28];
var BASE = HEIGHT2 - BOTTOM;
var [WRITTEN, WORTH_A_MARK] = [0.05, 5e-4];
var HIGHEST = 1.08;
var [LETTER, MARK] = [6.4, 14];
var TICKS = 5;
var EVERYTHING = [null, null];
function totalOf(law, shares) {
  let total = 0;
  for (let code = 0; code < law.nIntervals; code++) total += shares[code];
  return total;
}
var HistogramPicture = class {
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
    const starts2 = new Set(stems.map((bin) => bins[bin]));
    const added2 = shown.ends.flatMap((end) => end !== null && end > bins[0] && end < bins[bins.length - 1] ? [end] : []);
    this.#bounds = [.../* @__PURE__ */ new Set([...bins, ...added2])].sort((a, b) => a - b);
    this.#isStem = this.#bounds.slice(0, -1).map((bound) => starts2.has(bound));
    this.#x = this.#bounds.map((bound) => axis.within(bound).toFixed(2));
  }
  /** All parts, in the order in which they are painted. */
  parts() {
    const { probabilities, marginal, ends: ends2, isKnown, backing } = this.#shown;
    const [now, before] = [this.#masses(probabilities, ends2), this.#masses(marginal, EVERYTHING)];
    const rows = backing?.shares ? this.#masses(backing.shares, EVERYTHING) : null;
    const heights = this.#heights(now);
    const top = most([...heights, ...this.#heights(before)]) || 1;
    const y = (height) => (BASE - Math.min(height / top, HIGHEST) * (BASE - TOP)).toFixed(2);
    const x = this.#x;
    const bars = heights.map((height, i) => height > 0 && x[i] !== x[i + 1] ? `M${x[i]} ${BASE}V${y(height)}H${x[i + 1]}V${BASE}Z` : "");
    const outline = (masses) => `M${x[0]} ${BASE}${this.#heights(masses).map((height, i) => `V${y(height)}H${x[i + 1]}`).join("")}V${BASE}`;
    const median = this.#axis.within(this.#law.quantile(probabilities, 0.5, ends2));
    return [
      makeSvg("path", { class: isKnown ? "bars-now known" : "bars-now", d: bars.join("") }),
      makeSvg("path", { class: "bars-before", d: outline(before) }),
      ...rows ? [makeSvg("path", { class: "bars-rows", d: outline(rows) })] : [],
      makeSvg("path", { class: "whiskers", d: this.#whiskers(heights, y) }),
      makeSvg("line", { class: "base", x1: 0, x2: this.#axis.width, y1: BASE, y2: BASE }),
      ...this.#stems(now, before),
      // There is none if the cell is known to be missing.
      ...median >= 0 ? [makeSvg("line", { class: "median", x1: median, x2: median, y1: TOP - 4, y2: BASE })] : [],
      ...this.#beyond(),
      ...this.#differing(heights, y),
      ...this.#ticks()
    ];
  }
  /**
   * The probability of every bin.
   *
   * @param {Shares} shares
   * @param {Ends} ends
   */
  #masses(shares, ends2) {
    const last = this.#bounds.length - 1;
    const levels = this.#bounds.map((bound, i) => i === last ? totalOf(this.#law, shares) : this.#law.below(shares, bound, ends2));
    return levels.slice(1).map((level, i) => Math.max(level - levels[i], 0));
  }
  /** @param {number[]} masses */
  #heights(masses) {
    return masses.map((mass, i) => this.#isStem[i] ? 0 : mass / (this.#bounds[i + 1] - this.#bounds[i]));
  }
  /**
   * Lines from the low to the high end of the intervals of bars that lie in one interval of the number.
   *
   * @param {number[]} heights
   * @param {(height: number) => string} y
   */
  #whiskers(heights, y) {
    const { probabilities, backing } = this.#shown;
    const [ends2, x, bounds] = [backing?.ends, this.#x, this.#bounds];
    if (!ends2) return "";
    const lines = heights.map((height, i) => {
      const code = this.#law.interval(bounds[i]);
      const p = probabilities[code];
      const isPart = i === heights.length - 1 || bounds[i + 1] <= this.#law.cuts[code + 1];
      if (!isPart || !(height > 0) || !(p > 0) || x[i] === x[i + 1]) return "";
      const middle = ((Number(x[i]) + Number(x[i + 1])) / 2).toFixed(2);
      return `M${middle} ${y(height * ends2.low[code] / p)}V${y(height * ends2.high[code] / p)}`;
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
    const y = (mass) => BASE - (largest > 0 ? mass / largest : 0) * (BASE - TOP);
    const lines = some.flatMap((i) => {
      const x = this.#axis.x(this.#bounds[i]);
      return [
        makeSvg("line", { class: "stem", x1: x, x2: x, y1: BASE, y2: y(now[i]) }),
        makeSvg("circle", { class: "stem-head", cx: x, cy: y(now[i]), r: now[i] > 0 ? 3.5 : 0 }),
        makeSvg("line", { class: "stem-before", x1: x - 5, x2: x + 5, y1: y(before[i]), y2: y(before[i]) })
      ];
    });
    const taken = [];
    const texts = some.filter((i) => now[i] >= WRITTEN).sort((a, b) => now[b] - now[a]).flatMap((i) => {
      const [x, text] = [this.#axis.x(this.#bounds[i]), percent(now[i])];
      const wide = LETTER * text.length + 10;
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
    const { probabilities: p, ends: ends2 } = this.#shown;
    const [low, high] = this.#axis.ends.map((end) => this.#law.below(p, end, ends2));
    const above = totalOf(this.#law, p) - high;
    return [
      ...low >= WORTH_A_MARK ? [makeSvg("text", { class: "beyond", x: 1, y: 10 }, `← ${percent(low)}`)] : [],
      ...above >= WORTH_A_MARK ? [makeSvg("text", { class: "beyond", x: this.#axis.width - 1, y: 10, "text-anchor": "end" }, `${percent(above)} →`)] : []
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
    const wide = LETTER / 2 * text.length;
    return [
      makeSvg("line", { class: "base", x1: x, x2: x, y1: BASE, y2: BASE + 4 }),
      makeSvg("text", { class: "tick", x: Math.min(Math.max(x, wide), this.#axis.width - wide), y: HEIGHT2 - 3, "text-anchor": "middle" }, text)
    ];
  }
};

// src/number_axis.js
var SIDE = 9;
var APART = 2;
var NumberAxis = class {
  /**
   * @param {[number, number]} ends positions
   * @param {number} width in pixels
   * @param {Law} law
   * @param {NumberText} text
   */
  constructor(ends2, width, law, text) {
    this.ends = ends2;
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
    return this.left + (position - low) / (high - low) * (this.right - this.left);
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
    return this.left + (value - low) / (high - low) * (this.right - this.left);
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
    return this.#rounded(low + (x - this.left) / (this.right - this.left) * (high - low));
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
    const rough = APART * (high - low) / (this.right - this.left);
    const step = this.text.step(rough);
    return this.law.isGrid ? Math.max(step, this.text.float(1) - this.text.float(0)) : step;
  }
  /** @param {number} value */
  #rounded(value) {
    const step = this.#step;
    return this.text.nearest(Number((Math.round(value / step) * step).toPrecision(12)));
  }
};

// src/histogram.js
var DRAGS = 4;
var [BEYOND, OUTER] = [0.01, [5e-3, 0.995]];
var Histogram = class {
  #facts;
  #law;
  #text;
  #acts;
  #axis;
  /** @type {Shares} */
  #probabilities;
  /** @type {Known | null} */
  #known = null;
  /** @type {Backing | null} */
  #backing = null;
  /** @type {{ from: number, isMoved: boolean, fixed: number | null | undefined } | null} */
  #drag = null;
  #hits;
  #drawn = makeSvg("g", { "aria-hidden": "true" });
  #chosen = makeSvg("rect", { class: "chosen", y: TOP, height: HEIGHT2 - TOP - BOTTOM });
  #handles;
  /**
   * @param {Variable & { law: Law, text: NumberText, number: NumberFacts }} variable
   * @param {Shares} marginal
   * @param {Acts} acts
   */
  constructor(variable, marginal, acts) {
    this.variable = variable;
    this.marginal = marginal;
    this.#facts = variable.number;
    this.#law = variable.law;
    this.#text = variable.text;
    this.#acts = acts;
    this.#axis = new NumberAxis(this.#facts.axis, 280, this.#law, this.#text);
    this.#probabilities = marginal;
    this.#hits = Array.from({ length: this.#law.nIntervals }, (_, code) => this.#hit(code));
    this.#handles = [0, 1].map((which) => this.#handle(which));
    const stems = this.#facts.stems.map((bin) => this.#stemHit(bin));
    this.element = makeSvg(
      "svg",
      { class: "histogram", role: "group", height: HEIGHT2 },
      this.#drawn,
      this.#chosen,
      makeSvg("g", { "aria-hidden": "true" }, this.#hits, stems),
      this.#handles
    );
    this.#listen();
  }
  /** @param {number} code */
  #hit(code) {
    const { name, labels } = this.variable;
    const hit = makeSvg("rect", { class: "interval", y: 0, height: HEIGHT2 - BOTTOM });
    Object.assign(hit.dataset, { variable: name, label: labels[code], code, marginal: this.marginal[code] });
    return hit;
  }
  /** @param {number} bin */
  #stemHit(bin) {
    const hit = makeSvg("rect", { class: "interval stem-hit", y: 0, height: HEIGHT2 - BOTTOM, width: 10 });
    Object.assign(hit.dataset, { code: this.#law.interval(this.#facts.bins[bin]), at: this.#facts.bins[bin] });
    return hit;
  }
  /** @param {number} which */
  #handle(which) {
    const end = which ? "below" : "from";
    const handle = makeSvg(
      "g",
      { class: "handle", role: "slider", tabindex: 0, "aria-label": `${this.variable.name} ${end}`, "data-end": end },
      makeSvg("circle", { class: "reach", r: 14 }),
      makeSvg("path", { d: "M0 -7 L5 0 V7 H-5 V0 Z" })
    );
    handle.addEventListener("keydown", (event) => this.#press(event, which));
    return handle;
  }
  // ---- what the reader does
  #listen() {
    const svg = this.element;
    const place = (event) => event.clientX - svg.getBoundingClientRect().left;
    const target = ({ target: hit }) => {
      const element = (
        /** @type {SVGElement} */
        hit
      );
      const handle = element.closest(".handle");
      return { which: handle ? this.#handles.findIndex((one) => one === handle) : -1, code: Number(element.dataset.code ?? -1) };
    };
    let isDragged = false;
    svg.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || event.shiftKey) return;
      const { which } = target(event);
      isDragged = false;
      this.#drag = { from: place(event), isMoved: false, fixed: which < 0 ? void 0 : this.#ends[1 - which] };
      if (which >= 0) svg.dataset.end = String(which);
    });
    svg.addEventListener("pointermove", (event) => {
      if (!this.#drag) {
        const { code } = target(event);
        this.#acts.point(code < 0 ? null : this.#words(code));
        return;
      }
      if (!this.#drag.isMoved && Math.abs(place(event) - this.#drag.from) < DRAGS) return;
      if (!this.#drag.isMoved) svg.setPointerCapture(event.pointerId);
      this.#drag.isMoved = isDragged = true;
      const ends2 = this.#dragged(place(event));
      this.#outline(ends2);
      this.#acts.point(this.#inWords(ends2));
    });
    svg.addEventListener("pointerup", (event) => {
      const drag = this.#drag;
      const ends2 = drag?.isMoved ? this.#dragged(place(event)) : null;
      this.#drag = null;
      this.#outline(this.#ends);
      this.#acts.point(null);
      if (ends2) this.#acts.range(ends2);
    });
    const stop = () => {
      this.#drag = null;
      this.#outline(this.#ends);
      this.#acts.point(null);
    };
    svg.addEventListener("pointercancel", stop);
    svg.addEventListener("pointerleave", () => this.#drag?.isMoved || stop());
    svg.addEventListener("click", (event) => {
      const { code, which } = target(event);
      if (!isDragged && which < 0 && code >= 0) this.#acts.interval(code, event.shiftKey);
      isDragged = false;
    });
  }
  /**
   * The range from where the drag began, or from the other handle, to a pixel.
   *
   * @param {number} x
   * @returns {Ends}
   */
  #dragged(x) {
    if (!this.#drag) return [null, null];
    const { from, fixed } = this.#drag;
    const here = this.#axis.position(x);
    if (fixed !== void 0) {
      const isHigh = this.element.dataset.end === "1";
      const [low2, high2] = isHigh ? [fixed, here] : [here, fixed];
      return low2 !== null && high2 !== null && low2 > high2 ? [high2, low2] : [low2, high2];
    }
    const [low, high] = from < x ? [this.#axis.position(from), here] : [here, this.#axis.position(from)];
    return low !== null && low === high ? [low, this.#axis.moved(low, 1)] : [low, high];
  }
  /**
   * @param {KeyboardEvent} event
   * @param {number} which
   */
  #press(event, which) {
    const ends2 = (
      /** @type {Ends} */
      [...this.#ends]
    );
    const here = ends2[which] ?? this.#axis.ends[which];
    const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
    if (steps !== void 0) ends2[which] = this.#axis.moved(here, steps);
    else if (event.key === "Home" || event.key === "End" || event.key === "Delete" || event.key === "Backspace") ends2[which] = null;
    else return;
    event.preventDefault();
    const [low, high] = ends2;
    if (low === null || high === null || low < high) this.#acts.range(ends2);
  }
  // ---- what is shown
  /** @returns {Ends} */
  get #ends() {
    return (this.#known && endsOf(this.variable, this.#known)) ?? [null, null];
  }
  /** @param {number} width */
  resize(width) {
    if (width === this.#axis.width || width <= 4 * SIDE) return;
    this.#axis = new NumberAxis(this.#axis.ends, width, this.#law, this.#text);
    this.#draw();
  }
  /**
   * @param {Shares} probabilities
   * @param {Known | null} known
   * @param {Backing} backing
   */
  show(probabilities, known, backing) {
    [this.#probabilities, this.#known, this.#backing] = [probabilities, known, backing];
    this.#axis = new NumberAxis(this.#longAxis(), this.#axis.width, this.#law, this.#text);
    this.#hits.forEach((hit, code) => this.#note(hit, code));
    this.#draw();
  }
  /**
   * Write the numbers of an interval where any tool can read them.
   *
   * @param {SVGRectElement} hit
   * @param {number} code
   */
  #note(hit, code) {
    const { shares, ends: ends2 } = this.#backing ?? {};
    const [low, high, share] = [ends2?.low[code], ends2?.high[code], shares?.[code]];
    for (const [name, value] of Object.entries({ probability: this.#probabilities[code], share, low, high })) {
      if (value === void 0) delete hit.dataset[name];
      else hit.dataset[name] = String(value);
    }
    hit.dataset.known = String(this.#known?.codes.includes(code) ?? false);
  }
  /** The usual axis, or a longer one if the evidence leads beyond it. @returns {[number, number]} */
  #longAxis() {
    const [low, high] = this.#facts.axis;
    const p = this.#probabilities;
    const total = totalOf(this.#law, p);
    const beyond = [this.#law.below(p, low, this.#ends), total - this.#law.below(p, high, this.#ends)];
    const [first, last] = OUTER.map((level) => this.#law.quantile(p, level, this.#ends));
    const cell = this.#law.isGrid ? 1 : 0;
    return [
      beyond[0] > BEYOND * total ? Math.min(low, first) : low,
      beyond[1] > BEYOND * total ? Math.max(high, last + cell) : high
    ];
  }
  #draw() {
    this.element.setAttribute("viewBox", `0 0 ${this.#axis.width} ${HEIGHT2}`);
    this.element.setAttribute("width", String(this.#axis.width));
    const shown = { probabilities: this.#probabilities, marginal: this.marginal, ends: this.#ends, isKnown: this.#known !== null, backing: this.#backing };
    this.#drawn.replaceChildren(...new HistogramPicture(this.variable, this.#axis, shown).parts());
    this.#placeHits();
    this.#outline(this.#ends);
  }
  #placeHits() {
    this.#hits.forEach((hit, code) => {
      const [low, high] = [this.#law.cuts[code], this.#law.cuts[code + 1]].map((cut) => this.#axis.within(cut));
      hit.setAttribute("x", low.toFixed(2));
      hit.setAttribute("width", (high - low).toFixed(2));
    });
    for (
      const hit of
      /** @type {NodeListOf<SVGRectElement>} */
      this.element.querySelectorAll(".stem-hit")
    ) {
      hit.setAttribute("x", (this.#axis.x(Number(hit.dataset.at)) - 5).toFixed(2));
    }
  }
  /**
   * Show a range: what is chosen and the handles.
   *
   * @param {Ends} ends
   */
  #outline(ends2) {
    const { left, right } = this.#axis;
    const places = ends2.map((end, which) => end === null ? [left, right][which] : this.#axis.within(end));
    const isRange = ends2.some((end) => end !== null);
    this.#chosen.setAttribute("x", Math.min(...places).toFixed(2));
    this.#chosen.setAttribute("width", isRange ? Math.max(Math.abs(places[1] - places[0]), 1).toFixed(2) : "0");
    this.#handles.forEach((handle, which) => {
      const end = ends2[which];
      handle.setAttribute("transform", `translate(${places[which].toFixed(2)} ${HEIGHT2 - BOTTOM + 7})`);
      handle.classList.toggle("set", end !== null);
      handle.setAttribute("aria-valuemin", String(this.#axis.floats[0]));
      handle.setAttribute("aria-valuemax", String(this.#axis.floats[1]));
      handle.setAttribute("aria-valuenow", String(this.#text.float(end ?? this.#axis.ends[which])));
      handle.setAttribute("aria-valuetext", end === null ? "no end" : this.#text.short(end));
    });
  }
  /** @param {Ends} ends */
  #inWords(ends2) {
    const signs = rangeInSigns(this.variable, ends2);
    if (this.#known) return signs;
    const [low, high] = ends2.map((end, which) => end === null ? which * totalOf(this.#law, this.#probabilities) : this.#law.below(this.#probabilities, end));
    return `${signs}: ${percent(Math.max(high - low, 0))}`;
  }
  /** @param {number} code */
  #words(code) {
    const { shares, differs, ends: ends2 } = this.#backing ?? {};
    const rows = shares ? `, ${differs?.[code] ? "≠ " : ""}${percent(shares[code])} of rows` : "";
    const between = ends2 ? `, between ${percent(ends2.low[code])} and ${percent(ends2.high[code])}` : "";
    const [low, high] = [this.#law.cuts[code], this.#law.cuts[code + 1]].map((cut) => Number.isFinite(cut) ? cut : null);
    const last = code === this.#law.nIntervals - 1;
    return `${rangeInSigns(this.variable, [code ? low : null, last ? null : high])}: ${percent(this.#probabilities[code])}${rows}${between}`;
  }
  /** The median and the middle of the distribution in words. */
  get spread() {
    const p = this.#probabilities;
    if (!(totalOf(this.#law, p) > 0)) return "";
    const [low, median, high] = [0.1, 0.5, 0.9].map((level) => this.#text.short(this.#law.quantile(p, level, this.#ends)));
    return `median ${median}, middle 80 %: ${low} to ${high}`;
  }
};

// src/labels.js
var MARK2 = "…";
function cutApart(texts, fits) {
  const cut = texts.map((text) => fits(text) ? text : withMiddleCut(text, fits));
  const separate = (places) => {
    const alike = /* @__PURE__ */ new Map();
    for (const i of places) alike.set(cut[i], [...alike.get(cut[i]) ?? [], i]);
    for (const group of alike.values()) {
      const whole = group.map((i) => texts[i]);
      if (new Set(whole).size === 1) continue;
      for (const i of group) cut[i] = aroundDifference(texts[i], whole, fits);
      separate(group);
    }
  };
  separate(texts.map((_, i) => i));
  return cut;
}
function withMiddleCut(text, fits) {
  const letters = [...text];
  for (let kept = letters.length - 1; kept > 1; kept--) {
    const tail = Math.floor(2 * kept / 5);
    const cut = letters.slice(0, kept - tail).join("").trimEnd() + MARK2 + letters.slice(letters.length - tail).join("").trimStart();
    if (fits(cut)) return cut;
  }
  return MARK2;
}
function aroundDifference(text, others, fits) {
  const letters = [...text];
  const first = Math.min(...others.filter((other) => other !== text).map((other) => sharedLength(letters, [...other])));
  for (let end = letters.length; end > first; end--) {
    const cut = letters.slice(0, 3).join("") + MARK2 + letters.slice(first, end).join("") + (end < letters.length ? MARK2 : "");
    if (fits(cut)) return cut;
  }
  return letters.slice(0, first + 1).join("") + MARK2;
}
function sharedLength(one, other) {
  let shared = 0;
  while (shared < one.length && one[shared] === other[shared]) shared++;
  return shared;
}
var pen = document.createElement("canvas").getContext("2d");
var sizeOf = (font) => parseFloat(/[\d.]+(?=px)/.exec(font)?.[0] ?? "16");
function widthOf(text, font) {
  if (!pen) return 0.6 * sizeOf(font) * text.length;
  pen.font = font;
  return pen.measureText(text).width;
}
function linesOf(text, font, width) {
  if (text.length * 2 * sizeOf(font) <= width) return 1;
  let [lines, used] = [1, 0];
  for (const word of text.split(/(?<=[\s-])/)) {
    const needed = widthOf(word.trimEnd(), font);
    if (used > 0 && used + needed > width) {
      lines++;
      used = 0;
    }
    lines += Math.max(0, Math.ceil(needed / width) - 1);
    used = needed > width ? needed % width : used + widthOf(word, font);
  }
  return lines;
}

// src/block.js
var TINY = 1e-200;
var Block = class {
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
    const below = this.sizes.map(() => null);
    const arrived = this.sizes.map(() => []);
    for (let k = this.order.length - 1; k >= 0; k--) {
      const n = this.order[k];
      const known = evidence.get(n);
      if (known === void 0 && arrived[n].length === 0) continue;
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
  distribute(weights, below, marginals2) {
    const beliefs = this.#beliefs(weights, below);
    marginals2.forEach((marginal, n) => {
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
    const labels = (n, c) => n === meet ? [c] : range(this.sizes[n]);
    const rowOf = (down, n, c, x) => down && down.subarray((c * this.sizes[n] + x) * F, (c * this.sizes[n] + x + 1) * F);
    for (let c = 0; c < (meet < 0 ? 1 : this.sizes[meet]); c++) {
      const here = meet < 0 ? this.weights : this.weights.map((p, f) => p * /** @type {Float64Array[]} */
      this.#shares[meet][c * F + f]);
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
    if (top < 0) return (
      /** @type {Float64Array[]} */
      this.#shares[n]
    );
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
};
function downward(parents) {
  const order = range(parents.length).filter((n) => parents[n] < 0);
  for (const n of order) parents.forEach((parent, child) => parent === n && order.push(child));
  return order;
}
var range = (size) => Array.from({ length: size }, (_, i) => i);
function logSumExp(logs) {
  let [largest, total] = [-Infinity, 0];
  for (const log of logs) largest = Math.max(largest, log);
  if (largest === -Infinity) return largest;
  for (const log of logs) total += Math.exp(log - largest);
  return largest + Math.log(total);
}
function sum(values) {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i];
  return total;
}
function dot(a, b) {
  let total = 0;
  for (let f = 0; f < a.length; f++) total += a[f] * b[f];
  return total;
}

// src/model.js
function bytesOf(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes.buffer;
}
var floats = (text) => new Float32Array(bytesOf(text));
var [LEAST, ZERO] = [1e-30, 65535];
var STEP = -Math.log(LEAST) / (ZERO - 1);
var logarithm = (code) => code === ZERO ? 0 : Math.exp(-STEP * code);
async function logarithms(text) {
  const stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("deflate"));
  const codes = new Uint16Array(await new Response(stream).arrayBuffer());
  return Float64Array.from(codes, logarithm);
}
var NUMBERS = {
  64: (text) => new Float64Array(bytesOf(text)),
  32: (text) => Float64Array.from(floats(text)),
  16: logarithms
};
var Joint = class _Joint {
  /**
   * @param {number[]} cardinalities number of labels of each variable
   * @param {Block[]} blocks
   */
  constructor(cardinalities2, blocks) {
    this.cardinalities = cardinalities2;
    this.blocks = blocks;
  }
  /**
   * Read the numbers of a model.
   *
   * @param {number[]} cardinalities
   * @param {ModelFacts} facts
   */
  static async of(cardinalities2, { blocks, bits }) {
    const read = blocks.map(
      async ({ weights, parents, sizes, tables }) => new Block(await NUMBERS[bits](weights), parents, sizes, await NUMBERS[bits](tables))
    );
    const joint2 = new _Joint(cardinalities2, await Promise.all(read));
    if (bits < 64) joint2.#normalise();
    return joint2;
  }
  /** Rounded numbers sum to one only up to their rounding. */
  #normalise() {
    let total = 0;
    for (const { weights } of this.blocks) for (const weight of weights) total += weight;
    for (const block of this.blocks) {
      block.weights.forEach((weight, f) => block.weights[f] = weight / total);
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
    const marginals2 = this.cardinalities.map((cardinality) => new Float64Array(cardinality));
    collected.forEach(({ logs, below }, b) => {
      const weights = logs.map((log) => Math.exp(log - logProbability));
      this.blocks[b].distribute(weights, below, marginals2);
    });
    for (const marginal of marginals2) marginal.forEach((p, code) => marginal[code] = Math.min(1, p));
    return { marginals: marginals2, logProbability: Math.min(0, logProbability) };
  }
  /**
   * The joint table of two variables, an array of rows.
   *
   * @param {number} a
   * @param {number} b
   */
  pair(a, b) {
    const table = Array.from({ length: this.cardinalities[a] }, () => Array(this.cardinalities[b]).fill(0));
    for (const block of this.blocks) block.addPair(a, b, table);
    return table;
  }
};
function jensenShannon(p, q) {
  let bits = 0;
  for (let i = 0; i < p.length; i++) {
    const middle = (p[i] + q[i]) / 2;
    if (p[i] > 0) bits += p[i] / 2 * Math.log2(p[i] / middle);
    if (q[i] > 0) bits += q[i] / 2 * Math.log2(q[i] / middle);
  }
  return Math.min(1, Math.max(0, bits));
}

// src/panel.js
var ROWS2 = { head: 16.6, bar: 5.9, range: 8.5, nameLine: 4.75, labelLine: 4.4, backing: 5, mostBars: 14 };
var LONGEST_LABEL = 40;
var WIDTHS = { sides: 1.6, moved: 3.4, range: 3.2 };
var MANY_LABELS = 8;
var movedMark = () => make("span", {
  class: "moved",
  title: "How far this panel moved: the Jensen–Shannon divergence from its marginal, in bits, 0 to 1"
});
function showMoved(mark, moved) {
  mark.textContent = moved >= 5e-3 ? `Δ ${moved.toFixed(2)}` : "";
}
function sayBacking(line, { rows, pointsOff }) {
  const counted = rows === null ? [] : [rows === 0 ? "no row shows both" : `shares of ${plural(rows, "row")}`];
  const off = pointsOff ? [`bars may be ${pointsOff === 255 ? "far" : plural(pointsOff, "point")} from the model's file`] : [];
  const text = [...counted, ...off].join("; ");
  if (line.textContent !== text) line.textContent = text;
}
var Panel = class {
  moved = 0;
  isGiven = false;
  /** @type {Bar[]} */
  #bars;
  /** @type {Bar[]} */
  #inOrder;
  #texts;
  #name;
  /** @type {Room | null} */
  #room = null;
  /** @type {number[]} */
  #known = [];
  #rows = 0;
  #movedText = movedMark();
  #backing = make("p", { class: "backing" });
  /**
   * @param {Variable} variable
   * @param {Float64Array | number[]} marginal
   * @param {Explorer} explorer
   */
  constructor(variable, marginal, explorer2) {
    this.variable = variable;
    this.hasBacking = explorer2.hasBacking;
    this.marginal = marginal;
    this.#texts = cutApart(variable.labels, (text) => [...text].length <= LONGEST_LABEL).map((text) => text || "(empty)");
    this.#bars = this.#texts.map((text, code) => new Bar(variable, code, text, marginal[code], explorer2));
    const bySize = variable.kind === "nominal" && variable.labels.length > MANY_LABELS;
    this.#inOrder = bySize ? [...this.#bars].sort((a, b) => marginal[b.code] - marginal[a.code]) : this.#bars;
    this.#inOrder[0].button.tabIndex = 0;
    const many = variable.labels.length > ROWS2.mostBars ? ` ${variable.labels.length} labels` : "";
    this.#name = variable.name + many;
    const head = make("h3", { id: `v${variable.position}` }, variable.name, make("span", { class: "count" }, many));
    const bars = make(
      "div",
      {
        class: "bars",
        role: "group",
        "aria-labelledby": head.id,
        onkeydown: (event) => this.#move(event),
        onfocusin: (event) => this.#stopAt(event.target)
      },
      this.#inOrder.map((bar) => bar.button)
    );
    this.range = variable.kind === "nominal" || variable.labels.length < 3 ? null : new RangeChooser(variable, explorer2, () => this.#fit());
    this.element = make(
      "section",
      { class: "panel", "aria-labelledby": head.id },
      make("header", {}, head, this.#movedText, this.range?.button ?? null),
      this.range?.element ?? null,
      bars,
      this.hasBacking ? this.#backing : null
    );
    this.#fit();
    this.text = [variable.name, ...variable.labels].join("\n").toLowerCase();
  }
  /**
   * Take as much height as the lines of the name and of the labels need.
   *
   * @param {Room | null} room
   */
  fitInto(room) {
    this.#room = room;
    this.#fit();
  }
  #fit() {
    const bars = ROWS2.bar * this.#bars.length + ROWS2.labelLine * this.#labelLines();
    const range2 = this.range?.isOpen ? ROWS2.range : 0;
    const head = ROWS2.head + ROWS2.nameLine * this.#nameLines();
    const backing = this.hasBacking ? ROWS2.backing : 0;
    const rows = Math.ceil(head + Math.min(bars, ROWS2.bar * ROWS2.mostBars) + range2 + backing);
    if (rows !== this.#rows) this.element.style.setProperty("--rows", String(this.#rows = rows));
  }
  /** How many lines the name takes beyond the first. */
  #nameLines() {
    if (this.#room === null) return 0;
    const { panel, rem, family } = this.#room;
    const beside = WIDTHS.sides + WIDTHS.moved + (this.range ? WIDTHS.range : 0);
    return linesOf(this.#name, `650 ${0.95 * rem}px ${family}`, panel - beside * rem) - 1;
  }
  /** How many lines labels take beyond the first of each. */
  #labelLines() {
    if (this.#room === null) return 0;
    const { label, rem, family } = this.#room;
    const lines = (text, code) => (
      // A known label is bold and has a tick before it.
      this.#known.includes(code) ? linesOf(`✓ ${text}`, `650 ${0.85 * rem}px ${family}`, label) : linesOf(text, `${0.85 * rem}px ${family}`, label)
    );
    return this.#texts.reduce((sum2, text, code) => sum2 + lines(text, code) - 1, 0);
  }
  /** @param {string} words */
  isFoundBy(words) {
    return this.text.includes(words);
  }
  /**
   * @param {Float64Array | number[]} probabilities
   * @param {Known | null} known
   * @param {Backing} backing
   */
  show(probabilities, known, backing) {
    const codes = known?.codes ?? [];
    this.isGiven = codes.length > 0;
    if (this.#known.join() !== codes.join()) {
      this.#known = codes;
      this.#fit();
    }
    this.moved = jensenShannon(probabilities, this.marginal);
    showMoved(this.#movedText, this.moved);
    this.element.classList.toggle("given", this.isGiven);
    const largest = Math.max(most(probabilities), most(this.marginal), most(backing.ends?.high ?? []));
    this.#bars.forEach((bar, code) => bar.show(probabilities[code], largest, codes.includes(code), backing));
    sayBacking(this.#backing, backing);
    this.range?.show(known);
    if (this.isGiven && this.#bars.length > ROWS2.mostBars) this.#scrollTo(this.#bars[codes[0]].button);
  }
  /**
   * Scroll a known bar into view, for panels that show only some of their bars.
   *
   * @param {HTMLElement} button
   */
  #scrollTo(button) {
    const frame2 = button.parentElement;
    if (!frame2) return;
    const top = button.offsetTop - frame2.offsetTop;
    if (top < frame2.scrollTop || top + button.offsetHeight > frame2.scrollTop + frame2.clientHeight) frame2.scrollTop = top;
  }
  /**
   * Mark the bars of a range that is being drawn.
   *
   * @param {number[]} codes
   */
  outline(codes) {
    this.#bars.forEach((bar, code) => bar.button.classList.toggle("in-range", codes.includes(code)));
  }
  /**
   * Tab reaches one bar of a panel, arrows the others.
   *
   * @param {KeyboardEvent} event
   */
  #move(event) {
    const here = this.#inOrder.findIndex((bar) => bar.button === document.activeElement);
    const last = this.#inOrder.length - 1;
    const there = { ArrowDown: Math.min(here + 1, last), ArrowUp: Math.max(here - 1, 0), Home: 0, End: last }[event.key];
    if (here < 0 || there === void 0) return;
    event.preventDefault();
    this.#inOrder[there].button.focus();
  }
  /** @param {EventTarget | null} button */
  #stopAt(button) {
    for (const bar of this.#bars) bar.button.tabIndex = bar.button === button ? 0 : -1;
  }
};
var Bar = class {
  #track = make("span", { class: "track", "aria-hidden": "true" });
  #value = document.createTextNode("");
  #shareText = document.createTextNode("");
  #share = make("span", { class: "share" }, this.#shareText);
  #whisker = "";
  #hasInterval = false;
  /** @type {boolean | null} */
  #isKnown = null;
  /** @type {number | null} */
  #largest = null;
  /**
   * @param {Variable} variable
   * @param {number} code
   * @param {string} text the label, cut if it is long
   * @param {number} marginal
   * @param {Explorer} explorer
   */
  constructor(variable, code, text, marginal, explorer2) {
    this.code = code;
    this.marginal = marginal;
    const label = variable.labels[code];
    const act = (several) => explorer2.choose(variable, code, several);
    this.button = make(
      "button",
      {
        class: "bar",
        tabindex: -1,
        title: `${label}: ${percent(marginal)} when nothing is given`,
        "data-marginal": marginal,
        "data-variable": variable.name,
        "data-label": label,
        onclick: (event) => act(event.shiftKey),
        onkeydown: (event) => {
          if (event.key !== "Enter" && event.key !== " ") return;
          event.preventDefault();
          if (!event.repeat) act(event.shiftKey);
        },
        // Otherwise the space key clicks once more when it goes up.
        onkeyup: (event) => {
          if (event.key === " ") event.preventDefault();
        },
        onpointerdown: (event) => {
          const draws = variable.kind !== "nominal" && event.pointerType !== "touch" && event.button === 0;
          if (draws && !event.shiftKey) explorer2.startRange(variable, code);
        },
        onpointerenter: (event) => explorer2.moveRange(variable, code, event.buttons !== 0)
      },
      make("span", { class: "label" }, text),
      this.#track,
      make("span", { class: "value" }, this.#value),
      explorer2.isCounted ? this.#share : null
    );
  }
  /**
   * @param {number} probability
   * @param {number} largest the probability of a full bar
   * @param {boolean} isKnown
   * @param {Backing} backing
   */
  show(probability, largest, isKnown, { shares, differs, ends: ends2 }) {
    const text = percent(probability);
    if (this.#value.data !== text) this.#value.data = text;
    if (this.#isKnown !== isKnown) this.button.setAttribute("aria-pressed", String(this.#isKnown = isKnown));
    this.button.dataset.probability = String(probability);
    this.#showShare(shares?.[this.code] ?? null, differs?.[this.code] ?? false);
    const along = (p) => 100 * p / largest;
    const [low, high] = ends2 ? [along(ends2.low[this.code]), along(ends2.high[this.code])] : [0, 0];
    this.#track.style.backgroundSize = `2px 100%, ${(high - low).toFixed(2)}% 3px, ${along(probability).toFixed(2)}% 100%`;
    this.#showInterval(ends2 && [ends2.low[this.code], ends2.high[this.code]]);
    const whisker = high - low < 99.99 ? (100 * low / (100 - (high - low))).toFixed(2) : "0";
    if (this.#largest === largest && this.#whisker === whisker) return;
    [this.#largest, this.#whisker] = [largest, whisker];
    this.#track.style.backgroundPosition = `${along(this.marginal).toFixed(2)}% 0, ${whisker}% 50%, 0 0`;
  }
  /**
   * The share of the rows, marked where it differs from the probability by more than chance would.
   *
   * @param {number | null} share
   * @param {boolean} differs
   */
  #showShare(share, differs) {
    const text = share === null ? "" : `${differs ? "≠ " : ""}${percent(share)}`;
    if (this.#shareText.data === text) return;
    this.#shareText.data = text;
    this.#share.classList.toggle("differs", differs);
    if (share === null) delete this.button.dataset.share;
    else this.button.dataset.share = String(share);
  }
  /** @param {number[] | null} ends */
  #showInterval(ends2) {
    if (ends2 === null) {
      if (!this.#hasInterval) return;
      this.#hasInterval = false;
      this.#value.parentElement?.removeAttribute("title");
      delete this.button.dataset.low;
      delete this.button.dataset.high;
      return;
    }
    this.#hasInterval = true;
    [this.button.dataset.low, this.button.dataset.high] = ends2.map(String);
    if (this.#value.parentElement) this.#value.parentElement.title = `between ${percent(ends2[0])} and ${percent(ends2[1])}`;
  }
};
var RangeChooser = class {
  #from;
  #to;
  /**
   * @param {Variable} variable
   * @param {Explorer} explorer
   * @param {() => void} onOpened
   */
  constructor(variable, explorer2, onOpened) {
    this.variable = variable;
    const changed = () => explorer2.chooseCodes(variable, span(Number(this.#from.value), Number(this.#to.value)));
    const list = (word) => make(
      "select",
      { "aria-label": `${variable.name} ${word}`, onchange: changed },
      variable.labels.map((label, code) => make("option", { value: code }, label))
    );
    this.#from = list("from");
    this.#to = list("to");
    this.element = make("div", { class: "range", hidden: true }, "from ", this.#from, " to ", this.#to);
    this.button = make(
      "button",
      {
        class: "quiet",
        "aria-expanded": "false",
        "aria-label": `Choose a range of ${variable.name}`,
        title: "Choose a range, or draw over the bars with the mouse",
        onclick: () => {
          this.element.hidden = !this.element.hidden;
          this.button.setAttribute("aria-expanded", String(this.isOpen));
          onOpened();
        }
      },
      "range"
    );
    this.show(null);
  }
  get isOpen() {
    return !this.element.hidden;
  }
  /** @param {Known | null} known */
  show(known) {
    const codes = known?.codes ?? [];
    this.#from.value = String(codes[0] ?? 0);
    this.#to.value = String(codes.at(-1) ?? this.variable.labels.length - 1);
  }
};

// src/number_panel.js
var [WORDS, BOXES] = [5.4, 9];
var NumberPanel = class {
  moved = 0;
  isGiven = false;
  #moved = movedMark();
  #backing = make("p", { class: "backing" });
  #words = make("p", { class: "spread" });
  #histogram;
  /** The bar of missing cells, if they are a label. @type {Bar | null} */
  #missing;
  /** @type {Room | null} */
  #room = null;
  #rows = 0;
  /**
   * @param {NumberVariable} variable
   * @param {Float64Array | number[]} marginal
   * @param {Explorer} explorer
   */
  constructor(variable, marginal, explorer2) {
    this.variable = variable;
    this.marginal = marginal;
    this.hasBacking = explorer2.hasBacking;
    this.#histogram = new Histogram(variable, marginal, {
      range: (ends2) => explorer2.chooseRange(variable, ends2),
      interval: (code, several) => explorer2.choose(variable, code, several),
      point: (words) => this.#say(words)
    });
    const last = variable.labels.length - 1;
    this.#missing = variable.n_ordered <= last ? new Bar(variable, last, variable.labels[last] || "(empty)", marginal[last], explorer2) : null;
    if (this.#missing) this.#missing.button.tabIndex = 0;
    this.range = new NumberRange(variable, explorer2, () => this.#fit());
    const head = make("h3", { id: `v${variable.position}` }, variable.name);
    this.#histogram.element.setAttribute("aria-labelledby", head.id);
    this.element = make(
      "section",
      { class: "panel number", "aria-labelledby": head.id },
      make("header", {}, head, this.#moved, this.range.button),
      this.range.element,
      this.#histogram.element,
      this.#words,
      this.#missing ? make("div", { class: "bars", role: "group", "aria-labelledby": head.id }, this.#missing.button) : null,
      this.hasBacking ? this.#backing : null
    );
    this.#fit();
    this.text = [variable.name, ...variable.labels].join("\n").toLowerCase();
  }
  /** @param {Room | null} room */
  fitInto(room) {
    this.#room = room;
    if (room) this.#histogram.resize(Math.floor(room.panel - WIDTHS.sides * room.rem));
    this.#fit();
  }
  #fit() {
    const rem = this.#room?.rem ?? 16;
    const name = ROWS2.head + ROWS2.nameLine * this.#nameLines();
    const missing = this.#missing ? ROWS2.bar + 1 : 0;
    const rest = WORDS + missing + (this.range.isOpen ? BOXES : 0) + (this.hasBacking ? ROWS2.backing : 0);
    const rows = Math.ceil(name + 4 * HEIGHT2 / rem + rest);
    if (rows !== this.#rows) this.element.style.setProperty("--rows", String(this.#rows = rows));
  }
  #nameLines() {
    if (this.#room === null) return 0;
    const { panel, rem, family } = this.#room;
    const beside = WIDTHS.sides + WIDTHS.moved + WIDTHS.range;
    return linesOf(this.variable.name, `650 ${0.95 * rem}px ${family}`, panel - beside * rem) - 1;
  }
  /** @param {string} words */
  isFoundBy(words) {
    return this.text.includes(words);
  }
  /**
   * @param {Float64Array | number[]} probabilities
   * @param {Known | null} known
   * @param {Backing} backing
   */
  show(probabilities, known, backing) {
    this.isGiven = known !== null;
    this.moved = this.#movement(probabilities, known);
    showMoved(this.#moved, this.moved);
    this.element.classList.toggle("given", this.isGiven);
    this.#histogram.show(probabilities, known, backing);
    if (this.#missing) {
      const { code } = this.#missing;
      this.#missing.show(probabilities[code], 1, known?.codes.includes(code) ?? false, backing);
    }
    this.#say(null);
    sayBacking(this.#backing, backing);
    this.range.show(known);
  }
  /**
   * The divergence from the marginal. A range divides intervals, and what lies outside is impossible.
   *
   * @param {Float64Array | number[]} probabilities
   * @param {Known | null} known
   */
  #movement(probabilities, known) {
    if (!known?.weights) return jensenShannon(probabilities, this.marginal);
    const { codes, weights } = known;
    const inside = codes.map((code, i) => weights[i] * this.marginal[code]);
    const outside = 1 - inside.reduce((sum2, p) => sum2 + p, 0);
    return jensenShannon([...codes.map((code) => probabilities[code]), 0], [...inside, Math.max(outside, 0)]);
  }
  /** @param {string | null} words about what is pointed at, or null */
  #say(words) {
    const text = words ?? this.#histogram.spread;
    if (this.#words.textContent !== text) this.#words.textContent = text;
    this.#words.classList.toggle("pointed", words !== null);
  }
  /** Other panels mark bars that are drawn over. */
  outline() {
  }
};
var NumberRange = class {
  #from;
  #below;
  /**
   * @param {NumberVariable} variable
   * @param {Explorer} explorer
   * @param {() => void} onOpened
   */
  constructor(variable, explorer2, onOpened) {
    this.variable = variable;
    const { name, text } = variable;
    const box = (word) => make("input", { "aria-label": `${name} ${word}`, placeholder: text.kind, autocomplete: "off", onchange: () => this.#take(explorer2) });
    this.#from = box("at least");
    this.#below = box("less than");
    this.element = make("div", { class: "range", hidden: true }, "from ", this.#from, " to below ", this.#below);
    this.button = make(
      "button",
      {
        class: "quiet",
        "aria-expanded": "false",
        "aria-label": `Choose a range of ${name}`,
        title: "Type a range, or drag over the histogram",
        onclick: () => {
          this.element.hidden = !this.element.hidden;
          this.button.setAttribute("aria-expanded", String(this.isOpen));
          onOpened();
        }
      },
      "range"
    );
  }
  get isOpen() {
    return !this.element.hidden;
  }
  /** @param {Explorer} explorer */
  #take(explorer2) {
    const ends2 = [null, null];
    for (const [which, box] of [this.#from, this.#below].entries()) {
      const position = box.value.trim() === "" ? null : this.variable.text.read(box.value);
      const isWrong = position === null && box.value.trim() !== "";
      box.setAttribute("aria-invalid", String(isWrong));
      if (isWrong) {
        explorer2.say(`“${box.value}” is not ${this.variable.text.kind} of ${this.variable.name}.${this.variable.text.hint}`);
        return;
      }
      ends2[which] = position;
    }
    const [from, below] = ends2;
    if (from !== null && below !== null && from >= below) {
      this.#doubt();
      explorer2.say(`The range of ${this.variable.name} from ${this.#from.value} to below ${this.#below.value} is empty. Change the other box too.`);
    } else if (!explorer2.chooseRange(this.variable, ends2)) this.#doubt();
  }
  #doubt() {
    for (const box of [this.#from, this.#below]) box.setAttribute("aria-invalid", "true");
  }
  /** @param {Known | null} known */
  show(known) {
    const ends2 = (known && endsOf(this.variable, known)) ?? [null, null];
    [this.#from, this.#below].forEach((box, which) => {
      const end = ends2[which];
      box.value = end === null ? "" : this.variable.text.exact(end);
      box.removeAttribute("aria-invalid");
    });
  }
};

// src/explorer.js
var Explorer = class {
  /** @type {Evidence} */
  #evidence = /* @__PURE__ */ new Map();
  /** @type {Evidence[]} */
  #past = [];
  #several = false;
  /** @type {Drag | null} */
  #drag = null;
  #width = 0;
  /**
   * @param {Variable[]} variables
   * @param {Answers} answers
   * @param {Facts} facts
   */
  constructor(variables2, answers, { file, fit, model, observed, pairs: pairs2 }) {
    this.variables = variables2;
    this.answers = answers;
    this.file = file;
    this.nRows = fit?.n_rows ?? null;
    this.isCounted = observed !== null;
    this.isSmaller = model.rank < model.fitted_rank;
    this.hasBacking = this.isCounted || this.isSmaller;
    byId("explorer").classList.toggle("counted", this.isCounted);
    byId("share-legend").hidden = byId("rows-legend").hidden = !this.isCounted;
    byId("share-of").textContent = observed?.source === "data" ? "rows of the data" : "rows that the model was fitted to";
    byId("whisker-legend").hidden = pairs2.level === null;
    byId("whisker-expected").hidden = !pairs2.is_expected;
    byId("whisker-level").textContent = percent(pairs2.level ?? 0);
    const answer = (
      /** @type {Answer} */
      answers.given(this.#evidence)
    );
    this.panels = variables2.map((variable) => {
      const { law, text, number: facts2 } = variable;
      const marginal = answer.marginals[variable.position];
      return law && text && facts2 ? new NumberPanel({ ...variable, law, text, number: facts2 }, marginal, this) : new Panel(variable, marginal, this);
    });
    byId("panels").append(...this.panels.map((panel) => panel.element));
    byId("asked").append(...variables2.map(({ name, position }) => make("option", { value: position }, name)));
    new ResizeObserver(() => this.#fitPanels()).observe(byId("panels"));
    this.#listen();
    const fragment = location.hash;
    this.#show(answer);
    this.#takeFragment(fragment);
  }
  #listen() {
    byId("search").addEventListener("input", () => this.#arrange());
    byId("sort").addEventListener("change", () => this.#arrange());
    byId("asked").addEventListener("change", () => this.#showAskLine());
    byId("undo").addEventListener("click", () => this.undo());
    byId("reset").addEventListener("click", (event) => {
      this.know(/* @__PURE__ */ new Map());
      keepFocus(event);
    });
    byId("several").addEventListener("click", () => {
      this.#several = !this.#several;
      byId("several").setAttribute("aria-pressed", String(this.#several));
    });
    byId("copy-link").hidden = !HAS_ADDRESS;
    byId("copy-link").addEventListener("click", () => copy(`${location.href.split("#")[0]}#${this.#fragment}`, "The link"));
    byId("copy-ask").addEventListener("click", () => copy(byId("ask-line").textContent ?? "", "The line"));
    addEventListener("hashchange", () => this.#takeFragment(location.hash));
    addEventListener("pointerup", () => this.#dropRange());
    addEventListener("pointercancel", () => this.#stopDrawing());
  }
  /** Let panels take the height that their lines need at the width that they have. */
  #fitPanels() {
    const shown = this.panels.find(({ element }) => element.clientWidth > 0);
    if (!shown || shown.element.clientWidth === this.#width) return;
    this.#width = shown.element.clientWidth;
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
    const label = LABELS[this.isCounted ? "counted" : "plain"] * (this.#width - 1.15 * rem) - 0.4 * rem;
    const room = { panel: this.#width, label, rem, family: getComputedStyle(document.body).fontFamily };
    for (const panel of this.panels) panel.fitInto(room);
  }
  /**
   * A bar was clicked, or a key was pressed on it.
   *
   * @param {Variable} variable
   * @param {number} code
   * @param {boolean} several
   */
  choose(variable, code, several) {
    this.know(clicked(this.#evidence, variable, code, several || this.#several));
  }
  /**
   * @param {Variable} variable
   * @param {number[]} codes
   */
  chooseCodes(variable, codes) {
    return this.know(withCodes(this.#evidence, variable, codes));
  }
  /**
   * A range of a number was drawn or typed; without ends it is cleared. An impossible one changes nothing: false.
   *
   * @param {Variable} variable
   * @param {Ends} ends
   */
  chooseRange(variable, ends2) {
    if (ends2[0] === null && ends2[1] === null) return this.chooseCodes(variable, []);
    return this.know(withRange(this.#evidence, variable, ends2));
  }
  /**
   * The pointer went down on a bar of an ordered variable. The bars it crosses until it goes up become a range.
   *
   * @param {Variable} variable
   * @param {number} code
   */
  startRange(variable, code) {
    this.#drag = { variable, from: code, to: code };
  }
  /**
   * @param {Variable} variable
   * @param {number} code
   * @param {boolean} isDown
   */
  moveRange(variable, code, isDown) {
    if (!isDown) this.#stopDrawing();
    if (this.#drag?.variable !== variable || this.#drag.to === code) return;
    this.#drag.to = code;
    this.panels[variable.position].outline(span(this.#drag.from, code));
  }
  #stopDrawing() {
    const drag = this.#drag;
    this.#drag = null;
    if (drag) this.panels[drag.variable.position].outline([]);
    return drag;
  }
  #dropRange() {
    const drag = this.#stopDrawing();
    if (drag && drag.from !== drag.to) this.chooseCodes(drag.variable, span(drag.from, drag.to));
  }
  /**
   * Show a message.
   *
   * @param {string} text
   */
  say(text) {
    say(text);
  }
  undo() {
    const before = this.#past.pop();
    if (before) this.know(before, false);
  }
  /**
   * Take evidence as known. Impossible evidence changes nothing; the page says so.
   *
   * @param {Evidence} evidence
   * @param {boolean} [isNew]
   */
  know(evidence, isNew = true) {
    if (same(evidence, this.#evidence)) return true;
    const answer = this.answers.given(evidence);
    if (answer === null) {
      const words = [...evidence].map(([n, known]) => inWords(this.variables[n], known)).join(" and ");
      this.say(`Under this model it never happens that ${words}. Nothing was changed.`);
      return false;
    }
    if (isNew) this.#past.push(this.#evidence);
    this.#evidence = evidence;
    this.#show(answer);
    return true;
  }
  /** @param {Answer} answer */
  #show({ marginals: marginals2, logProbability, backing }) {
    for (const panel of this.panels) {
      const n = panel.variable.position;
      panel.show(marginals2[n], this.#evidence.get(n) ?? null, backing[n]);
    }
    byId("explorer").classList.toggle("with-shares", backing.some(({ shares }) => shares !== null));
    byId("undo").disabled = this.#past.length === 0;
    byId("reset").disabled = this.#evidence.size === 0;
    this.#writeFragment();
    say("");
    this.#showSentence(logProbability);
    byId("limits").textContent = this.#limits(marginals2);
    this.#arrange();
    this.#showAskLine();
  }
  /**
   * What the page does not know with several conditions, or with ranges that end inside intervals.
   *
   * @param {Answer["marginals"]} marginals
   */
  #limits(marginals2) {
    const parts = [...this.#evidence].map(([n, known]) => partsOff(this.variables[n], known, marginals2[n]));
    return [this.#manyConditions(), ...parts].filter(Boolean).join(" ");
  }
  #manyConditions() {
    if (this.#evidence.size < 2) return "";
    const rows = this.isCounted ? ["Rows and shares are known for one condition only."] : [];
    const smaller = this.isSmaller ? ["With several conditions the bars are those of the page's smaller model; the line to copy asks the fitted one."] : [];
    return [...rows, ...smaller].join(" ");
  }
  /** @param {number} logProbability */
  #showSentence(logProbability) {
    if (this.#evidence.size === 0) {
      byId("sentence").replaceChildren("Nothing is given. Click a bar, or drag over a histogram, to say what you know, and all others move.");
      return;
    }
    const parts = [...this.#evidence].map(
      ([n, known]) => make(
        "button",
        {
          class: "chip",
          title: "Clear this",
          onclick: (event) => {
            this.chooseCodes(this.variables[n], []);
            keepFocus(event);
          }
        },
        inWords(this.variables[n], known)
      )
    );
    const probability = Math.exp(logProbability);
    const small = probability > 1e-300 ? `${number(100 * probability, 3)} %` : `e^${number(logProbability, 5)}`;
    const share = probability < 1e-4 ? small : percent(probability);
    byId("sentence").replaceChildren(
      "Given that ",
      ...parts.flatMap((part, i) => i ? [" and ", part] : [part]),
      ", which holds with probability ",
      make("strong", { id: "probability", "data-probability": probability, "data-log-probability": logProbability }, share),
      this.#inRows(probability),
      "."
    );
  }
  /**
   * How many of the fitted rows agree with the evidence, where they are few: the answers then rest on little data.
   *
   * @param {number} probability
   */
  #inRows(probability) {
    if (this.nRows === null) return "";
    const rows = probability * this.nRows;
    if (rows >= FEW_ROWS) return "";
    return `: about ${number(rows, 2)} of ${number(Math.round(this.nRows))} rows, too few for reliable answers`;
  }
  #showAskLine() {
    const wanted = byId("asked").value;
    const free = this.panels.filter(({ variable }) => !this.#evidence.has(variable.position));
    const moved = (free.length ? free : this.panels).reduce((best, panel) => panel.moved > best.moved ? panel : best);
    const target = wanted === "" ? moved.variable : this.variables[Number(wanted)];
    byId("ask-line").textContent = askLine(this.file, question(target, this.#evidence, this.variables));
  }
  /** Put panels in the chosen order and hide those that the search does not find. */
  #arrange() {
    const words = byId("search").value.trim().toLowerCase();
    const ordered = [...this.panels].sort(ORDERS[
      /** @type {keyof ORDERS} */
      byId("sort").value
    ]);
    const focused = document.activeElement;
    const places = byId("panels");
    if (ordered.some((panel, i) => places.children[i] !== panel.element)) {
      places.append(...ordered.map((panel) => panel.element));
      if (focused instanceof HTMLElement && places.contains(focused)) focused.focus();
    }
    let found = 0;
    for (const panel of this.panels) {
      panel.element.hidden = !panel.isFoundBy(words);
      if (!panel.element.hidden) found++;
    }
    const all = plural(this.panels.length, "variable");
    byId("found").textContent = !words ? "" : found ? `${number(found)} of ${all}` : `None of ${all} contains “${words}”.`;
  }
  /**
   * Take the evidence of a link. If it is impossible, the address goes back to the evidence that is shown.
   *
   * @param {string} text
   */
  #takeFragment(text) {
    const { evidence, problems } = fromFragment(text, this.variables);
    const isTaken = this.know(evidence);
    this.#writeFragment();
    if (isTaken && problems.length) say(problems.join(" "));
  }
  get #fragment() {
    return toFragment(this.#evidence, this.variables);
  }
  #writeFragment() {
    if (!HAS_ADDRESS) return;
    try {
      history.replaceState(null, "", `#${this.#fragment}`);
    } catch {
    }
  }
};
var FEW_ROWS = 10;
var LABELS = { plain: 0.42, counted: 0.34 };
var HAS_ADDRESS = location.protocol !== "about:";
var ORDERS = {
  table: (a, b) => a.variable.position - b.variable.position,
  moved: (a, b) => Number(b.isGiven) - Number(a.isGiven) || b.moved - a.moved || a.variable.position - b.variable.position,
  name: (a, b) => a.variable.name.localeCompare(b.variable.name)
};
function keepFocus(event) {
  if (event.detail !== 0) return;
  const chip = (
    /** @type {HTMLElement | null} */
    byId("sentence").querySelector(".chip")
  );
  (chip ?? byId("search")).focus();
}
function say(text) {
  byId("message").textContent = text;
}
function sayBriefly(text) {
  say(text);
  setTimeout(() => byId("message").textContent === text && say(""), 4e3);
}
async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    sayBriefly(`${what} is on the clipboard.`);
  } catch {
    say(`This browser does not let the page use the clipboard. ${what} to copy by hand: ${text}`);
  }
}

// src/dependence.js
var NAMES = 130;
var READABLE = 9;
var MOST_LABELS = 60;
var DependenceMap = class {
  #canvas = byId("map");
  #cell;
  /** @type {[number, number] | null} */
  #chosen = null;
  /**
   * @param {DependenceFacts} facts
   * @param {Variable[]} variables
   * @param {Joint} joint
   * @param {Pairs} pairs
   */
  constructor({ order, matrix, counted }, variables2, joint2, pairs2) {
    this.order = order;
    this.variables = variables2;
    this.joint = joint2;
    this.pairs = pairs2;
    this.fitted = squared([...floats(matrix)], order.length);
    this.counted = counted === null ? null : squared(sharesOf(counted), order.length);
    this.matrix = this.counted ?? this.fitted;
    const strongest = this.#strongest();
    this.#showSource();
    this.#cell = Math.max(3, Math.min(30, Math.floor(620 / order.length)));
    this.#listPairs(strongest);
    this.#listen();
    this.draw();
    if (strongest.length) this.choose(strongest[0].a, strongest[0].b);
  }
  get most() {
    return most(this.matrix.flatMap((row, a) => row.filter((value, b) => a !== b && value !== null).map(Number)).concat(0));
  }
  #showSource() {
    if (this.counted === null) return;
    byId("map-of-tools").hidden = false;
    byId("dependence-of").textContent = "Pairs are ranked by the rows that show both variables, less what chance alone would give. The model's own figure stands beside it: where it is much smaller, the model has missed a dependence.";
    byId("map-of").addEventListener("change", () => {
      this.matrix = byId("map-of").value === "rows" ? this.counted ?? this.fitted : this.fitted;
      this.draw();
    });
  }
  #strongest() {
    const pairs2 = [];
    for (let a = 0; a < this.order.length; a++) {
      for (let b = a + 1; b < this.order.length; b++) pairs2.push({ a, b, value: this.matrix[a][b] });
    }
    return pairs2.sort((one, other) => (other.value ?? -1) - (one.value ?? -1));
  }
  /** @param {Tie[]} strongest */
  #listPairs(strongest) {
    const shown = strongest.slice(0, 12);
    const title = `${shown.length < strongest.length ? `The ${shown.length} strongest of ${plural(strongest.length, "pair")}` : "All pairs"}, strongest first`;
    const figures = shown.map(({ a, b }) => [
      make("button", { class: "link", onclick: () => this.choose(a, b) }, this.#names(a, b)),
      ...this.counted ? [inDigits(this.counted[a][b])] : [],
      inDigits(this.fitted[a][b])
    ]);
    const head = this.counted ? ["pair", "rows", "model"] : ["pair", "model"];
    const caption = `Normalised mutual information${this.counted ? " by the rows and by the model" : ""}`;
    byId("strongest").replaceChildren(dataTable(caption, head, figures, "matrix"));
    byId("strongest-of").textContent = title;
    for (const list of [byId("pair-a"), byId("pair-b")]) {
      list.append(...this.variables.map(({ name, position }) => make("option", { value: position }, name)));
    }
  }
  /**
   * @param {number} a
   * @param {number} b
   */
  #names(a, b) {
    return `${this.variables[a].name} and ${this.variables[b].name}`;
  }
  #listen() {
    const place = (event) => {
      const box = this.#canvas.getBoundingClientRect();
      const at = (value, size) => Math.floor((value * (this.#size / size) - this.#margin) / this.#cell);
      const [column, row] = [at(event.clientX - box.left, box.width), at(event.clientY - box.top, box.height)];
      const isInside = Math.min(column, row) >= 0 && Math.max(column, row) < this.order.length;
      return isInside ? [this.order[row], this.order[column]] : null;
    };
    this.#canvas.addEventListener("click", (event) => {
      const pair = place(event);
      if (pair && pair[0] !== pair[1]) this.choose(...pair);
    });
    this.#canvas.addEventListener("pointermove", (event) => {
      const pair = place(event);
      const [a, b] = pair ?? [0, 0];
      byId("map-cell").textContent = a !== b ? `${this.#names(a, b)}: ${this.#inWords(a, b)}` : "Point at a cell to read it, click it for its table.";
    });
    for (const list of [byId("pair-a"), byId("pair-b")]) {
      list.addEventListener("change", () => this.choose(Number(byId("pair-a").value), Number(byId("pair-b").value)));
    }
    byId("pair-what").addEventListener("change", () => this.#chosen && this.choose(...this.#chosen));
  }
  /**
   * @param {number} a
   * @param {number} b
   */
  #inWords(a, b) {
    const fitted = inDigits(this.fitted[a][b]);
    return this.counted === null ? fitted : `${inDigits(this.counted[a][b])} by the rows, ${fitted} by the model`;
  }
  get #margin() {
    return this.#cell >= READABLE ? NAMES : 0;
  }
  get #size() {
    return this.#margin + this.#cell * this.order.length;
  }
  /** Paint the map in the colours of the theme. */
  draw() {
    const scale = Math.max(1, devicePixelRatio);
    const size = this.#size;
    Object.assign(this.#canvas, { width: size * scale, height: size * scale });
    this.#canvas.style.width = `${size}px`;
    const pen2 = this.#canvas.getContext("2d");
    if (!pen2) return;
    pen2.scale(scale, scale);
    const colours = themeColours("--map-0", "--map-1", "--map-2");
    const furthest = this.most;
    this.order.forEach(
      (a, row) => this.order.forEach((b, column) => {
        pen2.fillStyle = a === b ? themeText("--line") : blend(colours, furthest ? (this.matrix[a][b] ?? 0) / furthest : 0);
        const [x, y] = [column, row].map((place) => this.#margin + place * this.#cell);
        pen2.fillRect(x, y, this.#cell - (this.#cell > 6 ? 1 : 0), this.#cell - (this.#cell > 6 ? 1 : 0));
      })
    );
    if (this.#margin) this.#drawNames(pen2);
    byId("map-legend").style.background = `linear-gradient(to right, ${[0, 0.5, 1].map((x) => blend(colours, x)).join(", ")})`;
    byId("map-most").textContent = furthest.toFixed(2);
  }
  /** @param {CanvasRenderingContext2D} pen */
  #drawNames(pen2) {
    pen2.fillStyle = themeText("--ink");
    pen2.font = `${Math.min(13, this.#cell + 1)}px system-ui, sans-serif`;
    const names = cutApart(this.variables.map(({ name }) => name), (text) => pen2.measureText(text).width <= NAMES - 12);
    this.order.forEach((n, place) => {
      const name = names[n];
      const middle = this.#margin + (place + 0.5) * this.#cell;
      pen2.textBaseline = "middle";
      pen2.textAlign = "right";
      pen2.fillText(name, this.#margin - 6, middle);
      pen2.save();
      pen2.translate(middle, this.#margin - 6);
      pen2.rotate(-Math.PI / 2);
      pen2.textAlign = "left";
      pen2.fillText(name, 0, 0);
      pen2.restore();
    });
  }
  /**
   * Show the table of a pair.
   *
   * @param {number} a
   * @param {number} b
   */
  choose(a, b) {
    this.#chosen = [a, b];
    byId("pair-a").value = String(a);
    byId("pair-b").value = String(b);
    if (a === b) {
      byId("pair").replaceChildren(make("p", {}, "Choose two different variables."));
      return;
    }
    const fitted = this.pairs.fitted(a, b) ?? this.joint.pair(a, b);
    byId("pair").replaceChildren(...pairTable(this.variables[a], this.variables[b], fitted, {
      what: (
        /** @type {keyof WHAT} */
        byId("pair-what").value
      ),
      counts: this.pairs.counts(a, b),
      dependence: this.counted === null ? `${inDigits(this.fitted[a][b])} by the model` : this.#inWords(a, b)
    }));
  }
};
function pairTable(down, across, fitted, { what, counts, dependence }) {
  const total = counts === null ? 0 : counts.flat().reduce((sum2, n) => sum2 + n, 0);
  const isObserved = total > 0 && what !== "fitted";
  const joint2 = counts !== null && isObserved ? counts.map((row) => row.map((n) => n / total)) : fitted;
  const ofRow = joint2.map((row) => row.reduce((sum2, p) => sum2 + p, 0));
  const ofColumn = across.labels.map((_, j) => joint2.reduce((sum2, row) => sum2 + row[j], 0));
  const residual = (i, j) => joint2[i][j] - ofRow[i] * ofColumn[j];
  const texts = {
    residual: (i, j) => points(residual(i, j)),
    joint: (i, j) => percent(joint2[i][j]),
    row: (i, j) => ofRow[i] > 0 ? percent(joint2[i][j] / ofRow[i]) : "–",
    fitted: (i, j) => percent(fitted[i][j])
  };
  const [rows, columns] = [ofRow, ofColumn].map(commonest);
  const furthest = most(rows.flatMap((i) => columns.map((j) => Math.abs(residual(i, j)))));
  const cell = (i, j) => {
    const td = make(
      "td",
      { title: `${percent(joint2[i][j])}, ${percent(ofRow[i] * ofColumn[j])} if independent, ${points(residual(i, j))} points` },
      texts[what](i, j)
    );
    td.style.background = tint(residual(i, j), furthest);
    return td;
  };
  const source = isObserved ? `observed in ${plural(total, "row")} that show both` : "as fitted";
  const isCut = rows.length < down.labels.length || columns.length < across.labels.length;
  return [
    make("h3", {}, `${down.name} and ${across.name}`),
    make(
      "p",
      {},
      `${WHAT[what]}, ${source}${isCut ? `, for the ${MOST_LABELS} most common labels` : ""}. Normalised mutual information ${dependence}. Colours show `,
      make("span", { class: "swatch more" }, "more"),
      " and ",
      make("span", { class: "swatch less" }, "less"),
      " than if the two were independent."
    ),
    make(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": `Table of ${down.name} and ${across.name}` },
      make(
        "table",
        { class: "pair" },
        make("thead", {}, make("tr", {}, make("td", { class: "corner" }, `${down.name} ↓ ${across.name} →`), columns.map((j) => make("th", { scope: "col" }, across.labels[j])))),
        make("tbody", {}, rows.map(
          (i) => make("tr", {}, make("th", { scope: "row" }, down.labels[i]), columns.map((j) => cell(i, j)))
        ))
      )
    )
  ];
}
function commonest(shares) {
  const places = shares.map((_, place) => place);
  if (places.length <= MOST_LABELS) return places;
  return places.sort((a, b) => shares[b] - shares[a]).slice(0, MOST_LABELS).sort((a, b) => a - b);
}
var inDigits = (value) => value === null ? "never together" : value.toFixed(3);
var sharesOf = (text) => [...new Uint16Array(bytesOf(text))].map((code) => code === 65535 ? null : code / 65534);
function squared(above, size) {
  const matrix = Array.from({ length: size }, () => (
    /** @type {(number | null)[]} */
    Array(size).fill(1)
  ));
  let place = 0;
  for (let a = 0; a < size; a++) {
    for (let b = a + 1; b < size; b++) matrix[a][b] = matrix[b][a] = above[place++];
  }
  return matrix;
}
var WHAT = {
  residual: "Percentage points above or below independence",
  joint: "Joint shares",
  row: "Shares within each row",
  fitted: "Joint shares"
};
function themeText(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
function themeColours(...names) {
  return names.map((name) => [1, 3, 5].map((i) => parseInt(themeText(name).slice(i, i + 2), 16)));
}
function blend(colours, share) {
  const place = Math.min(1, Math.max(0, share)) * (colours.length - 1);
  const first = Math.min(colours.length - 2, Math.floor(place));
  const mixed = colours[first].map((c, i) => Math.round(c + (colours[first + 1][i] - c) * (place - first)));
  return `rgb(${mixed.join(" ")})`;
}

// src/forest.js
var [THINNEST, WIDEST, REACH] = [1.2, 9, 18];
var MARGIN = 6;
var HINT = "Point at a line to read it, click it for its table.";
var ForestView = class {
  /** @type {Map<EdgeFacts, SVGElement>} */
  #lines = /* @__PURE__ */ new Map();
  /**
   * @param {ForestFacts} facts
   * @param {Variable[]} variables
   * @param {(a: number, b: number) => void} choose shows the table of a pair
   */
  constructor(facts2, variables2, choose) {
    this.facts = facts2;
    this.variables = variables2;
    this.choose = choose;
    byId("forest").hidden = false;
    byId("forest-about").textContent = this.#about();
    byId("edges").replaceChildren(...facts2.edges.map((edge) => this.#item(edge)));
    if (facts2.layout) {
      byId("forest-drawing").replaceChildren(this.#drawing(facts2.layout));
      byId("forest-edge").textContent = HINT;
    } else byId("forest-drawing").parentElement?.remove();
  }
  #about() {
    const { n_blocks: nBlocks, fitted_blocks: nFitted, weight, layout } = this.facts;
    const here = nBlocks < nFitted ? `, and the smaller model of this page ${number(nBlocks)}` : "";
    const heaviest = nBlocks > 1 ? ` This is the forest of the heaviest${here && " of this page"}, with ${percent(weight)} of all rows.` : "";
    const only = nBlocks === 1 ? " This is the forest of that one." : "";
    const whose = nFitted > 1 ? `The model has ${plural(nFitted, "block")} of classes, each with its own forest${here}.${heaviest}${only}` : "All classes share this forest.";
    const widths = layout ? " A wider line means more mutual information of its two variables under the whole model." : "";
    return `${whose} Within a class, variables depend on each other only along its lines.${widths}`;
  }
  /** @param {number} n */
  #name(n) {
    return this.variables[n]?.name ?? "a hidden node";
  }
  /** @param {EdgeFacts} edge */
  #words({ a, b, information, share }) {
    const names = `${this.#name(a)} and ${this.#name(b)}`;
    if (information === null || share === null) return names;
    return `${names}: ${number(information, 3)} nats, ${number(share, 3)} from 0 to 1`;
  }
  /** @param {EdgeFacts} edge */
  #isSeen({ a, b }) {
    return Math.max(a, b) < this.variables.length;
  }
  /** @param {EdgeFacts} edge */
  #item(edge) {
    const names = `${this.#name(edge.a)} and ${this.#name(edge.b)}`;
    if (!this.#isSeen(edge)) return make("li", {}, names);
    const [enter, leave] = [() => this.#point(edge), () => this.#point(null)];
    const listeners = { onclick: () => this.choose(edge.a, edge.b), onfocus: enter, onblur: leave, onpointerenter: enter, onpointerleave: leave };
    const value = make("span", {}, number(edge.information, 3));
    return make("li", {}, make("div", { class: "entry" }, make("button", { class: "link", ...listeners }, names), " ", value));
  }
  /**
   * Mark an edge and say what it is; null marks none.
   *
   * @param {EdgeFacts | null} edge
   */
  #point(edge) {
    for (const [other, line] of this.#lines) line.classList.toggle("pointed", other === edge);
    if (this.facts.layout) byId("forest-edge").textContent = edge ? this.#words(edge) : HINT;
  }
  /** @param {NonNullable<ForestFacts["layout"]>} layout */
  #drawing({ size, height, nodes }) {
    const most2 = this.facts.edges[0]?.information || 1;
    const [width, tall] = size.map((length) => length + 2 * MARGIN);
    const svg = makeSvg(
      "svg",
      {
        class: "tree",
        viewBox: `${-MARGIN} ${-MARGIN} ${width} ${tall}`,
        width,
        height: tall,
        role: "img",
        "aria-label": "Drawing of the forest; the list of edges gives the same"
      },
      this.facts.edges.map((edge) => {
        const [[x1, y1], [x2, y2]] = [nodes[edge.a].centre, nodes[edge.b].centre];
        const line = { x1, y1, x2, y2 };
        const wide = THINNEST + (WIDEST - THINNEST) * Math.sqrt((edge.information ?? 0) / most2);
        const group = makeSvg(
          "g",
          { class: "edge" },
          makeSvg("line", { ...line, class: "drawn", "stroke-width": wide.toFixed(2) }),
          // A thin line is hard to hit.
          makeSvg("line", { ...line, class: "reach", "stroke-width": REACH })
        );
        group.addEventListener("pointerenter", () => this.#point(edge));
        group.addEventListener("pointerleave", () => this.#point(null));
        group.addEventListener("click", () => {
          this.#point(edge);
          if (this.#isSeen(edge)) this.choose(edge.a, edge.b);
        });
        this.#lines.set(edge, group);
        return group;
      }),
      nodes.map(({ name, centre: [x, y], width: box }, n) => {
        if (!name) return makeSvg("circle", { class: "hidden-node", cx: x, cy: y, r: box / 2 });
        return makeSvg(
          "g",
          { class: "node" },
          makeSvg("rect", { x: x - box / 2, y: y - height / 2, width: box, height, rx: height / 2 }),
          makeSvg("text", { x, y: y + 4, "text-anchor": "middle" }, name),
          makeSvg("title", {}, this.#name(n))
        );
      })
    );
    return svg;
  }
};

// src/law.js
var EVERYTHING2 = [null, null];
var Law = class {
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
  constructor(facts2, pieces) {
    const n = (pieces.length - 1) / 2;
    this.#bounds = pieces.subarray(0, n + 1);
    this.#masses = pieces.subarray(n + 1);
    for (const mass of this.#masses) this.#before.push(this.#before[this.#before.length - 1] + mass);
    this.isGrid = facts2.decimals !== null;
    this.#stride = facts2.stride;
    this.error = facts2.error;
    this.cuts = facts2.cuts.map((cut, i) => cut ?? (i ? Infinity : -Infinity));
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
    let [low, high] = [0, this.#masses.length];
    while (low < high) {
      const middle = low + high >> 1;
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
      const middle = low + high >> 1;
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
  below(probabilities, position, ends2 = EVERYTHING2) {
    let sum2 = 0;
    for (let code = 0; code < this.nIntervals && this.cuts[code] < position; code++) {
      const [low, high] = [ends2[0] ?? -Infinity, Math.min(ends2[1] ?? Infinity, position)];
      const room = this.weight(code, ends2);
      if (room > 0 && high > low) sum2 += probabilities[code] * Math.max(this.weight(code, [ends2[0], high]), 0) / room;
    }
    return sum2;
  }
  /**
   * The position that a share of the distribution does not exceed, of numbers that lie in a range.
   *
   * @param {Float64Array | number[]} probabilities of the intervals; what is missing is not counted
   * @param {number} level
   * @param {Ends} [ends]
   */
  quantile(probabilities, level, ends2 = EVERYTHING2) {
    const codes = [...this.cuts.keys()].slice(0, -1).filter((code) => probabilities[code] > 0);
    const total = codes.reduce((sum2, code) => sum2 + probabilities[code], 0);
    let before = 0;
    for (const code of codes) {
      const share = probabilities[code] / total;
      if (before + share >= level || code === codes[codes.length - 1]) {
        const within = Math.min(Math.max((level - before) / share, 0), 1);
        const first = ends2[0] === null ? 0 : this.#share(code, ends2[0]);
        const [low, room] = [this.#levels[code], this.#levels[code + 1] - this.#levels[code]];
        const position = this.#at(low + (first + within * this.weight(code, ends2)) * room);
        const most2 = Math.min(this.cuts[code + 1], ends2[1] ?? Infinity);
        const inside = this.isGrid ? Math.min(position, most2 - 1) : Math.min(position, most2);
        const least = Math.max(this.cuts[code], ends2[0] ?? -Infinity);
        return room > 0 ? this.#placed(Math.max(inside, least), least, most2) : position;
      }
      before += share;
    }
    return NaN;
  }
};

// src/number_text.js
var DAY = 86400n * 10n ** 9n;
var NANOSECONDS = { D: DAY, s: 10n ** 9n, ms: 10n ** 6n, us: 1000n, ns: 1n };
var DATE = /^\s*(\d{4})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?\s*(Z?))?\s*$/;
var DECIMAL = /^\s*([+-]?)(\d*)(?:\.(\d*))?\s*$/;
var CLOCK = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];
function decimalStep(least) {
  const size = 10 ** Math.floor(Math.log10(least));
  return ([1, 2, 5].find((factor) => factor * size >= least) ?? 10) * size;
}
var floorDivide = (a, b) => a < 0n && a % b !== 0n ? a / b - 1n : a / b;
var NumberText = class {
  #facts;
  #origin;
  /** @param {NumberFacts} facts */
  constructor(facts2) {
    this.#facts = facts2;
    this.#origin = BigInt(facts2.origin);
  }
  /** @param {number} position */
  #multiple(position) {
    return BigInt(position) + this.#origin;
  }
  /**
   * The number of a position as text that can be read back.
   *
   * @param {number} position
   */
  exact(position) {
    const { decimals, calendar } = this.#facts;
    if (decimals === null) return String(position);
    const multiple = this.#multiple(position);
    if (calendar) return dateOf(multiple, calendar);
    if (decimals === 0) return String(multiple);
    const digits = String(multiple < 0n ? -multiple : multiple).padStart(decimals + 1, "0");
    const text = `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`.replace(/\.?0+$/, "");
    return multiple < 0n ? `-${text}` : text;
  }
  /**
   * The same to six digits, with a true minus sign.
   *
   * @param {number} position
   */
  short(position) {
    const text = this.#facts.decimals === null ? String(Number(position.toPrecision(6))) : this.exact(position);
    return this.#facts.calendar ? text : text.replace("-", "−");
  }
  /**
   * A place between positions, as a float.
   *
   * @param {number} position
   */
  float(position) {
    const { decimals } = this.#facts;
    return decimals === null ? position : (position + Number(this.#origin)) / 10 ** decimals;
  }
  /**
   * The nearest position of a float.
   *
   * @param {number} value
   */
  nearest(value) {
    const { decimals } = this.#facts;
    return decimals === null ? value : Math.round(value * 10 ** decimals - Number(this.#origin));
  }
  /**
   * The lowest position of the numbers that are at least a number in text; null if it is none.
   *
   * @param {string} text
   */
  read(text) {
    const { decimals, calendar } = this.#facts;
    if (calendar) {
      const date = nanosecondsOf(text, calendar);
      return date === null ? null : this.#atLeast(-floorDivide(-date, NANOSECONDS[calendar.unit]));
    }
    const value = text.trim() === "" ? NaN : Number(text.replace("−", "-"));
    if (!Number.isFinite(value)) return null;
    if (decimals === null) return value;
    const plain = text.replace("−", "-");
    const parts = DECIMAL.exec(plain) ?? DECIMAL.exec(value.toLocaleString("en-US", { useGrouping: false, maximumFractionDigits: 20 }));
    if (!parts) return null;
    const [sign, whole, fraction] = [parts[1], parts[2] || "0", parts[3] ?? ""];
    const kept = BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, "0"));
    const isCut = /[1-9]/.test(fraction.slice(decimals));
    return this.#atLeast(sign === "-" ? -kept : kept + (isCut ? 1n : 0n));
  }
  /** @param {bigint} multiple */
  #atLeast(multiple) {
    const whole = multiple - this.#origin;
    const position = Number(whole);
    return BigInt(position) <= whole ? position : position - 2 ** (Math.floor(Math.log2(Math.abs(position))) - 52);
  }
  /** What may be typed. */
  get kind() {
    return this.#facts.calendar ? "a date" : "a number";
  }
  /** How dates are written, as a sentence; nothing for numbers. */
  get hint() {
    const { calendar } = this.#facts;
    if (!calendar) return "";
    return ` Write dates like 2024-03-01${calendar.unit === "D" ? "" : ", and times like 2024-03-01 12:30"}.`;
  }
  /**
   * The lowest step that is easy to read and not below a number: of dates and times whole seconds, minutes, hours or days.
   *
   * @param {number} least
   */
  step(least) {
    const { calendar } = this.#facts;
    if (!calendar) return decimalStep(least);
    const second = 1e9 / Number(NANOSECONDS[calendar.unit]);
    if (least < second) return decimalStep(least);
    const ofClock = CLOCK.find((seconds) => seconds * second >= least);
    return ofClock ? ofClock * second : decimalStep(least / (86400 * second)) * 86400 * second;
  }
};
var padded = (n, length) => String(n).padStart(length, "0");
function dateOf(number2, { unit, zone }) {
  const nanoseconds = number2 * NANOSECONDS[unit];
  const days = floorDivide(nanoseconds, DAY);
  const date = new Date(Number(days) * 864e5);
  if (Number.isNaN(date.getTime())) return String(number2);
  const day = `${padded(date.getUTCFullYear(), 4)}-${padded(date.getUTCMonth() + 1, 2)}-${padded(date.getUTCDate(), 2)}`;
  if (unit === "D") return day;
  const rest = nanoseconds - days * DAY;
  const seconds = rest / 10n ** 9n;
  const fraction = padded(rest % 10n ** 9n, 9).replace(/0+$/, "");
  const ends2 = `${fraction || seconds % 60n ? `:${padded(seconds % 60n, 2)}` : ""}${fraction ? `.${fraction}` : ""}`;
  const time = `${padded(seconds / 3600n, 2)}:${padded(seconds / 60n % 60n, 2)}${ends2}`;
  if (zone) return `${day} ${time}Z`;
  return time === "00:00" ? day : `${day} ${time}`;
}
function nanosecondsOf(text, { zone }) {
  const parts = DATE.exec(text);
  if (!parts || parts[8] === "Z" && zone === null) return null;
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map((part) => Number(part ?? 0));
  const date = /* @__PURE__ */ new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || hour > 23 || minute > 59 || second > 59) return null;
  const seconds = BigInt(date.getTime()) / 1000n + BigInt(hour * 3600 + minute * 60 + second);
  return seconds * 10n ** 9n + BigInt((parts[7] ?? "").padEnd(9, "0"));
}

// src/pairs.js
async function inflate(text, size) {
  const stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("deflate"));
  const planes = new Uint8Array(await new Response(stream).arrayBuffer());
  const [count, bytes] = [planes.length / size, new Uint8Array(planes.length)];
  for (let i = 0; i < count; i++) for (let byte = 0; byte < size; byte++) bytes[i * size + byte] = planes[byte * count + i];
  return bytes.buffer;
}
var TYPES = {
  u4: (bytes) => Float64Array.from(new Uint32Array(bytes)),
  f4: (bytes) => Float64Array.from(new Float32Array(bytes)),
  u2: (bytes) => Float64Array.from(new Uint16Array(bytes), logarithm)
};
var Pairs = class _Pairs {
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
  constructor(cardinalities2) {
    this.#cardinalities = cardinalities2;
  }
  /**
   * @param {number[]} cardinalities
   * @param {PackedPairs} packed
   */
  static async of(cardinalities2, { counts, fitted, intervals, apart }) {
    const pairs2 = new _Pairs(cardinalities2);
    pairs2.#counts = await pairs2.#read(counts, 1);
    pairs2.#fitted = await pairs2.#read(fitted, 1);
    pairs2.#ends = await pairs2.#read(intervals, 4);
    pairs2.#apart = apart ? new Uint8Array(await inflate(apart, 1)) : null;
    return pairs2;
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
    const starts2 = /* @__PURE__ */ new Map();
    let start = 0;
    for (const pair of packed.pairs) {
      starts2.set(pair, start);
      start += sizes[pair];
    }
    return { numbers, starts: starts2 };
  }
  /**
   * The number of a pair of variables a < b, in the order of Python's combinations.
   *
   * @param {number} a
   * @param {number} b
   */
  #number(a, b) {
    return a * this.#cardinalities.length - a * (a + 1) / 2 + b - a - 1;
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
    if (!tables || start === void 0) return null;
    const [height, width] = [this.#cardinalities[first], this.#cardinalities[second]];
    const begin = start + which * height * width;
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
};

// src/classes.js
function showClasses({ profiles, n_classes: nClasses, shown_weight: shownWeight, compressed }, { blocks }) {
  const notes = [];
  if (blocks.some(({ parents }) => parents.some((parent) => parent >= 0))) {
    byId("within-a-class").textContent = "within a class a variable depends only on its neighbours in a forest";
  }
  if (compressed) {
    notes.push(
      `The model is a mean of many fits. Its ${plural(compressed.rank, "class", "classes")} have little meaning one by one. Shown are the classes of the nearest model with ${nClasses}, which is ${number(compressed.loss, 3)} nats a row away${compressed.standard_error ? ` (standard error ${number(compressed.standard_error, 2)})` : ""}.`
    );
  }
  if (profiles.length < nClasses) {
    notes.push(`The ${profiles.length} largest of ${plural(nClasses, "class", "classes")}, together ${percent(shownWeight)} of all rows.`);
  }
  byId("classes-notes").replaceChildren(...notes.map((note) => make("p", {}, note)));
  byId("class-cards").replaceChildren(...profiles.map(card));
}
function card({ weight, traits }, index) {
  const head = make("h3", {}, `Class ${index + 1}`, make("span", { class: "weight" }, percent(weight)));
  const share = make("span");
  share.style.width = `${100 * weight}%`;
  return make(
    "article",
    { class: "card" },
    head,
    make("div", { class: "meter", "aria-hidden": "true" }, share),
    traits.length === 0 ? make("p", {}, "Much like all rows.") : make("ul", { class: "traits" }, traits.map(traitItem))
  );
}
function traitItem({ variable, label, share, overall, lift }) {
  const [here, everywhere] = [make("span", { class: "here" }), make("span", { class: "overall" })];
  here.style.width = `${100 * share}%`;
  everywhere.style.left = `${100 * overall}%`;
  return make(
    "li",
    {},
    make("span", { class: "what" }, make("b", {}, variable), " ", label),
    make("span", { class: "twin", "aria-hidden": "true" }, here, everywhere),
    make("span", { class: "how" }, `${percent(share)} here, ${percent(overall)} of all, ×${number(lift, lift < 10 ? 2 : 3)}`)
  );
}

// src/fit.js
function showFit(fit, model) {
  const isMean = fit !== null && (fit.n_draws > 0 || fit.n_members > 1);
  const size = [
    ["variables", number(model.n_variables)],
    ["classes", number(model.fitted_rank)],
    // The number of parameters says nothing about how flexible a mean of many fits is.
    ["free parameters", isMean ? null : number(model.n_parameters)],
    ["blocks", model.fitted_blocks > 1 ? number(model.fitted_blocks) : null],
    ["classes of this page", model.rank < model.fitted_rank ? aboutPage(model) : null],
    ["blocks of this page", model.blocks.length < model.fitted_blocks ? number(model.blocks.length) : null],
    ["numbers of this page", model.bits < 64 ? aboutNumbers(model) : null]
  ];
  if (!fit) {
    byId("fit-facts").replaceChildren(factList(size), make("p", {}, "The model does not say how it was fitted."));
    return;
  }
  byId("fit-facts").replaceChildren(factList([...size, ...entries(fit)]));
  byId("fit-warnings").replaceChildren(...warnings(fit.warnings));
  byId("fit-charts").replaceChildren(...[rankPath(fit), trace(fit), starts(fit)].filter((chart) => chart !== null));
}
var standardError = (error) => error ? ` (standard error ${number(error, 2)})` : "";
function aboutPage({ rank, loss, standard_error: error, pair_difference: difference }) {
  return `${number(rank)}, the nearest model with that many: ${number(loss, 3)} nats a row from the fitted one${standardError(error)}, tables of two variables differ by at most ${number(difference, 2)}`;
}
function aboutNumbers({ bits, rank, fitted_rank: fittedRank, loss, pair_difference: difference }) {
  const rounded = `rounded to ${bits === 32 ? "seven" : "three"} digits, to keep the page small`;
  if (rank < fittedRank) return rounded;
  return `${rounded}: ${number(loss, 2)} nats a row from the fitted model, tables of two variables differ by at most ${number(difference, 2)}`;
}
function entries(fit) {
  const perRow = typeof fit.log_likelihood === "number" && fit.n_rows ? fit.log_likelihood / fit.n_rows : null;
  const chosen = fit.rank_path.find((step) => step.rank === fit.chosen_rank && step.score !== null);
  return [
    ["method", fit.method],
    ["why", fit.why],
    ["rows", number(fit.n_rows)],
    ["distinct rows", fit.n_distinct === null ? null : number(fit.n_distinct)],
    ["mean of", fit.n_draws ? plural(fit.n_draws, "draw") : fit.n_members > 1 ? plural(fit.n_members, "fit") : null],
    ["log-likelihood", fit.log_likelihood === null ? null : `${number(fit.log_likelihood, 8)} nats`],
    ["a row", perRow === null ? null : `${number(perRow, 5)} nats`],
    ["held-out score", chosen && `${number(chosen.score, 5)}${fit.chosen_by ? ` (${fit.chosen_by})` : ""}`],
    ["AIC", fit.aic === null ? null : number(fit.aic, 8)],
    ["BIC", fit.bic === null ? null : number(fit.bic, 8)],
    ["smoothing", fit.n_draws ? null : number(fit.smoothing)],
    ["iterations", number(fit.n_iter)],
    ["stopped", fit.stopped],
    [fit.n_draws ? "chains" : "starts", number(fit.starts.length)],
    ["target", fit.target],
    ["searched in", fit.n_searched === null ? null : plural(fit.n_searched, "row")],
    // fields of the record that are shown as they are
    ...Object.entries(fit.diagnostics),
    ["rho", fit.rho === null ? null : number(fit.rho)],
    ...fit.compressed.map(
      ({ rank, loss, standard_error: error }) => (
        /** @type {[string, string]} */
        [
          "compressed",
          `from ${number(rank)} classes, ${number(loss, 3)} nats a row away${standardError(error)}`
        ]
      )
    ),
    ["seed", number(fit.seed)],
    ...Object.entries(fit.mixing).map(
      ([name, [rhat, ess]]) => (
        /** @type {[string, string]} */
        [
          `mixing of ${name}`,
          `R̂ ${number(rhat, 4)}, effective size ${number(ess, 4)}${name === "log-likelihood" ? ", for comparison only: classes trade places" : ""}`
        ]
      )
    )
  ];
}
function warnings(texts) {
  if (!texts.length) return [make("p", {}, "The fit gave no warnings.")];
  return [make("h3", {}, "Warnings"), make("ul", { class: "warnings" }, texts.map((text) => make("li", {}, text)))];
}
function figure(caption, chart, table) {
  return make("figure", {}, make("figcaption", {}, caption), chart, make("details", {}, make("summary", {}, "as a table"), table));
}
function aboutChoice({ rank_path: path, chosen_rank: rank }) {
  if (rank === null) return "";
  const tried = path.flatMap(({ score, ...step }) => score === null ? [] : [{ ...step, score }]);
  const chosen = tried.find((step) => step.rank === rank);
  if (!chosen) return `; rank ${number(rank)} was chosen`;
  const best = tried.reduce((one, other) => other.score > one.score ? other : one);
  if (best.score > chosen.score) {
    const full = best.rank > rank && best.n_occupied <= chosen.n_occupied ? ", without more classes in use" : "";
    return `; rank ${number(rank)} was chosen, though rank ${number(best.rank)} scored ${number(best.score - chosen.score, 2)} more${full}`;
  }
  const isLast = tried.every((step) => step.rank <= rank);
  const end = isLast ? "It is the largest tried, so more classes might score higher still" : "No larger rank tried scored higher";
  return `; rank ${number(rank)} was chosen. ${end}`;
}
function rankPath(fit) {
  const points2 = fit.rank_path.flatMap(({ rank, score }) => score === null ? [] : [
    /** @type {Point} */
    [rank, score]
  ]);
  if (points2.length < 2) return null;
  return figure(
    `Rank path: the score of every rank tried${aboutChoice(fit)}`,
    lineChart({
      title: "Held-out score against rank",
      xLabel: "rank",
      yLabel: "score",
      points: points2.sort((a, b) => a[0] - b[0]),
      marked: fit.chosen_rank
    }),
    dataTable("Rank path", ["rank", "score", "occupied classes"], fit.rank_path.map((step) => [
      number(step.rank),
      step.score === null ? "impossible" : number(step.score, 6),
      number(step.n_occupied)
    ]))
  );
}
function numbered(values) {
  const known = values.filter((value) => value !== null);
  if (known.length < 3 || known.length < values.length) return null;
  return known.map((value, i) => (
    /** @type {Point} */
    [i + 1, value]
  ));
}
function trace(fit) {
  const points2 = numbered(fit.trace);
  if (points2 === null) return null;
  const step = Math.max(1, Math.floor(points2.length / 20));
  return figure(
    "Objective along the best start",
    lineChart({ title: "Objective against step", xLabel: "step", yLabel: "objective", points: points2 }),
    dataTable(
      "Objective along the best start",
      ["step", "objective"],
      points2.filter((_, i) => i % step === 0).map(([i, value]) => [number(i), number(value, 9)])
    )
  );
}
function starts(fit) {
  const points2 = numbered(fit.starts);
  if (points2 === null) return null;
  const sorted = points2.map(([, value]) => value).sort((a, b) => a - b);
  return figure(
    "What every start reached",
    lineChart({
      title: "Objective of every start, sorted",
      xLabel: "start, sorted",
      yLabel: "objective",
      points: sorted.map((value, i) => [i + 1, value])
    }),
    dataTable("What every start reached", ["start", "objective"], points2.map(([i, value]) => [number(i), number(value, 9)]))
  );
}

// src/compared_pairs.js
var PAIRS_SHOWN = 20;
var [MOST_ROUNDS, CLOSE] = [200, 1e-6];
var gap = (value) => value === null ? "–" : percent(value);
var excess = ({ distance, noise }) => distance === null || noise === null ? -1 : distance - noise;
function comparePairs(observed, variables2, joint2, carried) {
  const byName = new Map(variables2.map((variable) => [variable.name, variable]));
  const detail = make("div", {});
  const shown = observed.pairs.filter((pair) => excess(pair) > 0).slice(0, PAIRS_SHOWN);
  if (!shown.length) {
    const words2 = observed.pairs.length ? "No pair is further from the model than chance explains." : "No row shows two variables.";
    return [make("h3", {}, "Every pair"), make("p", {}, words2)];
  }
  const countsOf = ({ variables: names }) => {
    const [a, b] = [byName.get(names[0]), byName.get(names[1])];
    const counts = a && b ? carried.counts(a.position, b.position) : null;
    return a && b && counts ? { a, b, counts } : null;
  };
  const show = (pair) => {
    const found = countsOf(pair);
    if (!found) return;
    const { a, b, counts } = found;
    const fitted = carried.fitted(a.position, b.position) ?? joint2.pair(a.position, b.position);
    detail.replaceChildren(differenceTable(a, b, counts, pair.is_adjusted ? adjusted(fitted, counts) : fitted));
  };
  const first = shown.find(countsOf);
  if (first) show(first);
  const rest = observed.n_pairs > shown.length ? ` (${shown.length} of ${plural(observed.n_pairs, "pair")} further off than chance)` : "";
  const words = shown.some((pair) => pair.is_adjusted) ? "Rows that show both variables may differ from all rows. Where some rows do not, the fitted table is first adjusted to the labels of those that do, so that a gap is not one of missing cells." : "";
  return [
    make("h3", {}, "Every pair"),
    make("p", {}, words),
    make(
      "div",
      { class: "columns" },
      dataTable(
        `Observed and fitted tables of two variables${rest}, the largest gap beyond chance first`,
        ["pair", "rows", "gap", "of chance"],
        shown.map((pair) => {
          const name = pair.variables.join(" and ");
          const open2 = countsOf(pair) === null ? name : make("button", { class: "link", onclick: () => show(pair) }, name);
          return [open2, number(pair.n), gap(pair.distance), gap(pair.noise)];
        })
      ),
      detail
    )
  ];
}
function adjusted(fitted, counts) {
  const total = counts.flat().reduce((sum2, n) => sum2 + n, 0);
  const rows = (table2) => table2.map((row) => row.reduce((sum2, p) => sum2 + p, 0));
  const turned = (table2) => table2[0].map((_, j) => table2.map((row) => row[j]));
  const scaled = (table2, wanted) => {
    const sums = rows(table2);
    return table2.map((row, i) => row.map((p) => sums[i] > 0 ? p * wanted[i] / sums[i] : 0));
  };
  const shares = counts.map((row) => row.map((n) => n / total));
  const [wantedRows, wantedColumns] = [rows(shares), rows(turned(shares))];
  let table = fitted;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    table = turned(scaled(turned(table), wantedColumns));
    const apart = most(rows(table).map((sum2, i) => Math.abs(sum2 - wantedRows[i])));
    table = scaled(table, wantedRows);
    if (apart <= CLOSE) break;
  }
  return table;
}
function differenceTable(a, b, counts, fitted) {
  const total = counts.flat().reduce((sum2, n) => sum2 + n, 0);
  const differences = counts.map((row, i) => row.map((n, j) => n / total - fitted[i][j]));
  const furthest = most(differences.flat().map(Math.abs));
  return dataTable(
    `${a.name} and ${b.name}: points that the observed share is above the fitted one`,
    [`${a.name} ↓ ${b.name} →`, ...b.labels],
    a.labels.map((label, i) => [
      label,
      ...b.labels.map((_, j) => {
        const title = `${number(counts[i][j])} rows, ${percent(counts[i][j] / total)}; fitted ${percent(fitted[i][j])}`;
        const cell = make("span", { class: "tinted", title }, points(differences[i][j]));
        cell.style.background = tint(differences[i][j], furthest);
        return cell;
      })
    ]),
    "matrix"
  );
}

// src/observed.js
var CELLS_SHOWN = 4;
var SURPRISING = 0.1;
function showObserved(observed, variables2, joint2, carried, fit) {
  byId("observed-facts").replaceChildren(...caution(observed, fit), ...wholeRows(observed));
  byId("observed-together").replaceChildren(...together(observed));
  byId("observed-wrong").replaceChildren(...wrongAnswers(observed));
  byId("observed-marginals").replaceChildren(...marginals(observed, variables2));
  byId("observed-pairs").replaceChildren(...comparePairs(observed, variables2, joint2, carried));
  byId("observed-rows").replaceChildren(...unusual(observed, variables2));
  byId("observed-calibration").replaceChildren(...calibrations(observed));
  byId("observed").classList.add("filled");
}
function caution(observed, fit) {
  if (observed.source === "fit") {
    const words2 = "The model keeps the counts of the rows that it was fitted to, and is compared with them here, which flatters it. A report with data also judges single rows: juror report MODEL DATA.";
    return [make("p", { class: "notice" }, words2)];
  }
  if (fit === null || observed.n_rows !== fit.n_rows) return [];
  const words = "These are as many rows as the model was fitted to. If they are the same rows, what follows flatters the model: judge it by rows that it has not seen.";
  return [make("p", { class: "notice" }, words)];
}
function together({ together: { n_never: never, n_seldom: seldom, pairs: named } }) {
  const head = make("h3", {}, "Never asked together");
  if (never + seldom === 0) {
    return [head, make("p", {}, "Every two variables are seen together in at least a tenth of the rows that show one of them.")];
  }
  const pairsAre = (n) => `${plural(n, "pair")} of variables ${n === 1 ? "is" : "are"}`;
  const found = [
    ...never ? [`${pairsAre(never)} in no row together.`] : [],
    ...seldom ? [`${pairsAre(seldom)} together in fewer than a tenth of the rows that show one of the two.`] : []
  ];
  const words = `${found.join(" ")} This is about missing cells, not about the model: what it says about these pairs comes from what both have in common with other variables.`;
  const table = dataTable(
    `Pairs that are seldom seen together${named.length < never + seldom ? `, the first ${named.length}` : ""}`,
    ["pair", "rows with both", "of the rows with one"],
    named.map(({ variables: names, n, share }) => [names.join(" and "), number(n), percent(share)])
  );
  return [head, make("p", {}, words), table];
}
function wrongAnswers({ check: { n_cells: nCells, n_well: nWell, n_off: nOff, n_pairs_off: nPairsOff, questions } }) {
  const head = make("h3", {}, "Where the model is wrong");
  if (!nCells) return [head, make("p", {}, "There are too few rows to tell.")];
  const well = `Of ${plural(nCells, "share")} of a label given a label of another variable that enough rows show, the model reproduces ${number(nWell)} well.`;
  if (!questions.length) return [head, make("p", {}, `${well} No answer differs from its share by more than chance would.`)];
  const off = nOff ? ` ${plural(nOff, "question")} about labels or ranges ${nOff === 1 ? "is" : "are"} off by more than ten points, or five where all rows agree, in ${plural(nPairsOff, "pair")} of variables.` : " No question about labels or ranges is off by more than ten points and more than rare chance.";
  const table = dataTable(
    "Answers that differ from the share of the rows by more than chance would, the worst of each pair of variables",
    ["question", "model", "rows say", "points apart", "rows"],
    questions.map(({ question: question2, probability, share, rows }) => [
      question2,
      percent(probability),
      percent(share),
      points(share - probability),
      number(rows)
    ])
  );
  return [head, make("p", {}, well + off), table];
}
function wholeRows(observed) {
  if (observed.is_sampled === null) return [factList([["rows", number(observed.n_rows)]])];
  const nats = (value) => value === null ? "−∞: some rows are impossible" : `${number(value, 5)} nats`;
  return [
    factList([
      ["rows", number(observed.n_rows)],
      ["judged one by one", observed.is_sampled ? `${number(observed.n_rows_judged)}, drawn at random` : "all of them"],
      ["impossible rows", observed.n_impossible ? number(observed.n_impossible) : null],
      ["mean log-probability", nats(observed.mean_log_prob)],
      ["if all were independent", nats(observed.mean_log_prob_independent)],
      ["if all rows were equally likely", nats(observed.mean_log_prob_uniform)]
    ])
  ];
}
var NOISE = "A gap is half the sum of the differences between observed and fitted shares. Beside it is the gap that chance alone would give in as many rows if the model were true. Rows that the model was fitted to give smaller gaps than that.";
function marginals({ marginals: known, missing }, variables2) {
  if (known === null || missing === null) return [];
  const detail = make("div", {});
  const show = (n) => detail.replaceChildren(labelTable(known[n], variables2[n]));
  const order = known.map((_, n) => n).sort((a, b) => excess(known[b]) - excess(known[a]));
  show(order[0]);
  return [
    make("h3", {}, "Every variable"),
    make("p", {}, NOISE),
    make(
      "div",
      { class: "columns" },
      dataTable(
        "Observed and fitted marginals, the largest gap beyond chance first",
        ["variable", "missing", "gap", "of chance"],
        order.map((n) => {
          const { variable, distance, noise } = known[n];
          const open2 = make("button", { class: "link", onclick: () => show(n) }, variable);
          return [open2, percent(missing[n]), gap(distance), gap(noise)];
        })
      ),
      detail
    )
  ];
}
function labelTable({ variable, counts, observed, fitted }, { labels }) {
  if (observed === null) return make("p", {}, `No row shows ${variable}.`);
  return dataTable(
    variable,
    ["label", "rows", "observed", "fitted", "points apart"],
    labels.map((label, i) => [label, number(counts[i]), percent(observed[i]), percent(fitted[i]), points(observed[i] - fitted[i])])
  );
}
function unusual(observed, variables2) {
  if (observed.unusual === null || observed.marginals === null) return [];
  const usual = observed.marginals.map(({ fitted }) => fitted.reduce((sum2, p) => sum2 + p * p, 0));
  const rows = observed.unusual.filter(({ impossible, surprise }) => impossible || (surprise ?? 0) > 0);
  if (!rows.length) return [make("h3", {}, "The most unusual rows"), make("p", {}, "No row is less probable than usual.")];
  const several = rows.some(({ file }) => file !== null);
  return [
    make("h3", {}, "The most unusual rows"),
    make(
      "p",
      {},
      "Surprise says how many nats less probable a row is than the average row with the same cells seen. The most surprising cells are listed with their probability given the rest of the row. They are marked where it is less than a tenth of what is usual for the variable. Rows are numbered from 0, below the names of the columns."
    ),
    dataTable(
      "Unusual rows, the most unusual first",
      ["row", ...several ? ["file"] : [], "surprise", "draws as improbable", "surprising cells"],
      rows.map((row) => [
        number(row.row),
        ...several ? [row.file] : [],
        row.impossible ? "impossible" : `${number(row.surprise, 3)} nats`,
        row.as_improbable === 0 ? "none" : percent(row.as_improbable),
        surprisingCells(row, variables2, usual)
      ])
    )
  ];
}
function surprisingCells({ cells, cell_probabilities: probabilities }, variables2, usual) {
  const seen = cells.flatMap((label, n) => {
    if (label === null) return [];
    const p = probabilities[n];
    const known2 = { codes: [variables2[n].labels.indexOf(label)], weights: null, ends: null };
    const text = inWords(variables2[n], known2) + (p === null ? "" : ` (${percent(p)})`);
    return [{ text, ratio: p === null ? Infinity : p / usual[n] }];
  });
  const known = seen.filter(({ ratio }) => ratio < Infinity);
  const oddest = known.sort((a, b) => a.ratio - b.ratio).slice(0, CELLS_SHOWN);
  return make(
    "div",
    { class: "row-cells" },
    oddest.map(({ text, ratio }) => make("span", { class: ratio < SURPRISING ? "cell surprising" : "cell" }, text)),
    make("details", {}, make("summary", {}, "the whole row"), seen.map(({ text }) => text).join(", "))
  );
}
function calibrations({ calibration, marginals: alone, n_rows_calibrated: nRows }) {
  if (calibration === null || alone === null || nRows === null) return [];
  const known = calibration.filter((one) => one !== null);
  const unknown = alone.filter((_, n) => calibration[n] === null).map(({ variable }) => variable);
  const missed = unknown.length ? `No row judged shows ${unknown.join(", ")}, so predictions of it cannot be checked.` : "";
  if (!known.length) return [make("h3", {}, "Do predictions come true"), make("p", {}, missed)];
  const impossible = most(known.map((one) => one.n_impossible));
  const left = impossible ? ` Rows that are impossible under the model are left out, up to ${number(impossible)}.` : "";
  const order = [...known].sort((a, b) => b.error - b.noise - (a.error - a.noise));
  const chart = make("figure", {});
  const show = (one) => chart.replaceChildren(
    make("figcaption", {}, `${one.target}: observed against predicted, for ${plural(one.n_rows, "row")}`),
    calibrationChart(`Calibration of ${one.target}`, one.predicted, one.observed, one.weight)
  );
  show(order[0]);
  const nats = (value) => value === null ? "∞" : number(value, 3);
  return [
    make("h3", {}, "Do predictions come true"),
    make(
      "p",
      {},
      `Every variable is predicted from the other cells of ${plural(nRows, "row")}. A label that is predicted with probability p should be there in a share p of the rows. The error is the mean distance from that; beside it is the error that chance alone would give. Hits and loss are compared with those of always predicting the marginal.${left} ${missed}`
    ),
    make(
      "div",
      { class: "columns" },
      dataTable(
        "Predictions of every variable, the largest error beyond chance first",
        ["variable", "hits", "by marginal", "loss, nats", "by marginal", "error", "of chance"],
        order.map((one) => [
          make("button", { class: "link", onclick: () => show(one) }, one.target),
          percent(one.accuracy),
          percent(one.reference_accuracy),
          nats(one.log_loss),
          nats(one.reference_log_loss),
          percent(one.error),
          percent(one.noise)
        ])
      ),
      chart
    )
  ];
}

// src/main.js
var facts = JSON.parse(byId("facts").textContent ?? "");
var canInflate = "DecompressionStream" in window;
var variables = await Promise.all(facts.variables.map(async (variable, position) => {
  const { number: number2 } = variable;
  const law = number2 && canInflate ? new Law(number2, new Float64Array(await inflate(number2.pieces, 8))) : null;
  return { ...variable, position, law, text: number2 && new NumberText(number2) };
}));
if (!canInflate) {
  byId("message").textContent = facts.model.bits === 16 ? "This browser cannot unpack the model. Use one of 2023 or later, or a report of fewer classes." : "This browser cannot unpack the rows, the intervals and the histograms of this page, which are left out. Use one of 2023 or later.";
}
var cardinalities = variables.map(({ labels }) => labels.length);
var joint = await Joint.of(cardinalities, facts.model);
var pairs = canInflate ? await Pairs.of(cardinalities, facts.pairs) : new Pairs(cardinalities);
var singles = facts.observed?.marginals?.map(({ counts }) => counts) ?? null;
var explorer = new Explorer(variables, new Answers(variables, joint, pairs, { singles, worth: facts.pairs.worth }), facts);
showClasses(facts.classes, facts.model);
showFit(facts.fit, facts.model);
if (facts.observed) showObserved(facts.observed, variables, joint, pairs, facts.fit);
else byId("tab-observed").hidden = true;
var map = null;
function showMap() {
  if (map) return;
  const shown = map = new DependenceMap(facts.dependence, variables, joint, pairs);
  if (facts.forest) new ForestView(facts.forest, variables, (a, b) => shown.choose(a, b));
}
var tabs = (
  /** @type {HTMLElement[]} */
  [...document.querySelectorAll('[role="tab"]')]
);
function open(tab) {
  for (const other of tabs) {
    other.setAttribute("aria-selected", String(other === tab));
    other.tabIndex = other === tab ? 0 : -1;
    byId(other.getAttribute("aria-controls") ?? "").hidden = other !== tab;
  }
  if (tab.id === "tab-dependence") showMap();
}
for (const tab of tabs) {
  tab.addEventListener("click", () => open(tab));
  tab.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const shown = tabs.filter((other) => !other.hidden);
    const next = shown[(shown.indexOf(tab) + step + shown.length) % shown.length];
    next.focus();
    open(next);
  });
}
open(tabs[0]);
addEventListener("keydown", (event) => {
  if (byId("explorer").hidden) return;
  const search = byId("search");
  const isTyping = event.target instanceof Element && event.target.matches("input, select, textarea");
  if (event.key === "/" && !isTyping) {
    event.preventDefault();
    search.focus();
  } else if (event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !isTyping) {
    event.preventDefault();
    explorer.undo();
  } else if (event.key === "Escape" && event.target === search) {
    search.value = "";
    search.dispatchEvent(new Event("input"));
  }
});
var root = document.documentElement;
var systemIsDark = matchMedia("(prefers-color-scheme: dark)");
var isChosen = false;
function setTheme(isDark) {
  root.dataset.theme = isDark ? "dark" : "light";
  map?.draw();
}
setTheme(systemIsDark.matches);
systemIsDark.addEventListener("change", (event) => isChosen || setTheme(event.matches));
byId("theme").addEventListener("click", () => {
  isChosen = true;
  setTheme(root.dataset.theme === "light");
});
var wasDark = false;
addEventListener("beforeprint", () => {
  showMap();
  wasDark = root.dataset.theme === "dark";
  setTheme(false);
});
addEventListener("afterprint", () => setTheme(wasDark));
root.dataset.ready = "";
