// @ts-check
// One mounted canvas: a frame on a separate origin, and the ports to it. The canvas can
// control the frame and its service worker, so every rule is enforced on this side.

import { BASE } from "./base.js";
import { LOOKING } from "./key.js";
import { frameRights } from "./permissions.js";

const SANDBOX = "allow-scripts allow-same-origin allow-forms"; // dialogs, downloads and the rest are asked for (consent.js)
const MAX_MISSING = 32; // resources listed that single-document mode could not load
const LOAD_TIMEOUT = 15_000; // ms for the frame, then for the canvas, to load
const REPLY_TIMEOUT = 3_000; // ms after which a silent loaded frame counts as another page
const LOOK_TIMEOUT = 1_000; // ms for the frame to say what its document shows
const MASK_TIMEOUT = 4_000; // ms for it to hide what is private; without an answer there is no picture
const LEAVE_TIMEOUT = 500; // ms for the frame to say whether it has unsaved input
const PING_INTERVAL = 3_000; // ms

/** @typedef {{ type: string, body: ArrayBuffer } | { status: number, word: string }} Content */
/**
 * @typedef {{
 *   worker: (port: MessagePort | undefined) => void,
 *   view: (port: MessagePort) => void,
 *   sockets: (port: MessagePort) => void,
 *   message: (payload: unknown) => void,
 *   bye: () => void,
 *   phase: (phase: "starting" | "live" | "failed", word?: string) => void,
 *   key: () => void,
 *   missing: (what: string[]) => void,
 *   unworkable: () => void,
 *   leftover: () => void,
 *   stored: (bytes: number) => void,
 *   ask: (ask: unknown, port: MessagePort | undefined) => void,
 * }} Owner receives a mount's events. worker: a new port on which the canvas's content is requested; sockets: one for the WebSockets of a document; message: what the
 *   document posted to its parent, without canvas.js; bye: that document ended; key: Escape was pressed there, and not used; missing: what
 *   single-document mode could not load; unworkable: there is no service worker; leftover: another one than ours controls the origin; stored: how much the canvas stores in this browser; ask: what the document wants of
 *   the person, with a port for the answer
 */

/** Texts for the failures that a frame reports. @type {Map<unknown, string>} */
const FAILURES = new Map([
  ["no-document", "The document of this canvas could not be read. Either it does not exist, or the canvas's provider is not running."],
  ["worker-late", "The service worker of this canvas did not start."],
]);

const NO_FRAME = "The frame of this canvas did not load. Either the host is unreachable, or this browser cannot resolve the host name of the canvas (Chrome, Edge and Firefox resolve names below localhost; “ahp-canvas view” needs none):";

export class Mount {
  /** @type {MessagePort | undefined} */ #port;
  #timer = 0;
  #live = false;
  #lastLook = 0;
  /** @type {Map<unknown, (seen: any) => void>} Questions that the frame has not answered yet */ #looks = new Map();
  #replied = false; // the frame has answered at least once
  #unanswered = 0;
  /** A crashed or hanging frame raises no event, so it is pinged. */
  #pinger = setInterval(() => this.#ping(), PING_INTERVAL);
  #owner; #origin; #order; #warm;

  /**
   * @param {string} pattern of content origins, "http://*.localhost:8080"; "" for single-document mode
   * @param {{ path: string, title: string, theme: any, permissions: string[], http?: boolean, direct?: boolean, alone?: boolean, sockets?: boolean, scroll?: [number, number] }} order permissions: what the person allowed; http: whether the provider is a web app; direct: whether the frame is on the host's listener; alone: whether no other tab shows its origin
   * @param {Owner} owner
   * @param {string} label of the canvas's content host, which has the origins that it may load from
   * @param {string} [lasting] the frame's address on an origin that this browser keeps for the canvas; "" for one that is used once
   * @param {import("./warm.js").Warm} [warm] a frame that is loaded already
   */
  constructor(pattern, order, owner, label, lasting = "", warm) {
    this.#warm = warm !== undefined;
    this.#origin = lasting ? new URL(lasting).origin : warm?.origin ?? (originOnce(pattern, label) || "*"); // an opaque origin cannot be a postMessage target
    this.#order = { ...order, kept: lasting !== "" };
    this.#owner = owner;
    this.element = warm?.element ?? (pattern ? frame(lasting || addressOn(this.#origin), order.title, order.permissions) : singleFrame(order.title));
    if (lasting) this.element.credentialless = false; // its storage lasts
    this.element.addEventListener("load", () => this.#connectFrame());
    this.#phase("starting");
    this.#timer = setTimeout(() => this.#phase("failed", "The frame of this canvas did not start."), LOAD_TIMEOUT);
  }

  /** Puts the frame into the page, as the first child of an element. @param {HTMLElement} stage */
  place(stage) {
    if (!this.#warm) return stage.prepend(this.element);
    /** @type {any} */ (stage).moveBefore(this.element, stage.firstChild);
    this.element.title = this.#order.title;
    this.element.hidden = false;
    this.#connectFrame();
  }

  /** @param {any} theme */
  setTheme(theme) {
    this.#order.theme = theme;
    this.#port?.postMessage({ t: "theme", theme });
  }

  /** Reloads the canvas's page on the same origin, and keeps its scroll position. */
  reload() {
    this.#port?.postMessage({ t: "reload" });
  }

  /** Gives the focus to what had it last in the canvas's document: another frame's focus cleared it. */
  refocus() {
    this.#port?.postMessage({ t: "focus" });
  }

  /** Asks what the canvas's document shows. @returns {Promise<any>} untrusted; undefined if the frame does not answer */
  look() {
    const masked = LOOKING;
    return this.#ask("look", masked ? MASK_TIMEOUT : LOOK_TIMEOUT, { masked, height: this.element.clientHeight });
  }

  /** Asks for a sketch of the canvas's document (pictures.js). @returns {Promise<unknown>} untrusted; undefined if the frame does not answer */
  async sketch() {
    return (await this.#ask("sketch", LOOK_TIMEOUT))?.sketch;
  }

  /** Asks whether the canvas's document has input of a person, and how far it is scrolled. @returns {Promise<{ unsaved: boolean, scroll?: [number, number] } | undefined>} undefined if the frame does not answer */
  async leaving() {
    const answer = await this.#ask("leaving", LEAVE_TIMEOUT);
    if (!answer) return undefined;
    const [x, y] = Array.isArray(answer.scroll) ? answer.scroll : [];
    return { unsaved: answer.unsaved === true, scroll: typeof x === "number" && typeof y === "number" ? [x, y] : undefined };
  }

  /** @param {string} t @param {number} patience in ms @param {object} [more] @returns {Promise<any>} */
  #ask(t, patience, more = {}) {
    const id = ++this.#lastLook;
    return new Promise((resolve) => {
      this.#looks.set(id, resolve);
      setTimeout(() => { this.#looks.delete(id); resolve(undefined); }, patience);
      this.#port?.postMessage({ t, id, ...more });
    });
  }

  /** Posts a message to the canvas's document, as from its parent. @param {unknown} payload */
  post(payload) {
    this.#port?.postMessage({ t: "message", payload });
  }

  remove() {
    clearTimeout(this.#timer);
    clearInterval(this.#pinger);
    this.#port?.close();
    this.#owner.worker(undefined);
    this.element.remove();
  }

  /** Gives the frame's document a new port after each load; the canvas can reload the frame. */
  #connectFrame() {
    this.#port?.close();
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.onmessage = (event) => { if (this.#port === port1) this.#receive(event); };
    this.#phase("starting");
    this.#timer = setTimeout(() => this.#phase("failed", this.#replied ? "The canvas left its frame." : `${NO_FRAME} ${new URL(this.element.src).host}`), REPLY_TIMEOUT);
    this.element.contentWindow?.postMessage({ "x-ahp": "mount", ...this.#order }, this.#origin, [port2]);
  }

  #ping() {
    if (!this.#live || document.hidden) return;
    if (this.#unanswered++ === 2) this.#owner.phase("failed", "This canvas's page does not respond. It may be busy, or it crashed.");
    this.#port?.postMessage({ t: "ping" });
  }

  /** @param {MessageEvent} event untrusted message of the frame */
  #receive({ data, ports: [port] }) {
    switch (data?.t) {
      case "here":
        this.#replied = true;
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.#phase("failed", "The canvas did not load."), LOAD_TIMEOUT);
        return;
      case "port":
        return this.#owner.worker(port);
      case "view":
        if (port) this.#owner.view(port);
        return;
      case "sockets":
        if (port) this.#owner.sockets(port);
        return;
      case "message":
        return this.#owner.message(data.payload);
      case "ask":
        return this.#owner.ask(data.ask, port);
      case "key":
        return this.#owner.key();
      case "looked":
        this.#looks.get(data.id)?.(data);
        this.#looks.delete(data.id);
        return;
      case "bye":
        return this.#owner.bye();
      case "live":
        return this.#phase("live");
      case "pong":
        if (this.#unanswered > 2) this.#phase("live"); // it was busy
        this.#unanswered = 0;
        return;
      case "left":
        return this.#phase("failed", "The canvas tried to navigate to another address, which is not allowed here.");
      case "stored":
        if (Number.isFinite(data.bytes)) this.#owner.stored(data.bytes);
        return;
      case "lacks":
        if (Array.isArray(data.what)) this.#owner.missing(data.what.slice(0, MAX_MISSING).filter((/** @type {unknown} */ w) => typeof w === "string").map((/** @type {string} */ w) => w.slice(0, 200)));
        return;
      case "failed":
        if (data.reason === "no-service-worker") return this.#owner.unworkable();
        if (data.reason === "leftover") return this.#owner.leftover();
        return this.#phase("failed", FAILURES.get(data.reason) ?? "The frame of this canvas could not be set up.");
    }
  }

  /** @param {"starting" | "live" | "failed"} phase @param {string} [word] */
  #phase(phase, word) {
    clearTimeout(this.#timer);
    this.#live = phase === "live";
    this.#unanswered = 0;
    this.#owner.phase(phase, word);
  }
}

/**
 * The frame of a direct url: direct.html, which has its own policy. The url is sent
 * by message and not in the address, because a canvas can navigate its outer frame
 * to any page of this origin and would reach any address through this one.
 * @param {string} url @param {string} title @param {(payload: unknown) => void} receive a message that the document posted to its parent
 * @returns {{ element: HTMLIFrameElement, post: (payload: unknown) => void }}
 */
export function directFrame(url, title, receive) {
  const element = frame(`${BASE}direct.html`, title);
  /** @type {MessagePort | undefined} */
  let port;
  element.addEventListener("load", () => { // WebKit also loads about:blank first
    port?.close();
    const { port1, port2 } = new MessageChannel();
    port = port1;
    port.onmessage = ({ data }) => receive(data);
    element.contentWindow?.postMessage({ "x-ahp": "direct", url }, location.origin, [port2]);
  });
  element.removeAttribute("sandbox"); // direct.html is trusted; the frame inside it is sandboxed
  element.credentialless = false;
  return { element, post: (payload) => port?.postMessage(payload) };
}

/** The frame of single-document mode. Its origin is opaque, so it has no storage and no cookies. @param {string} title */
function singleFrame(title) {
  const f = frame(`${BASE}single.html`, title);
  f.setAttribute("sandbox", "allow-scripts");
  f.credentialless = false; // single.html is trusted, and carries no embedder policy
  return f;
}

/** A content origin that no other frame has. @param {string} pattern of content origins, or "" @param {string} label of the canvas's content host */
export const originOnce = (pattern, label) => pattern.replace("*", `${label}-${Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("")}`);

/** The address of the outer frame. @param {string} origin a content origin */
export const addressOn = (origin) => `${origin}/.ahp/frame.html`;

/** @param {string} src @param {string} title @param {string[]} [permissions] */
export function frame(src, title, permissions = []) {
  const rights = frameRights(LOOKING ? [] : permissions);
  const f = /** @type {HTMLIFrameElement & { credentialless: boolean }} */ (document.createElement("iframe"));
  f.setAttribute("sandbox", SANDBOX + rights.sandbox);
  f.setAttribute("allow", rights.allow);
  f.credentialless = true;
  f.title = title;
  f.src = src;
  return f;
}
