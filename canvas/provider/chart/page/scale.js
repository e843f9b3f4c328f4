// @ts-check
// Steps of an axis, and formatted numbers.

/** Returns about count round steps from min to max, with 0. @param {number} min @param {number} max @param {number} count @returns {number[]} */
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

/** Formats a number; 0.0042 must not become 0. @param {number} v */
const plain = (v) => (Math.abs(v) < 1 ? small : exact).format(v);

/** @param {number | null} v @param {string} [unit] */
export const formatted = (v, unit) => (v === null ? "no data" : `${plain(v)}${unit ? `\u00a0${unit}` : ""}`);

/** @param {number} v */
export const axisLabel = (v) => (Math.abs(v) >= 10_000 ? short.format(v) : plain(v));

/** @param {string} text @param {number} max */
export const shortened = (text, max) => (text.length > max ? `${text.slice(0, max - 1)}…` : text);
