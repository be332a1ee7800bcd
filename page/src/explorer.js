// The explorer: one panel for each variable. A click on a bar or a range of a number is evidence, and all others move.

/** @import { Evidence, Facts, Variable } from "./types" */
/** @import { Answer, Answers } from "./answers.js" */
/** @import { Ends } from "./law.js" */

import { partsOff } from "./answers.js";
import { byId, make, number, percent, plural } from "./dom.js";
import { askLine, clicked, fromFragment, inWords, question, same, span, toFragment, withCodes, withRange } from "./evidence.js";
import { NumberPanel } from "./number_panel.js";
import { Panel } from "./panel.js";

/** @typedef {{ variable: Variable, from: number, to: number }} Drag a range that is being drawn */

export class Explorer {
  /** @type {Evidence} */
  #evidence = new Map();
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
  constructor(variables, answers, { file, fit, model, observed, pairs }) {
    this.variables = variables;
    this.answers = answers;
    this.file = file;
    this.nRows = fit?.n_rows ?? null;
    this.isCounted = observed !== null;
    this.isSmaller = model.rank < model.fitted_rank;
    // Panels have a line for rows, and for how far a smaller model is off.
    this.hasBacking = this.isCounted || this.isSmaller;
    byId("explorer").classList.toggle("counted", this.isCounted);
    byId("share-legend").hidden = byId("rows-legend").hidden = !this.isCounted;
    byId("share-of").textContent = observed?.source === "data" ? "rows of the data" : "rows that the model was fitted to";
    byId("whisker-legend").hidden = pairs.level === null;
    byId("whisker-expected").hidden = !pairs.is_expected;
    byId("whisker-level").textContent = percent(pairs.level ?? 0);
    const answer = /** @type {Answer} */ (answers.given(this.#evidence));
    this.panels = variables.map((variable) => {
      const { law, text, number: facts } = variable;
      const marginal = answer.marginals[variable.position];
      return law && text && facts ? new NumberPanel({ ...variable, law, text, number: facts }, marginal, this) : new Panel(variable, marginal, this);
    });
    byId("panels").append(...this.panels.map((panel) => panel.element));
    byId("asked").append(...variables.map(({ name, position }) => make("option", { value: position }, name)));
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
      this.know(new Map());
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
    // Both numbers come from the margins and paddings of bars.
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
  chooseRange(variable, ends) {
    if (ends[0] === null && ends[1] === null) return this.chooseCodes(variable, []);
    return this.know(withRange(this.#evidence, variable, ends));
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
    // The pointer may have gone up outside the window.
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
  #show({ marginals, logProbability, backing }) {
    for (const panel of this.panels) {
      const n = panel.variable.position;
      panel.show(marginals[n], this.#evidence.get(n) ?? null, backing[n]);
    }
    // Without shares the bars take their room.
    byId("explorer").classList.toggle("with-shares", backing.some(({ shares }) => shares !== null));
    byId("undo").disabled = this.#past.length === 0;
    byId("reset").disabled = this.#evidence.size === 0;
    this.#writeFragment();
    say("");
    this.#showSentence(logProbability);
    byId("limits").textContent = this.#limits(marginals);
    this.#arrange();
    this.#showAskLine();
  }

  /**
   * What the page does not know with several conditions, or with ranges that end inside intervals.
   *
   * @param {Answer["marginals"]} marginals
   */
  #limits(marginals) {
    const parts = [...this.#evidence].map(([n, known]) => partsOff(this.variables[n], known, marginals[n]));
    return [this.#manyConditions(), ...parts].filter(Boolean).join(" ");
  }

  #manyConditions() {
    if (this.#evidence.size < 2) return "";
    const rows = this.isCounted ? ["Rows and shares are known for one condition only."] : [];
    const smaller = this.isSmaller
      ? ["With several conditions the bars are those of the page's smaller model; the line to copy asks the fitted one."]
      : [];
    return [...rows, ...smaller].join(" ");
  }

  /** @param {number} logProbability */
  #showSentence(logProbability) {
    if (this.#evidence.size === 0) {
      byId("sentence").replaceChildren("Nothing is given. Click a bar, or drag over a histogram, to say what you know, and all others move.");
      return;
    }
    const parts = [...this.#evidence].map(([n, known]) =>
      make(
        "button",
        {
          class: "chip",
          title: "Clear this",
          onclick: (event) => {
            this.chooseCodes(this.variables[n], []);
            keepFocus(event);
          },
        },
        inWords(this.variables[n], known),
      ),
    );
    const probability = Math.exp(logProbability);
    // Below the smallest double there is still the logarithm to show.
    const small = probability > 1e-300 ? `${number(100 * probability, 3)} %` : `e^${number(logProbability, 5)}`;
    const share = probability < 1e-4 ? small : percent(probability);
    byId("sentence").replaceChildren(
      "Given that ",
      ...parts.flatMap((part, i) => (i ? [" and ", part] : [part])),
      ", which holds with probability ",
      make("strong", { id: "probability", "data-probability": probability, "data-log-probability": logProbability }, share),
      this.#inRows(probability),
      ".",
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
    const moved = (free.length ? free : this.panels).reduce((best, panel) => (panel.moved > best.moved ? panel : best));
    const target = wanted === "" ? moved.variable : this.variables[Number(wanted)];
    byId("ask-line").textContent = askLine(this.file, question(target, this.#evidence, this.variables));
  }

  /** Put panels in the chosen order and hide those that the search does not find. */
  #arrange() {
    const words = byId("search").value.trim().toLowerCase();
    const ordered = [...this.panels].sort(ORDERS[/** @type {keyof ORDERS} */ (byId("sort").value)]);
    const focused = document.activeElement;
    const places = byId("panels");
    if (ordered.some((panel, i) => places.children[i] !== panel.element)) {
      places.append(...ordered.map((panel) => panel.element));
      // An element that is moved loses the focus.
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
      // Some browsers forbid this in frames, or limit how often it may be done. The button still gives the link.
    }
  }
}

const FEW_ROWS = 10;
// The share of a row of bars that labels may take; style.css has the same.
const LABELS = { plain: 0.42, counted: 0.34 };

// In a notebook the page has no address of its own, so there is no link to copy.
const HAS_ADDRESS = location.protocol !== "about:";

/** @satisfies {Record<string, (a: Panel | NumberPanel, b: Panel | NumberPanel) => number>} */
const ORDERS = {
  table: (a, b) => a.variable.position - b.variable.position,
  moved: (a, b) =>
    Number(b.isGiven) - Number(a.isGiven) || b.moved - a.moved || a.variable.position - b.variable.position,
  name: (a, b) => a.variable.name.localeCompare(b.variable.name),
};

/**
 * A key may remove the element that has the focus. The focus then moves to the next one.
 *
 * @param {MouseEvent} event
 */
function keepFocus(event) {
  if (event.detail !== 0) return;
  const chip = /** @type {HTMLElement | null} */ (byId("sentence").querySelector(".chip"));
  (chip ?? byId("search")).focus();
}

/**
 * Show a message, which screen readers also read aloud.
 *
 * @param {string} text
 */
function say(text) {
  byId("message").textContent = text;
}

/**
 * Show a message for some seconds.
 *
 * @param {string} text
 */
function sayBriefly(text) {
  say(text);
  setTimeout(() => byId("message").textContent === text && say(""), 4000);
}

/**
 * @param {string} text
 * @param {string} what
 */
async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    sayBriefly(`${what} is on the clipboard.`);
  } catch {
    say(`This browser does not let the page use the clipboard. ${what} to copy by hand: ${text}`);
  }
}
