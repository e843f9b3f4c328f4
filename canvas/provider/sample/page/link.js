// @ts-check
// Connects a page to its provider (package sample). The provider owns the state: a
// page requests changes and draws the state that it receives, so pages agree.
import { onMessage, onMissed, send } from "/.ahp/canvas.js";
import { byId } from "./ui.js";

const HELLO_INTERVAL = 3000; // ms until the first state is requested again

let revision = 0;
/** Makes the refs unique: a provider in a client answers all pages. */
const pageId = crypto.getRandomValues(new Uint32Array(2)).join("");
let lastRef = 0;
/** @type {Map<string, { resolve: (value: any) => void, reject: (err: Error) => void }>} requests by ref */
const pending = new Map();

/**
 * Requests a change. The promise resolves with the action's value, or rejects with a
 * reason for the person.
 * @param {string} action @param {any} input @returns {Promise<any>}
 */
export function ask(action, input) {
  const ref = `${pageId}-${++lastRef}`;
  return new Promise((resolve, reject) => {
    pending.set(ref, { resolve, reject });
    send({ sample: "do", ref, action, input }).catch((err) => {
      pending.delete(ref);
      reject(err);
      hello(); // the page may have drawn the change already
    });
  });
}

const hello = () => send({ sample: "hello" }).catch((err) => {
  if (!revision) byId("message").textContent = `The host cannot be reached: ${err.message}`;
});

/** Calls fn with each state, until the page is closed. @param {(state: any) => void} fn */
export function onState(fn) {
  onMessage((/** @type {any} */ m) => {
    switch (m?.sample) {
      case "state":
        revision = m.revision;
        fn(m.state);
        return;
      case "done":
        pending.get(m.ref)?.resolve(m.value);
        break;
      case "refused":
        pending.get(m.ref)?.reject(new Error(m.message));
        break;
      default:
        return;
    }
    pending.delete(m.ref);
  });
  hello();
  const retry = setInterval(() => (revision ? clearInterval(retry) : hello()), HELLO_INTERVAL);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) hello(); }); // it may have missed changes
  onMissed(() => hello());
}
