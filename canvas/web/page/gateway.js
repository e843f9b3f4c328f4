// @ts-check
// The http address of a canvas on the host's own listener, where this page was loaded from
// the host. The canvas then has plain HTTP, WebSockets included, and its origin lasts:
// the same for this browser and this canvas each time.
import { labelOf } from "./allowed.js";

const KEY = "browser"; // of this browser's secret
const PATIENCE = 3_000; // ms for the host's answer

/** Whether the host has no such addresses, or this browser shows nothing there. */
let without = false;
let failures = 0; // of frames, one after the other
const MAX_FAILURES = 2;

/** Of this browser; of this page if it may not store. @type {string} */
let secret = "";
try {
  secret = localStorage.getItem(KEY) ?? "";
} catch {} // storage is not allowed
if (!/^[0-9a-f]{64}$/.test(secret)) {
  secret = hex(crypto.getRandomValues(new Uint8Array(32)));
  try {
    localStorage.setItem(KEY, secret);
  } catch {}
}

/** @param {Uint8Array} bytes */
function hex(bytes) {
  return Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
}

/** The label of a canvas's origin in this browser. With other origins that it may load from, it is another one. @param {string[]} canvas */
async function label(...canvas) {
  const text = new TextEncoder().encode(JSON.stringify([secret, ...canvas]));
  return hex(new Uint8Array(await crypto.subtle.digest("SHA-256", text)).subarray(0, 16));
}

/** The address of one canvas's frame. */
export class GatewayAddress {
  /** Whether the frame there showed nothing: the next one is on the channel */ failed = false;
  #card;

  /** @param {import("./card.js").Card} card */
  constructor(card) {
    this.#card = card;
  }

  /** @returns {[string, string, string]} what the label is made of; the last one: allowed.js */
  get #canvas() {
    const { ref, state } = this.#card;
    return [ref.channel, state.extensionId, labelOf(state)];
  }

  /** Asks for the address of the next frame, and how this browser is called there: as the label, so that the app's cookies are the same both ways. @returns {Promise<[name: string, url: string]>} "" for what the browser cannot have */
  async next() {
    return Promise.all([globalThis.crypto?.subtle ? label(...this.#canvas) : "", this.failed ? "" : this.ask()]);
  }

  /** Asks the host for the address. @returns {Promise<string>} "" if this page cannot frame the canvas there */
  async ask() {
    const { request, contentOrigin: pattern } = this.#card.around; // "http://*.localhost:8080"
    if (!pattern || !globalThis.crypto?.subtle || without) return "";
    try {
      const name = await label(...this.#canvas);
      const late = new Promise((_, reject) => setTimeout(() => reject(new Error("late")), PATIENCE));
      const { url } = await Promise.race([request("x-ahp-canvas/direct", { channel: this.#card.ref.channel, label: name }), late]);
      // Another address is that of a host behind a relay.
      return typeof url === "string" && new URL(url).origin === pattern.replace("*", `g-${name}`) ? url : "";
    } catch (/** @type {any} */ err) {
      without ||= err?.code === -32601; // an older host
      return "";
    }
  }

  /** Notes whether a frame there showed its canvas. @param {boolean} shown */
  tried(shown) {
    this.failed = !shown;
    failures = shown ? 0 : failures + 1;
    without ||= failures >= MAX_FAILURES;
  }
}
