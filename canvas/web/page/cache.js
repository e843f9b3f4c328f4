// @ts-check
// The resources that one canvas has read, with their validators, so that the host
// does not send an unchanged resource again. The least recently used is evicted first.

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

  /** Stores an entry, unless it is larger than half of the cache. @param {string} path @param {Entry} entry */
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
