// The panel of a variable: a bar for each label, and for an ordered variable a way to choose a range.

/** @import { Known, Variable } from "./types" */
/** @import { Backing } from "./answers.js" */
/** @import { Explorer } from "./explorer.js" */

import { make, most, percent, plural } from "./dom.js";
import { span } from "./evidence.js";
import { cutApart, linesOf } from "./labels.js";
import { jensenShannon } from "./model.js";

/** @typedef {{ panel: number, label: number, rem: number, family: string }} Room width of a panel and its labels */

// Heights in quarters of a rem: the head with the space below it, a bar, the row of a range, a further line of a name or
// of a label, the line of rows. And how many bars fit.
export const ROWS = { head: 16.6, bar: 5.9, range: 8.5, nameLine: 4.75, labelLine: 4.4, backing: 5, mostBars: 14 };
// Longer labels are cut in the middle.
const LONGEST_LABEL = 40;
// In rem: the sides of a panel, and what stands beside its name.
export const WIDTHS = { sides: 1.6, moved: 3.4, range: 3.2 };
// Many labels without an order are easier to scan by size.
const MANY_LABELS = 8;

/** The place in the head of a panel that says how far it moved. */
export const movedMark = () =>
  make("span", {
    class: "moved",
    title: "How far this panel moved: the Jensen–Shannon divergence from its marginal, in bits, 0 to 1",
  });

/**
 * @param {HTMLElement} mark
 * @param {number} moved
 */
export function showMoved(mark, moved) {
  mark.textContent = moved >= 0.005 ? `Δ ${moved.toFixed(2)}` : "";
}

/**
 * Say in the last line of a panel how many rows there are, and how far off the answer may be.
 *
 * @param {HTMLElement} line
 * @param {Backing} backing
 */
export function sayBacking(line, { rows, pointsOff }) {
  const counted = rows === null ? [] : [rows === 0 ? "no row shows both" : `shares of ${plural(rows, "row")}`];
  const off = pointsOff ? [`bars may be ${pointsOff === 255 ? "far" : plural(pointsOff, "point")} from the model's file`] : [];
  const text = [...counted, ...off].join("; ");
  if (line.textContent !== text) line.textContent = text;
}

/** The bars of one variable. */
export class Panel {
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
  constructor(variable, marginal, explorer) {
    this.variable = variable;
    this.hasBacking = explorer.hasBacking;
    this.marginal = marginal;
    this.#texts = cutApart(variable.labels, (text) => [...text].length <= LONGEST_LABEL).map((text) => text || "(empty)");
    this.#bars = this.#texts.map((text, code) => new Bar(variable, code, text, marginal[code], explorer));
    const bySize = variable.kind === "nominal" && variable.labels.length > MANY_LABELS;
    this.#inOrder = bySize ? [...this.#bars].sort((a, b) => marginal[b.code] - marginal[a.code]) : this.#bars;
    this.#inOrder[0].button.tabIndex = 0;
    const many = variable.labels.length > ROWS.mostBars ? ` ${variable.labels.length} labels` : "";
    this.#name = variable.name + many;
    const head = make("h3", { id: `v${variable.position}` }, variable.name, make("span", { class: "count" }, many));
    const bars = make(
      "div",
      {
        class: "bars",
        role: "group",
        "aria-labelledby": head.id,
        onkeydown: (event) => this.#move(event),
        onfocusin: (event) => this.#stopAt(event.target),
      },
      this.#inOrder.map((bar) => bar.button),
    );
    this.range = variable.kind === "nominal" || variable.labels.length < 3 ? null : new RangeChooser(variable, explorer, () => this.#fit());
    this.element = make(
      "section",
      { class: "panel", "aria-labelledby": head.id },
      make("header", {}, head, this.#movedText, this.range?.button ?? null),
      this.range?.element ?? null,
      bars,
      this.hasBacking ? this.#backing : null,
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
    const bars = ROWS.bar * this.#bars.length + ROWS.labelLine * this.#labelLines();
    const range = this.range?.isOpen ? ROWS.range : 0;
    const head = ROWS.head + ROWS.nameLine * this.#nameLines();
    const backing = this.hasBacking ? ROWS.backing : 0;
    const rows = Math.ceil(head + Math.min(bars, ROWS.bar * ROWS.mostBars) + range + backing);
    if (rows !== this.#rows) this.element.style.setProperty("--rows", String((this.#rows = rows)));
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
    /** @type {(text: string, code: number) => number} */
    const lines = (text, code) =>
      // A known label is bold and has a tick before it.
      this.#known.includes(code)
        ? linesOf(`✓ ${text}`, `650 ${0.85 * rem}px ${family}`, label)
        : linesOf(text, `${0.85 * rem}px ${family}`, label);
    return this.#texts.reduce((sum, text, code) => sum + lines(text, code) - 1, 0);
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
    // The bars, the ticks of the marginal and the ends of intervals have one scale.
    const largest = Math.max(most(probabilities), most(this.marginal), most(backing.ends?.high ?? []));
    this.#bars.forEach((bar, code) => bar.show(probabilities[code], largest, codes.includes(code), backing));
    sayBacking(this.#backing, backing);
    this.range?.show(known);
    if (this.isGiven && this.#bars.length > ROWS.mostBars) this.#scrollTo(this.#bars[codes[0]].button);
  }

  /**
   * Scroll a known bar into view, for panels that show only some of their bars.
   *
   * @param {HTMLElement} button
   */
  #scrollTo(button) {
    const frame = button.parentElement;
    if (!frame) return;
    const top = button.offsetTop - frame.offsetTop;
    if (top < frame.scrollTop || top + button.offsetHeight > frame.scrollTop + frame.clientHeight) frame.scrollTop = top;
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
    if (here < 0 || there === undefined) return;
    event.preventDefault();
    this.#inOrder[there].button.focus();
  }

  /** @param {EventTarget | null} button */
  #stopAt(button) {
    for (const bar of this.#bars) bar.button.tabIndex = bar.button === button ? 0 : -1;
  }
}

/**
 * One label: a button with its share as text, its bar, and a tick at its marginal. Bar and tick are the background of
 * one element, and only changes are written to the document, so that hundreds of bars move in a few milliseconds.
 */
export class Bar {
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
  constructor(variable, code, text, marginal, explorer) {
    this.code = code;
    this.marginal = marginal;
    const label = variable.labels[code];
    /** @param {boolean} several */
    const act = (several) => explorer.choose(variable, code, several);
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
          if (draws && !event.shiftKey) explorer.startRange(variable, code);
        },
        onpointerenter: (event) => explorer.moveRange(variable, code, event.buttons !== 0),
      },
      make("span", { class: "label" }, text),
      this.#track,
      make("span", { class: "value" }, this.#value),
      explorer.isCounted ? this.#share : null,
    );
  }

  /**
   * @param {number} probability
   * @param {number} largest the probability of a full bar
   * @param {boolean} isKnown
   * @param {Backing} backing
   */
  show(probability, largest, isKnown, { shares, differs, ends }) {
    const text = percent(probability);
    if (this.#value.data !== text) this.#value.data = text;
    if (this.#isKnown !== isKnown) this.button.setAttribute("aria-pressed", String((this.#isKnown = isKnown)));
    this.button.dataset.probability = String(probability);
    this.#showShare(shares?.[this.code] ?? null, differs?.[this.code] ?? false);
    /** @param {number} p */
    const along = (p) => (100 * p) / largest;
    const [low, high] = ends ? [along(ends.low[this.code]), along(ends.high[this.code])] : [0, 0];
    this.#track.style.backgroundSize = `2px 100%, ${(high - low).toFixed(2)}% 3px, ${along(probability).toFixed(2)}% 100%`;
    this.#showInterval(ends && [ends.low[this.code], ends.high[this.code]]);
    // The place of a background of some width is a share of the room that it leaves.
    const whisker = high - low < 99.99 ? ((100 * low) / (100 - (high - low))).toFixed(2) : "0";
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
  #showInterval(ends) {
    if (ends === null) {
      if (!this.#hasInterval) return;
      this.#hasInterval = false;
      this.#value.parentElement?.removeAttribute("title");
      delete this.button.dataset.low;
      delete this.button.dataset.high;
      return;
    }
    this.#hasInterval = true;
    [this.button.dataset.low, this.button.dataset.high] = ends.map(String);
    if (this.#value.parentElement) this.#value.parentElement.title = `between ${percent(ends[0])} and ${percent(ends[1])}`;
  }
}

/** Two lists to choose a range with, for those who cannot draw over bars. */
class RangeChooser {
  #from;
  #to;

  /**
   * @param {Variable} variable
   * @param {Explorer} explorer
   * @param {() => void} onOpened
   */
  constructor(variable, explorer, onOpened) {
    this.variable = variable;
    const changed = () => explorer.chooseCodes(variable, span(Number(this.#from.value), Number(this.#to.value)));
    /** @param {string} word */
    const list = (word) =>
      make(
        "select",
        { "aria-label": `${variable.name} ${word}`, onchange: changed },
        variable.labels.map((label, code) => make("option", { value: code }, label)),
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
        },
      },
      "range",
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
}
