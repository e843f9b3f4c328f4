// @ts-check
// Canvases that wait for a person: a badge on each, the number in the document's title, a
// bar for those that are not in view, and, if the person asked for it, a notification of
// the system. Never a sound.
import { byId, setText } from "./ui.js";

const MAX_REASON = 200; // characters
const RARELY = 1_000; // ms between two changes by a canvas's own page
/** Control characters, and those that change the direction of the text around them. */
const UNSEEN = /[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

/** One line of a text that a canvas chose. @param {unknown} text */
export const oneLine = (text) => (typeof text === "string" ? text.slice(0, 4 * MAX_REASON).replace(UNSEEN, " ").replace(/ +/g, " ").trim().slice(0, MAX_REASON) : "");

/**
 * @typedef {{ channel: string, title: string, element: HTMLElement }} Waiter
 * @typedef {{ reason: string, of: Waiter, seen: boolean, notified: boolean }} Waiting
 * @typedef {{ at: number, timer: number, run: () => void }} Asked
 */

export class Attention {
  /** @type {Map<string, Waiting>} by channel */ #waiting = new Map();
  /** @type {Map<string, Asked>} what a canvas's own page asked last */ #asked = new Map();
  #show; #changed;
  #bar = document.createElement("div");
  #ask = document.createElement("button");
  #inView = new IntersectionObserver((entries) => {
    for (const e of entries) for (const w of this.#waiting.values()) if (w.of.element === e.target) w.seen = e.isIntersecting;
    this.#render();
  });

  /** @param {(channel: string) => void} show @param {() => void} changed the number of canvases that wait */
  constructor(show, changed) {
    this.#show = show;
    this.#changed = changed;
    this.#bar.className = "needs";
    this.#bar.setAttribute("role", "status");
    this.#bar.hidden = true;
    this.#ask.type = "button";
    this.#ask.textContent = "Notify me when I look elsewhere";
    this.#ask.addEventListener("click", () => Notification.requestPermission().then(() => this.#render()));
    document.querySelector(".banners")?.append(this.#bar);
  }

  /** How many canvases wait. */
  get count() {
    return this.#waiting.size;
  }

  /** Why a canvas waits; "" if it does not. @param {string} channel */
  reason(channel) {
    return this.#waiting.get(channel)?.reason ?? "";
  }

  /** Takes why a canvas waits, as its provider says it. @param {Waiter} of @param {unknown} reason "" if it does not wait */
  set(of, reason) {
    const text = oneLine(reason), old = this.#waiting.get(of.channel);
    if (text === (old?.reason ?? "")) return;
    this.#inView.unobserve(of.element);
    this.#waiting.delete(of.channel);
    if (text) {
      this.#waiting.set(of.channel, { reason: text, of, seen: false, notified: false });
      this.#inView.observe(of.element);
    }
    this.#notify();
    this.#changed();
    this.#render();
  }

  /** Runs a change by a canvas's own page: the last one of a second, if there are several. @param {string} channel @param {() => void} run */
  ask(channel, run) {
    const asked = this.#asked.get(channel) ?? { at: -Infinity, timer: 0, run };
    this.#asked.set(channel, asked);
    asked.run = run;
    if (asked.timer) return;
    const change = () => {
      asked.timer = 0;
      asked.at = performance.now();
      asked.run();
    };
    const wait = asked.at + RARELY - performance.now();
    if (wait > 0) asked.timer = setTimeout(change, wait);
    else change();
  }

  /** @param {Waiter} of a canvas that was closed */
  forget(of) {
    clearTimeout(this.#asked.get(of.channel)?.timer);
    this.#asked.delete(of.channel);
    this.set(of, "");
  }

  #notify() {
    if (!document.hidden || !("Notification" in globalThis) || Notification.permission !== "granted") return;
    for (const w of this.#waiting.values()) {
      if (w.notified) continue;
      w.notified = true;
      const n = new Notification(w.of.title, { body: w.reason, tag: w.of.channel, silent: true });
      n.onclick = () => { focus(); this.#show(w.of.channel); n.close(); };
    }
  }

  #render() {
    const unseen = [...this.#waiting.values()].filter((w) => !w.seen);
    const focused = this.#bar.contains(document.activeElement);
    this.#bar.hidden = unseen.length === 0;
    this.#ask.hidden = !("Notification" in globalThis) || Notification.permission !== "default" || !isSecureContext;
    const lines = unseen.map((w) => {
      const b = /** @type {HTMLElement} */ ([...this.#bar.children].find((e) => /** @type {HTMLElement} */ (e).dataset.channel === w.of.channel) ?? line(w.of.channel, () => this.#show(w.of.channel)));
      setText(/** @type {HTMLElement} */ (b.firstElementChild), w.of.title);
      setText(/** @type {HTMLElement} */ (b.lastElementChild), w.reason);
      return b;
    });
    if (lines.length + 1 !== this.#bar.children.length || lines.some((b, i) => this.#bar.children[i] !== b)) this.#bar.replaceChildren(...lines, this.#ask);
    if (focused && this.#bar.hidden) byId("canvases").focus();
  }
}

/** @param {string} channel @param {() => void} run */
function line(channel, run) {
  const b = document.createElement("button");
  b.type = "button";
  b.dataset.channel = channel;
  const [title, reason] = [document.createElement("strong"), document.createElement("span")];
  title.dir = reason.dir = "auto";
  b.append(title, " ", reason);
  b.addEventListener("click", run);
  return b;
}
