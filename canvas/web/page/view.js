// @ts-check
// The bridge of one mounted page to its provider: view/1 messages are made and
// read here, plain payloads pass untouched. What comes from the page's port is
// judged as if it were hostile: shape, size and rate.

const TAG = "x-ahp", VIEW = "view/1";
const MAX_BYTES = 64 * 1024; // of a canvas/message action's payload, as JSON
const RATE = 100, BURST = 200; // messages a second
const MAX_CALLS = 256; // actions under way
const TOO_LONG = " "; // no JSON text

/** Sends an action to the canvas's channel. @typedef {(action: any) => number | undefined} Dispatch its clientSeq */

export class View {
  #dispatch; #reload;
  /** @type {MessagePort | undefined} */ #port;
  #hello = false;
  /** @type {Set<unknown>} Actions that the page has not answered yet */ #calls = new Set();
  /** @type {Map<number, number>} By clientSeq, the page's own number of a message */ #sent = new Map();
  #tokens = BURST;
  #filled = performance.now();
  /** @type {{ input: any, theme: any }} */ #state = { input: undefined, theme: undefined };

  /** @param {Dispatch} dispatch @param {() => void} reload loads the page again, where it was scrolled to */
  constructor(dispatch, reload) {
    this.#dispatch = dispatch;
    this.#reload = reload;
  }

  /** Takes the port of a page that was loaded; the page before it is gone. @param {MessagePort} port */
  connect(port) {
    this.disconnect();
    this.#port = port;
    port.onmessage = ({ data }) => { if (this.#port === port) this.#hear(data); };
    port.postMessage({ t: "state", ...this.#state });
  }

  /** The page is gone: what was asked of it is answered, and the provider told. */
  disconnect() {
    if (!this.#port) return;
    for (const id of this.#calls) this.#post({ type: "error", id, error: { code: "canvas_provider_unavailable", message: "the page went away before it answered" } });
    this.#calls.clear();
    if (this.#hello) this.#post({ type: "bye" });
    this.#hello = false;
    this.#sent.clear();
    this.#port.close();
    this.#port = undefined;
  }

  /** A new connection to the host is a new View: what the old one was asked is not ours any more. */
  reconnected() {
    this.#calls.clear();
    for (const id of this.#sent.values()) this.#port?.postMessage({ t: "refused", id, reason: "the connection to the host was lost; the message may not have arrived" });
    this.#sent.clear();
    if (this.#hello) this.#post({ type: "hello" });
  }

  /** @param {{ input?: any, theme?: any }} change */
  update(change) {
    this.#state = { ...this.#state, ...change };
    this.#port?.postMessage({ t: "state", ...this.#state });
  }

  /** The provider's canvas/message. @param {any} payload */
  receive(payload) {
    const tag = payload?.[TAG];
    if (tag === undefined) return this.#port?.postMessage({ t: "message", value: payload });
    if (tag !== VIEW) return;
    if (payload.type === "reload") return this.#reload();
    if (payload.type !== "invoke") return;
    const { id, action, input } = payload;
    if (!this.#port || this.#calls.size >= MAX_CALLS) {
      return this.#post({ type: "error", id, error: { code: "canvas_provider_unavailable", message: "no page could take the action" } });
    }
    this.#calls.add(id);
    this.#port.postMessage({ t: "invoke", id, action, input });
  }

  /** The host's answer to one of our own messages. @param {number} clientSeq @param {string | undefined} reason why it was refused */
  echoed(clientSeq, reason) {
    const id = this.#sent.get(clientSeq);
    this.#sent.delete(clientSeq);
    if (id !== undefined) this.#port?.postMessage(reason ? { t: "refused", id, reason } : { t: "taken", id });
  }

  /** @param {any} m of the page: anything */
  #hear(m) {
    switch (m?.t) {
      case "hello":
        if (this.#hello) return;
        this.#hello = true;
        return this.#post({ type: "hello" });
      case "bye":
        return this.disconnect();
      case "send":
        return this.#take(m);
      case "result":
        if (this.#calls.delete(m.id)) this.#answer(m.id, { type: "result", id: m.id, value: m.value });
        return;
      case "error":
        if (this.#calls.delete(m.id)) this.#answer(m.id, { type: "error", id: m.id, error: { code: limited(m.code, 128) || "canvas_handler_error", message: limited(m.message, 4096) || "the page gave no reason" } });
    }
  }

  /** @param {{ id: number, value: any }} m */
  #take({ id, value }) {
    const why = this.#objection(value);
    const seq = why ? undefined : this.#dispatch({ type: "canvas/message", payload: value });
    if (seq !== undefined) this.#sent.set(seq, id);
    else this.#port?.postMessage({ t: "refused", id, reason: why ?? "there is no connection to the host" });
  }

  /** Why a value may not be sent. @param {any} value @returns {string | undefined} */
  #objection(value) {
    const text = json(value);
    if (text === undefined) return "only a JSON value can be sent";
    if (text === TOO_LONG) return "a message may have at most 64 KiB";
    if (typeof value === "object" && value !== null && TAG in value) return `the member "${TAG}" is the protocol's own`;
    const now = performance.now();
    this.#tokens = Math.min(BURST, this.#tokens + ((now - this.#filled) / 1000) * RATE);
    this.#filled = now;
    if (this.#tokens < 1) return "this canvas sends too many messages";
    this.#tokens--;
    return undefined;
  }

  /** @param {unknown} id @param {any} message */
  #answer(id, message) {
    const text = json({ [TAG]: VIEW, ...message });
    if (text !== undefined && text !== TOO_LONG) return this.#post(message);
    this.#post({ type: "error", id, error: { code: "canvas_handler_error", message: "the answer is no JSON of at most 64 KiB" } });
  }

  /** @param {any} message */
  #post(message) {
    this.#dispatch({ type: "canvas/message", payload: { [TAG]: VIEW, ...message } });
  }
}

/** Only a string: what else there is may take for ever to become one. @param {unknown} said @param {number} most */
const limited = (said, most) => (typeof said === "string" ? said.slice(0, most) : "");

/**
 * A small value may have no end as JSON: an array of four thousand million holes,
 * or thirty levels that name the next one twice. So what it says is counted.
 * @param {any} value @returns {string | undefined} undefined where it cannot be said in JSON, TOO_LONG where it has more than 64 KiB
 */
function json(value) {
  let size = 0;
  /** @this {any} @param {string} key @param {any} v */
  function counted(key, v) {
    size += (Array.isArray(this) ? 0 : key.length) + (typeof v === "string" ? v.length : 1);
    if (size > MAX_BYTES) throw new RangeError(); // it is longer than that already
    return v;
  }
  try {
    const text = JSON.stringify(value, counted);
    return text === undefined || new TextEncoder().encode(text).length <= MAX_BYTES ? text : TOO_LONG;
  } catch (err) {
    return err instanceof RangeError ? TOO_LONG : undefined;
  }
}
