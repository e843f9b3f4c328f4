// @ts-check
// One http/1 request: the queue of its body, and the checks that the host keeps
// to the order and the window of the response.
import { decode } from "./base64.js";
import * as headers from "./headers.js";

export const CHUNK = 32 * 1024; // bytes of a request body in one message, before base64
export const MAX_CHUNK = 48_000; // bytes of a response body in one message: the most that fits its 64 KiB, for fewer messages
export const WINDOW = 512 * 1024; // uncredited bytes of one request, in each direction
const MAX_CHARS = MAX_CHUNK / 3 * 4; // base64 characters of a response chunk

export class Call {
  id = 0; // 0 until the request is sent
  /** @type {Uint8Array[]} Body chunks that are not sent yet */ queue = [];
  complete = false; // the queue ends with the last chunk of the body
  sending = false; // the host expects more of the body
  seq = 0;
  window = WINDOW; // body bytes that can be sent before the next grant
  unread = 0; // response bytes that are not credited yet
  ended = false; // the host sent the end of the response
  finished = false; // the listener gets no more calls
  #answered = false;
  #empty = false;
  #next = 0;

  /** @param {import("./http.js").Request} request @param {import("./http.js").Listener} listener */
  constructor(request, listener) {
    this.request = request;
    this.listener = listener;
    this.complete = request.data !== undefined;
  }

  get upload() {
    return this.request.length !== undefined;
  }

  /** @param {any} m response @param {number} size @returns {boolean} false on a protocol violation */
  head(m, size) {
    const list = headers.parse(m.headers);
    if (this.#answered || !list || !Number.isInteger(m.status) || m.status < 200 || m.status > 599) return false;
    const text = typeof m.statusText === "string" && /^[ -~]{0,64}$/.test(m.statusText) ? m.statusText : "";
    this.#empty = this.request.method === "HEAD" || (m.status >= 300 && m.status < 400) || [204, 205].includes(m.status);
    this.#answered = true;
    this.listener.head(m.status, text, headers.passed(list), this.#empty);
    return this.#take(m, size);
  }

  /** @param {any} m data @param {number} size @returns {boolean} false on a protocol violation */
  data(m, size) {
    return this.#answered && m.seq === this.#next++ && this.#take(m, size);
  }

  /** @param {any} m @param {number} size */
  #take(m, size) {
    if (m.data !== undefined && (typeof m.data !== "string" || m.data.length > MAX_CHARS)) return false;
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
