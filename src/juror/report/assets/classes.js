// The latent classes: how large each is, and what it is typical of.

import { byId, make, number, percent, plural } from "./dom.js";

export function showClasses({ profiles, n_classes: nClasses, shown_weight: shownWeight, compressed }) {
  const notes = [];
  if (compressed) {
    notes.push(
      `The model is a mean of many fits, whose ${plural(compressed.rank, "class", "classes")} mean little one by one. ` +
        `These are the classes of the nearest model that has ${nClasses}: ${number(compressed.loss, 3)} nats a row from it` +
        `${compressed.standard_error ? ` (standard error ${number(compressed.standard_error, 2)})` : ""}.`,
    );
  }
  if (profiles.length < nClasses) {
    notes.push(`The ${profiles.length} largest of ${plural(nClasses, "class", "classes")}, together ${percent(shownWeight)} of all rows.`);
  }
  byId("classes-notes").replaceChildren(...notes.map((note) => make("p", {}, note)));
  byId("class-cards").replaceChildren(...profiles.map(card));
}

function card({ weight, traits }, index) {
  const head = make("h3", {}, `Class ${index + 1}`, make("span", { class: "weight" }, percent(weight)));
  const meter = make("div", { class: "meter", "aria-hidden": "true" }, make("span", {}));
  meter.firstChild.style.width = `${100 * weight}%`;
  return make(
    "article",
    { class: "card" },
    head,
    meter,
    traits.length === 0 ? make("p", {}, "Much like all rows.") : make("ul", { class: "traits" }, traits.map(trait)),
  );
}

function trait({ variable, label, share, overall, lift }) {
  const bars = make("span", { class: "twin", "aria-hidden": "true" }, make("span", { class: "here" }), make("span", { class: "overall" }));
  bars.children[0].style.width = `${100 * share}%`;
  bars.children[1].style.left = `${100 * overall}%`;
  return make(
    "li",
    {},
    make("span", { class: "what" }, make("b", {}, variable), " ", label),
    bars,
    make("span", { class: "how" }, `${percent(share)} here, ${percent(overall)} of all, ×${number(lift, lift < 10 ? 2 : 3)}`),
  );
}
