// @ts-check
// Serves the requests of one canvas's service worker, which arrive over its port:
// each becomes a content read or an http/1 request. The canvas can control the
// worker, so the shape, size and number of its messages are checked here.
import * as headers from "./headers.js";
import { CHUNK } from "./call.js";
import { Outlet } from "./outlet.js";

const MAX_READS = 128; // active and queued reads of one mount
const MAX_PATH = 4096, MAX_HTTP_PATH = 8192;
const UPLOAD_BUFFER = 256 * 1024; // bytes of one upload that are buffered here
const REPEAT_WINDOW = 3_000; // ms after a worker restart in which an equal request counts as sent again by the browser

/** @typedef {import("./http.js").HTTPConn} HTTPConn */
/** @typedef {import("./call.js").Call} Call */
/** @typedef {{ call: Call, key: string, answered: boolean, given: number, delivered: number }} Stream given: bytes that the worker may still send; delivered: bytes that it has not credited yet */

const SAFE = ["GET", "HEAD"];
const READ_ONLY = "This canvas has no server, so it can only serve files.";
const UNREACHABLE = "This canvas's provider is not running. Try again when it is back.";

export class Bridge {
  #conn; #around;
  /** @type {MessagePort | undefined} */ #port;
  /** @type {Map<number, Stream>} by the worker's request id */ #streams = new Map();
  /** @type {{ key: string, until: number }[]} Requests in flight when the worker restarted; the app may have received them */ #unanswered = [];
  #reads = 0;
  #cookies = false; // this browser has cookies of the app, which a content read does not send
  #document = -1; // id of the worker's latest document request
  /** Whether that document failed because the host or the provider was unreachable. */ missed = false;

  /**
   * @param {HTTPConn} conn
   * @param {{ http: () => boolean, read: (path: string) => Promise<import("./mount.js").Content> }} around http: whether the provider answers http/1
   */
  constructor(conn, around) {
    this.#conn = conn;
    this.#around = around;
  }

  /** Attaches a worker's port, and cancels the requests of the one before. @param {MessagePort | undefined} port */
  connect(port) {
    this.#port?.close();
    this.#port = port;
    const now = performance.now();
    this.#unanswered = this.#unanswered.filter((u) => u.until > now);
    for (const s of this.#streams.values()) {
      if (!s.answered && !SAFE.includes(s.call.request.method)) this.#unanswered.push({ key: s.key, until: now + REPEAT_WINDOW });
      this.#conn.cancel(s.call, "gone");
    }
    this.#streams.clear();
    this.#document = -1;
    if (port) port.onmessage = ({ data }) => { if (this.#port === port) this.#receive(data); };
  }

  /** @param {any} m untrusted message of the worker */
  #receive(m) {
    if (!Number.isInteger(m?.id)) return;
    if (m.t === "ask") return this.#ask(m);
    const s = this.#streams.get(m.id);
    if (!s) return;
    switch (m.t) {
      case "data": return this.#upload(m.id, s, m.bytes);
      case "end": return this.#conn.bodyEnd(s.call);
      case "more":
        return this.#credit(s, m.n);
      case "cancel":
        this.#streams.delete(m.id);
        return this.#conn.cancel(s.call, "abort");
    }
  }

  /** @param {Stream} s @param {unknown} n bytes that the canvas read; only delivered bytes count */
  #credit(s, n) {
    if (!Number.isInteger(n)) return;
    const bytes = Math.min(/** @type {number} */ (n), s.delivered);
    s.delivered -= bytes;
    if (bytes > 0) this.#conn.credit(s.call, bytes);
  }

  /** Routes a request: a plain GET of a static resource is a content read, anything else is http/1. @param {any} m */
  #ask(m) {
    if (typeof m.path !== "string" || !m.path.startsWith("/") || typeof m.method !== "string") return;
    if (m.document === true && m.method === "GET") this.#document = m.id;
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}$/.test(m.method)) return this.#words(m.id, 405, "This request's method is not valid."); // the host would close the connection over it
    const list = headers.parse(m.headers);
    if (!list) return this.#words(m.id, 431, "The headers of this request are too large.");
    const plain = m.method === "GET" && !m.events && !list.some(([name]) => name === "range");
    if (!this.#around.http()) return plain ? this.#read(m) : this.#words(m.id, 501, READ_ONLY);
    if (plain && m.read === true && !this.#cookies) return this.#read(m);
    this.#request(m, list);
  }

  /** @param {{ id: number, path: string }} m */
  async #read({ id, path }) {
    const port = this.#port;
    if (path.length > MAX_PATH) return this.#words(id, 414, "The address is too long.");
    if (this.#reads >= MAX_READS) return this.#words(id, 429, "This canvas reads too many files at once.");
    this.#reads++;
    const content = await this.#around.read(path).finally(() => this.#reads--);
    this.#note(id, "body" in content ? 200 : content.status);
    if ("body" in content) port?.postMessage({ t: "whole", id, ...content }, [content.body]);
    else port?.postMessage({ t: "words", id, ...content });
  }

  /** @param {any} m @param {headers.Headers} list */
  #request(m, list) {
    const { id, method } = m;
    const path = m.path.replaceAll("\\", "%5C"); // http/1 paths have no backslash
    const key = `${method} ${path}`;
    if (path.length > MAX_HTTP_PATH || !/^[!-~]+$/.test(path)) return this.#words(id, 414, "The address is too long.");
    if (this.#repeats(key)) return this.#words(id, 502, "The connection was lost before the app answered. The app may have received this request, so it was not sent again.");
    if (!this.#conn.open) return this.#words(id, 503, UNREACHABLE);
    if (!list.some(([name]) => name === "accept-language")) list.push(["accept-language", navigator.languages.join(",")]);
    const length = Number.isSafeInteger(m.length) && m.length >= 0 ? m.length : undefined;
    const data = m.bytes instanceof ArrayBuffer && m.bytes.byteLength === length && length <= CHUNK ? new Uint8Array(m.bytes) : undefined;
    const stream = { key, answered: false, given: 0, delivered: 0 };
    const call = this.#conn.request({ method, path, headers: list, length, data }, this.#listener(id, stream));
    if (!call) return this.#words(id, 429, "This canvas sends too many requests at once.");
    this.#streams.set(id, Object.assign(stream, { call }));
    if (call.upload && !data) this.#give(id, stream, UPLOAD_BUFFER);
  }

  /** Reports whether the browser repeats a request of the previous worker. Only GET and HEAD can be repeated safely. @param {string} key */
  #repeats(key) {
    const now = performance.now();
    const at = this.#unanswered.findIndex((u) => u.key === key && u.until > now);
    if (at >= 0) this.#unanswered.splice(at, 1);
    return at >= 0;
  }

  /** @param {number} id @param {Omit<Stream, "call">} s @returns {import("./http.js").Listener} */
  #listener(id, s) {
    const port = this.#port;
    const outlet = new Outlet((chunks) => port?.postMessage({ t: "data", id, chunks }, chunks));
    return {
      head: (status, text, headers, empty) => {
        s.answered = true;
        this.#note(id, 200); // any status is the app's own answer
        this.#cookies ||= headers.some(([name]) => name === "x-ahp-jar");
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

  /** Allows the worker to send n more bytes of a body. @param {number} id @param {Omit<Stream, "call">} s @param {number} n */
  #give(id, s, n) {
    if (n === 0) return;
    s.given += n;
    this.#port?.postMessage({ t: "more", id, n });
  }

  /** @param {number} id @param {Stream} s @param {unknown} bytes */
  #upload(id, s, bytes) {
    if (!(bytes instanceof ArrayBuffer) || bytes.byteLength > CHUNK || bytes.byteLength > s.given || s.call.complete) {
      this.#streams.delete(id);
      this.#conn.cancel(s.call, "abort");
      return this.#words(id, 400, "The body of this request is not valid.");
    }
    s.given -= bytes.byteLength;
    if (bytes.byteLength > 0) this.#conn.body(s.call, new Uint8Array(bytes));
  }

  /** @param {number} id @param {number} status @param {string} word */
  #words(id, status, word) {
    this.#note(id, status);
    this.#port?.postMessage({ t: "words", id, status, word });
  }

  /** Records whether the latest document request was answered. @param {number} id @param {number} status */
  #note(id, status) {
    if (id === this.#document) this.missed = status >= 502;
  }
}
