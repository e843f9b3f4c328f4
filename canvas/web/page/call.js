// @ts-check
// One request of a lane: its body as it leaves, its answer as it comes, and
// whether the host keeps to the order and the window of it.
import { decode } from "./base64.js";
import * as headers from "./headers.js";

export const CHUNK = 32 * 1024; // bytes of a body in a message, before base64
export const ASKED = 48_000; // bytes of an answer that the host may put into one: a message is work, and has 64 KiB
export const WINDOW = 512 * 1024; // bytes of one request that its receiver has not given back, each way
const LONGEST = ASKED / 3 * 4; // characters of an answer's chunk

export class Call {
  id = 0; // until it was sent
  /** @type {Uint8Array[]} Of the body, what was not sent */ queue = [];
  complete = false; // the queue has the body's end
  sending = false; // the host waits for more of the body
  seq = 0;
  room = WINDOW; // of the body, so much may be sent
  unread = 0; // bytes of the answer that nobody gave back
  ended = false; // the host said that nothing follows
  over = false; // nobody is to hear more of it
  #answered = false;
  #empty = false;
  #next = 0;

  /** @param {import("./lane.js").Request} request @param {import("./lane.js").Listener} listener */
  constructor(request, listener) {
    this.request = request;
    this.listener = listener;
    this.complete = request.data !== undefined;
  }

  get upload() {
    return this.request.length !== undefined;
  }

  /** @param {any} m response @param {number} size @returns {boolean} false where it breaks a rule */
  head(m, size) {
    const list = headers.parse(m.headers);
    if (this.#answered || !list || !Number.isInteger(m.status) || m.status < 200 || m.status > 599) return false;
    const text = typeof m.statusText === "string" && /^[ -~]{0,64}$/.test(m.statusText) ? m.statusText : "";
    this.#empty = this.request.method === "HEAD" || (m.status >= 300 && m.status < 400) || [204, 205].includes(m.status);
    this.#answered = true;
    this.listener.head(m.status, text, headers.passed(list), this.#empty);
    return this.#take(m, size);
  }

  /** @param {any} m data @param {number} size @returns {boolean} false where it breaks a rule */
  data(m, size) {
    return this.#answered && m.seq === this.#next++ && this.#take(m, size);
  }

  /** @param {any} m @param {number} size */
  #take(m, size) {
    if (m.data !== undefined && (typeof m.data !== "string" || m.data.length > LONGEST)) return false;
    this.unread += size;
    if (this.unread > WINDOW || (size > 0 && this.#empty)) return false;
    if (size > 0) {
      try {
        this.listener.data(decode(m.data));
      } catch {
        return false;
      }
    }
    this.ended = m.end === true;
    return true;
  }
}
