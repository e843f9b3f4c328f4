// @ts-check
// The points by keyboard and mouse: Tab stops at one point, arrow keys go from point to
// point, and a small box shows name and value.
import { byId, make } from "./ui.js";

/** @param {HTMLElement} plot @param {SVGElement} svg @param {DOMStringMap} [focused] the point that had the focus before */
export function startPoints(plot, svg, focused) {
  const points = /** @type {SVGElement[]} */ ([...svg.querySelectorAll(".point")]);
  const same = points.find((p) => p.dataset.seriesName === focused?.seriesName && p.dataset.groupName === focused?.groupName);
  const first = same ?? points[0];
  if (!first) return;
  first.tabIndex = 0;
  hide();
  svg.addEventListener("focusin", (e) => {
    const point = pointOf(e);
    if (!point) return;
    for (const p of points) p.tabIndex = p === point ? 0 : -1;
    show(plot, point);
  });
  svg.addEventListener("focusout", hide);
  svg.addEventListener("pointerover", (e) => {
    const point = pointOf(e);
    if (point) show(plot, point);
  });
  svg.addEventListener("pointerout", () => {
    hide();
    if (svg.contains(document.activeElement)) show(plot, /** @type {any} */ (document.activeElement));
  });
  svg.addEventListener("keydown", (e) => {
    const point = pointOf(e);
    if (!point || e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === "Escape") return hide();
    const next = neighbor(points, point, e.key);
    if (!next && !(e.key in STEPS)) return;
    e.preventDefault();
    next?.focus();
    next?.scrollIntoView({ block: "nearest", inline: "nearest" });
  });
  if (focused) first.focus({ preventScroll: true });
}

/** @param {Event} e @returns {SVGElement | null} */
const pointOf = (e) => /** @type {Element} */ (e.target).closest(".point");

/** The steps of a key, in series and groups. @type {Record<string, [number, number]>} */
const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Home: [0, -Infinity], End: [0, Infinity] };

/** Returns the next point in a direction; gaps are skipped. @param {SVGElement[]} points @param {SVGElement} from @param {string} key */
function neighbor(points, from, key) {
  const step = STEPS[key];
  if (!step) return undefined;
  const [series, group] = step, n = Number(from.dataset.series), g = Number(from.dataset.group);
  const line = points.filter((p) => (group ? Number(p.dataset.series) === n : Number(p.dataset.group) === g));
  const at = line.indexOf(from) + (group || series);
  return line[Math.max(0, Math.min(at, line.length - 1))];
}

/** @param {HTMLElement} plot @param {SVGElement} point */
function show(plot, point) {
  const tip = byId("tip"), { name = "", value = "", x = "0", y = "0" } = point.dataset;
  tip.replaceChildren(make("span", { dir: "auto" }, name), make("strong", {}, value));
  tip.hidden = false;
  const half = tip.offsetWidth / 2, from = plot.scrollLeft + half + 4, to = plot.scrollLeft + plot.clientWidth - half - 4;
  tip.style.left = `${Math.max(from, Math.min(Number(x), to))}px`;
  const above = Number(y) - tip.offsetHeight - 10;
  tip.style.top = `${above < 0 ? Number(y) + 14 : above}px`;
}

function hide() { byId("tip").hidden = true; }
