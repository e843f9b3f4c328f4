// @ts-check
// What the service worker of one canvas asks for, over its port: judged, routed
// to a read or to the lane, and answered. The worker counts as controlled by the
// canvas: shape, size and number of everything that it says are checked here.
import * as headers from "./headers.js";
import { CHUNK } from "./call.js";
import { Outlet } from "./outlet.js";

const MAX_READS = 128; // of one mount under way or waiting
const MAX_PATH = 4096, MAX_HTTP_PATH = 8192;
const AHEAD = 256 * 1024; // bytes of one upload that may wait here
const AGAIN = 3_000; // ms after a new port in which a request that was under way is taken for a repetition

/** @typedef {import("./lane.js").Lane} Lane */
/** @typedef {import("./call.js").Call} Call */
/** @typedef {{ call: Call, key: string, answered: boolean, given: number, delivered: number }} Stream given: bytes that the worker may still send; delivered: bytes that it may still give back */

const SAFE = ["GET", "HEAD"];
const READ_ONLY = "This canvas can only be read. It has no server that could answer this request.";
const AWAY = "What provides this canvas is not running. It can come back.";

export class Bridge {
  #lane; #around;
  /** @type {MessagePort | undefined} */ #port;
  /** @type {Map<number, Stream>} by the worker's number */ #streams = new Map();
  /** @type {{ key: string, until: number }[]} What was under way when the worker changed, and may have arrived */ #unanswered = [];
  #reads = 0;
  #document = -1; // the worker's number of the document that it asked for last
  /** Whether that could not be had, for want of the host or the provider. */ missed = false;

  /**
   * @param {Lane} lane
   * @param {{ http: () => boolean, read: (path: string) => Promise<import("./mount.js").Content> }} around http: whether the provider answers it
   */
  constructor(lane, around) {
    this.#lane = lane;
    this.#around = around;
  }

  /** Takes the port of a worker; the one before is dead, and what it asked for is not wanted any more. @param {MessagePort | undefined} port */
  connect(port) {
    this.#port?.close();
    this.#port = port;
    const now = performance.now();
    this.#unanswered = this.#unanswered.filter((u) => u.until > now);
    for (const s of this.#streams.values()) {
      if (!s.answered && !SAFE.includes(s.call.request.method)) this.#unanswered.push({ key: s.key, until: now + AGAIN });
      this.#lane.cancel(s.call, "gone");
    }
    this.#streams.clear();
    this.#document = -1;
    if (port) port.onmessage = ({ data }) => { if (this.#port === port) this.#hear(data); };
  }

  /** @param {any} m of the worker: anything */
  #hear(m) {
    if (!Number.isInteger(m?.id)) return;
    if (m.t === "ask") return this.#ask(m);
    const s = this.#streams.get(m.id);
    if (!s) return;
    switch (m.t) {
      case "data": return this.#upload(m.id, s, m.bytes);
      case "end": return this.#lane.bodyEnd(s.call);
      case "more":
        return this.#credit(s, m.n);
      case "cancel":
        this.#streams.delete(m.id);
        return this.#lane.cancel(s.call, "abort");
    }
  }

  /** @param {Stream} s @param {unknown} n bytes that the canvas's reader took; at most what was delivered counts */
  #credit(s, n) {
    if (!Number.isInteger(n)) return;
    const bytes = Math.min(/** @type {number} */ (n), s.delivered);
    s.delivered -= bytes;
    if (bytes > 0) this.#lane.credit(s.call, bytes);
  }

  /** Section 3 of the renderer's design: which request goes where. @param {any} m */
  #ask(m) {
    if (typeof m.path !== "string" || !m.path.startsWith("/") || typeof m.method !== "string") return;
    if (m.document === true && m.method === "GET") this.#document = m.id;
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}$/.test(m.method)) return this.#words(m.id, 405, "There is no such method."); // a long one is a frame that the host ends the connection for
    const list = headers.parse(m.headers);
    if (!list) return this.#words(m.id, 431, "The headers of this request are too large.");
    const plain = m.method === "GET" && !m.events && !list.some(([name]) => name === "range");
    if (!this.#around.http()) return plain ? this.#read(m) : this.#words(m.id, 501, READ_ONLY);
    if (plain && m.read === true) return this.#read(m);
    this.#request(m, list);
  }

  /** @param {{ id: number, path: string }} m */
  async #read({ id, path }) {
    const port = this.#port;
    if (path.length > MAX_PATH) return this.#words(id, 414, "The address is too long.");
    if (this.#reads >= MAX_READS) return this.#words(id, 429, "This canvas reads too many things at once.");
    this.#reads++;
    const content = await this.#around.read(path).finally(() => this.#reads--);
    this.#note(id, "body" in content ? 200 : content.status);
    if ("body" in content) port?.postMessage({ t: "whole", id, ...content }, [content.body]);
    else port?.postMessage({ t: "words", id, ...content });
  }

  /** @param {any} m @param {headers.Headers} list */
  #request(m, list) {
    const { id, method } = m;
    const path = m.path.replaceAll("\\", "%5C"); // the one character of an address that the wire has not
    const key = `${method} ${path}`;
    if (path.length > MAX_HTTP_PATH || !/^[!-~]+$/.test(path)) return this.#words(id, 414, "The address is too long.");
    if (this.#repeats(key)) return this.#words(id, 502, "The connection was lost before this was answered. It may have arrived, so it was not sent again.");
    if (!this.#lane.open) return this.#words(id, 503, AWAY);
    if (!list.some(([name]) => name === "accept-language")) list.push(["accept-language", navigator.languages.join(",")]);
    const length = Number.isSafeInteger(m.length) && m.length >= 0 ? m.length : undefined;
    const data = m.bytes instanceof ArrayBuffer && m.bytes.byteLength === length && length <= CHUNK ? new Uint8Array(m.bytes) : undefined;
    const stream = { key, answered: false, given: 0, delivered: 0 };
    const call = this.#lane.request({ method, path, headers: list, length, data }, this.#listener(id, stream));
    if (!call) return this.#words(id, 429, "This canvas asks for too many things at once.");
    this.#streams.set(id, Object.assign(stream, { call }));
    if (call.upload && !data) this.#give(id, stream, AHEAD);
  }

  /** Whether a browser sends something again that it had sent through the worker before: nothing but a read is. @param {string} key */
  #repeats(key) {
    const now = performance.now();
    const at = this.#unanswered.findIndex((u) => u.key === key && u.until > now);
    if (at >= 0) this.#unanswered.splice(at, 1);
    return at >= 0;
  }

  /** @param {number} id @param {Omit<Stream, "call">} s @returns {import("./lane.js").Listener} */
  #listener(id, s) {
    const port = this.#port;
    const outlet = new Outlet((chunks) => port?.postMessage({ t: "data", id, chunks }, chunks));
    return {
      head: (status, text, headers, empty) => {
        s.answered = true;
        this.#note(id, 200); // whatever it is, it is the app's own
        port?.postMessage({ t: "head", id, status, text, headers, empty });
      },
      data: (bytes) => {
        s.delivered += bytes.length;
        outlet.add(bytes);
      },
      end: () => {
        this.#streams.delete(id);
        outlet.flush();
        port?.postMessage({ t: "end", id });
      },
      fail: (status, word) => {
        this.#streams.delete(id);
        outlet.flush();
        if (!s.answered) this.#note(id, status);
        port?.postMessage({ t: "words", id, status, word });
      },
      sent: (n) => this.#give(id, s, n),
    };
  }

  /** Lets the worker send more of a body. @param {number} id @param {Omit<Stream, "call">} s @param {number} n */
  #give(id, s, n) {
    if (n === 0) return;
    s.given += n;
    this.#port?.postMessage({ t: "more", id, n });
  }

  /** @param {number} id @param {Stream} s @param {unknown} bytes */
  #upload(id, s, bytes) {
    if (!(bytes instanceof ArrayBuffer) || bytes.byteLength > CHUNK || bytes.byteLength > s.given || s.call.complete) {
      this.#streams.delete(id);
      this.#lane.cancel(s.call, "abort");
      return this.#words(id, 400, "The body of this request broke the rules.");
    }
    s.given -= bytes.byteLength;
    if (bytes.byteLength > 0) this.#lane.body(s.call, new Uint8Array(bytes));
  }

  /** @param {number} id @param {number} status @param {string} word */
  #words(id, status, word) {
    this.#note(id, status);
    this.#port?.postMessage({ t: "words", id, status, word });
  }

  /** Remembers whether the canvas has the document that it asked for last. @param {number} id @param {number} status */
  #note(id, status) {
    if (id === this.#document) this.missed = status >= 502;
  }
}
