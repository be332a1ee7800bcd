// Numbers, dates and times as text, and text as positions of a law. Whole numbers may be longer than a double is exact.

/** @import { NumberFacts } from "./types" */

const DAY = 86_400n * 10n ** 9n;
/** Nanoseconds of each unit. @type {Record<string, bigint>} */
const NANOSECONDS = { D: DAY, s: 10n ** 9n, ms: 10n ** 6n, us: 1000n, ns: 1n };
const DATE = /^\s*(\d{4})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?\s*(Z?))?\s*$/;
const DECIMAL = /^\s*([+-]?)(\d*)(?:\.(\d*))?\s*$/;

// Steps of a clock that are easy to read, in seconds
const CLOCK = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400];

/** @param {number} least */
function decimalStep(least) {
  const size = 10 ** Math.floor(Math.log10(least));
  return ([1, 2, 5].find((factor) => factor * size >= least) ?? 10) * size;
}

/** @type {(a: bigint, b: bigint) => bigint} */
const floorDivide = (a, b) => (a < 0n && a % b !== 0n ? a / b - 1n : a / b);

export class NumberText {
  #facts;
  #origin;

  /** @param {NumberFacts} facts */
  constructor(facts) {
    this.#facts = facts;
    this.#origin = BigInt(facts.origin);
  }

  /** @param {number} position */
  #multiple(position) {
    return BigInt(position) + this.#origin;
  }

  /**
   * The number of a position as text that can be read back.
   *
   * @param {number} position
   */
  exact(position) {
    const { decimals, calendar } = this.#facts;
    if (decimals === null) return String(position);
    const multiple = this.#multiple(position);
    if (calendar) return dateOf(multiple, calendar);
    if (decimals === 0) return String(multiple);
    const digits = String(multiple < 0n ? -multiple : multiple).padStart(decimals + 1, "0");
    const text = `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`.replace(/\.?0+$/, "");
    return multiple < 0n ? `-${text}` : text;
  }

  /**
   * The same to six digits, with a true minus sign.
   *
   * @param {number} position
   */
  short(position) {
    const text = this.#facts.decimals === null ? String(Number(position.toPrecision(6))) : this.exact(position);
    return this.#facts.calendar ? text : text.replace("-", "−");
  }

  /**
   * A place between positions, as a float.
   *
   * @param {number} position
   */
  float(position) {
    const { decimals } = this.#facts;
    return decimals === null ? position : (position + Number(this.#origin)) / 10 ** decimals;
  }

  /**
   * The nearest position of a float.
   *
   * @param {number} value
   */
  nearest(value) {
    const { decimals } = this.#facts;
    return decimals === null ? value : Math.round(value * 10 ** decimals - Number(this.#origin));
  }

  /**
   * The lowest position of the numbers that are at least a number in text; null if it is none.
   *
   * @param {string} text
   */
  read(text) {
    const { decimals, calendar } = this.#facts;
    if (calendar) {
      const date = nanosecondsOf(text, calendar);
      return date === null ? null : this.#atLeast(-floorDivide(-date, NANOSECONDS[calendar.unit]));
    }
    const value = text.trim() === "" ? NaN : Number(text.replace("−", "-"));
    if (!Number.isFinite(value)) return null;
    if (decimals === null) return value;
    const plain = text.replace("−", "-");
    const parts = DECIMAL.exec(plain) ?? DECIMAL.exec(value.toLocaleString("en-US", { useGrouping: false, maximumFractionDigits: 20 }));
    if (!parts) return null;
    const [sign, whole, fraction] = [parts[1], parts[2] || "0", parts[3] ?? ""];
    const kept = BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, "0"));
    const isCut = /[1-9]/.test(fraction.slice(decimals));
    return this.#atLeast(sign === "-" ? -kept : kept + (isCut ? 1n : 0n));
  }

  /** @param {bigint} multiple */
  #atLeast(multiple) {
    const whole = multiple - this.#origin;
    const position = Number(whole);
    // Far from the origin several numbers share the position below them.
    return BigInt(position) <= whole ? position : position - 2 ** (Math.floor(Math.log2(Math.abs(position))) - 52);
  }

  /** What may be typed. */
  get kind() {
    return this.#facts.calendar ? "a date" : "a number";
  }

  /** How dates are written, as a sentence; nothing for numbers. */
  get hint() {
    const { calendar } = this.#facts;
    if (!calendar) return "";
    return ` Write dates like 2024-03-01${calendar.unit === "D" ? "" : ", and times like 2024-03-01 12:30"}.`;
  }

  /**
   * The lowest step that is easy to read and not below a number: of dates and times whole seconds, minutes, hours or days.
   *
   * @param {number} least
   */
  step(least) {
    const { calendar } = this.#facts;
    if (!calendar) return decimalStep(least);
    const second = 1e9 / Number(NANOSECONDS[calendar.unit]);
    if (least < second) return decimalStep(least);
    const ofClock = CLOCK.find((seconds) => seconds * second >= least);
    return ofClock ? ofClock * second : decimalStep(least / (86_400 * second)) * 86_400 * second;
  }
}

/** @type {(n: number | bigint, length: number) => string} */
const padded = (n, length) => String(n).padStart(length, "0");

/**
 * A date, with the time if it is not midnight; times of a zone in UTC.
 *
 * @param {bigint} number
 * @param {{ unit: string, zone: string | null }} calendar
 */
function dateOf(number, { unit, zone }) {
  const nanoseconds = number * NANOSECONDS[unit];
  const days = floorDivide(nanoseconds, DAY);
  const date = new Date(Number(days) * 86_400_000);
  if (Number.isNaN(date.getTime())) return String(number);
  const day = `${padded(date.getUTCFullYear(), 4)}-${padded(date.getUTCMonth() + 1, 2)}-${padded(date.getUTCDate(), 2)}`;
  if (unit === "D") return day;
  const rest = nanoseconds - days * DAY;
  const seconds = rest / 10n ** 9n;
  const fraction = padded(rest % 10n ** 9n, 9).replace(/0+$/, "");
  const ends = `${fraction || seconds % 60n ? `:${padded(seconds % 60n, 2)}` : ""}${fraction ? `.${fraction}` : ""}`;
  const time = `${padded(seconds / 3600n, 2)}:${padded((seconds / 60n) % 60n, 2)}${ends}`;
  if (zone) return `${day} ${time}Z`;
  return time === "00:00" ? day : `${day} ${time}`;
}

/**
 * Nanoseconds since 1970 of a date or time; null if it is none.
 *
 * @param {string} text
 * @param {{ unit: string, zone: string | null }} calendar
 */
function nanosecondsOf(text, { zone }) {
  const parts = DATE.exec(text);
  if (!parts || (parts[8] === "Z" && zone === null)) return null;
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map((part) => Number(part ?? 0));
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || hour > 23 || minute > 59 || second > 59) return null;
  const seconds = BigInt(date.getTime()) / 1000n + BigInt(hour * 3600 + minute * 60 + second);
  return seconds * 10n ** 9n + BigInt((parts[7] ?? "").padEnd(9, "0"));
}
