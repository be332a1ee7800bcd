// The shapes that modules share. `Facts` is the JSON that src/juror/report/html.py writes into the page.

import type { Law } from "./law.js";
import type { NumberText } from "./number_text.js";

export interface Facts {
  file: string;
  variables: Omit<Variable, "position" | "law" | "text">[];
  model: ModelFacts;
  dependence: DependenceFacts;
  forest: ForestFacts | null;
  classes: ClassFacts;
  fit: FitFacts | null;
  observed: ObservedFacts | null;
  pairs: PackedPairs;
}

/** Tables of some pairs of variables, deflated; src/juror/report/carried_pairs.py writes them. */
export interface PackedTables {
  /** Numbers of the pairs, in the order of Python's combinations. */
  pairs: number[];
  type: "u4" | "f4" | "u2";
  numbers: string;
}

export interface PackedPairs {
  /** The probability of intervals; null without any. */
  level: number | null;
  /** Whether intervals are from as many rows as the model expects, because it keeps no counts. */
  is_expected: boolean;
  /** How many independent rows a weight of one is worth. */
  worth: number;
  /** A byte for each pair: by how many points answers of the page's model are off; null if none is by more than one. */
  apart: string | null;
  counts?: PackedTables;
  fitted?: PackedTables;
  intervals?: PackedTables;
}

export interface Variable {
  name: string;
  kind: "nominal" | "ordinal" | "binned";
  labels: string[];
  /** How many labels are in order, from the first on: all of an ordered variable but the label of missing cells. */
  n_ordered: number;
  edges: number[] | null;
  /** What stands behind a number; null for labels. */
  number: NumberFacts | null;
  /** The marginal of the fitted model, if that of the page's model is less exact. */
  probabilities?: number[];
  /** Ends of the intervals of the marginal, if the model has any. */
  low?: number[];
  high?: number[];
  /** The place of the variable in the model; main.js adds it. */
  position: number;
  /** The law of a number and its texts, read from `number` by main.js; null for labels. */
  law: Law | null;
  text: NumberText | null;
}

/** The law of a number and the bins of its histogram; src/juror/report/number_facts.py writes them. */
export interface NumberFacts {
  /** Digits after the point; null if numbers are not multiples of a step. */
  decimals: number | null;
  /** A whole number of any length. */
  origin: string;
  /** How many positions the numbers of the rows lie apart. */
  stride: number;
  calendar: { unit: string; zone: string | null } | null;
  /** Where intervals begin, and where the last ends; null where they are infinite. */
  cuts: (number | null)[];
  /** Deflated doubles: bounds of the pieces, then their masses. */
  pieces: string;
  /** How far a share of an interval may be off. */
  error: number;
  bins: number[];
  /** Which bins are single values that stand out. */
  stems: number[];
  axis: [number, number];
}

/** What is known of a variable. */
export interface Known {
  /** The sorted codes that it may have. */
  codes: number[];
  /** Which share of the law of each of these intervals is possible; null if all of each is. */
  weights: number[] | null;
  /** The range that ends inside intervals; null if it does not. */
  ends: [number | null, number | null] | null;
}

/** What is known, by the position of the variable. */
export type Evidence = Map<number, Known>;

export interface ModelFacts {
  rank: number;
  fitted_rank: number;
  fitted_blocks: number;
  n_variables: number;
  n_parameters: number;
  loss: number;
  standard_error: number;
  pair_difference: number;
  /** Precision of the numbers of the blocks: 64 for doubles, 32 for floats, 16 for logarithms, deflated. */
  bits: 64 | 32 | 16;
  blocks: BlockFacts[];
}

/** Classes that share a forest. Nodes after the last variable are hidden. */
export interface BlockFacts {
  /** Base64, (F,): the weights of all blocks together sum to one. */
  weights: string;
  /** The parent of every node, −1 for none. */
  parents: number[];
  /** The number of labels of every node. */
  sizes: number[];
  /** Base64 of the tables of all nodes, each (labels of the parent or 1, labels, F). */
  tables: string;
}

/** The forest of the heaviest block. */
export interface ForestFacts {
  block: number;
  n_blocks: number;
  fitted_blocks: number;
  weight: number;
  /** Edges, the most informative first; nulls where a node is hidden. */
  edges: EdgeFacts[];
  /** Null where there are too many nodes to draw. */
  layout: { size: [number, number]; height: number; nodes: NodeFacts[] } | null;
}

export interface EdgeFacts {
  a: number;
  b: number;
  /** Mutual information in nats, and as a share of the smaller entropy. */
  information: number | null;
  share: number | null;
}

/** A box of the drawing in pixels. Hidden nodes have no name. */
export interface NodeFacts {
  name: string;
  centre: [number, number];
  width: number;
}

export interface DependenceFacts {
  /** Positions of the variables, so that variables that depend on each other are neighbours. */
  order: number[];
  /** Base64 of floats: the part above the diagonal, row by row. */
  matrix: string;
  /** Base64 of 16 bits, the same part by the counts: shares of 65534, or 65535 if no row shows both; null without. */
  counted: string | null;
}

export interface Trait {
  variable: string;
  label: string;
  share: number;
  overall: number;
  lift: number;
}

export interface ClassProfile {
  index: number;
  weight: number;
  traits: Trait[];
}

export interface ClassFacts {
  n_classes: number;
  shown_weight: number;
  compressed: { rank: number; loss: number; standard_error: number } | null;
  profiles: ClassProfile[];
}

export interface FitFacts {
  method: string;
  why: string;
  n_rows: number;
  n_distinct: number | null;
  n_draws: number;
  n_members: number;
  /** Text where it is infinite. */
  log_likelihood: number | string | null;
  aic: number | null;
  bic: number | null;
  smoothing: number;
  n_iter: number;
  stopped: string;
  starts: (number | null)[];
  trace: (number | null)[];
  target: string | null;
  n_searched: number | null;
  diagnostics: Record<string, string>;
  rho: number | null;
  compressed: { rank: number; loss: number; standard_error: number }[];
  seed: number;
  mixing: Record<string, [number | null, number | null]>;
  warnings: string[];
  rank_path: { rank: number; score: number | null; n_occupied: number }[];
  chosen_rank: number | null;
  chosen_by: string | null;
}

/** Counts and probabilities: half the sum of their differences, and what random sampling alone would give. */
export interface Gap {
  n: number;
  distance: number | null;
  noise: number | null;
}

export interface MarginalFacts extends Gap {
  variable: string;
  counts: number[];
  observed: number[] | null;
  fitted: number[];
}

export interface PairFacts extends Gap {
  variables: [string, string];
  /** Whether the fitted table was adjusted to the margins of the rows that show both. */
  is_adjusted: boolean;
}

export interface TogetherFacts {
  n_never: number;
  n_seldom: number;
  /** The first of them, the seldomest first; share of the rows that show the variable that is shown less. */
  pairs: { variables: [string, string]; n: number; share: number }[];
}

/** How well the model reproduces the counts of pairs, and the worst question of each of the worst pairs. */
export interface CheckFacts {
  n_cells: number;
  n_well: number;
  n_off: number;
  n_pairs_off: number;
  questions: {
    question: string;
    target: string;
    given: string;
    probability: number;
    share: number;
    rows: number;
    adjusted: number;
  }[];
}

export interface UnusualRow {
  row: number;
  file: string | null;
  weight: number;
  cells: (string | null)[];
  impossible: boolean;
  log_prob: number | null;
  surprise: number | null;
  as_improbable: number;
  cell_probabilities: (number | null)[];
}

export interface CalibrationFacts {
  target: string;
  predicted: number[];
  observed: number[];
  weight: number[];
  n_rows: number;
  n_impossible: number;
  accuracy: number;
  reference_accuracy: number;
  log_loss: number | null;
  reference_log_loss: number | null;
  error: number;
  noise: number;
}

/** The data of a report or, without any, the counts of the rows that the model was fitted to. */
export interface ObservedFacts {
  source: "data" | "fit";
  n_rows: number | null;
  missing: number[] | null;
  marginals: MarginalFacts[] | null;
  together: TogetherFacts;
  pairs: PairFacts[];
  n_pairs: number;
  check: CheckFacts;
  /** The rest needs single rows: null for counts. */
  is_sampled: boolean | null;
  n_rows_judged: number | null;
  n_rows_calibrated: number | null;
  n_impossible: number | null;
  mean_log_prob: number | null;
  mean_log_prob_independent: number | null;
  mean_log_prob_uniform: number | null;
  unusual: UnusualRow[] | null;
  calibration: (CalibrationFacts | null)[] | null;
}

type Value = string | number | boolean | null | undefined;
type Listeners = { [Name in keyof HTMLElementEventMap as `on${Name}`]?: (event: HTMLElementEventMap[Name]) => void };
type PlainAttribute = "autocomplete" | "class" | "hidden" | "id" | "placeholder" | "role" | "scope" | "tabindex" | "title" | "value";

/** Attributes of an element; names that begin with "on" are listeners. */
export type Attributes = Listeners & { [Name in PlainAttribute]?: Value } & {
  [name: `aria-${string}` | `data-${string}`]: Value;
};

/** What an element may hold; null is left out. */
export type Child = Node | string | null | Child[];
