// @ts-check
// The same numbers as a table, for people who cannot see the picture.
import { make } from "./ui.js";
import { formatted } from "./scale.js";

/** @param {HTMLElement} el @param {import("./chart.js").State} s @param {string} words */
export function drawTable(el, s, words) {
  const { query, result } = s, unit = query.aggregate === "count" ? "" : s.columns.find((c) => c.name === query.measure)?.unit;
  el.replaceChildren(make("table", {},
    make("caption", { dir: "auto" }, words),
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, make("bdi", {}, query.groupBy)),
      ...result.series.map((one) => make("th", { scope: "col", className: "number" }, make("bdi", {}, one.name || "(empty)"))))),
    make("tbody", {}, ...result.groups.map((group, g) => make("tr", {}, make("th", { scope: "row" }, make("bdi", {}, group || "(empty)")),
      ...result.series.map((one) => make("td", { className: "number" }, one.values[g] === null ? "–" : formatted(one.values[g], unit))))))));
}
