// Evidence as a value. No function here changes a Map; each returns a new one, so that undo only needs the old ones.

/** @import { Evidence, Known, Variable } from "./types" */
/** @import { Ends } from "./law.js" */

/** @typedef {{ low: number | null, high: number | null }} Codes codes of the ends of a range; null where it has no end */

/**
 * Evidence after a click on a label. The label becomes the only one known; with `several` it joins or leaves the set.
 * A click on the only known label clears it.
 *
 * @param {Evidence} evidence
 * @param {Variable} variable
 * @param {number} code
 * @param {boolean} several
 */
export function clicked(evidence, variable, code, several) {
  const before = evidence.get(variable.position);
  // A range that ends inside intervals is no set of them.
  const known = before && before.weights === null ? before.codes : [];
  const isKnown = known.includes(code);
  if (!several) return withCodes(evidence, variable, isKnown && known.length === 1 ? [] : [code]);
  const codes = isKnown ? known.filter((other) => other !== code) : [...known, code];
  return withCodes(evidence, variable, codes);
}

/**
 * Evidence that a variable has one of some codes. No codes, or all of them, is no evidence.
 *
 * @param {Evidence} evidence
 * @param {Variable} variable
 * @param {number[]} codes
 * @returns {Evidence}
 */
export function withCodes(evidence, variable, codes) {
  const next = new Map(evidence);
  if (codes.length === 0 || codes.length === variable.labels.length) next.delete(variable.position);
  else next.set(variable.position, { codes: [...codes].sort((a, b) => a - b), weights: null, ends: null });
  return next;
}

/**
 * Evidence that a number lies in a range of positions. One that ends with intervals is a set of them.
 *
 * @param {Evidence} evidence
 * @param {Variable} variable whose law is known
 * @param {Ends} ends
 * @returns {Evidence}
 */
export function withRange(evidence, variable, ends) {
  const { law } = variable;
  if (law === null) return evidence;
  const shares = Array.from({ length: law.nIntervals }, (_, code) => law.weight(code, ends));
  const codes = [...shares.keys()].filter((code) => shares[code] > 0);
  const weights = codes.map((code) => shares[code]);
  if (codes.length && weights.every((weight) => weight === 1)) return withCodes(evidence, variable, codes);
  return new Map(evidence).set(variable.position, { codes, weights, ends });
}

/**
 * All codes between two, both included.
 *
 * @param {number} from
 * @param {number} to
 */
export function span(from, to) {
  const [low, high] = from <= to ? [from, to] : [to, from];
  return Array.from({ length: high - low + 1 }, (_, i) => low + i);
}

/**
 * @param {Evidence} one
 * @param {Evidence} other
 */
export function same(one, other) {
  return JSON.stringify([...one]) === JSON.stringify([...other]);
}

/**
 * The ends of a set of neighbouring codes of an ordered variable; null for any other set, and for all codes in order.
 *
 * @param {Variable} variable
 * @param {number[]} codes
 * @returns {Codes | null}
 */
function rangeOf(variable, codes) {
  const [low, high] = [codes[0], codes[codes.length - 1]];
  const last = variable.n_ordered - 1;
  const fewest = variable.number ? 1 : 2;
  if (codes.length < fewest || high - low + 1 !== codes.length || high > last || codes.length > last) return null;
  return { low: low > 0 ? low : null, high: high < last ? high : null };
}

/**
 * The positions between which a number is known to lie; null if it is not known to lie in one range.
 *
 * @param {Variable} variable
 * @param {Known} known
 * @returns {Ends | null}
 */
export function endsOf(variable, { codes, ends }) {
  if (ends || variable.number === null) return ends;
  const range = rangeOf(variable, codes);
  const { cuts } = variable.number;
  return range && [range.low === null ? null : cuts[range.low], range.high === null ? null : cuts[range.high + 1]];
}

/**
 * A range of numbers: `30 ≤ BMI < 35`, `age ≥ 18`, `hours = 40`.
 *
 * @param {Variable} variable
 * @param {Ends} ends
 */
export function rangeInSigns({ name, law, text }, [low, high]) {
  if (text === null) return name;
  if (low !== null && high !== null && law?.isGrid && high - low === 1) return `${name} = ${text.short(low)}`;
  if (low === null) return high === null ? name : `${name} < ${text.short(high)}`;
  return high === null ? `${name} ≥ ${text.short(low)}` : `${text.short(low)} ≤ ${name} < ${text.short(high)}`;
}

/**
 * "at least med", "at most med" or "from low to med".
 *
 * @param {Variable} variable
 * @param {Codes} range
 */
function rangeInWords(variable, { low, high }) {
  if (low === null) return `at most ${variable.labels[high ?? 0]}`;
  return high === null ? `at least ${variable.labels[low]}` : `from ${variable.labels[low]} to ${variable.labels[high]}`;
}

/**
 * A condition in words: "Class is 1st or 2nd", "18 ≤ age < 65".
 *
 * @param {Variable} variable
 * @param {Known} known
 */
export function inWords(variable, known) {
  const { codes } = known;
  const ends = endsOf(variable, known);
  if (ends) return rangeInSigns(variable, ends);
  /** @param {number} code */
  const label = (code) => variable.labels[code] || "(empty)";
  const range = rangeOf(variable, codes);
  if (range) return `${variable.name} is ${rangeInWords(variable, range)}`;
  if (codes.length > 1 && codes.length === variable.labels.length - 1) {
    return `${variable.name} is not ${label(variable.labels.findIndex((_, code) => !codes.includes(code)))}`;
  }
  const names = codes.map(label);
  return `${variable.name} is ${names.length < 2 ? names[0] : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`}`;
}

/**
 * A question in the language of `juror ask`.
 *
 * @param {Variable} target
 * @param {Evidence} evidence
 * @param {Variable[]} variables
 */
export function question(target, evidence, variables) {
  const conditions = [...evidence].flatMap(([n, known]) => conditionsOf(variables[n], known));
  return term(target.name) + (conditions.length ? ` | ${conditions.join(", ")}` : "");
}

/**
 * @param {Variable} variable
 * @param {Known} known
 */
function conditionsOf(variable, known) {
  const { codes } = known;
  const name = term(variable.name);
  const ends = endsOf(variable, known);
  if (ends && variable.text) {
    const [low, high] = ends.map((end) => (end === null ? null : term(/** @type {any} */ (variable.text).exact(end), true)));
    return [...(low === null ? [] : [`${name} >= ${low}`]), ...(high === null ? [] : [`${name} < ${high}`])];
  }
  /** @param {number} code */
  const label = (code) => term(variable.labels[code]);
  const range = rangeOf(variable, codes);
  if (range) {
    const low = range.low === null ? [] : [`${name} >= ${label(range.low)}`];
    return range.high === null ? low : [...low, `${name} <= ${label(range.high)}`];
  }
  return [codes.length === 1 ? `${name} = ${label(codes[0])}` : `${name} in {${codes.map(label).join(", ")}}`];
}

/**
 * A name or label as the query language reads it: a plain word, or any text in quotes. A number may be negative.
 *
 * @param {string} text
 * @param {boolean} [isNumber]
 */
function term(text, isNumber = false) {
  if (isNumber && /^-?[\d.]+(e[+-]?\d+)?$/.test(text)) return text;
  const isWord = /^[\p{L}\p{N}_][\p{L}\p{N}_.:/%+-]*$/u.test(text) && !/^(not|in)$/i.test(text);
  return isWord ? text : `"${text.replace(/["\\]/g, "\\$&")}"`;
}

/**
 * A line for a shell.
 *
 * @param {string} file
 * @param {string} text
 */
export function askLine(file, text) {
  const path = file.startsWith("-") ? `./${file}` : file;
  return `juror ask ${/^[\w./@%+:-]+$/.test(path) ? path : quoted(path)} ${quoted(text)}`;
}

/** @param {string} text */
function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * Evidence as the fragment of a link: `given.Sex=Female&given.Class=1st&given.Class=2nd&from.BMI=30&below.BMI=35`.
 *
 * @param {Evidence} evidence
 * @param {Variable[]} variables
 */
export function toFragment(evidence, variables) {
  const words = new URLSearchParams();
  for (const [n, { codes, ends }] of evidence) {
    const { name, labels, text } = variables[n];
    if (ends && text) {
      if (ends[0] !== null) words.append(`from.${name}`, text.exact(ends[0]));
      if (ends[1] !== null) words.append(`below.${name}`, text.exact(ends[1]));
    } else for (const code of codes) words.append(`given.${name}`, labels[code]);
  }
  return words.toString();
}

const PARTS = /^(given|from|below)\.(.*)$/s;

/**
 * Read a fragment: the evidence, and a sentence for every part of it that this model does not know.
 *
 * @param {string} text
 * @param {Variable[]} variables
 */
export function fromFragment(text, variables) {
  /** @type {Map<Variable, number[]>} */
  const wanted = new Map();
  /** @type {Map<Variable, Ends>} */
  const ranges = new Map();
  /** @type {string[]} */
  const problems = [];
  // Some mail programs write & as &amp;.
  for (const [key, label] of new URLSearchParams(text.replace(/^#/, "").replaceAll("&amp;", "&"))) {
    const [, part, name] = PARTS.exec(key) ?? [];
    const variable = variables.find((one) => one.name === name);
    if (name === undefined) problems.push(`The link has “${key}”, which is not understood. The link may have been cut.`);
    else if (!variable) problems.push(`The link names “${name}”, which this model does not have.`);
    else if (part === "given") {
      const code = variable.labels.indexOf(label);
      if (code < 0) problems.push(`The link has ${name} = “${label}”, which is not among its labels.`);
      else wanted.set(variable, [...new Set([...(wanted.get(variable) ?? []), code])]);
    } else {
      const position = variable.law && variable.text ? variable.text.read(label) : null;
      const [low, high] = ranges.get(variable) ?? [null, null];
      if (position === null) problems.push(`The link has “${label}” as an end of ${name}, which is no number of it.`);
      else ranges.set(variable, part === "from" ? [position, high] : [low, position]);
    }
  }
  /** @type {Evidence} */
  let evidence = new Map();
  for (const [variable, codes] of wanted) evidence = withCodes(evidence, variable, codes);
  for (const [variable, ends] of ranges) evidence = withRange(evidence, variable, ends);
  return { evidence, problems };
}
