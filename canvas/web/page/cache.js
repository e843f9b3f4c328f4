// @ts-check
// What one canvas has read, with the validators of it: a resource that did not
// change is not sent again. The least recently used leaves first.

const MAX_BYTES = 8 * 1024 * 1024;
const MAX_ENTRIES = 256;

/** @typedef {{ etag: string, type: string, body: ArrayBuffer }} Entry */

export class Cache {
  /** @type {Map<string, Entry>} by path, least recently used first */ #entries = new Map();
  #bytes = 0;

  /** @param {string} path @returns {Entry | undefined} */
  get(path) {
    const entry = this.#entries.get(path);
    if (entry) {
      this.#entries.delete(path);
      this.#entries.set(path, entry);
    }
    return entry;
  }

  /** Keeps an entry, unless it is more than half of all that may be kept. @param {string} path @param {Entry} entry */
  put(path, entry) {
    this.#drop(path);
    if (entry.body.byteLength > MAX_BYTES / 2) return;
    this.#entries.set(path, entry);
    this.#bytes += entry.body.byteLength;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= MAX_BYTES && this.#entries.size <= MAX_ENTRIES) return;
      this.#drop(oldest);
    }
  }

  /** @param {string} path */
  #drop(path) {
    this.#bytes -= this.#entries.get(path)?.body.byteLength ?? 0;
    this.#entries.delete(path);
  }
}
