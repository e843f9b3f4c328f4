// @ts-check
// The board's page: it draws the state that the host holds and asks for changes.
// It never changes a board itself, so two pages cannot disagree for long.
import { ask, onState } from "./link.js";
import { startDrag } from "./drag.js";
import { startKeys } from "./keys.js";
import { announce, byId, toast } from "./ui.js";
import { draw } from "./draw.js";

/** @typedef {{ id: string, title: string, notes?: string, done: boolean }} Card */
/** @typedef {{ id: string, title: string, cards: Card[] }} List */
/** @typedef {{ revision: number, title: string, lists: List[] }} State */

/** @type {State | undefined} */
let state;

/** The board as the host said it last. */
export const current = () => state ?? { revision: 0, title: "", lists: [] };

/** Asks, and says what came of it. @param {string} action @param {any} input @param {string} said */
export async function change(action, input, said) {
  try {
    const value = await ask(action, input);
    if (said) announce(said);
    return value;
  } catch (err) {
    toast(/** @type {Error} */ (err).message);
    redraw();
    return undefined;
  }
}

export function redraw() {
  if (state) draw(state);
}

startKeys(byId("board"));
startDrag(byId("board"));
onState((next) => {
  const before = state;
  state = next;
  draw(next, before);
});
