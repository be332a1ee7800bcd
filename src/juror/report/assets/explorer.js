// The explorer: one panel of bars a variable. A click on a bar makes it evidence, and all other panels move.

import { byId, make, number, percent, plural } from "./dom.js";
import { askLine, clicked, fromFragment, inWords, question, same, span, toFragment, withCodes } from "./evidence.js";
import { jensenShannon } from "./model.js";

export class Explorer {
  #evidence = new Map();
  #past = [];
  #several = false;
  #drag = null;

  constructor(variables, joint, file) {
    this.variables = variables;
    this.joint = joint;
    this.file = file;
    this.marginals = joint.given(new Map()).marginals;
    this.panels = variables.map((variable) => new Panel(variable, this.marginals[variable.position], this));
    byId("panels").append(...this.panels.map((panel) => panel.element));
    byId("asked").append(...variables.map(({ name, position }) => make("option", { value: position }, name)));
    this.#listen();
    const fragment = location.hash;
    this.#show(joint.given(this.#evidence));
    this.#takeFragment(fragment);
  }

  #listen() {
    byId("search").addEventListener("input", () => this.#arrange());
    byId("sort").addEventListener("change", () => this.#arrange());
    byId("asked").addEventListener("change", () => this.#showAskLine());
    byId("undo").addEventListener("click", () => this.undo());
    byId("reset").addEventListener("click", () => this.know(new Map()));
    byId("several").addEventListener("click", (event) => {
      this.#several = !this.#several;
      event.currentTarget.setAttribute("aria-pressed", this.#several);
    });
    byId("copy-link").hidden = !HAS_ADDRESS;
    byId("copy-link").addEventListener("click", () => copy(location.href, "The link"));
    byId("copy-ask").addEventListener("click", () => copy(byId("ask-line").textContent, "The line"));
    addEventListener("hashchange", () => this.#takeFragment(location.hash));
    addEventListener("pointerup", () => this.#dropRange());
    addEventListener("pointercancel", () => (this.#drag = null));
  }

  /** A bar was clicked, or a key pressed on it. */
  choose(variable, code, several) {
    this.know(clicked(this.#evidence, variable, code, several || this.#several));
  }

  chooseCodes(variable, codes) {
    this.know(withCodes(this.#evidence, variable, codes));
  }

  /** The pointer went down on a bar of an ordered variable: what it passes over until it is up becomes a range. */
  startRange(variable, code) {
    this.#drag = { variable, from: code, to: code };
  }

  moveRange(variable, code) {
    if (this.#drag?.variable !== variable || this.#drag.to === code) return;
    this.#drag.to = code;
    this.panels[variable.position].outline(span(this.#drag.from, code));
  }

  #dropRange() {
    const drag = this.#drag;
    this.#drag = null;
    if (!drag) return;
    this.panels[drag.variable.position].outline([]);
    if (drag.from !== drag.to) this.chooseCodes(drag.variable, span(drag.from, drag.to));
  }

  undo() {
    if (this.#past.length) this.know(this.#past.pop(), false);
  }

  /** Take evidence as known, unless it is impossible, which is said and changes nothing. */
  know(evidence, isNew = true) {
    if (same(evidence, this.#evidence)) return true;
    const answer = this.joint.given(evidence);
    if (answer === null) {
      const words = [...evidence].map(([n, codes]) => inWords(this.variables[n], codes)).join(" and ");
      say(`Under this model it never happens that ${words}, so nothing follows from it. Nothing was changed.`);
      return false;
    }
    if (isNew) this.#past.push(this.#evidence);
    this.#evidence = evidence;
    this.#show(answer);
    return true;
  }

  #show({ marginals, logProbability }) {
    for (const panel of this.panels) {
      panel.show(marginals[panel.variable.position], this.#evidence.get(panel.variable.position) ?? []);
    }
    byId("undo").disabled = this.#past.length === 0;
    byId("reset").disabled = this.#evidence.size === 0;
    this.#writeFragment();
    say("");
    this.#showSentence(logProbability);
    this.#arrange();
    this.#showAskLine();
  }

  #showSentence(logProbability) {
    if (this.#evidence.size === 0) {
      byId("sentence").replaceChildren("Nothing is given. Click a bar to say what you know, and all others move.");
      return;
    }
    const parts = [...this.#evidence].map(([n, codes]) =>
      make(
        "button",
        { class: "chip", title: "Clear this", onclick: () => this.chooseCodes(this.variables[n], []) },
        inWords(this.variables[n], codes),
      ),
    );
    const probability = Math.exp(logProbability);
    // below the smallest double there is still a logarithm to tell
    const share = probability > 1e-300 ? `${number(100 * probability, 3)} %` : `e^${number(logProbability, 5)}`;
    byId("sentence").replaceChildren(
      "Given that ",
      ...parts.flatMap((part, i) => (i ? [" and ", part] : [part])),
      ", which holds with probability ",
      make("strong", { id: "probability", "data-probability": probability, "data-log-probability": logProbability }, share),
      ".",
    );
  }

  #showAskLine() {
    const wanted = byId("asked").value;
    const free = this.panels.filter(({ variable }) => !this.#evidence.has(variable.position));
    const moved = (free.length ? free : this.panels).reduce((best, panel) => (panel.moved > best.moved ? panel : best));
    const target = wanted === "" ? moved.variable : this.variables[Number(wanted)];
    byId("ask-line").textContent = askLine(this.file, question(target, this.#evidence, this.variables));
  }

  /** Put panels in the order chosen and hide those that are not searched for. */
  #arrange() {
    const words = byId("search").value.trim().toLowerCase();
    const ordered = [...this.panels].sort(ORDERS[byId("sort").value]);
    const focused = document.activeElement;
    const places = byId("panels");
    if (ordered.some((panel, i) => places.children[i] !== panel.element)) {
      places.append(...ordered.map((panel) => panel.element));
      // an element that is moved loses the focus
      if (places.contains(focused)) focused.focus({ preventScroll: true });
    }
    let found = 0;
    for (const panel of this.panels) {
      panel.element.hidden = !panel.isFoundBy(words);
      found += !panel.element.hidden;
    }
    byId("found").textContent = words ? `${number(found)} of ${plural(this.panels.length, "variable")}` : "";
  }

  /** Know what a link says; where that is impossible the address goes back to what is known. */
  #takeFragment(text) {
    const { evidence, problems } = fromFragment(text, this.variables);
    const isTaken = this.know(evidence);
    this.#writeFragment();
    if (isTaken && problems.length) say(problems.join(" "));
  }

  #writeFragment() {
    if (!HAS_ADDRESS) return;
    history.replaceState(null, "", `#${toFragment(this.#evidence, this.variables)}`);
  }
}

// within a notebook a page has no address of its own that a link could carry
const HAS_ADDRESS = location.protocol !== "about:";

// In quarters of a rem: the head of a panel with the space below it, a bar, the row of a range, and the most bars seen
const ROWS = { head: 16.6, bar: 5.9, range: 8.5, mostBars: 14 };
// Names without an order are easier to scan by size when they are many
const MANY_LABELS = 8;

const ORDERS = {
  table: (a, b) => a.variable.position - b.variable.position,
  moved: (a, b) => b.isGiven - a.isGiven || b.moved - a.moved || a.variable.position - b.variable.position,
  name: (a, b) => a.variable.name.localeCompare(b.variable.name),
};

/** The bars of one variable. */
class Panel {
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
    this.#bars = variable.labels.map((label, code) => new Bar(variable, label, code, explorer));
    const bySize = variable.kind === "nominal" && variable.labels.length > MANY_LABELS;
    this.#inOrder = bySize ? [...this.#bars].sort((a, b) => marginal[b.code] - marginal[a.code]) : this.#bars;
    this.#inOrder[0].button.tabIndex = 0;
    const many = variable.labels.length > ROWS.mostBars ? ` ${variable.labels.length} labels` : "";
    const head = make("h3", { id: `v${variable.position}`, title: variable.name }, variable.name, make("span", { class: "count" }, many));
    const bars = make(
      "div",
      { class: "bars", role: "group", "aria-labelledby": head.id, onkeydown: (event) => this.#move(event) },
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
    const largest = Math.max(...probabilities, ...this.marginal);
    this.#bars.forEach((bar, code) => bar.show(probabilities[code], this.marginal[code], largest, codes.includes(code)));
    this.range?.show(codes);
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
    this.#inOrder[here].button.tabIndex = -1;
    this.#inOrder[there].button.tabIndex = 0;
    this.#inOrder[there].button.focus();
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

  constructor(variable, label, code, explorer) {
    this.code = code;
    const act = (several) => explorer.choose(variable, code, several);
    this.button = make(
      "button",
      {
        class: "bar",
        tabindex: -1,
        title: label,
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
        onpointerenter: () => explorer.moveRange(variable, code),
      },
      make("span", { class: "label" }, label === "" ? "(empty)" : label),
      this.#track,
      make("span", { class: "value" }, this.#value),
    );
  }

  show(probability, marginal, largest, isKnown) {
    const text = percent(probability);
    if (this.#value.data !== text) this.#value.data = text;
    if (this.#isKnown !== isKnown) this.button.setAttribute("aria-pressed", (this.#isKnown = isKnown));
    this.button.dataset.probability = probability;
    this.#track.style.backgroundSize = `2px 100%, ${((100 * probability) / largest).toFixed(2)}% 100%`;
    if (this.#largest !== largest) {
      this.#largest = largest;
      this.#track.style.backgroundPosition = `${((100 * marginal) / largest).toFixed(2)}% 0, 0 0`;
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

/** Tell the reader something, on the screen and aloud. */
export function say(text) {
  byId("message").textContent = text;
}

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    say(`${what} is on the clipboard.`);
  } catch {
    say(`This browser keeps pages off its clipboard. ${what} to copy by hand: ${text}`);
  }
}
