// @ts-check
// Connects one mounted page to its provider: view/1 messages are encoded and
// decoded here, other payloads pass unchanged. Messages from the page are
// untrusted: their shape, size and rate are checked.

const TAG = "x-ahp", VIEW = "view/1";
const MAX_BYTES = 64 * 1024; // of a canvas/message action's payload, as JSON
const RATE = 100, BURST = 200; // messages a second
const FLOOD = 2_000, FORGIVEN = 200; // refused messages after which the page is disconnected, less so many a second
const TOO_MANY = "this canvas sends too many messages";
const MAX_CALLS = 256; // unanswered actions
const PORT_ONLY = ["send", "offer", "file", "fullscreen", "resize", "reload"]; // what only a page with canvas.js asks
const LEAVE_TIMEOUT = 500; // ms for the page to say whether it can be unmounted
const TOO_LONG = " "; // a marker that cannot be a JSON text

/** Sends an action to the canvas's channel and returns its clientSeq. @typedef {(action: any) => number | undefined} Dispatch */
/**
 * What a page may ask of its renderer; a promise rejects with a reason. attention: the page wants the person; flooded: it was disconnected because it sends far too many messages; fullscreen: to be shown alone, resolves with whether it is; resize: for a height in CSS pixels.
 * @typedef {{
 *   offer: (url: unknown) => Promise<"opened" | "dismissed">, withdraw: () => void, attention?: (reason: unknown) => void,
 *   file?: (name: unknown, bytes: unknown) => Promise<"saved" | "dismissed">, fullscreen?: (on: boolean) => Promise<boolean>, resize?: (height: unknown) => void, flooded?: () => void,
 * }} Links
 */

/**
 * What a View needs of a page's port. A document without canvas.js has none: it posts
 * view/1 messages to its parent itself, and receives them as posted.
 * @typedef {{ onmessage: any, postMessage: (m: any) => void, close: () => void }} Port
 */

/** A document without canvas.js, as a port. @param {(payload: any) => void} post @returns {Port} */
const documentPort = (post) => ({
  onmessage: undefined,
  postMessage({ t, value, ...call }) {
    if (t === "message") post(value);
    if (t === "invoke" || t === "leaving") post({ [TAG]: VIEW, type: t, ...call });
  },
  close() {},
});

/** The Links of a renderer that has no place for them. @type {Links} */
export const NO_LINKS = { offer: () => Promise.reject(new Error("links cannot be opened here")), withdraw() {} };

export class View {
  #dispatch; #reload; #links;
  /** @type {Port | undefined} */ #port;
  /** @type {Port} */ #document;
  #hello = false;
  /** @type {Set<unknown>} Ids of actions that the page has not answered yet */ #calls = new Set();
  /** @type {Map<number, number>} The page's id of each sent message, by clientSeq */ #sent = new Map();
  #tokens = BURST;
  #filled = performance.now();
  #refused = 0; // messages, less those that are forgiven
  /** @type {{ input: any, theme: any, kept: any, panel?: any }} */ #state = { input: undefined, theme: undefined, kept: undefined };
  /** @type {Map<unknown, (answer: { unsaved: boolean, state: any }) => void>} Questions that the page has not answered yet */ #questions = new Map();
  #lastQuestion = 0;

  /** @param {Dispatch} dispatch @param {() => void} reload reloads the page and keeps its scroll position @param {Links} [links] @param {(payload: any) => void} [post] posts to a document without canvas.js */
  constructor(dispatch, reload, links = NO_LINKS, post = () => {}) {
    this.#dispatch = dispatch;
    this.#reload = reload;
    this.#links = links;
    this.#document = documentPort(post);
  }

  /** Attaches the port of a page that was loaded, in place of the previous page. @param {Port} port */
  connect(port) {
    this.disconnect();
    this.#port = port;
    port.onmessage = (/** @type {{ data: any }} */ { data }) => { if (this.#port === port) this.#fromPage(data); };
    port.postMessage({ t: "state", ...this.#state });
  }

  /** Handles the end of the page: fails its unanswered actions and says bye to the provider. */
  disconnect() {
    if (!this.#port) return;
    for (const id of this.#calls) this.#post({ type: "error", id, error: { code: "canvas_provider_unavailable", message: "the page was closed before it answered" } });
    this.#calls.clear();
    if (this.#hello) this.#post({ type: "bye" });
    this.#hello = false;
    this.#sent.clear();
    this.#links.withdraw();
    this.#port.close();
    this.#port = undefined;
  }

  /** Handles a payload that a document posted to its parent: its own, or of view/1. @param {any} payload untrusted */
  fromDocument(payload) {
    if (!this.#port) this.connect(this.#document);
    if (payload?.[TAG] !== VIEW) return this.#fromPage({ t: "send", value: payload });
    const { type, id, value, error, reason, unsaved, state } = payload;
    if (!PORT_ONLY.includes(type)) this.#fromPage({ t: type, id, value, reason, unsaved, state, code: error?.code, message: error?.message });
  }

  /** Handles the end of a document that posted to its parent. */
  documentEnded() {
    if (this.#port === this.#document) this.disconnect();
  }

  /** Handles a new connection to the host. It is a new View, so the old one's actions are dropped. */
  reconnected() {
    this.#calls.clear();
    for (const id of this.#sent.values()) this.#port?.postMessage({ t: "refused", id, reason: "the connection to the host was lost; the message may not have arrived" });
    this.#sent.clear();
    if (this.#hello) this.#post({ type: "hello" });
  }

  /** Handles messages of the provider that may be lost: the page asks for what it missed. */
  missed() {
    this.#port?.postMessage({ t: "missed" });
  }

  /** Whether an action runs in the page. */
  get busy() {
    return this.#calls.size > 0;
  }

  /** Asks the page whether it has unsaved input, and for what it wants back when it is loaded again. @returns {Promise<{ unsaved: boolean, state: any } | undefined>} undefined if it does not answer */
  leaving() {
    const port = this.#port;
    if (!port) return Promise.resolve(undefined);
    const id = ++this.#lastQuestion;
    return new Promise((resolve) => {
      this.#questions.set(id, resolve);
      setTimeout(() => { this.#questions.delete(id); resolve(undefined); }, LEAVE_TIMEOUT);
      port.postMessage({ t: "leaving", id });
    });
  }

  /** @param {any} m untrusted answer */
  #answered({ id, unsaved, state }) {
    const text = json(state);
    this.#questions.get(id)?.({ unsaved: unsaved === true, state: text === undefined || text === TOO_LONG ? undefined : JSON.parse(text) });
    this.#questions.delete(id);
  }

  /** @param {{ input?: any, theme?: any, kept?: any, panel?: { fullscreen: boolean } }} change */
  update(change) {
    this.#state = { ...this.#state, ...change };
    this.#port?.postMessage({ t: "state", ...this.#state });
  }

  /** Handles a canvas/message of the provider. @param {any} payload */
  receive(payload) {
    const tag = payload?.[TAG];
    // A page that is not connected, perhaps because it hangs, cannot ask to be loaded again.
    if (payload?.["x-ahp-page"] === "changed" && !this.#port) return this.#reload();
    if (tag === undefined) return (this.#port ?? this.#document).postMessage({ t: "message", value: payload });
    if (tag !== VIEW) return;
    if (payload.type === "reload") return this.#reload();
    if (payload.type !== "invoke") return;
    const { id, action, input } = payload;
    if (!this.#port || this.#calls.size >= MAX_CALLS) {
      return this.#post({ type: "error", id, error: { code: "canvas_provider_unavailable", message: "no page is ready to run the action" } });
    }
    this.#calls.add(id);
    this.#port.postMessage({ t: "invoke", id, action, input });
  }

  /** Handles the host's echo of one of our own messages. @param {number} clientSeq @param {string | undefined} reason why the host rejected it */
  echoed(clientSeq, reason) {
    const id = this.#sent.get(clientSeq);
    this.#sent.delete(clientSeq);
    if (id !== undefined) this.#port?.postMessage(reason ? { t: "refused", id, reason } : { t: "taken", id });
  }

  /** @param {any} m untrusted message of the page */
  #fromPage(m) {
    switch (m?.t) {
      case "hello":
        if (this.#hello) return;
        this.#hello = true;
        return this.#post({ type: "hello" });
      case "bye":
        return this.disconnect();
      case "send":
        return this.#sendMessage(m);
      case "offer":
        return this.#ask(m.id, () => this.#links.offer(m.url));
      case "file":
        return this.#ask(m.id, () => this.#links.file?.(m.name, m.bytes));
      case "fullscreen":
        return this.#ask(m.id, () => this.#links.fullscreen?.(m.on === true));
      case "reload":
        if (this.#takeToken()) this.#reload();
        return;
      case "resize":
        if (this.#takeToken()) this.#links.resize?.(m.height);
        return;
      case "attention":
        if (this.#takeToken()) this.#links.attention?.(m.reason);
        return;
      case "leaving":
        return this.#answered(m);
      case "result":
        if (this.#calls.delete(m.id)) this.#answer(m.id, { type: "result", id: m.id, value: m.value });
        return;
      case "error":
        if (this.#calls.delete(m.id)) this.#answer(m.id, { type: "error", id: m.id, error: { code: truncated(m.code, 128) || "canvas_handler_error", message: truncated(m.message, 4096) || "the page gave no reason" } });
    }
  }

  /** @param {{ id: number, value: any }} m */
  #sendMessage({ id, value }) {
    const why = this.#invalid(value);
    const seq = why ? undefined : this.#dispatch({ type: "canvas/message", payload: value });
    if (seq !== undefined) this.#sent.set(seq, id);
    else this.#port?.postMessage({ t: "refused", id, reason: why ?? "there is no connection to the host" });
  }

  /** Answers what the page asks of the renderer. @param {unknown} id @param {() => Promise<unknown> | undefined} run */
  async #ask(id, run) {
    const port = this.#port;
    try {
      if (!this.#takeToken()) throw new Error(TOO_MANY);
      const outcome = await run();
      if (outcome === undefined) throw new Error("this renderer cannot do this");
      port?.postMessage({ t: "offered", id, outcome });
    } catch (err) {
      port?.postMessage({ t: "refused", id, reason: /** @type {Error} */ (err).message });
    }
  }

  /** Returns why a value cannot be sent. @param {any} value @returns {string | undefined} */
  #invalid(value) {
    const text = json(value);
    if (text === undefined) return "only a JSON value can be sent";
    if (text === TOO_LONG) return "a message can have at most 64 KiB";
    if (typeof value === "object" && value !== null && TAG in value) return `the member "${TAG}" is reserved`;
    return this.#takeToken() ? undefined : TOO_MANY;
  }

  /** Counts a refused message. To refuse each one of a flood would take all of the renderer's time. @returns {false} */
  #refuse() {
    if (++this.#refused >= FLOOD) {
      this.#refused = 0;
      this.disconnect();
      this.#links.flooded?.();
    }
    return false;
  }

  /** Limits the page's messages to RATE. @returns {boolean} false if the message exceeds it */
  #takeToken() {
    const now = performance.now(), seconds = (now - this.#filled) / 1000;
    this.#filled = now;
    this.#tokens = Math.min(BURST, this.#tokens + seconds * RATE);
    this.#refused = Math.max(0, this.#refused - seconds * FORGIVEN);
    if (this.#tokens < 1) return this.#refuse();
    this.#tokens--;
    return true;
  }

  /** @param {unknown} id @param {any} message */
  #answer(id, message) {
    const text = json({ [TAG]: VIEW, ...message });
    if (text === TOO_LONG) return this.#post({ type: "error", id, error: { code: "canvas_limit_exceeded", message: "the action ran; its value was dropped: it has more than 64 KiB" } });
    if (text !== undefined) return this.#post(message);
    this.#post({ type: "error", id, error: { code: "canvas_handler_error", message: "the answer is not JSON" } });
  }

  /** @param {any} message */
  #post(message) {
    this.#dispatch({ type: "canvas/message", payload: { [TAG]: VIEW, ...message } });
  }
}

/** Accepts only strings: converting an untrusted value could take forever. @param {unknown} text @param {number} most */
const truncated = (text, most) => (typeof text === "string" ? text.slice(0, most) : "");

/**
 * Encodes an untrusted value. A small value can have an endless encoding (a sparse array of four billion
 * elements, or thirty levels that each refer to the next one twice), so the size is counted on the way.
 * @param {any} value @returns {string | undefined} undefined if it is not JSON, TOO_LONG if it has more than 64 KiB
 */
function json(value) {
  let size = 0;
  /** @this {any} @param {string} key @param {any} v */
  function counted(key, v) {
    size += (Array.isArray(this) ? 0 : key.length) + (typeof v === "string" ? v.length : 1);
    if (size > MAX_BYTES) throw new RangeError(); // already too long
    return v;
  }
  try {
    const text = JSON.stringify(value, counted);
    return text === undefined || new TextEncoder().encode(text).length <= MAX_BYTES ? text : TOO_LONG;
  } catch (err) {
    return err instanceof RangeError ? TOO_LONG : undefined;
  }
}
