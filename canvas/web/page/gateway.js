// @ts-check
// The http address of a canvas on the host's own listener, where this page was loaded from
// the host. The canvas then has plain HTTP, WebSockets included, and its origin lasts:
// the same for this browser and this canvas each time.

import { labelIn } from "./kept.js";

const PATIENCE = 3_000; // ms for the host's answer

/** Whether the host has no such addresses, or this browser shows nothing there. */
let without = false;
let failures = 0; // of frames, one after the other
const MAX_FAILURES = 2;

/** Notes whether a frame at such an address showed its canvas. @param {boolean} shown */
export function gatewayTried(shown) {
  failures = shown ? 0 : failures + 1;
  without ||= failures >= MAX_FAILURES;
}

/**
 * Asks the host for the address of a canvas's frame.
 * @param {(method: string, params: any) => Promise<any>} request
 * @param {string} pattern of content origins, "http://*.localhost:8080"
 * @param {import("./kept.js").Canvas} canvas
 * @returns {Promise<string>} "" if this page cannot frame the canvas there
 */
export async function gatewayAddress(request, pattern, canvas) {
  if (!pattern || !globalThis.crypto?.subtle || without) return "";
  try {
    const name = await labelIn(canvas);
    const late = new Promise((_, reject) => setTimeout(() => reject(new Error("late")), PATIENCE));
    const { url } = await Promise.race([request("x-ahp-canvas/direct", { channel: canvas.channel, label: name }), late]);
    // Another address is that of a host behind a relay.
    return typeof url === "string" && new URL(url).origin === pattern.replace("*", `g-${name}`) ? url : "";
  } catch (/** @type {any} */ err) {
    without ||= err?.code === -32601; // an older host
    return "";
  }
}
