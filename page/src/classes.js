// The latent classes: how large each is, and what it is typical of.

/** @import { ClassFacts, ClassProfile, ModelFacts, Trait } from "./types" */

import { byId, make, number, percent, plural } from "./dom.js";

/**
 * @param {ClassFacts} facts
 * @param {ModelFacts} model
 */
export function showClasses({ profiles, n_classes: nClasses, shown_weight: shownWeight, compressed }, { blocks }) {
  const notes = [];
  if (blocks.some(({ parents }) => parents.some((parent) => parent >= 0))) {
    byId("within-a-class").textContent = "within a class a variable depends only on its neighbours in a forest";
  }
  if (compressed) {
    notes.push(
      `The model is a mean of many fits. Its ${plural(compressed.rank, "class", "classes")} have little meaning one by one. ` +
        `Shown are the classes of the nearest model with ${nClasses}, which is ${number(compressed.loss, 3)} nats a row away` +
        `${compressed.standard_error ? ` (standard error ${number(compressed.standard_error, 2)})` : ""}.`,
    );
  }
  if (profiles.length < nClasses) {
    notes.push(`The ${profiles.length} largest of ${plural(nClasses, "class", "classes")}, together ${percent(shownWeight)} of all rows.`);
  }
  byId("classes-notes").replaceChildren(...notes.map((note) => make("p", {}, note)));
  byId("class-cards").replaceChildren(...profiles.map(card));
}

/**
 * @param {ClassProfile} profile
 * @param {number} index
 */
function card({ weight, traits }, index) {
  const head = make("h3", {}, `Class ${index + 1}`, make("span", { class: "weight" }, percent(weight)));
  const share = make("span");
  share.style.width = `${100 * weight}%`;
  return make(
    "article",
    { class: "card" },
    head,
    make("div", { class: "meter", "aria-hidden": "true" }, share),
    traits.length === 0 ? make("p", {}, "Much like all rows.") : make("ul", { class: "traits" }, traits.map(traitItem)),
  );
}

/** @param {Trait} trait */
function traitItem({ variable, label, share, overall, lift }) {
  const [here, everywhere] = [make("span", { class: "here" }), make("span", { class: "overall" })];
  here.style.width = `${100 * share}%`;
  everywhere.style.left = `${100 * overall}%`;
  return make(
    "li",
    {},
    make("span", { class: "what" }, make("b", {}, variable), " ", label),
    make("span", { class: "twin", "aria-hidden": "true" }, here, everywhere),
    make("span", { class: "how" }, `${percent(share)} here, ${percent(overall)} of all, ×${number(lift, lift < 10 ? 2 : 3)}`),
  );
}
