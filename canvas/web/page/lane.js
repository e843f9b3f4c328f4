// @ts-check
// The page's side of http/1 on one canvas channel (canvas/bridge/PROTOCOL.md):
// ids, windows, order, and everything that a host may get wrong. Requests come
// from bridge.js; messages go out through dispatch.
import { decodedLength, encode } from "./base64.js";
import { ASKED, Call } from "./call.js";
import * as headers from "./headers.js";

const TAG = "x-ahp", HTTP = "http/1";
const UP = 512 * 1024; // bytes of bodies on the lane, page to host, that the host has not given back
const GATHER = 256 * 1024; // bytes of the lane's window that are given back at once
const AT_ONCE = 256; // requests that live
const UPLOADS = 32; // of them, whose body is not sent
const QUEUED = 512; // requests that wait for their turn

/**
 * @typedef {{ method: string, path: string, headers: headers.Headers, length?: number, data?: Uint8Array }} Request
 *   length: of the body, where there is one; data: the body where it is one chunk
 * @typedef {{
 *   head: (status: number, text: string, headers: headers.Headers, empty: boolean) => void,
 *   data: (bytes: Uint8Array<ArrayBuffer>) => void,
 *   end: () => void,
 *   fail: (status: number, word: string) => void,
 *   sent: (bytes: number) => void,
 * }} Listener end or fail comes last, and once; sent: so much of the body left the page
 */

export class Lane {
  #dispatch;
  /** @type {Map<number, Call>} */ #living = new Map();
  /** @type {Call[]} */ #waiting = [];
  /** @type {Call[]} whose body waits, in turn */ #turn = [];
  #lastId = 0; // never begins again, so that what comes late is told from what is new
  #uploads = 0;
  #room = UP;
  #owed = 0; // bytes of the lane's window that came and were not given back
  #open = false;

  /** @param {(action: any) => number | undefined} dispatch */
  constructor(dispatch) {
    this.#dispatch = dispatch;
  }

  /** Whether requests can be sent. */
  get open() {
    return this.#open;
  }

  /** A lane lives while there is a connection and the canvas is ready; everything ends with it. @param {boolean} open */
  reset(open) {
    this.#open = open;
    const ended = [...this.#living.values(), ...this.#waiting];
    this.#living.clear();
    this.#waiting = [];
    this.#turn = [];
    this.#uploads = 0;
    this.#room = UP;
    this.#owed = 0;
    for (const call of ended) call.listener.fail(503, "The connection to this canvas was lost before this was answered.");
  }

  /** @param {Request} request @param {Listener} listener @returns {Call | undefined} undefined where too many wait already */
  request(request, listener) {
    if (this.#waiting.length >= QUEUED) return undefined;
    const call = new Call(request, listener);
    this.#waiting.push(call);
    this.#begin();
    return call;
  }

  /** @param {Call} call @param {Uint8Array} bytes one chunk at most */
  body(call, bytes) {
    call.queue.push(bytes);
    this.#flow(call);
  }

  /** The body is complete. @param {Call} call */
  bodyEnd(call) {
    call.complete = true;
    this.#flow(call);
  }

  /** The reader took so many bytes of the answer. @param {Call} call @param {number} bytes */
  credit(call, bytes) {
    if (!this.#living.has(call.id) || call.unread < bytes) return;
    call.unread -= bytes;
    const lane = this.#owed > 0 ? { lane: this.#owed } : {};
    this.#owed = 0;
    this.#send({ type: "credit", id: call.id, bytes, ...lane });
  }

  /** @param {Call} call @param {"abort" | "gone" | "protocol"} reason */
  cancel(call, reason) {
    if (this.#living.has(call.id)) this.#send({ type: "cancel", id: call.id, reason });
    this.#over(call);
  }

  /** The host's answer to one of our own messages: a refused one never arrived. @param {any} m @param {string} reason */
  refused(m, reason) {
    const call = this.#living.get(m.id);
    if (typeof m.data === "string") this.#room += decodedLength(m.data);
    if (m.type === "credit") this.#owed += m.lane ?? 0;
    if (!call || m.type === "cancel") return;
    this.cancel(call, "abort");
    call.listener.fail(503, `The host did not take this request: ${reason}.`);
  }

  /** @param {any} m the host's message */
  receive(m) {
    if (!this.#open) return;
    const size = typeof m.data === "string" ? decodedLength(m.data) : 0;
    this.#owed += size;
    const call = this.#living.get(m.id);
    switch (m.type) {
      case "data": call?.data(m, size) === false && this.#broken(call); break;
      case "response": call?.head(m, size) === false && this.#broken(call); break;
      case "grant": return this.#grant(m, call);
      case "error":
        if (!call) return;
        this.#over(call);
        return call.listener.fail(Number.isInteger(m.status) && m.status >= 400 && m.status <= 599 ? m.status : 502, sentence(m.message));
    }
    if (call?.ended && !call.over) {
      this.#over(call);
      call.listener.end();
    }
    if (this.#owed >= GATHER) {
      this.#send({ type: "credit", id: 0, lane: this.#owed });
      this.#owed = 0;
    }
  }

  /** The host broke a rule. @param {Call} call */
  #broken(call) {
    this.cancel(call, "protocol");
    call.listener.fail(502, "The host's answer broke the rules of its protocol.");
  }

  /** @param {any} m @param {Call | undefined} call */
  #grant({ bytes, lane }, call) {
    if (call && Number.isInteger(bytes) && bytes > 0) call.room = Math.min(call.room + bytes, 2 ** 31 - 1);
    if (Number.isInteger(lane) && lane > 0) this.#room = Math.min(this.#room + lane, 2 ** 31 - 1);
    this.#pump();
  }

  /** Sends the requests whose turn it is; uploads that wait hold nobody else up. */
  #begin() {
    for (let i = 0; i < this.#waiting.length && this.#living.size < AT_ONCE;) {
      const call = this.#waiting[i];
      if (call.upload && this.#uploads >= UPLOADS) {
        i++;
        continue;
      }
      this.#waiting.splice(i, 1);
      this.#ask(call);
    }
  }

  /** @param {Call} call */
  #ask(call) {
    const { method, path, headers: list, length, data } = call.request;
    call.id = ++this.#lastId;
    this.#living.set(call.id, call);
    const whole = data !== undefined && data.length <= this.#room && weight(list) <= 16 * 1024;
    if (data && !whole) call.queue.push(data);
    call.sending = call.upload && !whole;
    if (call.sending) this.#uploads++;
    const message = { type: "request", id: call.id, method, path, headers: list, length, chunk: ASKED, end: call.sending ? undefined : true };
    if (whole) {
      this.#room -= data.length;
      call.room -= data.length;
    }
    this.#send(whole ? { ...message, data: encode(data) } : message);
    this.#flow(call);
  }

  /** @param {Call} call whose body has something to send */
  #flow(call) {
    if (!call.sending || this.#turn.includes(call)) return;
    this.#turn.push(call);
    this.#pump();
  }

  /** Sends bodies, a chunk of each in turn, as far as the windows allow. */
  #pump() {
    for (let idle = 0; idle < this.#turn.length;) {
      const call = /** @type {Call} */ (this.#turn.shift());
      const [bytes] = call.queue;
      if (bytes && (bytes.length > this.#room || bytes.length > call.room)) {
        this.#turn.push(call);
        idle++;
        continue;
      }
      idle = 0;
      const last = call.complete && call.queue.length <= 1;
      if (bytes || last) this.#chunk(call, bytes, last);
      if (call.sending && call.queue.length > 0) this.#turn.push(call);
    }
  }

  /** @param {Call} call @param {Uint8Array | undefined} bytes @param {boolean} last */
  #chunk(call, bytes, last) {
    call.queue.shift();
    const size = bytes?.length ?? 0;
    this.#room -= size;
    call.room -= size;
    this.#send({ type: "body", id: call.id, seq: call.seq++, end: last || undefined, data: bytes && encode(bytes) });
    if (last) this.#sent(call);
    call.listener.sent(size);
  }

  /** @param {Call} call whose body is on its way, or is not wanted any more */
  #sent(call) {
    if (!call.sending) return;
    call.sending = false;
    this.#uploads--;
    this.#begin();
  }

  /** @param {Call} call */
  #over(call) {
    this.#living.delete(call.id);
    for (const list of [this.#waiting, this.#turn]) if (list.includes(call)) list.splice(list.indexOf(call), 1);
    call.over = true;
    this.#sent(call);
    this.#begin();
  }

  /** @param {any} message */
  #send(message) {
    this.#dispatch({ type: "canvas/message", payload: { [TAG]: HTTP, ...message } });
  }
}

/** @param {headers.Headers} list */
const weight = (list) => new TextEncoder().encode(JSON.stringify(list)).length;

/** A protocol's message as a person reads it. @param {unknown} text */
function sentence(text) {
  const t = typeof text === "string" ? text.trim().slice(0, 512) : "";
  return t ? `${t[0].toUpperCase()}${t.slice(1)}${/[.!?]$/.test(t) ? "" : "."}` : "The app of this canvas could not answer.";
}
