// @ts-check
// One open canvas in the page: its state, availability, controls and close, and what the
// header says of it. cardframe.js has the frame, carddraw.js draws the rest. A card is never
// moved in the document, because a frame that is moved reloads.
import { allowedText } from "./allowed.js";
import { oneLine } from "./attention.js";
import { drawCard } from "./carddraw.js";
import { CardFrame } from "./cardframe.js";
import { CARD, CUT, STORED, messageText, singleText } from "./cardtext.js";
import { drawIcons } from "./icons.js";
import { LOOKING } from "./key.js";
import { Consent } from "./consent.js";
import { FileOffers } from "./fileoffer.js";
import { LinkOffers } from "./offer.js";
import { cleaned } from "./look.js";
import { closeRequested, closingOf } from "./undo.js";
import { View } from "./view.js";

/**
 * @typedef {{
 *   contentOrigin: string,
 *   home: string,
 *   theme: () => any,
 *   read: (channel: string, instanceId: string, path: string, cache: import("./cache.js").Cache) => Promise<import("./mount.js").Content>,
 *   dispatch: (channel: string, action: any) => number | undefined,
 *   subscribe: (channel: string) => void,
 *   setPrivate: (card: Card, isPrivate: boolean) => void,
 *   retitled: () => void,
 *   announced: (card: Card) => void,
 *   loaded: (card: Card) => void,
 *   ask: (channel: string, run: () => void) => void,
 *   request: (method: string, params: any) => Promise<any>,
 *   menu: (card: Card, button: HTMLElement) => void,
 *   escape: () => void,
 *   clientId: string,
 *   closing: (channel: string, title: string, seconds: number, focus: boolean) => void,
 *   kept: (channel: string) => void,
 *   panel: import("./panel.js").Panel,
 *   declaration: (state: any) => any,
 * }} Surroundings home: host and session; loaded: the canvas's page was loaded; menu: opens the card's menu; escape: the canvas did not use the Escape key
 */

let lastCard = 0;

export class Card {
  /** @type {(url: unknown) => Promise<any>} Shows a link that the canvas offers */ offer = async () => {};
  /** @type {any} CanvasState; undefined until the first snapshot */ state;
  /** Why the canvas's page wants the person; "" if it does not */ asks = "";
  /** @type {string | undefined} Why the host did not let the page subscribe */ #refusal;
  #closing = 0;
  #connected = false;
  #cutOff = false; // without a connection for longer than a moment
  /** @type {boolean | undefined} */ #fullscreen;

  /** @param {{ channel: string, instanceId: string, canvasId?: string, title?: string }} ref @param {Surroundings} around */
  constructor(ref, around) {
    this.ref = ref;
    this.around = around;
    const template = /** @type {HTMLTemplateElement} */ (document.createElement("template"));
    const id = `card-${++lastCard}`;
    template.innerHTML = CARD(id);
    this.element = /** @type {HTMLElement} */ (template.content.firstElementChild);
    drawIcons(this.element);
    this.frame = new CardFrame(this, this.#find(".stage"));
    this.view = this.#newView();
    this.consent = new Consent(this);
    this.element.addEventListener("pointerenter", () => this.#attended());
    this.element.addEventListener("focusin", () => this.#attended());
    const more = this.#find(".more");
    more.addEventListener("click", () => around.menu(this, more));
    this.#on(".private", () => this.togglePrivate());
    this.#on(".close", () => this.requestClose());
    this.#on(".retry", () => {
      if (this.#refusal === undefined) this.frame.reload();
      else this.#subscribe();
      this.frame.focus(); // the button is removed
    });
    this.render();
  }

  /** What the canvas's provider declared. */
  declaration() {
    return this.around.declaration(this.state);
  }

  #newView() {
    const { frame } = this;
    const offers = new LinkOffers(this.#find(".offer"), () => frame.focus());
    const files = new FileOffers(this.#find(".save"), () => frame.focus());
    this.offer = async (/** @type {unknown} */ url) => {
      if (this.state?._meta?.["x-ahp-canvas/links"] !== 1) throw new Error("this canvas may not offer links");
      return offers.offer(url);
    };
    return new View((action) => this.around.dispatch(this.ref.channel, action), () => frame.reloadPage(), {
      offer: (url) => this.offer(url),
      file: async (name, bytes) => {
        if (this.state?._meta?.["x-ahp-canvas/links"] !== 1) throw new Error("this canvas may not offer files");
        return files.offer(name, bytes);
      },
      fullscreen: async (on) => this.around.panel.fullscreen(this.ref.instanceId, on),
      resize: (height) => this.around.panel.resize(this.ref.instanceId, this.element, height),
      withdraw: () => {
        offers.withdraw();
        files.withdraw();
      },
      attention: (reason) => this.#ask(reason),
      flooded: () => frame.flooded(),
    }, (payload) => frame.post(payload));
  }

  /** Takes why the canvas's page wants the person, until the person comes to it. @param {unknown} reason */
  #ask(reason) {
    this.around.ask(this.ref.channel, () => {
      this.asks = reason && !this.#hasFocus() ? oneLine(reason) : "";
      this.render();
    });
  }

  #hasFocus() {
    return document.hasFocus() && this.element.contains(document.activeElement);
  }

  /** Handles a person who comes to the canvas. */
  #attended() {
    if (!this.asks) return;
    this.asks = "";
    this.render();
  }

  get title() {
    return this.state?.title ?? this.ref.title ?? this.state?.displayName ?? this.ref.instanceId;
  }

  /** Whether a person hid the canvas from agents that look. */
  get private() {
    return this.state?.isPrivate === true;
  }

  /** Whether the provider cannot be reached. */
  get stale() {
    return (this.state?.availability ?? /** @type {any} */ (this.ref).availability) === "stale";
  }

  /** Hides the canvas from agents that look, or shows it again. */
  togglePrivate() {
    if (!this.#cutOff) this.around.setPrivate(this, !this.private);
  }

  /** Whether a close was requested here. */
  get closing() {
    return this.#closing !== 0;
  }

  /** Whether this page closed the canvas, and the person can still undo that. */
  get undoable() {
    return closingOf(this.state)?.clientId === this.around.clientId;
  }

  /** Applies a new state. @param {any} state */
  update(state) {
    const before = this.undoable;
    this.state = state;
    if (this.undoable !== before) this.#undoableChanged();
    this.#refusal = undefined;
    this.view.update({ input: state.input });
    this.frame.update();
    this.render();
  }

  #undoableChanged() {
    if (this.undoable) this.around.closing(this.ref.channel, this.title, closingOf(this.state)?.seconds ?? 0, this.element.contains(document.activeElement));
    this.element.dataset.closing = this.undoable ? "here" : "";
    if (this.undoable) return;
    this.#closing = 0;
    this.around.kept(this.ref.channel);
  }

  /** Handles a connection to the host that was made or lost. @param {boolean} up */
  connected(up) {
    if (up) this.view.reconnected();
    this.#connected = up;
    if (up) this.cutOff(false);
    if (up && this.#refusal !== undefined) this.#subscribe();
    this.frame.connected(up);
    if (up && this.#closing) this.#close(); // it might not have arrived; repeating it is harmless
  }

  /** Disables what does not work without a connection. @param {boolean} is */
  cutOff(is) {
    if (this.#cutOff === is) return;
    this.#cutOff = is;
    this.render();
  }

  /** Notes whether the canvas is shown alone. @param {boolean} fullscreen */
  arranged(fullscreen) {
    if (this.#fullscreen === fullscreen) return;
    this.#fullscreen = fullscreen;
    this.view.update({ panel: { fullscreen } });
  }

  setTheme() {
    const theme = this.around.theme();
    this.view.update({ theme });
    this.frame.setTheme(theme);
  }

  /** Handles a subscription that failed. @param {string} reason */
  refused(reason) {
    this.#refusal = reason;
    this.render();
  }

  #subscribe() {
    this.#refusal = undefined;
    this.around.subscribe(this.ref.channel);
    this.render();
  }

  /** Whether the frame shows the canvas, or a message in its place. */
  get phase() {
    if (this.frame.failure || this.#refusal !== undefined || (this.state && this.state.url === undefined)) return "failed";
    return this.frame.starting || !this.frame.url ? "starting" : "live";
  }

  /** What people see here, for an agent. @returns {Promise<any>} */
  async look() {
    if (this.private) throw new Error("a person made this canvas private");
    const stage = this.#find(".stage");
    const seen = (await this.frame.look()) ?? {};
    const words = this.#find(".words");
    return {
      phase: this.phase, message: words.hidden ? this.frame.unread : words.innerText.replace(/\s+/g, " ").trim(),
      width: stage.clientWidth, height: stage.clientHeight, ...cleaned(seen),
      ...(LOOKING && this.frame.unmasked(seen) && { unmasked: true }),
    };
  }

  remove() {
    this.frame.remove();
    this.element.remove();
  }

  /** @param {number} seq */
  isClose(seq) {
    return this.#closing === seq;
  }

  /** Handles a close that the host refused. */
  closeRefused() {
    this.#closing = 0;
    this.render();
  }

  focusClose() {
    this.#find(".close").focus();
  }

  requestClose() {
    if (!this.#closing && this.#connected) this.#close();
  }

  #close() {
    const seq = this.around.dispatch(this.ref.channel, closeRequested());
    this.#closing = seq ?? 0;
    this.render();
  }

  render() {
    const { stale, state, frame } = this;
    const { failure, starting, missing, seen } = frame;
    const refusal = this.#refusal, cutOff = this.#cutOff;
    drawCard(this.element, {
      title: this.title, status: state?.status ?? "", stale, secret: this.private, closing: this.closing, cutOff,
      inert: stale || cutOff || failure !== undefined || refusal !== undefined,
      note: [missing ? singleText(missing, this.around.contentOrigin) : "", allowedText(state, missing !== undefined), STORED[frame.origin.stored] ?? "", frame.cut ? CUT : "", this.consent.text].filter(Boolean).join(" "),
      message: messageText({ stale, closing: closingOf(state) !== undefined, state, refusal, failure, starting, cutOff, seen }),
      retry: refusal === undefined ? "Reload" : "Try again",
    });
    this.around.announced(this);
    this.around.retitled();
  }

  /** @param {string} selector @returns {HTMLElement} */
  #find(selector) {
    return /** @type {HTMLElement} */ (this.element.querySelector(selector));
  }

  /** @param {string} selector @param {() => void} fn */
  #on(selector, fn) {
    this.#find(selector).addEventListener("click", fn);
  }
}
