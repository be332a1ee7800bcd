// Put the page together: read the facts from the page's own text, show one view at a time, follow the theme.

/** @import { Facts } from "./types" */

import { Answers } from "./answers.js";
import { Explorer } from "./explorer.js";
import { DependenceMap } from "./dependence.js";
import { byId } from "./dom.js";
import { ForestView } from "./forest.js";
import { Law } from "./law.js";
import { Joint } from "./model.js";
import { NumberText } from "./number_text.js";
import { inflate, Pairs } from "./pairs.js";
import { showClasses } from "./classes.js";
import { showFit } from "./fit.js";
import { showObserved } from "./observed.js";

/** @type {Facts} */
const facts = JSON.parse(byId("facts").textContent ?? "");
const canInflate = "DecompressionStream" in window;
const variables = await Promise.all(facts.variables.map(async (variable, position) => {
  const { number } = variable;
  // Without its law a number is shown as intervals.
  const law = number && canInflate ? new Law(number, new Float64Array(await inflate(number.pieces, 8))) : null;
  return { ...variable, position, law, text: number && new NumberText(number) };
}));
if (!canInflate) {
  byId("message").textContent =
    facts.model.bits === 16
      ? "This browser cannot unpack the model. Use one of 2023 or later, or a report of fewer classes."
      : "This browser cannot unpack the rows, the intervals and the histograms of this page, which are left out. Use one of 2023 or later.";
}
const cardinalities = variables.map(({ labels }) => labels.length);
const joint = await Joint.of(cardinalities, facts.model);
const pairs = canInflate ? await Pairs.of(cardinalities, facts.pairs) : new Pairs(cardinalities);
const singles = facts.observed?.marginals?.map(({ counts }) => counts) ?? null;

const explorer = new Explorer(variables, new Answers(variables, joint, pairs, { singles, worth: facts.pairs.worth }), facts);
showClasses(facts.classes, facts.model);
showFit(facts.fit, facts.model);
if (facts.observed) showObserved(facts.observed, variables, joint, pairs, facts.fit);
else byId("tab-observed").hidden = true;

// The map may be large, so it is painted when it is first shown.
/** @type {DependenceMap | null} */
let map = null;
function showMap() {
  if (map) return;
  const shown = (map = new DependenceMap(facts.dependence, variables, joint, pairs));
  if (facts.forest) new ForestView(facts.forest, variables, (a, b) => shown.choose(a, b));
}

const tabs = /** @type {HTMLElement[]} */ ([...document.querySelectorAll('[role="tab"]')]);

/** @param {HTMLElement} tab */
function open(tab) {
  for (const other of tabs) {
    other.setAttribute("aria-selected", String(other === tab));
    other.tabIndex = other === tab ? 0 : -1;
    byId(other.getAttribute("aria-controls") ?? "").hidden = other !== tab;
  }
  if (tab.id === "tab-dependence") showMap();
}

for (const tab of tabs) {
  tab.addEventListener("click", () => open(tab));
  tab.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const shown = tabs.filter((other) => !other.hidden);
    const next = shown[(shown.indexOf(tab) + step + shown.length) % shown.length];
    next.focus();
    open(next);
  });
}
open(tabs[0]);

addEventListener("keydown", (event) => {
  if (byId("explorer").hidden) return;
  const search = byId("search");
  const isTyping = event.target instanceof Element && event.target.matches("input, select, textarea");
  if (event.key === "/" && !isTyping) {
    event.preventDefault();
    search.focus();
  } else if (event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !isTyping) {
    event.preventDefault();
    explorer.undo();
  } else if (event.key === "Escape" && event.target === search) {
    search.value = "";
    search.dispatchEvent(new Event("input"));
  }
});

// Light or dark as the system says, until the reader chooses.
const root = document.documentElement;
const systemIsDark = matchMedia("(prefers-color-scheme: dark)");
let isChosen = false;

/** @param {boolean} isDark */
function setTheme(isDark) {
  root.dataset.theme = isDark ? "dark" : "light";
  map?.draw();
}

setTheme(systemIsDark.matches);
systemIsDark.addEventListener("change", (event) => isChosen || setTheme(event.matches));
byId("theme").addEventListener("click", () => {
  isChosen = true;
  setTheme(root.dataset.theme === "light");
});
// On paper all views follow one another, in the light theme.
let wasDark = false;
addEventListener("beforeprint", () => {
  showMap();
  wasDark = root.dataset.theme === "dark";
  setTheme(false);
});
addEventListener("afterprint", () => setTheme(wasDark));

root.dataset.ready = "";
