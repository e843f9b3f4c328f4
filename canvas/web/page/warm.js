// @ts-check
// A frame of the page for pictures that is loaded before there is a canvas for it: the process
// of its origin and its service worker run already when the canvas is mounted in it. Nothing
// in it belongs to a canvas: the origin is used once, like that of any frame here, and the
// canvas's path, title and port arrive when it is mounted.
import { NONE } from "./allowed.js";
import { addressOn, frame, originOnce } from "./mount.js";

const STAY = 20_000; // ms between messages that keep the service worker running, which a browser ends after 30 s

/** @typedef {{ element: HTMLIFrameElement & { credentialless: boolean }, origin: string }} Warm */

/** @type {Warm | undefined} */ let ready;

/** Loads the frame, if this browser can move one without loading it again. @param {string} pattern of content origins; "" for none */
export function warmUp(pattern) {
  if (!pattern || !("moveBefore" in document.body)) return;
  const origin = originOnce(pattern, NONE);
  const element = frame(addressOn(origin), "");
  element.hidden = true;
  const warm = () => element.contentWindow?.postMessage({ "x-ahp": "warm" }, origin);
  element.addEventListener("load", () => {
    ready = { element, origin };
    warm();
    const timer = setInterval(() => (ready ? warm() : clearInterval(timer)), STAY);
  }, { once: true });
  document.body.append(element);
}

/** Takes the frame for a canvas, once. @param {string} label of the canvas's content host @returns {Warm | undefined} undefined if it is not there or has another label */
export function takeWarm(label) {
  if (label !== NONE) return undefined;
  const taken = ready;
  ready = undefined;
  return taken;
}
