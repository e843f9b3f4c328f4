// @ts-check
// The sizes of canvases in the layout, and what of the layout this browser keeps.
import { drag } from "./drag.js";

export const COLUMNS = 12;
export const MAX_REMEMBERED = 64; // canvases of one session
const MIN_SPAN = 3;
const MIN_HEIGHT = 16, MAX_HEIGHT = 80, STEP = 4; // rem

/** @typedef {{ span?: number, height?: number }} Size columns, and rem; a member that is absent stays */
/** @typedef {{ order: string[], sizes: Record<string, Size>, current?: string, maximized?: string, panes: Set<string>, pinned: Set<string>, away: Set<string> }} Kept ids of canvases */

const rem = () => parseFloat(getComputedStyle(document.documentElement).fontSize);

/** @param {number} n @param {number} low @param {number} high */
const clamp = (n, low, high) => Math.min(high, Math.max(low, Math.round(n)));

/** Lets a person resize a card by its grip, with the pointer and the arrow keys. @param {HTMLElement} grip @param {HTMLElement} card @param {HTMLElement} main @param {(size: Size) => void} resize */
export function resizable(grip, card, main, resize) {
  const span = (/** @type {number} */ n) => ({ span: clamp(n, MIN_SPAN, COLUMNS) });
  const height = (/** @type {number} */ n) => ({ height: clamp(n, MIN_HEIGHT, MAX_HEIGHT) });
  drag(grip, (e) => {
    const box = card.getBoundingClientRect();
    resize({ ...span((e.clientX - box.left) / (main.clientWidth / COLUMNS)), ...height((e.clientY - box.top) / rem()) });
  });
  grip.addEventListener("keydown", (e) => {
    const columns = Number(card.style.getPropertyValue("--span")), high = card.offsetHeight / rem();
    switch (e.key) {
      case "ArrowRight": resize(span(columns + 1)); break;
      case "ArrowLeft": resize(span(columns - 1)); break;
      case "ArrowDown": resize(height(high + STEP)); break;
      case "ArrowUp": resize(height(high - STEP)); break;
      default: return;
    }
    e.preventDefault();
  });
}

/** Keeps a layout in this browser. @param {string} key @param {Kept} layout */
export function keepLayout(key, { order, sizes, current, maximized, ...sets }) {
  const kept = Object.fromEntries(order.filter((id) => sizes[id]).map((id) => [id, sizes[id]]));
  const [panes, pinned, away] = [sets.panes, sets.pinned, sets.away].map((set) => [...set].slice(-MAX_REMEMBERED));
  try {
    localStorage.setItem(key, JSON.stringify({ order, sizes: kept, maximized, current, panes, pinned, away }));
  } catch {} // storage is full or not allowed: the layout lasts until the page is closed
}

/** @param {string} key @returns {Kept | undefined} undefined if this browser keeps none */
export function keptLayout(key) {
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? "{}");
    const ids = (/** @type {unknown} */ list) => (Array.isArray(list) ? list.filter((id) => typeof id === "string") : []);
    const order = ids(kept.order);
    /** @type {Record<string, Size>} */ const sizes = Object.create(null);
    for (const id of order) {
      const { span, height } = kept.sizes?.[id] ?? {};
      sizes[id] = { span: Number(span) || undefined, height: Number(height) || undefined };
    }
    const known = (/** @type {unknown} */ id) => (typeof id === "string" && order.includes(id) ? id : undefined);
    return {
      order, sizes, current: known(kept.current), maximized: known(kept.maximized),
      panes: new Set(ids(kept.panes)), pinned: new Set(ids(kept.pinned)), away: new Set(ids(kept.away)),
    };
  } catch {
    return undefined; // not a layout that this page stored
  }
}
