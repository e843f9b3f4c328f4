// @ts-check
// The picture: axes, bars or lines, and a point for each number, for mouse and
// keyboard. A focused point keeps the focus when the numbers change.
import { byId, draw } from "./ui.js";
import { axisLabel, formatted, shortened, ticks } from "./scale.js";
import { startPoints } from "./points.js";

/** @typedef {import("./chart.js").State} State */
/** @typedef {{ width: number, height: number, left: number, right: number, top: number, bottom: number, band: number, labels: { turned: boolean, every: number }, y: (v: number) => number, steps: number[] }} Frame */

const DASHES = ["", "7 4", "2 3", "10 3 2 3", "5 2", "1 4", "12 4", "4 2 1 2"];
const CHAR = 6.9; // approximate px of a character at the axis
const MAX_TURNED = 14; // characters of a turned label

/** A different shape for each series, for people who cannot distinguish the colors. @type {((x: number, y: number, r: number) => string)[]} */
const MARKS = [
  (x, y, r) => `M${x - r},${y}a${r},${r} 0 1 0 ${2 * r},0a${r},${r} 0 1 0 ${-2 * r},0z`,
  (x, y, r) => `M${x - r},${y - r}h${2 * r}v${2 * r}h${-2 * r}z`,
  (x, y, r) => `M${x},${y - 1.3 * r}l${1.2 * r},${2.2 * r}h${-2.4 * r}z`,
  (x, y, r) => `M${x},${y - 1.35 * r}l${1.35 * r},${1.35 * r}l${-1.35 * r},${1.35 * r}l${-1.35 * r},${-1.35 * r}z`,
  (x, y, r) => `M${x},${y + 1.3 * r}l${1.2 * r},${-2.2 * r}h${-2.4 * r}z`,
  (x, y, r) => `M${x - r},${y - r / 2.5}h${r / 1.6}v${-r / 1.6}h${r / 1.3}v${r / 1.6}h${r / 1.6}v${r / 1.3}h${-r / 1.6}v${r / 1.6}h${-r / 1.3}v${-r / 1.6}h${-r / 1.6}z`,
  (x, y, r) => `M${x - 1.2 * r},${y - r / 2}h${2.4 * r}v${r}h${-2.4 * r}z`,
  (x, y, r) => `M${x - r / 2},${y - 1.2 * r}h${r}v${2.4 * r}h${-r}z`,
];

/**
 * Returns the number of a series' color, mark and dash: its index among all values of
 * the column, so that a filter does not change them.
 * @param {State} s @param {number} n
 */
export function styleOf(s, n) {
  const values = s.columns.find((c) => c.name === s.query.splitBy)?.values ?? [];
  const all = s.result.series.some((one) => !one.name) ? [...values, ""] : values; // rows without a value are a series
  const at = all.length <= MARKS.length ? all.indexOf(s.result.series[n].name) : -1;
  return at < 0 ? n : at;
}

/** Returns the symbol of a series in the legend. @param {number} n from styleOf @param {string} kind */
export function symbol(n, kind) {
  const box = draw("svg", { class: `sign series-${n}`, width: 22, height: 14, "aria-hidden": "true" });
  if (kind === "bar") box.append(draw("rect", { class: "fill", x: 4, y: 1, width: 12, height: 12, rx: 2 }));
  else box.append(draw("path", { class: "stroke", d: "M0,7h22", "stroke-dasharray": DASHES[n] }), draw("path", { class: "fill", d: MARKS[n](11, 7, 4) }));
  return box;
}

/** @param {HTMLElement} plot @param {State} s @param {string} words */
export function drawPlot(plot, s, words) {
  const { groups, series } = s.result, old = plot.querySelector(":scope > svg");
  byId("nothing").hidden = groups.length > 0;
  if (!groups.length) return old?.remove();
  const f = frame(plot, s), focused = old?.contains(document.activeElement) ? /** @type {SVGElement} */ (document.activeElement).dataset : undefined;
  const scroll = plot.scrollLeft;
  const svg = draw("svg", {
    width: f.width, height: f.height, viewBox: `0 0 ${f.width} ${f.height}`, role: "application", "aria-roledescription": "chart",
    "aria-label": `${s.query.kind === "bar" ? "Bars" : "Lines"}: ${words}. ${groups.length} groups, ${series.length} series. Arrow keys go from point to point.`,
  });
  svg.append(axes(s, f), ...series.map((one, n) => (s.query.kind === "bar" ? bars(s, f, n) : line(s, f, n))));
  if (old) old.replaceWith(svg);
  else plot.append(svg);
  plot.scrollLeft = scroll;
  startPoints(plot, svg, focused);
}

/** Computes the layout. @param {HTMLElement} plot @param {State} s @returns {Frame} */
function frame(plot, s) {
  const { groups, series } = s.result, values = series.flatMap((one) => one.values.filter((v) => v !== null));
  const height = plot.clientHeight, steps = ticks(Math.min(...values, 0), Math.max(...values, 0), Math.max(2, Math.round(height / 70)));
  const left = 14 + CHAR * Math.max(...steps.map((v) => axisLabel(v).length)), right = 12, top = unitOf(s) ? 26 : 12;
  const least = groups.length * (s.query.kind === "bar" ? series.length * 7 + 8 : 12);
  const width = Math.max(plot.clientWidth, left + right + least), band = (width - left - right) / groups.length;
  const longest = CHAR * Math.max(...groups.map((g) => (g || "(empty)").length)), turned = longest + 8 > band;
  const labels = { turned, every: turned ? Math.max(1, Math.ceil(16 / band)) : 1 };
  const bottom = turned ? 18 + Math.min(longest, MAX_TURNED * CHAR) * 0.72 : 28;
  const low = steps[0], high = steps[steps.length - 1], tall = height - top - bottom;
  return { width, height, left, right, top, bottom, band, labels, steps, y: (v) => top + tall * (1 - (v - low) / (high - low)) };
}

/** Returns the unit of the numbers, "" if they have none. @param {State} s */
const unitOf = ({ query, columns }) => (query.aggregate === "count" ? "" : columns.find((c) => c.name === query.measure)?.unit ?? "");

/** @param {State} s @param {Frame} f */
function axes(s, f) {
  const g = draw("g", { "aria-hidden": "true", class: "axes" });
  if (unitOf(s)) g.append(draw("text", { class: "unit", x: 6, y: 12 }, shortened(unitOf(s), 24)));
  for (const v of f.steps) {
    g.append(draw("line", { class: v === 0 ? "zero" : "grid", x1: f.left, x2: f.width - f.right, y1: f.y(v), y2: f.y(v) }),
      draw("text", { x: f.left - 8, y: f.y(v), dy: ".32em", "text-anchor": "end" }, axisLabel(v)));
  }
  s.result.groups.forEach((group, n) => {
    if (n % f.labels.every) return;
    const x = f.left + f.band * (n + 0.5), y = f.height - f.bottom + 18;
    const at = f.labels.turned ? { transform: `translate(${x + 4},${y - 6}) rotate(-45)`, "text-anchor": "end", dy: ".32em" } : { x, y, "text-anchor": "middle" };
    g.append(draw("text", at, f.labels.turned ? shortened(group || "(empty)", MAX_TURNED) : group || "(empty)"));
  });
  return g;
}

/** Returns the element of one number. @param {State} s @param {number} n @param {number} g @param {{ x: number, y: number }} at @param {...Node} shapes */
function point(s, n, g, at, ...shapes) {
  const { query, result } = s, one = result.series[n], group = result.groups[g] || "(empty)";
  const value = formatted(one.values[g], unitOf(s));
  const name = query.splitBy ? `${one.name || "(empty)"}, ${group}` : group;
  return draw("g", {
    class: "point", role: "img", tabindex: -1, "aria-label": `${name}: ${value}`,
    "data-series": n, "data-group": g, "data-series-name": one.name, "data-group-name": result.groups[g], "data-name": name, "data-value": value, "data-x": at.x, "data-y": at.y,
  }, ...shapes);
}

/** @param {State} s @param {Frame} f @param {number} n */
function bars(s, f, n) {
  const all = s.result.series.length, gap = Math.min(f.band * 0.2, 24), width = Math.min((f.band - gap) / all, 56);
  const g = draw("g", { class: `series-${styleOf(s, n)}` });
  s.result.series[n].values.forEach((v, at) => {
    if (v === null) return;
    const x = f.left + f.band * (at + 0.5) - (width * all) / 2 + n * width, zero = f.y(0), tall = Math.max(Math.abs(f.y(v) - zero), 2), top = v < 0 ? zero : zero - tall;
    g.append(point(s, n, at, { x: x + width / 2, y: top }, draw("rect", { class: "fill", x: x + 0.75, y: top, width: Math.max(width - 1.5, 2), height: tall, rx: Math.min(3, width / 4) })));
  });
  return g;
}

/** @param {State} s @param {Frame} f @param {number} n */
function line(s, f, n) {
  const look = styleOf(s, n), g = draw("g", { class: `series-${look}` });
  /** @type {Node[]} */
  const points = [];
  let path = "", pen = "M";
  s.result.series[n].values.forEach((v, at) => {
    if (v === null) {
      pen = "M"; // a gap, not a 0
      return;
    }
    const x = f.left + f.band * (at + 0.5), y = f.y(v);
    path += `${pen}${x},${y}`;
    pen = "L";
    points.push(point(s, n, at, { x, y }, draw("circle", { class: "hit", cx: x, cy: y, r: 11 }), draw("path", { class: "fill", d: MARKS[look](x, y, 4) })));
  });
  g.append(draw("path", { class: "stroke", d: path, "aria-hidden": "true", "stroke-dasharray": DASHES[look] }), ...points);
  return g;
}
