// @ts-check
// The page's side of http/1 on one canvas channel (canvas/bridge/PROTOCOL.md):
// ids, windows, order and checks of the host's messages. Requests come from
// bridge.js; messages leave through dispatch.
import { decodedLength, encode } from "./base64.js";
import { MAX_CHUNK, Call } from "./call.js";
import * as headers from "./headers.js";

const TAG = "x-ahp", HTTP = "http/1";
const UPLOAD_WINDOW = 512 * 1024; // request body bytes that the host has not granted back, over all requests
const CREDIT_AT = 256 * 1024; // received bytes after which the connection's window is credited
const MAX_ACTIVE = 256; // requests in progress
const MAX_UPLOADS = 32; // active requests with an incomplete body
const MAX_QUEUED = 512; // requests not yet started

/**
 * @typedef {{ method: string, path: string, headers: headers.Headers, length?: number, data?: Uint8Array }} Request
 *   length: the body's size, absent without a body; data: the body if it fits one chunk
 * @typedef {{
 *   head: (status: number, text: string, headers: headers.Headers, empty: boolean) => void,
 *   data: (bytes: Uint8Array<ArrayBuffer>) => void,
 *   end: () => void,
 *   fail: (status: number, word: string) => void,
 *   sent: (bytes: number) => void,
 * }} Listener end or fail is called last, once; sent: body bytes that left the page
 */

/** The http/1 traffic of this page with one canvas. The protocol calls it a lane. */
export class HTTPConn {
  #dispatch;
  /** @type {Map<number, Call>} */ #active = new Map();
  /** @type {Call[]} */ #queued = [];
  /** @type {Call[]} with body chunks to send, round robin */ #turns = [];
  #lastId = 0; // never reset, so that late messages of old requests are recognized
  #uploads = 0;
  #window = UPLOAD_WINDOW;
  #unacked = 0; // received bytes that are not credited yet
  #open = false;
  #browser = "";

  /** @param {(action: any) => number | undefined} dispatch */
  constructor(dispatch) {
    this.#dispatch = dispatch;
  }

  /** Whether requests can be sent. */
  get open() {
    return this.#open;
  }

  /** Opens or closes the connection, and fails all of its requests. It is open while the host is connected and the canvas is ready. @param {boolean} open */
  reset(open) {
    this.#open = open;
    const ended = [...this.#active.values(), ...this.#queued];
    this.#active.clear();
    this.#queued = [];
    this.#turns = [];
    this.#uploads = 0;
    this.#window = UPLOAD_WINDOW;
    this.#unacked = 0;
    for (const call of ended) call.listener.fail(503, "The connection to this canvas was lost before the app answered.");
    this.#introduce();
  }

  /** Names this browser to the provider, which keeps the app's cookies of browsers apart. @param {string} name 32 hex digits, only for this canvas */
  introduce(name) {
    if (name === this.#browser) return;
    this.#browser = name;
    this.#introduce();
  }

  #introduce() {
    if (this.#open && this.#browser) this.#send({ type: "browser", id: 0, browser: this.#browser });
  }

  /** @param {Request} request @param {Listener} listener @returns {Call | undefined} undefined if the queue is full */
  request(request, listener) {
    if (this.#queued.length >= MAX_QUEUED) return undefined;
    const call = new Call(request, listener);
    this.#queued.push(call);
    this.#startQueued();
    return call;
  }

  /** @param {Call} call @param {Uint8Array} bytes at most one chunk */
  body(call, bytes) {
    call.queue.push(bytes);
    this.#schedule(call);
  }

  /** The body is complete. @param {Call} call */
  bodyEnd(call) {
    call.complete = true;
    this.#schedule(call);
  }

  /** Credits response bytes that the reader consumed. @param {Call} call @param {number} bytes */
  credit(call, bytes) {
    if (!this.#active.has(call.id) || call.unread < bytes) return;
    call.unread -= bytes;
    const lane = this.#unacked > 0 ? { lane: this.#unacked } : {};
    this.#unacked = 0;
    this.#send({ type: "credit", id: call.id, bytes, ...lane });
  }

  /** @param {Call} call @param {"abort" | "gone" | "protocol"} reason */
  cancel(call, reason) {
    if (this.#active.has(call.id)) this.#send({ type: "cancel", id: call.id, reason });
    this.#finish(call);
  }

  /** Handles one of our own messages that the host rejected: it never arrived, so its window is returned. @param {any} m @param {string} reason */
  refused(m, reason) {
    const call = this.#active.get(m.id);
    if (typeof m.data === "string") this.#window += decodedLength(m.data);
    if (m.type === "credit") this.#unacked += m.lane ?? 0;
    if (!call || m.type === "cancel") return;
    this.cancel(call, "abort");
    call.listener.fail(503, `The host rejected this request: ${reason}.`);
  }

  /** @param {any} m a message of the host */
  receive(m) {
    if (!this.#open) return;
    const size = typeof m.data === "string" ? decodedLength(m.data) : 0;
    this.#unacked += size;
    const call = this.#active.get(m.id);
    switch (m.type) {
      case "data": call?.data(m, size) === false && this.#violation(call); break;
      case "response": call?.head(m, size) === false && this.#violation(call); break;
      case "grant": return this.#grant(m, call);
      case "error":
        if (!call) return;
        this.#finish(call);
        return call.listener.fail(Number.isInteger(m.status) && m.status >= 400 && m.status <= 599 ? m.status : 502, sentence(m.message));
    }
    if (call?.ended && !call.finished) {
      this.#finish(call);
      call.listener.end();
    }
    if (this.#unacked >= CREDIT_AT) {
      this.#send({ type: "credit", id: 0, lane: this.#unacked });
      this.#unacked = 0;
    }
  }

  /** Ends a request on which the host violated the protocol. @param {Call} call */
  #violation(call) {
    this.cancel(call, "protocol");
    call.listener.fail(502, "The host sent an invalid response.");
  }

  /** @param {any} m @param {Call | undefined} call */
  #grant({ bytes, lane }, call) {
    if (call && Number.isInteger(bytes) && bytes > 0) call.window = Math.min(call.window + bytes, 2 ** 31 - 1);
    if (Number.isInteger(lane) && lane > 0) this.#window = Math.min(this.#window + lane, 2 ** 31 - 1);
    this.#sendBodies();
  }

  /** Starts queued requests up to the limits. An upload that must wait does not block requests behind it. */
  #startQueued() {
    for (let i = 0; i < this.#queued.length && this.#active.size < MAX_ACTIVE;) {
      const call = this.#queued[i];
      if (call.upload && this.#uploads >= MAX_UPLOADS) {
        i++;
        continue;
      }
      this.#queued.splice(i, 1);
      this.#start(call);
    }
  }

  /** @param {Call} call */
  #start(call) {
    const { method, path, headers: list, length, data } = call.request;
    call.id = ++this.#lastId;
    this.#active.set(call.id, call);
    const whole = data !== undefined && data.length <= this.#window && weight(list) <= 16 * 1024;
    if (data && !whole) call.queue.push(data);
    call.sending = call.upload && !whole;
    if (call.sending) this.#uploads++;
    const message = { type: "request", id: call.id, method, path, headers: list, length, chunk: MAX_CHUNK, end: call.sending ? undefined : true };
    if (whole) {
      this.#window -= data.length;
      call.window -= data.length;
    }
    this.#send(whole ? { ...message, data: encode(data) } : message);
    this.#schedule(call);
  }

  /** @param {Call} call with body bytes to send */
  #schedule(call) {
    if (!call.sending || this.#turns.includes(call)) return;
    this.#turns.push(call);
    this.#sendBodies();
  }

  /** Sends body chunks, one per request in turn, as far as the windows allow. */
  #sendBodies() {
    for (let idle = 0; idle < this.#turns.length;) {
      const call = /** @type {Call} */ (this.#turns.shift());
      const [bytes] = call.queue;
      if (bytes && (bytes.length > this.#window || bytes.length > call.window)) {
        this.#turns.push(call);
        idle++;
        continue;
      }
      idle = 0;
      const last = call.complete && call.queue.length <= 1;
      if (bytes || last) this.#chunk(call, bytes, last);
      if (call.sending && call.queue.length > 0) this.#turns.push(call);
    }
  }

  /** @param {Call} call @param {Uint8Array | undefined} bytes @param {boolean} last */
  #chunk(call, bytes, last) {
    call.queue.shift();
    const size = bytes?.length ?? 0;
    this.#window -= size;
    call.window -= size;
    this.#send({ type: "body", id: call.id, seq: call.seq++, end: last || undefined, data: bytes && encode(bytes) });
    if (last) this.#bodySent(call);
    call.listener.sent(size);
  }

  /** @param {Call} call whose body was sent or canceled */
  #bodySent(call) {
    if (!call.sending) return;
    call.sending = false;
    this.#uploads--;
    this.#startQueued();
  }

  /** @param {Call} call */
  #finish(call) {
    this.#active.delete(call.id);
    for (const list of [this.#queued, this.#turns]) if (list.includes(call)) list.splice(list.indexOf(call), 1);
    call.finished = true;
    this.#bodySent(call);
    this.#startQueued();
  }

  /** @param {any} message */
  #send(message) {
    this.#dispatch({ type: "canvas/message", payload: { [TAG]: HTTP, ...message } });
  }
}

/** @param {headers.Headers} list */
const weight = (list) => new TextEncoder().encode(JSON.stringify(list)).length;

/** Turns a protocol error text into a sentence for people. @param {unknown} text */
function sentence(text) {
  const t = typeof text === "string" ? text.trim().slice(0, 512) : "";
  return t ? `${t[0].toUpperCase()}${t.slice(1)}${/[.!?]$/.test(t) ? "" : "."}` : "The app of this canvas could not answer.";
}
