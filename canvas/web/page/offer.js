// @ts-check
// A canvas's offers of links. The canvas cannot open windows: a bar on its card,
// outside the frame, shows the full address, and only the person's click opens it.
// Offers are untrusted.
import { judgeLink } from "./linkrule.js";

const HOLD = 1000; // ms that the bar does not change, so that a later offer cannot replace what is being read
const ARM = 500; // ms until the link works: the bar can appear under a pointer that is about to click

/** @typedef {"opened" | "dismissed"} Outcome */
/** @typedef {{ url: URL, resolve: (outcome: Outcome) => void }} Offer */

/** The content of a card's bar; LinkOffers fills it. @param {string} id unique in the document */
export const OFFER_BAR = (id) => `<p class="text">This canvas offers a link:</p>
  <p class="address" id="${id}-address" tabindex="0" dir="ltr"><span></span><strong></strong><span></span></p>
  <a class="open" target="_blank" rel="noopener noreferrer" aria-describedby="${id}-address">Open</a>
  <button class="dismiss" type="button" aria-describedby="${id}-address">Dismiss</button>`;

export class LinkOffers {
  #bar; #focus;
  /** @type {Offer | undefined} The offer in the bar */ #shown;
  /** @type {Offer | undefined} The newest offer that waits; one replaces another */ #next;
  #holdTimer = 0;
  #armTimer = 0;

  /** @param {HTMLElement} bar with the content OFFER_BAR @param {() => void} focus moves the focus when the bar disappears with it */
  constructor(bar, focus) {
    this.#bar = bar;
    this.#focus = focus;
    const opened = () => { if (this.#link.href) this.#finish("opened"); };
    this.#link.addEventListener("click", opened);
    this.#link.addEventListener("auxclick", (event) => { if (event.button === 1) opened(); });
    bar.querySelector(".dismiss")?.addEventListener("click", () => this.#finish("dismissed"));
  }

  get #link() {
    return /** @type {HTMLAnchorElement} */ (this.#bar.querySelector(".open"));
  }

  /** Shows an address, now or after the current one has been shown for HOLD. @param {unknown} address untrusted @returns {Promise<Outcome>} rejects if it may not be offered */
  async offer(address) {
    const verdict = judgeLink(address);
    if (typeof verdict === "string") throw new Error(verdict);
    return new Promise((resolve) => {
      this.#next?.resolve("dismissed");
      this.#next = { url: verdict, resolve };
      if (!this.#holdTimer) this.#showNext();
    });
  }

  /** Removes all offers, because the page that made them is gone. */
  withdraw() {
    this.#next?.resolve("dismissed");
    this.#next = undefined;
    if (this.#shown) this.#finish("dismissed");
  }

  #showNext() {
    this.#holdTimer = 0;
    if (!this.#next) return;
    this.#shown?.resolve("dismissed");
    this.#shown = this.#next;
    this.#next = undefined;
    this.#show(this.#shown.url);
    this.#hold();
  }

  #hold() {
    clearTimeout(this.#holdTimer);
    this.#holdTimer = setTimeout(() => this.#showNext(), HOLD);
  }

  /** @param {URL} url */
  #show(url) {
    const { href, host, protocol } = url;
    const rest = href.slice(protocol.length + 2 + host.length);
    const parts = this.#bar.querySelectorAll(".address > *");
    [`${protocol}//`, host, rest].forEach((text, i) => { parts[i].textContent = text; });
    this.#link.removeAttribute("href");
    this.#link.ariaDisabled = "true";
    clearTimeout(this.#armTimer);
    this.#armTimer = setTimeout(() => {
      this.#link.href = href;
      this.#link.ariaDisabled = "false";
    }, ARM);
    this.#bar.hidden = false;
  }

  /** @param {Outcome} outcome */
  #finish(outcome) {
    this.#shown?.resolve(outcome);
    this.#shown = undefined;
    clearTimeout(this.#armTimer);
    const focused = this.#bar.contains(document.activeElement);
    this.#bar.hidden = true; // the link keeps its href, which the click still needs
    if (focused) this.#focus();
    this.#hold();
  }
}
