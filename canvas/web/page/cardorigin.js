// @ts-check
// Where a card's frame is: at an address of the host's listener, on the origin that this
// browser keeps for the canvas, or on one that is used once.
import { labelOf } from "./allowed.js";
import { GatewayAddress } from "./gateway.js";
import { clear, hold, isCurrent, labelIn, measured, use } from "./kept.js";
import { LOOKING } from "./key.js";
import { isSingle } from "./singlemode.js";

/**
 * @typedef {{ name: string, direct: string, lasting: string, alone: boolean }} Place
 *   name: how the host knows this browser; direct: the address on the host's listener; lasting: the address on an
 *   origin that this browser keeps, which one on the listener also is. An address that does not exist is "".
 *   alone: no other tab shows that origin
 */

export class CardOrigin {
  /** What became of what the canvas stored: "full" or "total" if it was cleared, "leftover" if it is not available this time, or "" */ stored = "";
  #card; #gateway;
  #origin = ""; // that this browser keeps, while the frame is on it
  #once = false; // the next frame is on an origin that is used once
  #release = () => {}; // of the origin
  /** @type {object | undefined} The request for a place that has not been answered */ #asked;

  /** @param {import("./card.js").Card} card */
  constructor(card) {
    this.#card = card;
    this.#gateway = new GatewayAddress(card.around);
  }

  /** @returns {import("./kept.js").Canvas} */
  get #canvas() {
    const { ref, state, around } = this.#card;
    return { home: around.home, channel: ref.channel, extensionId: state.extensionId, net: labelOf(state) };
  }

  /** Whether this browser keeps what the canvas stores. */
  get keeps() {
    return this.#origin !== "" || this.stored === "leftover";
  }

  /** Finds the place of the next frame: for a web app the host's listener if the page reaches it, else the channel. @param {boolean} web @returns {Promise<Place | undefined>} undefined if leave or next was called meanwhile */
  async next(web) {
    const asked = this.#asked = {};
    const canvas = this.#canvas, { contentOrigin } = this.#card.around;
    const [name, direct] = await Promise.all([labelIn(canvas), web ? this.#gateway.next(canvas) : ""]);
    const none = isSingle() || this.#once || LOOKING || !name || !contentOrigin;
    const lasting = direct || (none ? "" : `${contentOrigin.replace("*", `${canvas.net}-${name}`)}/.ahp/frame.html`);
    const { kept, alone } = lasting && !LOOKING && this.#asked === asked ? await this.#take(new URL(lasting).origin, canvas, asked) : { kept: false, alone: false };
    if (this.#asked !== asked) return undefined;
    this.#once = false;
    return { name, direct, lasting: kept ? lasting : "", alone };
  }

  /** @param {string} origin @param {import("./kept.js").Canvas} canvas @param {object} asked */
  async #take(origin, canvas, asked) {
    const [{ kept, cleared }, { alone, release }] = await Promise.all([use(canvas, origin), hold(origin)]);
    if (this.#asked !== asked) {
      release();
      return { kept: false, alone };
    }
    this.#release = release;
    this.#origin = kept ? origin : "";
    if (cleared) this.stored = "total";
    return { kept, alone };
  }

  /** Leaves the place: the frame is removed. */
  leave() {
    this.#release();
    this.#release = () => {};
    this.#origin = "";
    this.#asked = undefined;
  }

  /** Whether the canvas can be shown on the host's listener now. A frame that shows it already continues. @returns {Promise<boolean>} */
  reached() {
    return this.#gateway.reached(this.#canvas);
  }

  /** Notes whether a frame on the host's listener showed its canvas. @param {boolean} shown */
  tried(shown) {
    this.#gateway.tried(shown);
  }

  /** Keeps the next frame away from the lasting origin, which another worker than ours controls. */
  avoid() {
    this.#once = true;
    this.stored = "leftover";
  }

  /** Clears what the canvas stored in this browser. @param {string} why why the page does; "" if a person wants it */
  async clear(why) {
    await clear(this.#canvas);
    this.stored = why;
  }

  /** Whether another tab cleared what the canvas stored, so that the frame's origin is no longer its own. */
  async isGone() {
    const origin = this.#origin;
    return origin !== "" && !(await isCurrent(this.#canvas, origin)) && origin === this.#origin;
  }

  /** Notes how much the canvas stores. @param {number} bytes @returns {Promise<boolean>} whether it is more than a canvas may store */
  async isFull(bytes) {
    const origin = this.#origin;
    return origin !== "" && (await measured(this.#canvas, bytes)) && origin === this.#origin;
  }
}
