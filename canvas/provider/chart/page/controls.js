// @ts-check
// The controls of the query, for people. They do the same as the agent's set_query.
import { byId, make } from "./ui.js";

/** @typedef {import("./chart.js").State} State */
/** @typedef {import("./chart.js").Query} Query */
/** @typedef {(query: Partial<Query>) => void} Change */

const AGGREGATES = [["sum", "Sum"], ["average", "Average"], ["smallest", "Smallest"], ["largest", "Largest"], ["count", "Count"]];
const SORTS = [["data", "As in the data"], ["largest", "Largest first"], ["smallest", "Smallest first"]];
const KINDS = [["bar", "Bars"], ["line", "Lines"]];
let builtFor = ""; // the columns of the existing controls

/** Updates the controls, which keep the focus. @param {State} s @param {Change} change */
export function drawControls(s, change) {
  const columns = JSON.stringify(s.columns);
  if (columns !== builtFor) {
    builtFor = columns;
    build(s, change);
  }
  for (const select of /** @type {NodeListOf<HTMLSelectElement>} */ (byId("query").querySelectorAll("select"))) {
    select.value = /** @type {any} */ (s.query)[select.name];
  }
  for (const [kind] of KINDS) byId(`kind-${kind}`).setAttribute("aria-pressed", String(s.query.kind === kind));
  // A column's name can be one that every object has, such as "constructor".
  for (const c of s.columns) showFilter(c, Object.hasOwn(s.query.filter, c.name) ? s.query.filter[c.name] : undefined);
}

/** @param {State} s @param {Change} change */
function build(s, change) {
  const names = (/** @type {string} */ type) => s.columns.filter((c) => c.type === type).map((c) => [c.name, c.name]);
  const select = (/** @type {string} */ name, /** @type {string} */ label, /** @type {string[][]} */ options) => make("label", {}, make("span", { className: "quiet" }, label),
    make("select", { name, onchange: (/** @type {any} */ e) => change({ [name]: e.target.value }) }, ...options.map(([value, text]) => make("option", { value, dir: "auto" }, text))));
  byId("query").replaceChildren(
    select("aggregate", "Show", AGGREGATES), select("measure", "of", names("number")), select("groupBy", "by", names("text")),
    select("splitBy", "split by", [["", "Nothing"], ...names("text")]), select("sort", "order", SORTS),
    make("div", { className: "kinds", role: "group", "aria-label": "Kind of chart" },
      ...KINDS.map(([kind, text]) => make("button", { type: "button", id: `kind-${kind}`, onclick: () => change({ kind }) }, text))));
  byId("filters").replaceChildren(...s.columns.filter((c) => c.values).map((c) => filter(c, change)));
}

/** @param {import("./chart.js").Column} c @param {Change} change */
function filter(c, change) {
  const values = c.values ?? [];
  const el = make("details", { className: "filter", id: `filter-${c.name}` },
    make("summary", {}, make("span", { dir: "auto" }, c.name), make("span", { className: "quiet" })),
    make("div", { className: "values" },
      ...values.map((v) => make("label", {}, make("input", { type: "checkbox", value: v }), make("span", { dir: "auto" }, v))),
      make("button", { type: "button", className: "plain", onclick: () => set(undefined) }, "Keep all")));
  const set = (/** @type {string[] | undefined} */ keep) => {
    const { [c.name]: _, ...others } = filters;
    change({ filter: keep ? { ...others, [c.name]: keep } : others });
  };
  el.addEventListener("change", () => {
    const keep = boxes(el).filter((b) => b.checked).map((b) => b.value);
    set(keep.length === values.length ? undefined : keep);
  });
  el.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
    if (e.key !== "Escape" || !el.open) return;
    el.open = false;
    el.querySelector("summary").focus();
  });
  el.addEventListener("toggle", () => {
    for (const other of /** @type {any[]} */ ([...byId("filters").querySelectorAll("details[open]")])) if (el.open && other !== el) other.open = false;
  });
  return el;
}

/** @type {Record<string, string[]>} The current filters */
let filters = {};

/** @param {HTMLElement} el @returns {HTMLInputElement[]} */
const boxes = (el) => [...el.querySelectorAll("input")];

/** @param {import("./chart.js").Column} c @param {string[] | undefined} keep */
function showFilter(c, keep) {
  const { [c.name]: _, ...others } = filters;
  filters = keep ? { ...others, [c.name]: keep } : others;
  const el = document.getElementById(`filter-${c.name}`);
  if (!el) return;
  for (const b of boxes(el)) b.checked = !keep || keep.includes(b.value);
  const summary = el.querySelector("summary .quiet");
  if (summary) summary.textContent = keep ? (keep.length === 1 ? keep[0] : `${keep.length} of ${c.values?.length}`) : "all";
  el.classList.toggle("on", Boolean(keep));
}

document.addEventListener("pointerdown", (e) => {
  for (const el of /** @type {any[]} */ ([...document.querySelectorAll("details.filter[open]")])) if (!el.contains(e.target)) el.open = false;
});
