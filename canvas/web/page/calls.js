// @ts-check
// JSON-RPC requests of an AHP client over its WebSockets: their answers, their time, and
// what waits while the client moves from one connection to another. Requests that change
// nothing are sent once more if their connection is lost.
import { SAFE } from "./safe.js";

const TIMEOUT = 35_000; // ms for a response
const ROOT = "ahp-root://";
const LOST = "the connection to the host was lost before it answered: it is not known whether this was done";

/** An error response of the host. */
export class RPCError extends Error {
  /** @param {{ code: number, message: string, data?: any }} e */
  constructor(e) {
    super(e.message);
    this.code = e.code;
    this.data = e.data;
  }
}

/** @typedef {WebSocket | import("./seal.js").SealedSocket | undefined} Socket */

export class Calls {
  /** @type {Map<number, { resolve: (v: any) => void, reject: (e: Error) => void, timer: number, socket: Socket, again?: any }>} socket: undefined while it waits for the next connection; again: the message that is sent there if this one ends before the answer */ #pending = new Map();
  /** @type {any[] | undefined} what is sent after a move, while nothing is sent */ #held;
  #lastId = 0;

  /** @param {Socket} socket @param {string} method @param {any} params @param {number} [deadline] ms @param {boolean} [now] also while messages are held @returns {Promise<any>} */
  request(socket, method, params, deadline = TIMEOUT, now = false) {
    return new Promise((resolve, reject) => {
      if (socket?.readyState !== WebSocket.OPEN) return reject(new Error("there is no connection to the host"));
      const id = ++this.#lastId;
      const timer = setTimeout(() => this.#take(id)?.reject(new Error("the host did not answer in time")), deadline);
      const message = { id, method, params: { channel: ROOT, ...params } };
      this.#pending.set(id, { resolve, reject, timer, socket, again: SAFE.has(method) ? message : undefined });
      if (now) this.sendNow(socket, message);
      else this.send(socket, message);
    });
  }

  /** Settles the request that a response answers. @param {any} m */
  answered(m) {
    const call = this.#take(m.id);
    if (m.error) call?.reject(new RPCError(m.error));
    else call?.resolve(m.result);
  }

  /** Fails the requests that a connection has not answered; those that may be repeated wait for repeat. @param {Socket} socket @param {boolean} [more] whether there will be another connection */
  fail(socket, more = true) {
    for (const [id, call] of [...this.#pending]) {
      if (call.socket !== socket) continue;
      if (call.again && more) call.socket = undefined;
      else this.#take(id)?.reject(new Error(LOST));
    }
  }

  /** Sends the requests that wait for a connection, once. @param {Socket} socket */
  repeat(socket) {
    for (const call of this.#pending.values()) {
      if (call.socket) continue;
      call.socket = socket;
      this.send(socket, call.again);
      call.again = undefined;
    }
  }

  /** Sends nothing from now on, but what is sent with sendNow. */
  hold() {
    this.#held = [];
  }

  /** Sends what was held. @param {Socket} socket */
  release(socket) {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const message of held) {
      const call = message.method === undefined ? undefined : this.#pending.get(message.id);
      if (call) call.socket = socket;
      this.sendNow(socket, message);
    }
  }

  /** Discards what was held: the connection has ended. */
  discard() {
    this.#held = undefined;
  }

  /** @param {Socket} socket @param {any} message */
  send(socket, message) {
    if (this.#held) this.#held.push(message);
    else this.sendNow(socket, message);
  }

  /** @param {Socket} socket @param {any} message */
  sendNow(socket, message) {
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
  }

  /** @param {number} id */
  #take(id) {
    const call = this.#pending.get(id);
    clearTimeout(call?.timer);
    this.#pending.delete(id);
    return call;
  }
}
