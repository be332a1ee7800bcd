// The panel of a number: its histogram, its median and spread in words, and boxes to type a range into.

/** @import { Known, NumberFacts, Variable } from "./types" */
/** @import { Backing } from "./answers.js" */
/** @import { Explorer } from "./explorer.js" */
/** @import { Ends, Law } from "./law.js" */
/** @import { NumberText } from "./number_text.js" */
/** @import { Room } from "./panel.js" */

import { make } from "./dom.js";
import { endsOf } from "./evidence.js";
import { Histogram } from "./histogram.js";
import { HEIGHT } from "./histogram_picture.js";
import { linesOf } from "./labels.js";
import { jensenShannon } from "./model.js";
import { Bar, movedMark, ROWS, sayBacking, showMoved, WIDTHS } from "./panel.js";

/** @typedef {Variable & { law: Law, text: NumberText, number: NumberFacts }} NumberVariable */

// In quarters of a rem: the line of words below a histogram, and the row of boxes.
const [WORDS, BOXES] = [5.4, 9];

export class NumberPanel {
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
  constructor(variable, marginal, explorer) {
    this.variable = variable;
    this.marginal = marginal;
    this.hasBacking = explorer.hasBacking;
    this.#histogram = new Histogram(variable, marginal, {
      range: (ends) => explorer.chooseRange(variable, ends),
      interval: (code, several) => explorer.choose(variable, code, several),
      point: (words) => this.#say(words),
    });
    const last = variable.labels.length - 1;
    this.#missing = variable.n_ordered <= last ? new Bar(variable, last, variable.labels[last] || "(empty)", marginal[last], explorer) : null;
    if (this.#missing) this.#missing.button.tabIndex = 0;
    this.range = new NumberRange(variable, explorer, () => this.#fit());
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
      this.hasBacking ? this.#backing : null,
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
    const name = ROWS.head + ROWS.nameLine * this.#nameLines();
    const missing = this.#missing ? ROWS.bar + 1 : 0;
    const rest = WORDS + missing + (this.range.isOpen ? BOXES : 0) + (this.hasBacking ? ROWS.backing : 0);
    const rows = Math.ceil(name + (4 * HEIGHT) / rem + rest);
    if (rows !== this.#rows) this.element.style.setProperty("--rows", String((this.#rows = rows)));
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
    const outside = 1 - inside.reduce((sum, p) => sum + p, 0);
    return jensenShannon([...codes.map((code) => probabilities[code]), 0], [...inside, Math.max(outside, 0)]);
  }

  /** @param {string | null} words about what is pointed at, or null */
  #say(words) {
    const text = words ?? this.#histogram.spread;
    if (this.#words.textContent !== text) this.#words.textContent = text;
    this.#words.classList.toggle("pointed", words !== null);
  }

  /** Other panels mark bars that are drawn over. */
  outline() {}
}

/** Two boxes to type the ends of a range into. */
class NumberRange {
  #from;
  #below;

  /**
   * @param {NumberVariable} variable
   * @param {Explorer} explorer
   * @param {() => void} onOpened
   */
  constructor(variable, explorer, onOpened) {
    this.variable = variable;
    const { name, text } = variable;
    /** @param {string} word */
    const box = (word) =>
      make("input", { "aria-label": `${name} ${word}`, placeholder: text.kind, autocomplete: "off", onchange: () => this.#take(explorer) });
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
        },
      },
      "range",
    );
  }

  get isOpen() {
    return !this.element.hidden;
  }

  /** @param {Explorer} explorer */
  #take(explorer) {
    /** @type {Ends} */
    const ends = [null, null];
    for (const [which, box] of [this.#from, this.#below].entries()) {
      const position = box.value.trim() === "" ? null : this.variable.text.read(box.value);
      const isWrong = position === null && box.value.trim() !== "";
      box.setAttribute("aria-invalid", String(isWrong));
      if (isWrong) {
        explorer.say(`“${box.value}” is not ${this.variable.text.kind} of ${this.variable.name}.${this.variable.text.hint}`);
        return;
      }
      ends[which] = position;
    }
    const [from, below] = ends;
    // What was typed stays: to move a range, one of its boxes must be changed first.
    if (from !== null && below !== null && from >= below) {
      this.#doubt();
      explorer.say(`The range of ${this.variable.name} from ${this.#from.value} to below ${this.#below.value} is empty. Change the other box too.`);
    } else if (!explorer.chooseRange(this.variable, ends)) this.#doubt();
  }

  #doubt() {
    for (const box of [this.#from, this.#below]) box.setAttribute("aria-invalid", "true");
  }

  /** @param {Known | null} known */
  show(known) {
    const ends = (known && endsOf(this.variable, known)) ?? [null, null];
    [this.#from, this.#below].forEach((box, which) => {
      const end = ends[which];
      box.value = end === null ? "" : this.variable.text.exact(end);
      box.removeAttribute("aria-invalid");
    });
  }
}
