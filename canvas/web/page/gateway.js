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

/** The address of one canvas's frame. */
export class GatewayAddress {
  #around;
  #failed = false; // the frame there showed nothing: the next one is on the channel

  /** @param {import("./card.js").Surroundings} around */
  constructor(around) {
    this.#around = around;
  }

  /** Asks for the address of the next frame. @param {import("./kept.js").Canvas} canvas @returns {Promise<string>} "" if it is on the channel */
  async next(canvas) {
    if (!this.#failed) return this.ask(canvas);
    this.#failed = false;
    return "";
  }

  /** Asks the host for the address. @param {import("./kept.js").Canvas} canvas @returns {Promise<string>} "" if this page cannot frame the canvas there */
  async ask(canvas) {
    const { request, contentOrigin: pattern } = this.#around; // "http://*.localhost:8080"
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

  /** Notes whether a frame there showed its canvas. @param {boolean} shown */
  tried(shown) {
    this.#failed = !shown;
    failures = shown ? 0 : failures + 1;
    without ||= failures >= MAX_FAILURES;
  }
}
