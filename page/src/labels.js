// Names and labels in little room: how many lines they take, and how they are cut so that no two look the same.

/** @typedef {(text: string) => boolean} Fits whether a text fits into its place */

const MARK = "…";

/**
 * Names or labels of one list, those that do not fit cut in the middle. What is cut stays different from all others.
 *
 * @param {string[]} texts
 * @param {Fits} fits
 */
export function cutApart(texts, fits) {
  const cut = texts.map((text) => (fits(text) ? text : withMiddleCut(text, fits)));
  /**
   * Cut those of some texts anew that look the same.
   *
   * @param {number[]} places
   */
  const separate = (places) => {
    /** @type {Map<string, number[]>} */
    const alike = new Map();
    for (const i of places) alike.set(cut[i], [...(alike.get(cut[i]) ?? []), i]);
    for (const group of alike.values()) {
      const whole = group.map((i) => texts[i]);
      if (new Set(whole).size === 1) continue;
      for (const i of group) cut[i] = aroundDifference(texts[i], whole, fits);
      // The first letter in which they differ is shown, so that fewer are left each time.
      separate(group);
    }
  };
  separate(texts.map((_, i) => i));
  return cut;
}

/**
 * The most letters of both ends that fit, two of the end for three of the beginning.
 *
 * @param {string} text
 * @param {Fits} fits
 */
function withMiddleCut(text, fits) {
  const letters = [...text];
  for (let kept = letters.length - 1; kept > 1; kept--) {
    const tail = Math.floor((2 * kept) / 5);
    const cut = letters.slice(0, kept - tail).join("").trimEnd() + MARK + letters.slice(letters.length - tail).join("").trimStart();
    if (fits(cut)) return cut;
  }
  return MARK;
}

/**
 * A few letters of the beginning, and what follows from where a text first differs from each of the others.
 *
 * @param {string} text
 * @param {string[]} others
 * @param {Fits} fits
 */
function aroundDifference(text, others, fits) {
  const letters = [...text];
  const first = Math.min(...others.filter((other) => other !== text).map((other) => sharedLength(letters, [...other])));
  for (let end = letters.length; end > first; end--) {
    const cut = letters.slice(0, 3).join("") + MARK + letters.slice(first, end).join("") + (end < letters.length ? MARK : "");
    if (fits(cut)) return cut;
  }
  // Nothing shorter is different: the place itself has to give way.
  return letters.slice(0, first + 1).join("") + MARK;
}

/**
 * @param {string[]} one
 * @param {string[]} other
 */
function sharedLength(one, other) {
  let shared = 0;
  while (shared < one.length && one[shared] === other[shared]) shared++;
  return shared;
}

const pen = document.createElement("canvas").getContext("2d");

/** @param {string} font */
const sizeOf = (font) => parseFloat(/[\d.]+(?=px)/.exec(font)?.[0] ?? "16");

/**
 * The width of a text in pixels.
 *
 * @param {string} text
 * @param {string} font as in a style sheet
 */
export function widthOf(text, font) {
  if (!pen) return 0.6 * sizeOf(font) * text.length;
  pen.font = font;
  return pen.measureText(text).width;
}

/**
 * How many lines a text takes that is broken between words and, where a word is too long, anywhere.
 *
 * @param {string} text
 * @param {string} font
 * @param {number} width in pixels
 */
export function linesOf(text, font, width) {
  // No letter is wider than twice the size of its font.
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
