// @ts-check
// A canvas's offers of files. A bar on its card, outside the frame, shows the name and the
// size, and only the person's click saves the file. Offers are untrusted.
import { saveFile, sizeText } from "./share.js";

const MAX_BYTES = 16 * 1024 * 1024;
const MAX_NAME = 128; // characters
const MINUTE = 60_000, PER_MINUTE = 10;
const ARM = 500; // ms until the button works: the bar can appear under a pointer that is about to click

/** @typedef {"saved" | "dismissed"} Outcome */

/** The content of a card's bar; FileOffers fills it. @param {string} id unique in the document */
export const FILE_BAR = (id) => `<p class="text" id="${id}-file" dir="auto"></p>
  <button class="keep" type="button" aria-describedby="${id}-file">Save</button>
  <button class="dismiss" type="button" aria-describedby="${id}-file">Dismiss</button>`;

export class FileOffers {
  #bar; #focus;
  /** @type {{ name: string, bytes: ArrayBuffer, armed: number, resolve: (outcome: Outcome) => void } | undefined} */ #shown;
  /** @type {number[]} The times of the offers of the last minute */ #times = [];

  /** @param {HTMLElement} bar with the content FILE_BAR @param {() => void} focus moves the focus when the bar disappears with it */
  constructor(bar, focus) {
    this.#bar = bar;
    this.#focus = focus;
    bar.querySelector(".keep")?.addEventListener("click", () => {
      if (this.#shown && performance.now() >= this.#shown.armed) this.#finish("saved");
    });
    bar.querySelector(".dismiss")?.addEventListener("click", () => this.#finish("dismissed"));
  }

  /** @param {unknown} name untrusted @param {unknown} bytes untrusted @returns {Promise<Outcome>} rejects if the file may not be offered */
  async offer(name, bytes) {
    if (typeof name !== "string" || !(bytes instanceof ArrayBuffer)) throw new Error("a file has a name and bytes");
    if (bytes.byteLength > MAX_BYTES) throw new Error("a file can have at most 16 MiB");
    if (this.#shown) throw new Error("another file is offered already");
    const now = performance.now();
    this.#times = this.#times.filter((at) => now - at < MINUTE);
    if (this.#times.length >= PER_MINUTE) throw new Error("10 files a minute are the limit");
    this.#times.push(now);
    return new Promise((resolve) => {
      this.#shown = { name: fileName(name), bytes, armed: now + ARM, resolve };
      /** @type {HTMLElement} */ (this.#bar.querySelector(".text")).textContent = `This canvas offers a file: ${this.#shown.name} (${sizeText(bytes.byteLength)})`;
      this.#bar.hidden = false;
    });
  }

  /** Removes the offer, because the page that made it is gone. */
  withdraw() {
    this.#finish("dismissed");
  }

  /** @param {Outcome} outcome */
  #finish(outcome) {
    const shown = this.#shown;
    if (!shown) return;
    this.#shown = undefined;
    const focused = this.#bar.contains(document.activeElement);
    this.#bar.hidden = true;
    if (focused) this.#focus();
    if (outcome === "saved") saveFile(shown.name, shown.bytes);
    shown.resolve(outcome);
  }
}

/** The last segment of a name, without what could mislead a person or a file system. @param {string} name */
export function fileName(name) {
  const last = name.split(/[/\\]/).at(-1) ?? "";
  const plain = last.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}:*?"<>|]/gu, "").replace(/^[.\s]+|[.\s]+$/g, "");
  return [...plain].slice(0, MAX_NAME).join("") || "file";
}
