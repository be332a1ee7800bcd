// What is known, as a value: a Map from the position of a variable to the sorted codes that it may have. Nothing here
// changes a Map; each step returns a new one, so that undo needs no more than the old ones.

/** Evidence with a label clicked: alone, or with `several` in or out of the set. Clicking what is known clears it. */
export function clicked(evidence, variable, code, several) {
  const known = evidence.get(variable.position) ?? [];
  const isKnown = known.includes(code);
  if (!several) return withCodes(evidence, variable, isKnown && known.length === 1 ? [] : [code]);
  const codes = isKnown ? known.filter((other) => other !== code) : [...known, code];
  return withCodes(evidence, variable, codes);
}

/** Evidence with a variable known to lie among codes; to know that it has none of them or any is to know nothing. */
export function withCodes(evidence, variable, codes) {
  const next = new Map(evidence);
  if (codes.length === 0 || codes.length === variable.labels.length) next.delete(variable.position);
  else next.set(variable.position, [...codes].sort((a, b) => a - b));
  return next;
}

export function span(from, to) {
  const [low, high] = from <= to ? [from, to] : [to, from];
  return Array.from({ length: high - low + 1 }, (_, i) => low + i);
}

export function same(one, other) {
  return toFragment(one, null) === toFragment(other, null);
}

/** A set of an ordered variable that has no gap, as its ends; null for any other. */
function rangeOf(variable, codes) {
  const [low, high] = [codes[0], codes.at(-1)];
  if (variable.kind === "nominal" || codes.length < 2 || high - low + 1 !== codes.length) return null;
  return { low: low > 0 ? low : null, high: high < variable.labels.length - 1 ? high : null };
}

/** Whether the edges of intervals tell them apart; where an interval is a single number two edges are equal. */
const hasEdges = ({ edges }) => edges !== null && new Set(edges).size === edges.length;

/** "at least 18", "below 65" or "18 to below 65" for intervals, else "from low to med". */
function rangeInWords(variable, { low, high }) {
  if (hasEdges(variable)) {
    const edge = (place) => Number(variable.edges[place].toPrecision(6));
    if (low === null) return `below ${edge(high + 1)}`;
    return high === null ? `at least ${edge(low)}` : `${edge(low)} to below ${edge(high + 1)}`;
  }
  if (low === null) return `at most ${variable.labels[high]}`;
  return high === null ? `at least ${variable.labels[low]}` : `from ${variable.labels[low]} to ${variable.labels[high]}`;
}

/** A condition in words: "Class is 1st or 2nd", "age is at least 18". */
export function inWords(variable, codes) {
  const label = (code) => variable.labels[code] || "(empty)";
  const range = rangeOf(variable, codes);
  if (range) return `${variable.name} is ${rangeInWords(variable, range)}`;
  if (codes.length > 1 && codes.length === variable.labels.length - 1) {
    return `${variable.name} is not ${label(variable.labels.findIndex((_, code) => !codes.includes(code)))}`;
  }
  const names = codes.map(label);
  return `${variable.name} is ${names.length < 2 ? names[0] : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`}`;
}

/** A question in the language of `juror ask`. */
export function question(target, evidence, variables) {
  const conditions = [...evidence].flatMap(([n, codes]) => conditionsOf(variables[n], codes));
  return term(target.name) + (conditions.length ? ` | ${conditions.join(", ")}` : "");
}

function conditionsOf(variable, codes) {
  const name = term(variable.name);
  const label = (code) => term(variable.labels[code]);
  const range = rangeOf(variable, codes);
  if (range) {
    const isCut = hasEdges(variable);
    const low = range.low === null ? [] : [`${name} >= ${isCut ? variable.edges[range.low] : label(range.low)}`];
    if (range.high === null) return low;
    return [...low, isCut ? `${name} < ${variable.edges[range.high + 1]}` : `${name} <= ${label(range.high)}`];
  }
  return [codes.length === 1 ? `${name} = ${label(codes[0])}` : `${name} in {${codes.map(label).join(", ")}}`];
}

/** A name or label as the language reads it: a plain word, or anything between quotes. */
function term(text) {
  const isWord = /^[\p{L}\p{N}_][\p{L}\p{N}_.:/%+-]*$/u.test(text) && !/^(not|in)$/i.test(text);
  return isWord ? text : `"${text.replace(/["\\]/g, "\\$&")}"`;
}

/** A line for a shell. */
export function askLine(file, text) {
  const path = file.startsWith("-") ? `./${file}` : file;
  return `juror ask ${/^[\w./@%+:-]+$/.test(path) ? path : quoted(path)} ${quoted(text)}`;
}

function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Evidence as the fragment of a link: `given.Sex=Female&given.Class=1st&given.Class=2nd`. */
export function toFragment(evidence, variables) {
  const words = new URLSearchParams();
  for (const [n, codes] of evidence) {
    for (const code of codes) {
      words.append(`given.${variables ? variables[n].name : n}`, variables ? variables[n].labels[code] : code);
    }
  }
  return words.toString();
}

/** Read a fragment: the evidence, and a sentence for every part of it that this model does not know. */
export function fromFragment(text, variables) {
  const [wanted, problems] = [new Map(), []];
  // mail programs write & as &amp;
  for (const [key, label] of new URLSearchParams(text.replace(/^#/, "").replaceAll("&amp;", "&"))) {
    const name = key.startsWith("given.") ? key.slice("given.".length) : null;
    const variable = variables.find((one) => one.name === name);
    const code = variable?.labels.indexOf(label) ?? -1;
    if (name === null) problems.push(`The link has “${key}”, which is not understood; it may have been cut.`);
    else if (!variable) problems.push(`The link speaks of “${name}”, which this model does not have.`);
    else if (code < 0) problems.push(`The link has ${name} = “${label}”, which is not among its labels.`);
    else wanted.set(variable, [...new Set([...(wanted.get(variable) ?? []), code])]);
  }
  let evidence = new Map();
  for (const [variable, codes] of wanted) evidence = withCodes(evidence, variable, codes);
  return { evidence, problems };
}
