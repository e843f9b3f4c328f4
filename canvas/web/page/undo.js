// @ts-check
// The bar that undoes a close: the host keeps a canvas that this page closed for some
// seconds. All closes that still wait share one bar, so a whole list is undone at once.
import { byId, notice, setText } from "./ui.js";

export const UNDO_SECONDS = 10; // that the page asks for, and the host allows at most
const CLOSING = "x-ahp-canvas/closing"; // member of a state's _meta
const TICK = 250; // ms

/** The action that closes a canvas unless the person undoes it. */
export const closeRequested = () => ({ type: "canvas/closeRequested", _meta: { "x-ahp-canvas/undo": UNDO_SECONDS } });

/** @param {any} state of a canvas @returns {{ clientId: string, seconds: number } | undefined} the close that waits, if any */
export const closingOf = (state) => state?._meta?.[CLOSING];

/** @typedef {{ title: string, ends: number }} Waiting ends is a time of performance.now() */

export class UndoBar {
  /** @type {Map<string, Waiting>} by channel */ #waiting = new Map();
  #request; #dispatch;
  #bar = document.createElement("div");
  #text = document.createElement("span");
  #undo = button("undo-close", "Undo");
  #now = button("now", "Close now");
  #left = document.createElement("span");
  #timer = 0;

  /** @param {(method: string, params: any) => Promise<any>} request @param {(channel: string, action: any) => unknown} dispatch */
  constructor(request, dispatch) {
    this.#request = request;
    this.#dispatch = dispatch;
    this.#bar.className = "undo";
    this.#bar.hidden = true;
    this.#bar.setAttribute("role", "group");
    this.#bar.ariaLabel = "Closed canvases";
    this.#text.setAttribute("role", "status");
    this.#left.ariaHidden = "true";
    this.#undo.append(this.#left);
    this.#bar.append(this.#text, this.#undo, this.#now);
    document.body.append(this.#bar);
    this.#undo.addEventListener("click", () => this.#undoAll());
    this.#now.addEventListener("click", () => { for (const channel of this.#waiting.keys()) this.#dispatch(channel, { type: "canvas/closeRequested" }); });
  }

  /** Adds the close of a canvas. @param {string} channel @param {string} title @param {number} seconds @param {boolean} focus whether the focus was in the canvas */
  add(channel, title, seconds, focus) {
    if (!this.#waiting.has(channel)) this.#waiting.set(channel, { title, ends: performance.now() + seconds * 1000 });
    this.#render();
    if (focus) this.#undo.focus();
  }

  /** Removes the close of a canvas: it is undone, or the canvas is closed. @param {string} channel */
  remove(channel) {
    if (this.#waiting.delete(channel)) this.#render();
  }

  async #undoAll() {
    for (const [channel, { title }] of this.#waiting) {
      this.#request("x-ahp-canvas/undoClose", { channel }).catch(() => notice(`“${title}” is closed already.`));
    }
  }

  #render() {
    const titles = [...this.#waiting.values()].map((w) => w.title);
    const left = !titles.length && this.#bar.contains(document.activeElement);
    this.#bar.hidden = !titles.length;
    if (left) byId("canvases").focus(); // not a close button: a late Enter must not close another canvas
    clearInterval(this.#timer);
    if (!titles.length) return;
    setText(this.#text, titles.length === 1 ? `“${titles[0]}” is closed.` : `${titles.length} canvases are closed.`);
    this.#timer = setInterval(() => this.#tick(), TICK);
    this.#tick();
  }

  #tick() {
    const ends = Math.min(...[...this.#waiting.values()].map((w) => w.ends));
    setText(this.#left, ` ${Math.max(0, Math.ceil((ends - performance.now()) / 1000))}`);
  }
}

/** @param {string} name @param {string} text */
function button(name, text) {
  const b = document.createElement("button");
  b.type = "button";
  b.className = name;
  b.textContent = text;
  return b;
}
