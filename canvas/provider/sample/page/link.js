// @ts-check
// What a page says to its provider, and hears. The state is the host's: a page
// asks for changes and draws what holds, so two pages cannot disagree for long.
import { onMessage, send } from "/.ahp/canvas.js";
import { byId } from "./ui.js";

let revision = 0;
let lastRef = 0;
/** @type {Map<number, { done: (value: any) => void, refused: (err: Error) => void }>} */
const asked = new Map();

/**
 * Asks the host for a change. The promise is kept with the action's value, and
 * broken with a word for the person.
 * @param {string} action @param {any} input @returns {Promise<any>}
 */
export function ask(action, input) {
  const ref = ++lastRef;
  return new Promise((done, refused) => {
    asked.set(ref, { done, refused });
    send({ sample: "do", ref, action, input }).catch((err) => {
      asked.delete(ref);
      refused(err);
      hello(); // what is drawn may not be what holds
    });
  });
}

const hello = () => send({ sample: "hello" }).catch((err) => {
  if (!revision) byId("word").textContent = `The host cannot be reached: ${err.message}`;
});

/** Calls fn with every state, until the page ends. @param {(state: any) => void} fn */
export function onState(fn) {
  onMessage((/** @type {any} */ m) => {
    switch (m?.sample) {
      case "state":
        revision = m.revision;
        fn(m.state);
        return;
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
  });
  hello();
  // Until the state is there; and again when the page comes back from sleep.
  const retry = setInterval(() => (revision ? clearInterval(retry) : hello()), 3000);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) hello(); });
}
