// @ts-check
// A WebSocket whose messages a relay cannot read, between this page and the host whose
// public key is in the link (ahp/PROTOCOL.md section 16). Nothing is ever sent or received
// clear.
import { Handshake, join, TAG, utf8 } from "./noise.js";

const PROTOCOL = "ahp-canvas seal/1\n";
const PIECE_HEADER = 3;
const FRAME = 0xffff - TAG; // bytes of a frame's plaintext
const ROUND = 16; // frames that are encrypted at a time

export const BROKEN = 4009; // close code: a wrong key, or a frame that was changed, repeated, moved, cut or lost
export const NEEDED = 4010; // close code of a host that accepts sealed connections only
export const UNABLE = 4998; // our own: this browser cannot seal

/** @typedef {import("./noise.js").Bytes} Bytes */
/** @typedef {import("./noise.js").Cipher} Cipher */

/** Makes the plaintexts of frames from texts: pieces, each with a header. @param {string[]} texts @returns {Bytes[]} */
export function pack(texts) {
  /** @type {Bytes[]} */
  const frames = [];
  /** @type {Bytes[]} */
  let pieces = [];
  let free = FRAME;
  const flush = () => {
    if (pieces.length > 0) frames.push(join(...pieces));
    pieces = [];
    free = FRAME;
  };
  for (const text of texts) {
    for (let rest = utf8(text), more = true; more;) {
      if (free < PIECE_HEADER + Math.min(rest.length, 1)) flush();
      const n = Math.min(rest.length, free - PIECE_HEADER);
      more = n < rest.length;
      pieces.push(Uint8Array.of(more ? 0 : 1, n >> 8, n & 0xff), rest.subarray(0, n));
      free -= PIECE_HEADER + n;
      rest = rest.subarray(n);
    }
  }
  flush();
  return frames;
}

/** Takes texts from the plaintexts of frames. */
export class Unpacker {
  #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  #begun = ""; // of a text that continues

  /** @param {Bytes} plain @returns {string[]} the texts that end in this frame; fails if it is malformed */
  take(plain) {
    const texts = [];
    let at = 0, last = true;
    do {
      const flag = plain[at], n = (plain[at + 1] << 8) | plain[at + 2];
      const end = at + PIECE_HEADER + n;
      last = flag === 1;
      if (!(end <= plain.length) || flag > 1 || (!last && (n === 0 || end < plain.length))) throw new Error("a malformed frame");
      this.#begun += this.#decoder.decode(plain.subarray(at + PIECE_HEADER, end), { stream: !last });
      if (last) {
        texts.push(this.#begun);
        this.#begun = "";
      }
      at = end;
    } while (at < plain.length);
    return texts;
  }
}

/** The part of WebSocket that a Client uses, sealed. */
export class SealedSocket {
  /** @type {() => void} */ onopen = () => {};
  /** @type {(m: { data: string }) => void} */ onmessage = () => {};
  /** @type {(e: { code: number }) => void} called last, once */ onclose = () => {};
  /** @type {number} */ readyState = WebSocket.CONNECTING;
  #socket; #handshake;
  /** @type {Cipher | undefined} after the handshake */ #in;
  /** @type {Cipher | undefined} */ #out;
  #unpacker = new Unpacker();
  /** @type {Promise<void>} everything that was received before */ #received = Promise.resolve();
  /** @type {string[]} */ #queue = [];
  #sending = false;
  #answered = false; // the host's side of the handshake has arrived
  #code = 0; // why this side closed

  /** @param {URL} url @param {string[]} protocols @param {Bytes} key of the host @param {string} host its name */
  constructor(url, protocols, key, host) {
    this.#handshake = new Handshake(utf8(PROTOCOL + host), key);
    this.#socket = new WebSocket(url, protocols);
    this.#socket.binaryType = "arraybuffer";
    this.#socket.onopen = () => this.#begin();
    this.#socket.onmessage = ({ data }) => this.#receive(data);
    this.#socket.onclose = ({ code }) => {
      this.#received = this.#received.then(() => {
        this.readyState = WebSocket.CLOSED;
        this.onclose({ code: this.#code || code });
      });
    };
  }

  /** Sends a text, after those before. @param {string} text */
  send(text) {
    this.#queue.push(text);
    if (!this.#sending) this.#drain();
  }

  close() {
    if (this.readyState < WebSocket.CLOSING) this.readyState = WebSocket.CLOSING;
    this.#socket.close();
  }

  /** Ends the connection: nothing more is delivered. @param {number} code */
  #fail(code) {
    this.#code ||= code;
    this.close();
  }

  async #begin() {
    try {
      this.#socket.send(await this.#handshake.first());
    } catch (err) {
      this.#fail(/** @type {Error} */ (err).name === "NotSupportedError" ? UNABLE : BROKEN);
    }
  }

  /** @param {unknown} data */
  #receive(data) {
    if (!(data instanceof ArrayBuffer) || (this.#answered && !this.#in)) return this.#fail(BROKEN); // the client speaks first
    this.#answered = true;
    const frame = new Uint8Array(data);
    const opened = this.#in?.open(frame);
    opened?.catch(() => {}); // handled in its turn
    this.#received = this.#received.then(() => this.#take(frame, opened)).catch(() => this.#fail(BROKEN));
  }

  /** @param {Bytes} frame @param {Promise<Bytes> | undefined} opened undefined before the handshake */
  async #take(frame, opened) {
    if (this.readyState >= WebSocket.CLOSING) return;
    if (!opened) {
      const done = await this.#handshake.second(frame);
      if (done.payload.length > 0) throw new Error("an unexpected payload");
      this.#in = done.in;
      this.#out = done.out;
      this.readyState = WebSocket.OPEN;
      return this.onopen();
    }
    const texts = this.#unpacker.take(await opened);
    for (const data of texts) if (this.readyState === WebSocket.OPEN) this.onmessage({ data });
  }

  /** Sends what is queued. Frames are encrypted side by side and sent in order. */
  async #drain() {
    this.#sending = true;
    try {
      while (this.#queue.length > 0 && this.#out) {
        const frames = pack(this.#queue.splice(0));
        for (let i = 0; i < frames.length; i += ROUND) {
          const out = this.#out;
          for (const sealed of await Promise.all(frames.slice(i, i + ROUND).map((f) => out.seal(f)))) this.#socket.send(sealed);
        }
      }
    } catch {
      this.#fail(BROKEN);
    }
    this.#sending = false;
  }
}
