// @ts-check
// Which canvases are mounted: those that a person sees, and at most MAX_MOUNTED in all. The
// least recently seen ones are unmounted, unless they have unsaved input.

const MAX_MOUNTED = 6;

/** @typedef {import("./card.js").Card} Card */

export class Mounts {
  /** @type {Card[]} the mounted ones, the most recently seen last */ #mounted = [];
  /** @type {Set<Card>} */ #visible = new Set();
  #freeing = false;

  /** Mounts what is seen now. @param {Card[]} visible */
  see(visible) {
    this.#visible = new Set(visible);
    for (const card of visible) this.wake(card);
    this.#free();
  }

  /** Mounts a canvas, which counts as seen. @param {Card} card */
  wake(card) {
    this.#mounted = this.#mounted.filter((one) => one !== card);
    this.#mounted.push(card);
    card.frame.wake();
    this.#free();
  }

  /** @param {Card} card that was closed */
  forget(card) {
    this.#mounted = this.#mounted.filter((one) => one !== card);
    this.#visible.delete(card);
  }

  /** Unmounts what exceeds the limit; each canvas is asked first. */
  async #free() {
    if (this.#freeing) return;
    this.#freeing = true;
    try {
      const asked = new Set();
      for (;;) {
        const old = this.#mounted.find((card) => !this.#visible.has(card) && !asked.has(card));
        if (this.#mounted.length <= MAX_MOUNTED || !old) return;
        asked.add(old);
        if (await old.frame.mayUnmount() && !this.#visible.has(old) && this.#mounted.includes(old)) {
          this.#mounted = this.#mounted.filter((one) => one !== old);
          old.frame.unmount();
        }
      }
    } finally {
      this.#freeing = false;
    }
  }
}
