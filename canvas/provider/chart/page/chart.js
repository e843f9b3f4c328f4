// @ts-check
// The chart's page: it draws the result that it receives, and requests changes of the
// query.
import { ask, onState } from "./link.js";
import { announce, byId, make, toast, write } from "./ui.js";
import { drawControls } from "./controls.js";
import { drawPlot, styleOf, symbol } from "./plot.js";
import { drawTable } from "./table.js";

/** @typedef {{ name: string, type: string, unit?: string, values?: string[] }} Column */
/** @typedef {{ measure: string, aggregate: string, groupBy: string, splitBy: string, filter: Record<string, string[]>, kind: string, sort: string }} Query */
/** @typedef {{ groups: string[], series: { name: string, values: (number | null)[] }[], rows: number }} Result */
/** @typedef {{ title: string, source?: string, query: Query, columns: Column[], result: Result, version: number }} State */

/** @type {State | undefined} */
let state;
const plot = byId("plot"), table = byId("table"), tableButton = byId("table-button");

/** Requests a change of the query. @param {Partial<Query>} query */
async function change(query) {
  try {
    await ask("set_query", { ...query, version: state?.version }); // a choice for another table is refused
  } catch (err) {
    toast(/** @type {Error} */ (err).message);
    if (state) show(state); // resets the controls
  }
}

/** @param {State} next */
function show(next) {
  const before = state && describe(state);
  state = next;
  document.title = next.title;
  write(byId("title"), next.title);
  write(byId("status"), describe(next));
  write(byId("source"), next.source ?? "");
  byId("message").hidden = true;
  byId("all").hidden = false;
  drawControls(next, change);
  drawLegend(next);
  drawPlot(plot, next, describe(next));
  drawTable(table, next, describe(next));
  document.body.setAttribute("aria-busy", "false");
  if (before !== undefined && before !== describe(next)) announce(`The chart shows ${describe(next)}.`);
}

/** Describes the query. @param {State} s */
function describe(s) {
  const { aggregate, measure, groupBy, splitBy, filter } = s.query;
  const how = { sum: "", average: "Average ", smallest: "Smallest ", largest: "Largest ", count: "Number of " }[aggregate] ?? "";
  const only = Object.entries(filter).map(([name, values]) => `${name} ${values.join(", ") || "none"}`).join("; ");
  return `${how}${measure} by ${groupBy}${splitBy ? ` and ${splitBy}` : ""}${only ? `, only ${only}` : ""}`;
}

/** @param {State} s */
function drawLegend(s) {
  const legend = byId("legend");
  legend.hidden = !s.query.splitBy;
  legend.replaceChildren(...s.result.series.map((one, n) => make("li", {}, symbol(styleOf(s, n), s.query.kind), make("span", { dir: "auto" }, one.name || "(empty)"))));
}

tableButton.onclick = () => {
  table.hidden = !table.hidden;
  tableButton.setAttribute("aria-expanded", String(!table.hidden));
  if (!table.hidden) table.scrollIntoView({ block: "nearest" });
};
new ResizeObserver(() => { if (state) drawPlot(plot, state, describe(state)); }).observe(plot);
onState(show);
