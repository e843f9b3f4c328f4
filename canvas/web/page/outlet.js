// @ts-check
// Batches the response bytes for the worker. The worker is another process, so a
// message costs as much as copying a chunk. Single and small chunks are sent at
// once; a fast sequence of large ones is batched.

const SEND_NOW = 8 * 1024; // chunks below this size, such as events, are never delayed
const MAX_BATCH = 128 * 1024; // bytes
const DELAY = 2; // ms that a chunk can wait for the next one

export class Outlet {
  #post;
  /** @type {ArrayBuffer[]} */ #chunks = [];
  #size = 0;
  #timer = 0;

  /** @param {(chunks: ArrayBuffer[]) => void} post takes ownership of the buffers */
  constructor(post) {
    this.#post = post;
  }

  /** @param {Uint8Array<ArrayBuffer>} bytes that own their whole buffer */
  add(bytes) {
    this.#chunks.push(bytes.buffer);
    this.#size += bytes.length;
    if (!this.#timer || bytes.length < SEND_NOW || this.#size >= MAX_BATCH) this.flush();
  }

  /** Sends all waiting chunks. */
  flush() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    if (this.#chunks.length === 0) return;
    this.#post(this.#chunks);
    if (this.#size >= SEND_NOW) this.#timer = setTimeout(() => this.flush(), DELAY);
    this.#chunks = [];
    this.#size = 0;
  }
}
