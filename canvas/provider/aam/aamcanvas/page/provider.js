// @ts-check
// The messages between a page of AAM and its provider: the state, decisions with their
// answers, and secrets that are sealed for one use.
import { onMessage, send } from "/.ahp/canvas.js";
import { canSeal, seal } from "./seal.js";

/** @typedef {{ to: string, key: string }} Key */

const HELLO_INTERVAL = 3000; // ms until a state or a key is requested again

let revision = 0;
/** The key for the next secret; each is good once. @type {Key | undefined} */
let key;
/** @type {((key: Key) => void)[]} */
const waiting = [];
const pageId = crypto.getRandomValues(new Uint32Array(2)).join("");
let lastRef = 0;
/** @type {Map<string, { resolve: (answer: any) => void, reject: (err: Error) => void }>} */
const pending = new Map();

/** Sends a decision. @param {any} message @returns {Promise<any>} the provider's answer */
export function request(message) {
  const ref = `${pageId}-${++lastRef}`;
  return new Promise((resolve, reject) => {
    pending.set(ref, { resolve, reject });
    send({ ...message, ref }).catch((err) => {
      pending.delete(ref);
      reject(err);
    });
  });
}

/**
 * Sends a decision with a sealed secret, which is good for the texts of about only. A key of
 * an earlier connection is refused, and another one follows, so it tries twice.
 * @param {any} message @param {string} secret @param {string[]} about
 */
export async function requestSealed(message, secret, ...about) {
  if (!canSeal) throw new Error("This browser cannot encrypt a secret here. Open the page on this machine or over https.");
  for (let tries = 2; ; tries--) {
    const sealed = await seal(await nextKey(), secret, ...about);
    try {
      return await request({ ...message, sealed });
    } catch (err) {
      if (tries === 1 || /** @type {any} */ (err).code !== "aam_not_sealed") throw err;
    }
  }
}

/** Takes the next key, or waits for it: the provider sends one after each secret. @returns {Promise<Key>} */
function nextKey() {
  const k = key;
  key = undefined;
  if (k) return Promise.resolve(k);
  return new Promise((resolve) => {
    waiting.push(resolve);
    setTimeout(() => { if (waiting.includes(resolve)) hello(() => {}); }, HELLO_INTERVAL);
  });
}

/** @param {(err: Error) => void} unreachable */
function hello(unreachable) {
  send({ aam: "hello" }).catch((err) => { if (!revision) unreachable(err); });
}

/**
 * Begins to receive states, in the order in which the provider made them.
 * @param {(state: any) => void} show @param {(err: Error) => void} unreachable is called until the first state
 */
export function connect(show, unreachable) {
  onMessage((/** @type {any} */ m) => {
    switch (m?.aam) {
      case "state":
        if (m.revision < revision) return;
        revision = m.revision;
        show(m.state);
        return;
      case "key":
        if (waiting.length) waiting.shift()?.({ to: m.to, key: m.key });
        else key = { to: m.to, key: m.key };
        return;
      case "done":
      case "grant":
        pending.get(m.ref)?.resolve(m);
        break;
      case "refused":
        pending.get(m.ref)?.reject(Object.assign(new Error(m.message), { code: m.code }));
        break;
      default:
        return;
    }
    pending.delete(m.ref);
  });
  hello(unreachable);
  const retry = setInterval(() => (revision ? clearInterval(retry) : hello(unreachable)), HELLO_INTERVAL);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) hello(unreachable); });
}
