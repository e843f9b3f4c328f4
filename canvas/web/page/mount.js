// @ts-check
// One mounted canvas: a frame on an origin of its own that is never used again,
// and the ports to it. Only this side enforces: the frame, its service worker
// and everything they say count as controlled by the canvas.

const SANDBOX = "allow-scripts allow-same-origin allow-forms allow-modals allow-downloads";
const MAX_LACKS = 32; // things named that a single document cannot show
const PATIENCE = 15_000; // ms until a frame or a canvas that does not load is given up
const SILENCE = 3_000; // ms until a loaded frame that does not answer is taken for another page
const PULSE = 3_000; // ms between two questions whether a canvas still answers

/** @typedef {{ type: string, body: ArrayBuffer } | { status: number, word: string }} Content */
/**
 * @typedef {{
 *   worker: (port: MessagePort | undefined) => void,
 *   view: (port: MessagePort) => void,
 *   phase: (phase: "starting" | "live" | "failed", word?: string) => void,
 *   lacks: (what: string[]) => void,
 *   unworkable: () => void,
 * }} Keeper who a mount works for; worker: what asks for the canvas's content, a new one each time; lacks: what a single document cannot show; unworkable: there is no service worker
 */

/** What the frame may say of its failures, in plain words. @type {Map<unknown, string>} */
const WORDS = new Map([
  ["no-document", "The document of this canvas could not be read: there is no such file, or its provider is not running."],
  ["worker-late", "The service worker of this canvas did not start."],
]);

const NOT_FOUND = "The frame of this canvas did not load. Either the host is gone, or this browser does not find the names that canvases get (“ahp-canvas view” does without them; Chrome, Edge and Firefox find those below localhost):";

export class Mount {
  /** @type {MessagePort | undefined} */ #port;
  #late = 0;
  #live = false;
  #known = false; // the frame was there once
  #unanswered = 0;
  /** A frame that crashed or hangs says nothing of it, so it is asked. */
  #pulse = setInterval(() => this.#ask(), PULSE);
  #keeper; #origin; #order;

  /**
   * @param {string} pattern of content origins, "http://*.localhost:8080"; "" for single-document mode
   * @param {{ path: string, title: string, theme: any }} order
   * @param {Keeper} keeper
   */
  constructor(pattern, order, keeper) {
    const id = Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
    this.#origin = pattern.replace("*", `c-${id}`) || "*"; // an opaque origin has no name
    this.#order = order;
    this.#keeper = keeper;
    this.element = pattern ? frame(`${this.#origin}/.ahp/frame.html`, order.title) : singleFrame(order.title);
    this.element.addEventListener("load", () => this.#greet());
    this.#phase("starting");
    this.#late = setTimeout(() => this.#phase("failed", "The frame of this canvas did not start."), PATIENCE);
  }

  /** @param {any} theme */
  setTheme(theme) {
    this.#order.theme = theme;
    this.#port?.postMessage({ t: "theme", theme });
  }

  /** Loads the canvas's page again, on the same origin and where it was scrolled to. */
  reload() {
    this.#port?.postMessage({ t: "reload" });
  }

  remove() {
    clearTimeout(this.#late);
    clearInterval(this.#pulse);
    this.#port?.close();
    this.#keeper.worker(undefined);
    this.element.remove();
  }

  /** Every load is a new frame document (the canvas may reload it), with a new port. */
  #greet() {
    this.#port?.close();
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.onmessage = (event) => { if (this.#port === port1) this.#hear(event); };
    this.#phase("starting");
    this.#late = setTimeout(() => this.#phase("failed", this.#known ? "The canvas left its frame." : `${NOT_FOUND} ${new URL(this.element.src).host}`), SILENCE);
    this.element.contentWindow?.postMessage({ "x-ahp": "mount", ...this.#order }, this.#origin, [port2]);
  }

  #ask() {
    if (!this.#live || document.hidden) return;
    if (this.#unanswered++ === 2) this.#keeper.phase("failed", "The page of this canvas does not answer. It may be busy, or it crashed.");
    this.#port?.postMessage({ t: "ping" });
  }

  /** @param {MessageEvent} event of the frame: anything */
  #hear({ data, ports: [port] }) {
    switch (data?.t) {
      case "here":
        this.#known = true;
        clearTimeout(this.#late);
        this.#late = setTimeout(() => this.#phase("failed", "The canvas did not load."), PATIENCE);
        return;
      case "port":
        return this.#keeper.worker(port);
      case "view":
        if (port) this.#keeper.view(port);
        return;
      case "live":
        return this.#phase("live");
      case "pong":
        if (this.#unanswered > 2) this.#phase("live"); // it was only busy
        this.#unanswered = 0;
        return;
      case "left":
        return this.#phase("failed", "The canvas tried to go to another address, which is not shown here.");
      case "lacks":
        if (Array.isArray(data.what)) this.#keeper.lacks(data.what.slice(0, MAX_LACKS).filter((/** @type {unknown} */ w) => typeof w === "string").map((/** @type {string} */ w) => w.slice(0, 200)));
        return;
      case "failed":
        if (data.reason === "no-service-worker") return this.#keeper.unworkable();
        return this.#phase("failed", WORDS.get(data.reason) ?? "The frame of this canvas could not be set up.");
    }
  }

  /** @param {"starting" | "live" | "failed"} phase @param {string} [word] */
  #phase(phase, word) {
    clearTimeout(this.#late);
    this.#live = phase === "live";
    this.#unanswered = 0;
    this.#keeper.phase(phase, word);
  }
}

/**
 * The frame around a direct url: a page of our own with a policy of its own. It is
 * told the url and does not take it from its address: a canvas may send its outer
 * frame to any page of ours, and would reach any address through this one.
 * @param {string} url @param {string} title
 */
export function directFrame(url, title) {
  const f = frame("/direct.html", title);
  f.addEventListener("load", () => f.contentWindow?.postMessage({ "x-ahp": "direct", url }, location.origin));
  f.removeAttribute("sandbox"); // our own page; the frame inside it has the sandbox
  f.credentialless = false;
  return f;
}

/** The frame of single-document mode: opaque, so it has no origin, no storage and no cookies of anybody. @param {string} title */
function singleFrame(title) {
  const f = frame("/single.html", title);
  f.setAttribute("sandbox", "allow-scripts");
  f.credentialless = false; // our own page: an embedder's policy could not be asked of it
  return f;
}

/** @param {string} src @param {string} title */
function frame(src, title) {
  const f = /** @type {HTMLIFrameElement & { credentialless: boolean }} */ (document.createElement("iframe"));
  f.setAttribute("sandbox", SANDBOX);
  f.setAttribute("allow", "");
  f.credentialless = true;
  f.title = title;
  f.src = src;
  return f;
}
