// @ts-check
// The page's side of ws/1 on one canvas channel (canvas/bridge/PROTOCOL.md section 9):
// ids, windows, order and checks of the host's messages. WebSockets come from
// socketports.js; messages leave through dispatch.
import { decode, decodedLength, encode } from "./base64.js";

const TAG = "x-ahp", WS = "ws/1";
const WINDOW = 256 * 1024; // cost of one WebSocket's messages that are not given back, in each direction
const TO_HOST = 128 * 1024; // cost that the host has not granted back, over all WebSockets
const CREDIT_AT = 128 * 1024; // received cost after which the connection's window is credited
const SOCKET_CREDIT_AT = 64 * 1024; // read cost after which a WebSocket's window is credited
const MAX_CHARS = 64_000; // base64 characters of a part
const LOST = "The connection to this canvas was lost.";

export const CHUNK = 32 * 1024; // bytes in one message to the host
export const COST = 64; // of a part, besides its bytes

/** @typedef {{ path: string, host?: string, protocols?: string[] }} Open */
/** @typedef {{ binary: boolean, more: boolean, bytes: Uint8Array }} Part of a message */
/** @typedef {{ code: number, reason: string, clean: boolean, word: string, failed: boolean }} End word: why, for people; "" if the app or the document closed it; failed: not by a lost connection */
/**
 * @typedef {{
 *   opened: (protocol: string) => void,
 *   message: (binary: boolean, more: boolean, bytes: Uint8Array<ArrayBuffer>) => void,
 *   sent: (cost: number) => void,
 *   closed: (end: End) => void,
 * }} Listener closed is called last, once; sent: a part left the page
 */

/** A WebSocket. */
class Socket {
  id = 0;
  /** @type {(Part | { code?: number, reason?: string })[]} Parts, and at last the close, that are not sent yet */ queue = [];
  opened = false;
  over = false;
  window = WINDOW;
  unread = 0; // received cost that the document has not read
  uncredited = 0; // read cost that is not credited yet
  seq = 0; // of the next part to the host
  next = 0; // of the next part from the host

  /** @param {Listener} listener */
  constructor(listener) {
    this.listener = listener;
  }
}

/** The ws/1 traffic of this page with one canvas. The protocol calls it a lane. */
export class SocketConn {
  #dispatch;
  /** @type {Map<number, Socket>} */ #active = new Map();
  /** @type {Socket[]} with something to send, round robin */ #turns = [];
  #lastId = 0; // never reset, so that late messages of old WebSockets are recognized
  #window = TO_HOST;
  #unacked = 0; // received cost that is not credited yet
  #open = false;

  /** @param {(action: any) => number | undefined} dispatch */
  constructor(dispatch) {
    this.#dispatch = dispatch;
  }

  /** Opens or closes the connection, and fails all of its WebSockets. @param {boolean} open */
  reset(open) {
    this.#open = open;
    const ended = [...this.#active.values()];
    this.#active.clear();
    this.#turns = [];
    this.#window = TO_HOST;
    this.#unacked = 0;
    for (const socket of ended) this.#end(socket, { code: 1006, reason: "", clean: false, word: LOST, failed: false });
  }

  /** Whether WebSockets can be opened. */
  get open() {
    return this.#open;
  }

  /** @param {Open} open @param {Listener} listener @returns {Socket} */
  start(open, listener) {
    const socket = new Socket(listener);
    socket.id = ++this.#lastId;
    this.#active.set(socket.id, socket);
    this.#send({ type: "open", id: socket.id, ...open });
    return socket;
  }

  /** @param {Socket} socket @param {Part} part at most one chunk */
  send(socket, part) {
    socket.queue.push(part);
    this.#schedule(socket);
  }

  /** Closes a WebSocket after its queued messages, or at once if it is not open. @param {Socket} socket @param {number} [code] @param {string} [reason] */
  close(socket, code, reason) {
    socket.queue.push({ code, reason });
    this.#schedule(socket);
  }

  /** Ends a WebSocket whose document is gone, without waiting for the app. @param {Socket} socket */
  leave(socket) {
    if (!this.#active.has(socket.id)) return;
    this.#send({ type: "close", id: socket.id, code: 1001 });
    this.#forget(socket);
    socket.over = true;
  }

  /** Credits parts that the document read. @param {Socket} socket @param {number} cost */
  read(socket, cost) {
    if (!this.#active.has(socket.id)) return;
    socket.uncredited += cost;
    socket.unread -= cost;
    if (socket.uncredited < SOCKET_CREDIT_AT) return;
    this.#send({ type: "credit", id: socket.id, bytes: socket.uncredited });
    socket.uncredited = 0;
  }

  /** Handles one of our own messages that the host rejected: it never arrived. @param {any} m @param {string} reason */
  refused(m, reason) {
    const socket = this.#active.get(m.id);
    if (m.type === "send") this.#window += cost(m);
    if (m.type === "credit") this.#unacked += m.lane ?? 0;
    if (!socket || m.type === "close") return;
    this.#send({ type: "close", id: socket.id, code: 1001 });
    this.#finish(socket, { code: 1006, reason: "", clean: false, word: `The host rejected this message: ${reason}.`, failed: true });
  }

  /** @param {any} m a message of the host */
  receive(m) {
    if (!this.#open) return;
    const socket = this.#active.get(m.id);
    if (m.type === "message") {
      this.#unacked += cost(m);
      if (socket && !this.#part(socket, m)) this.#violation(socket);
    } else if (m.type === "opened" && socket) {
      socket.opened = true;
      socket.listener.opened(typeof m.protocol === "string" ? m.protocol : "");
      this.#schedule(socket);
    } else if (m.type === "grant") {
      this.#grant(m, socket);
    } else if (m.type === "closed" && socket) {
      const code = Number.isInteger(m.code) && m.code >= 1000 && m.code <= 4999 ? m.code : 1006;
      const word = typeof m.message === "string" ? m.message.slice(0, 512) : "";
      this.#finish(socket, { code, reason: typeof m.reason === "string" ? m.reason.slice(0, 123) : "", clean: m.clean === true, word, failed: m.error !== undefined && m.error !== "broken" && m.error !== "closed" });
    }
    if (this.#unacked >= CREDIT_AT) {
      this.#send({ type: "credit", id: 0, lane: this.#unacked });
      this.#unacked = 0;
    }
  }

  /** @param {Socket} socket @param {any} m @returns {boolean} false on a protocol violation */
  #part(socket, m) {
    if (!socket.opened || m.seq !== socket.next++ || (m.data !== undefined && (typeof m.data !== "string" || m.data.length > MAX_CHARS))) return false;
    socket.unread += cost(m);
    if (socket.unread > WINDOW) return false;
    try {
      socket.listener.message(m.binary === true, m.more === true, decode(m.data ?? ""));
      return true;
    } catch {
      return false; // the data is not base64
    }
  }

  /** Ends a WebSocket on which the host violated the protocol. @param {Socket} socket */
  #violation(socket) {
    this.#send({ type: "close", id: socket.id, code: 1001 });
    this.#finish(socket, { code: 1006, reason: "", clean: false, word: "The host sent an invalid message.", failed: true });
  }

  /** @param {any} m @param {Socket | undefined} socket */
  #grant({ bytes, lane }, socket) {
    if (socket && Number.isInteger(bytes) && bytes > 0) socket.window = Math.min(socket.window + bytes, 2 ** 31 - 1);
    if (Number.isInteger(lane) && lane > 0) this.#window = Math.min(this.#window + lane, TO_HOST);
    if (socket) this.#schedule(socket);
    this.#sendParts();
  }

  /** @param {Socket} socket */
  #schedule(socket) {
    if (socket.over || socket.queue.length === 0) return;
    if (!socket.opened && !("code" in socket.queue[socket.queue.length - 1])) return;
    if (!this.#turns.includes(socket)) this.#turns.push(socket);
    this.#sendParts();
  }

  /** Sends parts, one per WebSocket in turn, as far as the windows allow. */
  #sendParts() {
    for (let idle = 0; idle < this.#turns.length;) {
      const socket = /** @type {Socket} */ (this.#turns.shift());
      const [part] = socket.queue;
      const size = "bytes" in part ? COST + part.bytes.length : 0;
      if (size > this.#window || size > socket.window) {
        this.#turns.push(socket);
        idle++;
        continue;
      }
      idle = 0;
      socket.queue.shift();
      if (socket.queue.length > 0) this.#turns.push(socket);
      if ("bytes" in part) this.#sendPart(socket, part, size);
      else this.#send({ type: "close", id: socket.id, code: part.code, reason: part.code === undefined ? undefined : part.reason || undefined });
    }
  }

  /** @param {Socket} socket @param {Part} part @param {number} size */
  #sendPart(socket, { binary, more, bytes }, size) {
    this.#window -= size;
    socket.window -= size;
    this.#send({ type: "send", id: socket.id, seq: socket.seq++, binary: binary || undefined, more: more || undefined, data: bytes.length > 0 ? encode(bytes) : undefined });
    socket.listener.sent(size);
  }

  /** @param {Socket} socket @param {End} end */
  #finish(socket, end) {
    this.#forget(socket);
    this.#end(socket, end);
  }

  /** @param {Socket} socket */
  #forget(socket) {
    this.#active.delete(socket.id);
    if (this.#turns.includes(socket)) this.#turns.splice(this.#turns.indexOf(socket), 1);
  }

  /** @param {Socket} socket @param {End} end */
  #end(socket, end) {
    socket.over = true;
    socket.queue = [];
    socket.listener.closed(end);
  }

  /** @param {any} message */
  #send(message) {
    this.#dispatch({ type: "canvas/message", payload: { [TAG]: WS, ...message } });
  }
}

/** @param {any} m */
const cost = (m) => COST + (typeof m.data === "string" ? decodedLength(m.data) : 0);
