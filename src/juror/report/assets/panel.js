// The panel of a variable: a bar for each of its labels, and for an ordered one a way to choose a range.

import { make, most, percent } from "./dom.js";
import { span } from "./evidence.js";
import { jensenShannon } from "./model.js";

// In quarters of a rem: the head of a panel with the space below it, a bar, the row of a range, and the most bars seen
const ROWS = { head: 16.6, bar: 5.9, range: 8.5, mostBars: 14 };
// Names without an order are easier to scan by size when they are many
const MANY_LABELS = 8;

/** The bars of one variable. */
export class Panel {
  moved = 0;
  isGiven = false;
  #bars;
  #inOrder;
  #movedText = make("span", {
    class: "moved",
    title: "How far this panel moved: the Jensen–Shannon divergence from its marginal, in bits, 0 to 1",
  });

  constructor(variable, marginal, explorer) {
    this.variable = variable;
    this.marginal = marginal;
    this.#bars = variable.labels.map((label, code) => new Bar(variable, code, marginal[code], explorer));
    const bySize = variable.kind === "nominal" && variable.labels.length > MANY_LABELS;
    this.#inOrder = bySize ? [...this.#bars].sort((a, b) => marginal[b.code] - marginal[a.code]) : this.#bars;
    this.#inOrder[0].button.tabIndex = 0;
    const many = variable.labels.length > ROWS.mostBars ? ` ${variable.labels.length} labels` : "";
    const head = make("h3", { id: `v${variable.position}`, title: variable.name }, variable.name, make("span", { class: "count" }, many));
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
    );
    this.#fit();
    this.text = [variable.name, ...variable.labels].join("\n").toLowerCase();
  }

  #fit() {
    const bars = ROWS.bar * Math.min(ROWS.mostBars, this.#bars.length);
    const range = this.range?.isOpen ? ROWS.range : 0;
    this.element.style.setProperty("--rows", Math.ceil(ROWS.head + bars + range));
  }

  isFoundBy(words) {
    return this.text.includes(words);
  }

  show(probabilities, codes) {
    this.isGiven = codes.length > 0;
    this.moved = jensenShannon(probabilities, this.marginal);
    this.#movedText.textContent = this.moved >= 0.005 ? `Δ ${this.moved.toFixed(2)}` : "";
    this.element.classList.toggle("given", this.isGiven);
    // one scale for the bars and the ticks that show where they were
    const largest = Math.max(most(probabilities), most(this.marginal));
    this.#bars.forEach((bar, code) => bar.show(probabilities[code], largest, codes.includes(code)));
    this.range?.show(codes);
    if (this.isGiven && this.#bars.length > ROWS.mostBars) this.#scrollTo(this.#bars[codes[0]].button);
  }

  /** What is known must be in sight, also where a panel shows only some of its bars. */
  #scrollTo(button) {
    const frame = button.parentElement;
    const top = button.offsetTop - frame.offsetTop;
    if (top < frame.scrollTop || top + button.offsetHeight > frame.scrollTop + frame.clientHeight) frame.scrollTop = top;
  }

  /** Mark bars that a range being drawn would take. */
  outline(codes) {
    this.#bars.forEach((bar, code) => bar.button.classList.toggle("in-range", codes.includes(code)));
  }

  /** One bar of a panel is reached by Tab, the others by arrows. */
  #move(event) {
    const here = this.#inOrder.findIndex((bar) => bar.button === document.activeElement);
    const last = this.#inOrder.length - 1;
    const there = { ArrowDown: Math.min(here + 1, last), ArrowUp: Math.max(here - 1, 0), Home: 0, End: last }[event.key];
    if (here < 0 || there === undefined) return;
    event.preventDefault();
    this.#inOrder[there].button.focus();
  }

  #stopAt(button) {
    for (const bar of this.#bars) bar.button.tabIndex = bar.button === button ? 0 : -1;
  }
}

/**
 * One label: a button with its share as text, its bar, and a tick where the marginal stands. Bar and tick are the
 * background of one element, and nothing is written twice: so hundreds of them move in a few milliseconds.
 */
class Bar {
  #track = make("span", { class: "track", "aria-hidden": "true" });
  #value = document.createTextNode("");
  #isKnown = null;
  #largest = null;

  constructor(variable, code, marginal, explorer) {
    this.code = code;
    this.marginal = marginal;
    const label = variable.labels[code];
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
        // without this the space key clicks once more when it comes up
        onkeyup: (event) => event.key === " " && event.preventDefault(),
        onpointerdown: (event) => {
          const draws = variable.kind !== "nominal" && event.pointerType !== "touch" && event.button === 0;
          if (draws && !event.shiftKey) explorer.startRange(variable, code);
        },
        onpointerenter: (event) => explorer.moveRange(variable, code, event.buttons !== 0),
      },
      make("span", { class: "label" }, label === "" ? "(empty)" : label),
      this.#track,
      make("span", { class: "value" }, this.#value),
    );
  }

  show(probability, largest, isKnown) {
    const text = percent(probability);
    if (this.#value.data !== text) this.#value.data = text;
    if (this.#isKnown !== isKnown) this.button.setAttribute("aria-pressed", (this.#isKnown = isKnown));
    this.button.dataset.probability = probability;
    this.#track.style.backgroundSize = `2px 100%, ${((100 * probability) / largest).toFixed(2)}% 100%`;
    if (this.#largest !== largest) {
      this.#largest = largest;
      this.#track.style.backgroundPosition = `${((100 * this.marginal) / largest).toFixed(2)}% 0, 0 0`;
    }
  }
}

/** From one label to another, for hands that do not draw over bars. */
class RangeChooser {
  #ends;

  constructor(variable, explorer, onOpened) {
    this.variable = variable;
    const options = () => variable.labels.map((label, code) => make("option", { value: code }, label));
    const changed = () => explorer.chooseCodes(variable, span(...this.#ends.map((end) => Number(end.value))));
    this.#ends = ["from", "to"].map((word) =>
      make("select", { "aria-label": `${variable.name} ${word}`, onchange: changed }, options()),
    );
    this.element = make("div", { class: "range", hidden: true }, "from ", this.#ends[0], " to ", this.#ends[1]);
    this.button = make(
      "button",
      {
        class: "quiet",
        "aria-expanded": "false",
        "aria-label": `Choose a range of ${variable.name}`,
        title: "Choose a range, or draw over the bars with the mouse",
        onclick: () => {
          this.element.hidden = !this.element.hidden;
          this.button.setAttribute("aria-expanded", this.isOpen);
          onOpened();
        },
      },
      "range",
    );
    this.show([]);
  }

  get isOpen() {
    return !this.element.hidden;
  }

  show(codes) {
    this.#ends[0].value = codes[0] ?? 0;
    this.#ends[1].value = codes.at(-1) ?? this.variable.labels.length - 1;
  }
}
