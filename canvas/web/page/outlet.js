// @ts-check
// The bytes of one answer on their way to the worker, which is another process:
// there a message costs as much as a chunk of bytes. What comes alone goes at
// once, and so does what is small; a flood is gathered.

const SMALL = 8 * 1024; // bytes that never wait: an event
const FULL = 128 * 1024; // bytes that leave together
const PAUSE = 2; // ms that a chunk may wait behind another one

export class Outlet {
  #post;
  /** @type {ArrayBuffer[]} */ #chunks = [];
  #size = 0;
  #timer = 0;

  /** @param {(chunks: ArrayBuffer[]) => void} post which takes them over */
  constructor(post) {
    this.#post = post;
  }

  /** @param {Uint8Array<ArrayBuffer>} bytes with a buffer of their own */
  add(bytes) {
    this.#chunks.push(bytes.buffer);
    this.#size += bytes.length;
    if (!this.#timer || bytes.length < SMALL || this.#size >= FULL) this.flush();
  }

  /** Nothing waits after it: an end can follow. */
  flush() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    if (this.#chunks.length === 0) return;
    this.#post(this.#chunks);
    if (this.#size >= SMALL) this.#timer = setTimeout(() => this.flush(), PAUSE);
    this.#chunks = [];
    this.#size = 0;
  }
}
