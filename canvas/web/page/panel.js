// @ts-check
// What a canvas may ask of its place in the page: to be shown alone, and a height. The
// canvas is untrusted, so it is shown alone only directly after a person did something: a
// click in its frame also activates this page.

const MIN_HEIGHT = 200; // CSS pixels
const MAX_SHARE = 0.8; // of the window's height

export class Panel {
  #layout;

  /** @param {import("./layout.js").Layout} layout */
  constructor(layout) {
    this.#layout = layout;
  }

  /** @param {string} id of a canvas @param {boolean} on @returns {boolean} whether it is shown alone now */
  fullscreen(id, on) {
    const is = this.#layout.maximized === id;
    if (is !== on && navigator.userActivation?.isActive) this.#layout.maximize(id);
    return this.#layout.maximized === id;
  }

  /** Gives a canvas's frame a height, once. @param {string} id @param {HTMLElement} card @param {unknown} height untrusted */
  resize(id, card, height) {
    if (typeof height !== "number" || !Number.isFinite(height)) return;
    const around = card.offsetHeight - (card.querySelector(".stage")?.clientHeight ?? 0);
    const wanted = Math.min(Math.max(height, MIN_HEIGHT) + Math.max(around, 0), innerHeight * MAX_SHARE);
    this.#layout.suggest(id, wanted / parseFloat(getComputedStyle(document.documentElement).fontSize));
  }
}
