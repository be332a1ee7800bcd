// The dependence map: how much every two variables tell about each other, and the table of the chosen pair.

/** @import { DependenceFacts, Variable } from "./types" */
/** @import { Joint } from "./model.js" */
/** @import { Pairs } from "./pairs.js" */

import { tint } from "./charts.js";
import { cutApart } from "./labels.js";
import { bytesOf, floats } from "./model.js";
import { byId, dataTable, make, most, percent, plural, points } from "./dom.js";

const NAMES = 130;
const READABLE = 9;
const MOST_LABELS = 60;

/** @typedef {{ a: number, b: number, value: number | null }} Tie the dependence of two variables */
/** @typedef {(number | null)[][]} Matrix a value for every two variables, null where no row shows both */

export class DependenceMap {
  #canvas = byId("map");
  #cell;
  /** @type {[number, number] | null} */
  #chosen = null;

  /**
   * @param {DependenceFacts} facts
   * @param {Variable[]} variables
   * @param {Joint} joint
   * @param {Pairs} pairs
   */
  constructor({ order, matrix, counted }, variables, joint, pairs) {
    this.order = order;
    this.variables = variables;
    this.joint = joint;
    this.pairs = pairs;
    this.fitted = squared([...floats(matrix)], order.length);
    this.counted = counted === null ? null : squared(sharesOf(counted), order.length);
    // What the rows say comes first: a dependence that the model has missed must not be absent.
    this.matrix = this.counted ?? this.fitted;
    const strongest = this.#strongest();
    this.#showSource();
    this.#cell = Math.max(3, Math.min(30, Math.floor(620 / order.length)));
    this.#listPairs(strongest);
    this.#listen();
    this.draw();
    if (strongest.length) this.choose(strongest[0].a, strongest[0].b);
  }

  get most() {
    return most(this.matrix.flatMap((row, a) => row.filter((value, b) => a !== b && value !== null).map(Number)).concat(0));
  }

  #showSource() {
    if (this.counted === null) return;
    byId("map-of-tools").hidden = false;
    byId("dependence-of").textContent =
      "Pairs are ranked by the rows that show both variables, less what chance alone would give. The model's own figure stands beside it: " +
      "where it is much smaller, the model has missed a dependence.";
    byId("map-of").addEventListener("change", () => {
      this.matrix = byId("map-of").value === "rows" ? (this.counted ?? this.fitted) : this.fitted;
      this.draw();
    });
  }

  #strongest() {
    /** @type {Tie[]} */
    const pairs = [];
    for (let a = 0; a < this.order.length; a++) {
      for (let b = a + 1; b < this.order.length; b++) pairs.push({ a, b, value: this.matrix[a][b] });
    }
    return pairs.sort((one, other) => (other.value ?? -1) - (one.value ?? -1));
  }

  /** @param {Tie[]} strongest */
  #listPairs(strongest) {
    const shown = strongest.slice(0, 12);
    const title = `${shown.length < strongest.length ? `The ${shown.length} strongest of ${plural(strongest.length, "pair")}` : "All pairs"}, strongest first`;
    const figures = shown.map(({ a, b }) => [
      make("button", { class: "link", onclick: () => this.choose(a, b) }, this.#names(a, b)),
      ...(this.counted ? [inDigits(this.counted[a][b])] : []),
      inDigits(this.fitted[a][b]),
    ]);
    const head = this.counted ? ["pair", "rows", "model"] : ["pair", "model"];
    const caption = `Normalised mutual information${this.counted ? " by the rows and by the model" : ""}`;
    byId("strongest").replaceChildren(dataTable(caption, head, figures, "matrix"));
    byId("strongest-of").textContent = title;
    for (const list of [byId("pair-a"), byId("pair-b")]) {
      list.append(...this.variables.map(({ name, position }) => make("option", { value: position }, name)));
    }
  }

  /**
   * @param {number} a
   * @param {number} b
   */
  #names(a, b) {
    return `${this.variables[a].name} and ${this.variables[b].name}`;
  }

  #listen() {
    /**
     * The pair of the cell under the pointer.
     *
     * @param {MouseEvent} event
     * @returns {[number, number] | null}
     */
    const place = (event) => {
      const box = this.#canvas.getBoundingClientRect();
      /** @type {(value: number, size: number) => number} */
      const at = (value, size) => Math.floor((value * (this.#size / size) - this.#margin) / this.#cell);
      const [column, row] = [at(event.clientX - box.left, box.width), at(event.clientY - box.top, box.height)];
      const isInside = Math.min(column, row) >= 0 && Math.max(column, row) < this.order.length;
      return isInside ? [this.order[row], this.order[column]] : null;
    };
    this.#canvas.addEventListener("click", (event) => {
      const pair = place(event);
      if (pair && pair[0] !== pair[1]) this.choose(...pair);
    });
    this.#canvas.addEventListener("pointermove", (event) => {
      const pair = place(event);
      const [a, b] = pair ?? [0, 0];
      byId("map-cell").textContent =
        a !== b
          ? `${this.#names(a, b)}: ${this.#inWords(a, b)}`
          : "Point at a cell to read it, click it for its table.";
    });
    for (const list of [byId("pair-a"), byId("pair-b")]) {
      list.addEventListener("change", () => this.choose(Number(byId("pair-a").value), Number(byId("pair-b").value)));
    }
    byId("pair-what").addEventListener("change", () => this.#chosen && this.choose(...this.#chosen));
  }

  /**
   * @param {number} a
   * @param {number} b
   */
  #inWords(a, b) {
    const fitted = inDigits(this.fitted[a][b]);
    return this.counted === null ? fitted : `${inDigits(this.counted[a][b])} by the rows, ${fitted} by the model`;
  }

  get #margin() {
    return this.#cell >= READABLE ? NAMES : 0;
  }

  get #size() {
    return this.#margin + this.#cell * this.order.length;
  }

  /** Paint the map in the colours of the theme. */
  draw() {
    const scale = Math.max(1, devicePixelRatio);
    const size = this.#size;
    Object.assign(this.#canvas, { width: size * scale, height: size * scale });
    this.#canvas.style.width = `${size}px`;
    const pen = this.#canvas.getContext("2d");
    if (!pen) return;
    pen.scale(scale, scale);
    const colours = themeColours("--map-0", "--map-1", "--map-2");
    const furthest = this.most;
    this.order.forEach((a, row) =>
      this.order.forEach((b, column) => {
        pen.fillStyle = a === b ? themeText("--line") : blend(colours, furthest ? (this.matrix[a][b] ?? 0) / furthest : 0);
        const [x, y] = [column, row].map((place) => this.#margin + place * this.#cell);
        pen.fillRect(x, y, this.#cell - (this.#cell > 6 ? 1 : 0), this.#cell - (this.#cell > 6 ? 1 : 0));
      }),
    );
    if (this.#margin) this.#drawNames(pen);
    byId("map-legend").style.background = `linear-gradient(to right, ${[0, 0.5, 1].map((x) => blend(colours, x)).join(", ")})`;
    byId("map-most").textContent = furthest.toFixed(2);
  }

  /** @param {CanvasRenderingContext2D} pen */
  #drawNames(pen) {
    pen.fillStyle = themeText("--ink");
    pen.font = `${Math.min(13, this.#cell + 1)}px system-ui, sans-serif`;
    const names = cutApart(this.variables.map(({ name }) => name), (text) => pen.measureText(text).width <= NAMES - 12);
    this.order.forEach((n, place) => {
      const name = names[n];
      const middle = this.#margin + (place + 0.5) * this.#cell;
      pen.textBaseline = "middle";
      pen.textAlign = "right";
      pen.fillText(name, this.#margin - 6, middle);
      pen.save();
      pen.translate(middle, this.#margin - 6);
      pen.rotate(-Math.PI / 2);
      pen.textAlign = "left";
      pen.fillText(name, 0, 0);
      pen.restore();
    });
  }

  /**
   * Show the table of a pair.
   *
   * @param {number} a
   * @param {number} b
   */
  choose(a, b) {
    this.#chosen = [a, b];
    byId("pair-a").value = String(a);
    byId("pair-b").value = String(b);
    if (a === b) {
      byId("pair").replaceChildren(make("p", {}, "Choose two different variables."));
      return;
    }
    const fitted = this.pairs.fitted(a, b) ?? this.joint.pair(a, b);
    byId("pair").replaceChildren(...pairTable(this.variables[a], this.variables[b], fitted, {
      what: /** @type {keyof WHAT} */ (byId("pair-what").value),
      counts: this.pairs.counts(a, b),
      dependence: this.counted === null ? `${inDigits(this.fitted[a][b])} by the model` : this.#inWords(a, b),
    }));
  }
}

/**
 * The table of two variables, compared with the table that they would have if they were independent.
 *
 * @param {Variable} down
 * @param {Variable} across
 * @param {number[][]} fitted
 * @param {{ what: keyof WHAT, counts: number[][] | null, dependence: string }} options
 */
function pairTable(down, across, fitted, { what, counts, dependence }) {
  const total = counts === null ? 0 : counts.flat().reduce((sum, n) => sum + n, 0);
  const isObserved = total > 0 && what !== "fitted";
  const joint = counts !== null && isObserved ? counts.map((row) => row.map((n) => n / total)) : fitted;
  const ofRow = joint.map((row) => row.reduce((sum, p) => sum + p, 0));
  const ofColumn = across.labels.map((_, j) => joint.reduce((sum, row) => sum + row[j], 0));
  /** @typedef {(i: number, j: number) => string} Text */
  /** @type {(i: number, j: number) => number} */
  const residual = (i, j) => joint[i][j] - ofRow[i] * ofColumn[j];
  /** @type {Record<keyof WHAT, Text>} */
  const texts = {
    residual: (i, j) => points(residual(i, j)),
    joint: (i, j) => percent(joint[i][j]),
    row: (i, j) => (ofRow[i] > 0 ? percent(joint[i][j] / ofRow[i]) : "–"),
    fitted: (i, j) => percent(fitted[i][j]),
  };
  const [rows, columns] = [ofRow, ofColumn].map(commonest);
  const furthest = most(rows.flatMap((i) => columns.map((j) => Math.abs(residual(i, j)))));
  /** @type {(i: number, j: number) => HTMLElement} */
  const cell = (i, j) => {
    const td = make(
      "td",
      { title: `${percent(joint[i][j])}, ${percent(ofRow[i] * ofColumn[j])} if independent, ${points(residual(i, j))} points` },
      texts[what](i, j),
    );
    td.style.background = tint(residual(i, j), furthest);
    return td;
  };
  const source = isObserved ? `observed in ${plural(total, "row")} that show both` : "as fitted";
  const isCut = rows.length < down.labels.length || columns.length < across.labels.length;
  return [
    make("h3", {}, `${down.name} and ${across.name}`),
    make(
      "p",
      {},
      `${WHAT[what]}, ${source}${isCut ? `, for the ${MOST_LABELS} most common labels` : ""}. Normalised mutual information ${dependence}. Colours show `,
      make("span", { class: "swatch more" }, "more"),
      " and ",
      make("span", { class: "swatch less" }, "less"),
      " than if the two were independent.",
    ),
    make(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": `Table of ${down.name} and ${across.name}` },
      make(
        "table",
        { class: "pair" },
        make("thead", {}, make("tr", {}, make("td", { class: "corner" }, `${down.name} ↓ ${across.name} →`), columns.map((j) => make("th", { scope: "col" }, across.labels[j])))),
        make("tbody", {}, rows.map((i) =>
          make("tr", {}, make("th", { scope: "row" }, down.labels[i]), columns.map((j) => cell(i, j))),
        )),
      ),
    ),
  ];
}

/**
 * The positions of the most common labels, in the order of the labels.
 *
 * @param {number[]} shares
 */
function commonest(shares) {
  const places = shares.map((_, place) => place);
  if (places.length <= MOST_LABELS) return places;
  return places.sort((a, b) => shares[b] - shares[a]).slice(0, MOST_LABELS).sort((a, b) => a - b);
}

/** @param {number | null} value */
const inDigits = (value) => (value === null ? "never together" : value.toFixed(3));

/**
 * Shares of 16 bits; null where no row shows both variables.
 *
 * @param {string} text
 */
const sharesOf = (text) => [...new Uint16Array(bytesOf(text))].map((code) => (code === 65535 ? null : code / 65534));

/**
 * A symmetric matrix from the part above its diagonal, row by row. The diagonal is one.
 *
 * @param {(number | null)[]} above
 * @param {number} size
 * @returns {Matrix}
 */
function squared(above, size) {
  const matrix = Array.from({ length: size }, () => /** @type {(number | null)[]} */ (Array(size).fill(1)));
  let place = 0;
  for (let a = 0; a < size; a++) {
    for (let b = a + 1; b < size; b++) matrix[a][b] = matrix[b][a] = above[place++];
  }
  return matrix;
}

const WHAT = {
  residual: "Percentage points above or below independence",
  joint: "Joint shares",
  row: "Shares within each row",
  fitted: "Joint shares",
};

/** @param {string} name */
function themeText(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/**
 * Colours of the theme, written #rrggbb, as numbers.
 *
 * @param {...string} names
 */
function themeColours(...names) {
  return names.map((name) => [1, 3, 5].map((i) => parseInt(themeText(name).slice(i, i + 2), 16)));
}

/**
 * A colour on the scale through some colours, from 0 to 1.
 *
 * @param {number[][]} colours
 * @param {number} share
 */
function blend(colours, share) {
  const place = Math.min(1, Math.max(0, share)) * (colours.length - 1);
  const first = Math.min(colours.length - 2, Math.floor(place));
  const mixed = colours[first].map((c, i) => Math.round(c + (colours[first + 1][i] - c) * (place - first)));
  return `rgb(${mixed.join(" ")})`;
}
