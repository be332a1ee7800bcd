// The explorer: one panel of bars a variable. A click on a bar makes it evidence, and all other panels move.

import { byId, make, number, percent, plural } from "./dom.js";
import { askLine, clicked, fromFragment, inWords, question, same, span, toFragment, withCodes } from "./evidence.js";
import { Panel } from "./panel.js";

export class Explorer {
  #evidence = new Map();
  #past = [];
  #several = false;
  #drag = null;

  /** `nRows` is how many rows the model was fitted to; null when it does not say. */
  constructor(variables, joint, file, nRows) {
    Object.assign(this, { variables, joint, file, nRows });
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
    byId("reset").addEventListener("click", (event) => {
      this.know(new Map());
      keepFocus(event);
    });
    byId("several").addEventListener("click", (event) => {
      this.#several = !this.#several;
      event.currentTarget.setAttribute("aria-pressed", this.#several);
    });
    byId("copy-link").hidden = !HAS_ADDRESS;
    byId("copy-link").addEventListener("click", () => copy(`${location.href.split("#")[0]}#${this.#fragment}`, "The link"));
    byId("copy-ask").addEventListener("click", () => copy(byId("ask-line").textContent, "The line"));
    addEventListener("hashchange", () => this.#takeFragment(location.hash));
    addEventListener("pointerup", () => this.#dropRange());
    addEventListener("pointercancel", () => this.#stopDrawing());
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

  moveRange(variable, code, isDown) {
    // the pointer may have come up outside the window
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
      for (const panel of this.panels) panel.range?.show(this.#evidence.get(panel.variable.position) ?? []);
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
        {
          class: "chip",
          title: "Clear this",
          onclick: (event) => {
            this.chooseCodes(this.variables[n], []);
            keepFocus(event);
          },
        },
        inWords(this.variables[n], codes),
      ),
    );
    const probability = Math.exp(logProbability);
    // below the smallest double there is still a logarithm to tell
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

  /** How many of the fitted rows that is, where they are so few that what follows is hardly founded on them. */
  #inRows(probability) {
    const rows = probability * this.nRows;
    if (this.nRows === null || rows >= FEW_ROWS) return "";
    return `: about ${number(rows, 2)} of ${number(Math.round(this.nRows))} rows, so few that the model has little to go by`;
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
      if (places.contains(focused)) focused.focus();
    }
    let found = 0;
    for (const panel of this.panels) {
      panel.element.hidden = !panel.isFoundBy(words);
      found += !panel.element.hidden;
    }
    const all = plural(this.panels.length, "variable");
    byId("found").textContent = !words ? "" : found ? `${number(found)} of ${all}` : `None of ${all} has “${words}”.`;
  }

  /** Know what a link says; where that is impossible the address goes back to what is known. */
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
      // some browsers forbid it to frames, or a hundred times in half a minute: the button still gives the link
    }
  }
}

const FEW_ROWS = 10;

// within a notebook a page has no address of its own that a link could carry
const HAS_ADDRESS = location.protocol !== "about:";

const ORDERS = {
  table: (a, b) => a.variable.position - b.variable.position,
  moved: (a, b) => b.isGiven - a.isGiven || b.moved - a.moved || a.variable.position - b.variable.position,
  name: (a, b) => a.variable.name.localeCompare(b.variable.name),
};

/** Where a key took away what it was pressed on, the focus goes on to what stands there now. */
function keepFocus(event) {
  if (event.detail === 0) (byId("sentence").querySelector(".chip") ?? byId("search")).focus();
}

/** Tell the reader something, on the screen and aloud. */
export function say(text) {
  byId("message").textContent = text;
}

/** Tell that something is done, which need not stay. */
function sayInPassing(text) {
  say(text);
  setTimeout(() => byId("message").textContent === text && say(""), 4000);
}

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    sayInPassing(`${what} is on the clipboard.`);
  } catch {
    say(`This browser keeps pages off its clipboard. ${what} to copy by hand: ${text}`);
  }
}
