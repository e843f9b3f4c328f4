// @ts-check
// The http address of a canvas on the host's own listener, where this page was loaded from
// the host. The canvas then has plain HTTP, WebSockets included, and its origin lasts:
// the same for this browser and this canvas each time.
import { labelIn } from "./kept.js";
import { frame } from "./mount.js";

const PATIENCE = 3_000; // ms for the host's answer
const LOAD_PATIENCE = 5_000; // ms for a frame there to load

/** Whether the host has no such addresses, or this browser shows nothing there, until one is reached again. */
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
    const away = this.#failed || without;
    this.#failed = false;
    return away ? "" : this.#ask(canvas);
  }

  /** Looks whether the canvas can be shown there now, and renews the cookie of a frame that shows it. The next frame is where that says. @param {import("./kept.js").Canvas} canvas @returns {Promise<boolean>} */
  async reached(canvas) {
    const url = await this.#ask(canvas), shown = url !== "" && await loads(url);
    this.#failed = !shown;
    if (shown) {
      without = false;
      failures = 0;
    }
    return shown;
  }

  /** Asks the host for the address. @param {import("./kept.js").Canvas} canvas @returns {Promise<string>} "" if this page cannot frame the canvas there */
  async #ask(canvas) {
    const { request, contentOrigin: pattern } = this.#around; // "http://*.localhost:8080"
    if (!pattern || !globalThis.crypto?.subtle) return "";
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

/** Whether a hidden frame loads at an address. Its first response sets the cookie for all frames of that origin. @param {string} url @returns {Promise<boolean>} */
function loads(url) {
  const probe = frame(url, "");
  probe.hidden = true;
  probe.credentialless = false; // as the frame of the canvas there
  const answered = new Promise((resolve) => {
    probe.addEventListener("load", () => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => resolve(true);
      probe.contentWindow?.postMessage({ "x-ahp": "here" }, new URL(url).origin, [port2]);
    });
    setTimeout(resolve, LOAD_PATIENCE, false);
  });
  document.body.append(probe);
  return answered.finally(() => probe.remove());
}
