// @ts-check
// The board's page: it draws the state that the host holds and asks for changes.
// It never changes a board itself, so two pages cannot disagree for long.
import { onMessage, send } from "/.ahp/canvas.js";
import { startDrag } from "./drag.js";
import { startKeys } from "./keys.js";
import { announce, byId, toast } from "./ui.js";
import { draw } from "./draw.js";

/** @typedef {{ id: string, title: string, notes?: string, done: boolean }} Card */
/** @typedef {{ id: string, title: string, cards: Card[] }} List */
/** @typedef {{ revision: number, title: string, lists: List[] }} State */

/** @type {State | undefined} */
let state;
let lastRef = 0;
/** @type {Map<number, { done: (value: any) => void, refused: (err: Error) => void }>} */
const asked = new Map();

/** The board as the host said it last. */
export const current = () => state ?? { revision: 0, title: "", lists: [] };

/**
 * Asks the host for a change. The promise is kept with the action's value, and
 * broken with a word for the person.
 * @param {string} action @param {any} input @returns {Promise<any>}
 */
export function ask(action, input) {
  const ref = ++lastRef;
  return new Promise((done, refused) => {
    asked.set(ref, { done, refused });
    send({ board: "do", ref, action, input }).catch((err) => {
      asked.delete(ref);
      refused(err);
      hello(); // what is drawn may not be what holds
    });
  });
}

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

/** @param {{ board?: string, [k: string]: any }} m */
function hear(m) {
  switch (m?.board) {
    case "state": {
      const before = state;
      state = { revision: m.revision, title: m.title, lists: m.lists };
      draw(state, before);
      return;
    }
    case "done":
      asked.get(m.ref)?.done(m.value);
      break;
    case "refused":
      asked.get(m.ref)?.refused(new Error(m.message));
      break;
    default:
      return;
  }
  asked.delete(m.ref);
}

const hello = () => send({ board: "hello" }).catch((err) => {
  if (!state) byId("word").textContent = `The board cannot be reached: ${err.message}`;
});

onMessage(hear);
startKeys(byId("board"));
startDrag(byId("board"));
hello();
// Until the board is there; and again when the page comes back from sleep.
const retry = setInterval(() => (state ? clearInterval(retry) : hello()), 3000);
document.addEventListener("visibilitychange", () => { if (!document.hidden) hello(); });
