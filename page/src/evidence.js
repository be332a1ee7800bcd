// Evidence as a value. No function here changes a Map; each returns a new one, so that undo only needs the old ones.

/** @import { Evidence, Variable } from "./types" */

/** @typedef {{ low: number | null, high: number | null }} Ends codes of the ends of a range; null where it has no end */

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
  const known = evidence.get(variable.position) ?? [];
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
  else next.set(variable.position, [...codes].sort((a, b) => a - b));
  return next;
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
 * @returns {Ends | null}
 */
function rangeOf(variable, codes) {
  const [low, high] = [codes[0], codes[codes.length - 1]];
  const last = variable.n_ordered - 1;
  if (codes.length < 2 || high - low + 1 !== codes.length || high > last || codes.length > last) return null;
  return { low: low > 0 ? low : null, high: high < last ? high : null };
}

/**
 * The edges of intervals, null for other labels. An interval of a single number has two equal edges, which do not tell
 * it from its neighbour: that gives null too.
 *
 * @param {Variable} variable
 */
const edgesOf = ({ edges }) => (edges !== null && new Set(edges).size === edges.length ? edges : null);

/**
 * "at least 18", "below 65" or "18 to below 65" for intervals, else "from low to med".
 *
 * @param {Variable} variable
 * @param {Ends} ends
 */
function rangeInWords(variable, { low, high }) {
  const edges = edgesOf(variable);
  if (edges) {
    /** @param {number} place */
    const edge = (place) => Number(edges[place].toPrecision(6));
    if (low === null) return `below ${edge((high ?? 0) + 1)}`;
    return high === null ? `at least ${edge(low)}` : `${edge(low)} to below ${edge(high + 1)}`;
  }
  if (low === null) return `at most ${variable.labels[high ?? 0]}`;
  return high === null ? `at least ${variable.labels[low]}` : `from ${variable.labels[low]} to ${variable.labels[high]}`;
}

/**
 * A condition in words: "Class is 1st or 2nd", "age is at least 18".
 *
 * @param {Variable} variable
 * @param {number[]} codes
 */
export function inWords(variable, codes) {
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
  const conditions = [...evidence].flatMap(([n, codes]) => conditionsOf(variables[n], codes));
  return term(target.name) + (conditions.length ? ` | ${conditions.join(", ")}` : "");
}

/**
 * @param {Variable} variable
 * @param {number[]} codes
 */
function conditionsOf(variable, codes) {
  const name = term(variable.name);
  /** @param {number} code */
  const label = (code) => term(variable.labels[code]);
  const range = rangeOf(variable, codes);
  if (range) {
    const edges = edgesOf(variable);
    const low = range.low === null ? [] : [`${name} >= ${edges ? edges[range.low] : label(range.low)}`];
    if (range.high === null) return low;
    return [...low, edges ? `${name} < ${edges[range.high + 1]}` : `${name} <= ${label(range.high)}`];
  }
  return [codes.length === 1 ? `${name} = ${label(codes[0])}` : `${name} in {${codes.map(label).join(", ")}}`];
}

/**
 * A name or label as the query language reads it: a plain word, or any text in quotes.
 *
 * @param {string} text
 */
function term(text) {
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
 * Evidence as the fragment of a link: `given.Sex=Female&given.Class=1st&given.Class=2nd`.
 *
 * @param {Evidence} evidence
 * @param {Variable[]} variables
 */
export function toFragment(evidence, variables) {
  const words = new URLSearchParams();
  for (const [n, codes] of evidence) {
    for (const code of codes) words.append(`given.${variables[n].name}`, variables[n].labels[code]);
  }
  return words.toString();
}

/**
 * Read a fragment: the evidence, and a sentence for every part of it that this model does not know.
 *
 * @param {string} text
 * @param {Variable[]} variables
 */
export function fromFragment(text, variables) {
  /** @type {Map<Variable, number[]>} */
  const wanted = new Map();
  /** @type {string[]} */
  const problems = [];
  // Some mail programs write & as &amp;.
  for (const [key, label] of new URLSearchParams(text.replace(/^#/, "").replaceAll("&amp;", "&"))) {
    const name = key.startsWith("given.") ? key.slice("given.".length) : null;
    const variable = variables.find((one) => one.name === name);
    const code = variable?.labels.indexOf(label) ?? -1;
    if (name === null) problems.push(`The link has “${key}”, which is not understood. The link may have been cut.`);
    else if (!variable) problems.push(`The link names “${name}”, which this model does not have.`);
    else if (code < 0) problems.push(`The link has ${name} = “${label}”, which is not among its labels.`);
    else wanted.set(variable, [...new Set([...(wanted.get(variable) ?? []), code])]);
  }
  /** @type {Evidence} */
  let evidence = new Map();
  for (const [variable, codes] of wanted) evidence = withCodes(evidence, variable, codes);
  return { evidence, problems };
}
