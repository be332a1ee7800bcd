// Put the page together: facts from the page's own text, one view at a time, and the theme.

import { Explorer } from "./explorer.js";
import { DependenceMap } from "./dependence.js";
import { byId } from "./dom.js";
import { doubles, Joint } from "./model.js";
import { showClasses } from "./classes.js";
import { showFit } from "./fit.js";
import { countsOfPair, showObserved } from "./observed.js";

const facts = JSON.parse(byId("facts").textContent);
const variables = facts.variables.map((variable, position) => ({ ...variable, position }));
const joint = new Joint(
  variables.map(({ labels }) => labels.length),
  doubles(facts.model.weights),
  doubles(facts.model.factors),
);

const explorer = new Explorer(variables, joint, facts.file, facts.fit?.n_rows ?? null);
showClasses(facts.classes);
showFit(facts.fit, facts.model);
if (facts.observed) showObserved(facts.observed, variables, joint, facts.fit);
else byId("tab-observed").hidden = true;

// the map is painted when it is first looked at: it may be large
let map = null;
const showMap = () => (map ??= new DependenceMap(facts.dependence, variables, joint, countsOfPair(facts.observed, variables)));

const tabs = [...document.querySelectorAll('[role="tab"]')];

function open(tab) {
  for (const other of tabs) {
    other.setAttribute("aria-selected", other === tab);
    other.tabIndex = other === tab ? 0 : -1;
    byId(other.getAttribute("aria-controls")).hidden = other !== tab;
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
  const isTyping = event.target.matches?.("input, select, textarea");
  if (event.key === "/" && !isTyping) {
    event.preventDefault();
    byId("search").focus();
  } else if (event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !isTyping) {
    event.preventDefault();
    explorer.undo();
  } else if (event.key === "Escape" && event.target === byId("search")) {
    event.target.value = "";
    event.target.dispatchEvent(new Event("input"));
  }
});

// light or dark as the system has it, until the reader says otherwise
const root = document.documentElement;
const systemIsDark = matchMedia("(prefers-color-scheme: dark)");
let isChosen = false;

function wear(isDark) {
  root.dataset.theme = isDark ? "dark" : "light";
  map?.draw();
}

wear(systemIsDark.matches);
systemIsDark.addEventListener("change", (event) => isChosen || wear(event.matches));
byId("theme").addEventListener("click", () => {
  isChosen = true;
  wear(root.dataset.theme === "light");
});
// on paper all views follow one another, in the colours of paper
let worn = null;
addEventListener("beforeprint", () => {
  showMap();
  worn = root.dataset.theme;
  wear(false);
});
addEventListener("afterprint", () => wear(worn === "dark"));

root.dataset.ready = "";
