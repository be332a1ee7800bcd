// The histogram of a number. Dragging over it, or moving its two handles, chooses a range; a click chooses an interval.

/** @import { Known, NumberFacts, Variable } from "./types" */
/** @import { Backing } from "./answers.js" */
/** @import { Shares } from "./histogram_picture.js" */
/** @import { Ends, Law } from "./law.js" */
/** @import { NumberText } from "./number_text.js" */

import { makeSvg, percent } from "./dom.js";
import { endsOf, rangeInSigns } from "./evidence.js";
import { BOTTOM, HEIGHT, HistogramPicture, TOP, totalOf } from "./histogram_picture.js";
import { NumberAxis, SIDE } from "./number_axis.js";

/** @typedef {{ range: (ends: Ends) => void, interval: (code: number, several: boolean) => void, point: (words: string | null) => void }} Acts */

// Pixels that a pointer moves before it drags
const DRAGS = 4;
// If more than this lies beyond the axis, it is made longer, up to these quantiles.
const [BEYOND, OUTER] = [0.01, [0.005, 0.995]];

export class Histogram {
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
  #chosen = makeSvg("rect", { class: "chosen", y: TOP, height: HEIGHT - TOP - BOTTOM });
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
      { class: "histogram", role: "group", height: HEIGHT },
      this.#drawn,
      this.#chosen,
      makeSvg("g", { "aria-hidden": "true" }, this.#hits, stems),
      this.#handles,
    );
    this.#listen();
  }

  /** @param {number} code */
  #hit(code) {
    const { name, labels } = this.variable;
    const hit = makeSvg("rect", { class: "interval", y: 0, height: HEIGHT - BOTTOM });
    Object.assign(hit.dataset, { variable: name, label: labels[code], code, marginal: this.marginal[code] });
    return hit;
  }

  /** @param {number} bin */
  #stemHit(bin) {
    const hit = makeSvg("rect", { class: "interval stem-hit", y: 0, height: HEIGHT - BOTTOM, width: 10 });
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
      makeSvg("path", { d: "M0 -7 L5 0 V7 H-5 V0 Z" }),
    );
    handle.addEventListener("keydown", (event) => this.#press(event, which));
    return handle;
  }

  // ---- what the reader does

  #listen() {
    const svg = this.element;
    /** @param {MouseEvent} event */
    const place = (event) => event.clientX - svg.getBoundingClientRect().left;
    /** @type {(event: Event) => { which: number, code: number }} */
    const target = ({ target: hit }) => {
      const element = /** @type {SVGElement} */ (hit);
      const handle = element.closest(".handle");
      return { which: handle ? this.#handles.findIndex((one) => one === handle) : -1, code: Number(element.dataset.code ?? -1) };
    };
    let isDragged = false;
    svg.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || event.shiftKey) return;
      const { which } = target(event);
      isDragged = false;
      this.#drag = { from: place(event), isMoved: false, fixed: which < 0 ? undefined : this.#ends[1 - which] };
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
      const ends = this.#dragged(place(event));
      this.#outline(ends);
      this.#acts.point(this.#inWords(ends));
    });
    svg.addEventListener("pointerup", (event) => {
      const drag = this.#drag;
      const ends = drag?.isMoved ? this.#dragged(place(event)) : null;
      this.#drag = null;
      this.#outline(this.#ends);
      this.#acts.point(null);
      if (ends) this.#acts.range(ends);
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
      // A drag ends in a click too.
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
    if (fixed !== undefined) {
      const isHigh = this.element.dataset.end === "1";
      const [low, high] = isHigh ? [fixed, here] : [here, fixed];
      return low !== null && high !== null && low > high ? [high, low] : [low, high];
    }
    const [low, high] = from < x ? [this.#axis.position(from), here] : [here, this.#axis.position(from)];
    return low !== null && low === high ? [low, this.#axis.moved(low, 1)] : [low, high];
  }

  /**
   * @param {KeyboardEvent} event
   * @param {number} which
   */
  #press(event, which) {
    const ends = /** @type {Ends} */ ([...this.#ends]);
    const here = ends[which] ?? this.#axis.ends[which];
    const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
    if (steps !== undefined) ends[which] = this.#axis.moved(here, steps);
    else if (event.key === "Home" || event.key === "End" || event.key === "Delete" || event.key === "Backspace") ends[which] = null;
    else return;
    event.preventDefault();
    const [low, high] = ends;
    if (low === null || high === null || low < high) this.#acts.range(ends);
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
    const { shares, ends } = this.#backing ?? {};
    const [low, high, share] = [ends?.low[code], ends?.high[code], shares?.[code]];
    for (const [name, value] of Object.entries({ probability: this.#probabilities[code], share, low, high })) {
      if (value === undefined) delete hit.dataset[name];
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
      beyond[1] > BEYOND * total ? Math.max(high, last + cell) : high,
    ];
  }

  #draw() {
    this.element.setAttribute("viewBox", `0 0 ${this.#axis.width} ${HEIGHT}`);
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
    for (const hit of /** @type {NodeListOf<SVGRectElement>} */ (this.element.querySelectorAll(".stem-hit"))) {
      hit.setAttribute("x", (this.#axis.x(Number(hit.dataset.at)) - 5).toFixed(2));
    }
  }

  /**
   * Show a range: what is chosen and the handles.
   *
   * @param {Ends} ends
   */
  #outline(ends) {
    const { left, right } = this.#axis;
    const places = ends.map((end, which) => (end === null ? [left, right][which] : this.#axis.within(end)));
    const isRange = ends.some((end) => end !== null);
    this.#chosen.setAttribute("x", Math.min(...places).toFixed(2));
    this.#chosen.setAttribute("width", isRange ? Math.max(Math.abs(places[1] - places[0]), 1).toFixed(2) : "0");
    this.#handles.forEach((handle, which) => {
      const end = ends[which];
      handle.setAttribute("transform", `translate(${places[which].toFixed(2)} ${HEIGHT - BOTTOM + 7})`);
      handle.classList.toggle("set", end !== null);
      handle.setAttribute("aria-valuemin", String(this.#axis.floats[0]));
      handle.setAttribute("aria-valuemax", String(this.#axis.floats[1]));
      handle.setAttribute("aria-valuenow", String(this.#text.float(end ?? this.#axis.ends[which])));
      handle.setAttribute("aria-valuetext", end === null ? "no end" : this.#text.short(end));
    });
  }

  /** @param {Ends} ends */
  #inWords(ends) {
    const signs = rangeInSigns(this.variable, ends);
    if (this.#known) return signs;
    const [low, high] = ends.map((end, which) => (end === null ? which * totalOf(this.#law, this.#probabilities) : this.#law.below(this.#probabilities, end)));
    return `${signs}: ${percent(Math.max(high - low, 0))}`;
  }

  /** @param {number} code */
  #words(code) {
    const { shares, differs, ends } = this.#backing ?? {};
    const rows = shares ? `, ${differs?.[code] ? "≠ " : ""}${percent(shares[code])} of rows` : "";
    const between = ends ? `, between ${percent(ends.low[code])} and ${percent(ends.high[code])}` : "";
    const [low, high] = [this.#law.cuts[code], this.#law.cuts[code + 1]].map((cut) => (Number.isFinite(cut) ? cut : null));
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
}
