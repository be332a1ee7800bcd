// The forest of the heaviest block: which variables depend on each other directly within a class.

/** @import { EdgeFacts, ForestFacts, Variable } from "./types" */

import { byId, make, makeSvg, number, percent, plural } from "./dom.js";

const [THINNEST, WIDEST, REACH] = [1.2, 9, 18];
const MARGIN = 6;
const HINT = "Point at a line to read it, click it for its table.";

export class ForestView {
  /** @type {Map<EdgeFacts, SVGElement>} */
  #lines = new Map();

  /**
   * @param {ForestFacts} facts
   * @param {Variable[]} variables
   * @param {(a: number, b: number) => void} choose shows the table of a pair
   */
  constructor(facts, variables, choose) {
    this.facts = facts;
    this.variables = variables;
    this.choose = choose;
    byId("forest").hidden = false;
    byId("forest-about").textContent = this.#about();
    byId("edges").replaceChildren(...facts.edges.map((edge) => this.#item(edge)));
    if (facts.layout) {
      byId("forest-drawing").replaceChildren(this.#drawing(facts.layout));
      byId("forest-edge").textContent = HINT;
    } else byId("forest-drawing").parentElement?.remove();
  }

  #about() {
    const { n_blocks: nBlocks, fitted_blocks: nFitted, weight, layout } = this.facts;
    const here = nBlocks < nFitted ? `, and the smaller model of this page ${number(nBlocks)}` : "";
    const heaviest = nBlocks > 1 ? ` This is the forest of the heaviest${here && " of this page"}, with ${percent(weight)} of all rows.` : "";
    const only = nBlocks === 1 ? " This is the forest of that one." : "";
    const whose =
      nFitted > 1
        ? `The model has ${plural(nFitted, "block")} of classes, each with its own forest${here}.${heaviest}${only}`
        : "All classes share this forest.";
    const widths = layout ? " A wider line means more mutual information of its two variables under the whole model." : "";
    return `${whose} Within a class, variables depend on each other only along its lines.${widths}`;
  }

  /** @param {number} n */
  #name(n) {
    return this.variables[n]?.name ?? "a hidden node";
  }

  /** @param {EdgeFacts} edge */
  #words({ a, b, information, share }) {
    const names = `${this.#name(a)} and ${this.#name(b)}`;
    if (information === null || share === null) return names;
    return `${names}: ${number(information, 3)} nats, ${number(share, 3)} from 0 to 1`;
  }

  /** @param {EdgeFacts} edge */
  #isSeen({ a, b }) {
    return Math.max(a, b) < this.variables.length;
  }

  /** @param {EdgeFacts} edge */
  #item(edge) {
    const names = `${this.#name(edge.a)} and ${this.#name(edge.b)}`;
    if (!this.#isSeen(edge)) return make("li", {}, names);
    const [enter, leave] = [() => this.#point(edge), () => this.#point(null)];
    const listeners = { onclick: () => this.choose(edge.a, edge.b), onfocus: enter, onblur: leave, onpointerenter: enter, onpointerleave: leave };
    const value = make("span", {}, number(edge.information, 3));
    return make("li", {}, make("div", { class: "entry" }, make("button", { class: "link", ...listeners }, names), " ", value));
  }

  /**
   * Mark an edge and say what it is; null marks none.
   *
   * @param {EdgeFacts | null} edge
   */
  #point(edge) {
    for (const [other, line] of this.#lines) line.classList.toggle("pointed", other === edge);
    if (this.facts.layout) byId("forest-edge").textContent = edge ? this.#words(edge) : HINT;
  }

  /** @param {NonNullable<ForestFacts["layout"]>} layout */
  #drawing({ size, height, nodes }) {
    const most = this.facts.edges[0]?.information || 1;
    const [width, tall] = size.map((length) => length + 2 * MARGIN);
    const svg = makeSvg(
      "svg",
      {
        class: "tree",
        viewBox: `${-MARGIN} ${-MARGIN} ${width} ${tall}`,
        width,
        height: tall,
        role: "img",
        "aria-label": "Drawing of the forest; the list of edges gives the same",
      },
      this.facts.edges.map((edge) => {
        const [[x1, y1], [x2, y2]] = [nodes[edge.a].centre, nodes[edge.b].centre];
        const line = { x1, y1, x2, y2 };
        const wide = THINNEST + (WIDEST - THINNEST) * Math.sqrt((edge.information ?? 0) / most);
        const group = makeSvg(
          "g",
          { class: "edge" },
          makeSvg("line", { ...line, class: "drawn", "stroke-width": wide.toFixed(2) }),
          // A thin line is hard to hit.
          makeSvg("line", { ...line, class: "reach", "stroke-width": REACH }),
        );
        group.addEventListener("pointerenter", () => this.#point(edge));
        group.addEventListener("pointerleave", () => this.#point(null));
        group.addEventListener("click", () => {
          this.#point(edge);
          if (this.#isSeen(edge)) this.choose(edge.a, edge.b);
        });
        this.#lines.set(edge, group);
        return group;
      }),
      nodes.map(({ name, centre: [x, y], width: box }, n) => {
        if (!name) return makeSvg("circle", { class: "hidden-node", cx: x, cy: y, r: box / 2 });
        return makeSvg(
          "g",
          { class: "node" },
          makeSvg("rect", { x: x - box / 2, y: y - height / 2, width: box, height, rx: height / 2 }),
          makeSvg("text", { x, y: y + 4, "text-anchor": "middle" }, name),
          makeSvg("title", {}, this.#name(n)),
        );
      }),
    );
    return svg;
  }
}
