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

/** "at least 18", "below 65" or "18 to below 65" for intervals, else "from low to med". */
function rangeInWords(variable, { low, high }) {
  // where an interval is a single number two edges are equal, and only its label says which of them is meant
  if (variable.edges && new Set(variable.edges).size === variable.edges.length) {
    if (low === null) return `below ${variable.edges[high + 1]}`;
    return high === null ? `at least ${variable.edges[low]}` : `${variable.edges[low]} to below ${variable.edges[high + 1]}`;
  }
  if (low === null) return `at most ${variable.labels[high]}`;
  return high === null ? `at least ${variable.labels[low]}` : `from ${variable.labels[low]} to ${variable.labels[high]}`;
}

/** A condition in words: "Class is 1st or 2nd", "age is at least 18". */
export function inWords(variable, codes) {
  const label = (code) => variable.labels[code];
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
    const low = range.low === null ? [] : [`${name} >= ${label(range.low)}`];
    return range.high === null ? low : [...low, `${name} <= ${label(range.high)}`];
  }
  return [codes.length === 1 ? `${name} = ${label(codes[0])}` : `${name} in {${codes.map(label).join(", ")}}`];
}

/** A name or label as the language reads it: a word, or anything between quotes. */
function term(text) {
  const isWord = /^[^\s,|=<>!{}"'\\]+$/.test(text) && !/^(not|in)$/i.test(text);
  return isWord ? text : `"${text.replace(/["\\]/g, "\\$&")}"`;
}

/** A line for a shell. */
export function askLine(file, text) {
  return `juror ask ${/^[\w./@%+:][\w./@%+:-]*$/.test(file) ? file : quoted(file)} ${quoted(text)}`;
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
  for (const [key, label] of new URLSearchParams(text.replace(/^#/, ""))) {
    if (!key.startsWith("given.")) continue;
    const variable = variables.find(({ name }) => name === key.slice("given.".length));
    const code = variable?.labels.indexOf(label) ?? -1;
    if (!variable) problems.push(`The link speaks of “${key.slice("given.".length)}”, which this model does not have.`);
    else if (code < 0) problems.push(`The link has ${variable.name} = “${label}”, which is not among its labels.`);
    else wanted.set(variable, [...new Set([...(wanted.get(variable) ?? []), code])]);
  }
  let evidence = new Map();
  for (const [variable, codes] of wanted) evidence = withCodes(evidence, variable, codes);
  return { evidence, problems };
}
