// @ts-check
// Puts the cards of a layout into their places: visually, and in the document (for the Tab
// key) only if the browser can move a frame without reloading it (moveBefore).
import { setIcon } from "./icons.js";
import { COLUMNS } from "./layoutsize.js";

/**
 * Draws a layout. Cards that are not shown are hidden.
 * @param {HTMLElement} main @param {Map<string, HTMLElement>} cards by instance id @param {string[]} shown ids, in order
 * @param {{ sizes: Record<string, import("./layoutsize.js").Size>, maximized: string | undefined }} how
 */
export function drawLayout(main, cards, shown, { sizes, maximized }) {
  main.dataset.maximized = String(maximized !== undefined);
  main.dataset.panes = String(shown.length);
  for (const [id, card] of cards) card.hidden = !shown.includes(id);
  shown.forEach((id, i) => {
    const card = /** @type {HTMLElement} */ (cards.get(id));
    const { span = defaultSpan(i, shown.length), height } = sizes[id] ?? {};
    card.style.order = String(i);
    card.dataset.fills = String(!sizes[id]?.span && i === shown.length - 1 && i % 2 === 0);
    card.style.setProperty("--span", String(span));
    card.style.setProperty("--height", height ? `${height}rem` : "0");
    const grip = card.querySelector(".grip");
    grip?.setAttribute("aria-valuenow", String(span));
    grip?.setAttribute("aria-valuetext", `${span} of ${COLUMNS} columns${height ? `, ${height} rem high` : ""}`);
    drawButtons(card, { maximized: maximized === id, first: i === 0, last: i === shown.length - 1 });
  });
  sortDocument(main, cards, shown);
}

/** The width of a canvas before a person resizes it: rows of two or three, and none with a gap at its end. @param {number} i its place @param {number} n how many are shown */
function defaultSpan(i, n) {
  if (n === 1) return COLUMNS;
  return n === 2 || n === 4 || (n === 5 && i > 2) ? COLUMNS / 2 : COLUMNS / 3;
}

/** @param {HTMLElement} card @param {{ maximized: boolean, first: boolean, last: boolean }} is */
function drawButtons(card, { maximized, first, last }) {
  const button = /** @type {HTMLElement | null} */ (card.querySelector(".maximize"));
  if (button) {
    button.setAttribute("aria-pressed", String(maximized));
    button.title = maximized ? "Show the other canvases again (Esc)" : "Maximize";
    setIcon(button, maximized ? "restore" : "maximize");
  }
  card.querySelector(".earlier")?.setAttribute("aria-disabled", String(first));
  card.querySelector(".later")?.setAttribute("aria-disabled", String(last));
}

/** Puts the cards in document order, if that does not reload their frames. @param {any} main @param {Map<string, HTMLElement>} cards @param {string[]} shown */
function sortDocument(main, cards, shown) {
  if (!main.moveBefore) return;
  /** @type {Element | null} */
  let after = null;
  for (const id of shown.toReversed()) {
    const card = /** @type {HTMLElement} */ (cards.get(id));
    if (card.parentNode === main && card.nextElementSibling !== after) main.moveBefore(card, after);
    after = card;
  }
}
