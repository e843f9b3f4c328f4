// @ts-check
// From numbers to places and words.

/** Round steps from min to max, about count of them, 0 among them. @param {number} min @param {number} max @param {number} count @returns {number[]} */
export function ticks(min, max, count) {
  const low = Math.min(0, min), high = Math.max(0, max) || (low < 0 ? 0 : 1);
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999) ?? power * 10;
  const first = Math.floor(low / step + 1e-9), last = Math.ceil(high / step - 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
}

const exact = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });
const small = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 3 });
const short = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 2 });

/** A rate of 0.0042 is not 0. @param {number} v */
const written = (v) => (Math.abs(v) < 1 ? small : exact).format(v);

/** @param {number | null} v @param {string} [unit] */
export const inWords = (v, unit) => (v === null ? "no data" : `${written(v)}${unit ? `\u00a0${unit}` : ""}`);

/** @param {number} v */
export const onAxis = (v) => (Math.abs(v) >= 10_000 ? short.format(v) : written(v));

/** @param {string} text @param {number} max */
export const cut = (text, max) => (text.length > max ? `${text.slice(0, max - 1)}…` : text);
