// @ts-check
// The board's page: it draws the state that it receives, and requests changes. It
// never changes the board itself, so all pages show the same.
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

/** Returns the latest state. */
export const current = () => state ?? { revision: 0, title: "", lists: [] };

/** Requests a change and announces the outcome. @param {string} action @param {any} input @param {string} success announced if the change was made @returns {Promise<any>} the action's value; undefined if it was refused */
export async function change(action, input, success) {
  try {
    const value = await ask(action, input);
    if (success) announce(success);
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
