// @ts-check
// One open canvas in the page: title, status, availability, a close button, the
// frame, and messages over the frame. A card is never moved in the document,
// because a frame that is moved reloads.
import { oneLine } from "./attention.js";
import { Bridge } from "./bridge.js";
import { Cache } from "./cache.js";
import { CARD, messageText, singleText } from "./cardtext.js";
import { HTTPConn } from "./http.js";
import { Mount, directFrame } from "./mount.js";
import { LinkOffers } from "./offer.js";
import { cleaned } from "./look.js";
import { judge } from "./policy.js";
import { setText } from "./ui.js";
import { closeRequested, closingOf } from "./undo.js";
import { View } from "./view.js";

/**
 * @typedef {{
 *   contentOrigin: string,
 *   theme: () => any,
 *   read: (channel: string, instanceId: string, path: string, cache: Cache) => Promise<import("./mount.js").Content>,
 *   dispatch: (channel: string, action: any) => number | undefined,
 *   subscribe: (channel: string) => void,
 *   setPrivate: (channel: string, isPrivate: boolean) => Promise<void>,
 *   retitled: () => void,
 *   announced: (card: Card) => void,
 *   mayAsk: (channel: string) => boolean,
 *   clientId: string,
 *   closing: (channel: string, title: string, seconds: number, focus: boolean) => void,
 *   kept: (channel: string) => void,
 * }} Surroundings
 */

let lastCard = 0;
/** Set once a mount found no service worker; later mounts use single-document mode at once. */
let single = false;

export class Card {
  /** @type {any} CanvasState; undefined until the first snapshot */ state;
  /** @type {Mount | undefined} */ #mount;
  /** @type {string | undefined} The url in the frame */ #shown;
  /** @type {{ title: string, text: string, retry?: boolean } | undefined} */ #failure;
  /** @type {string | undefined} Why the host did not let the page subscribe */ #refusal;
  #starting = false;
  /** @type {string[] | undefined} What single-document mode could not load; undefined in the normal mode */ #missing;
  #closing = 0;
  #connected = false;
  #reachable = false; // connected, and the provider is ready
  /** @type {Bridge | undefined} */ #bridge;
  #shownOnce = false; // the current mount has shown a page
  #cache = new Cache();
  /** Why the canvas's page wants the person; "" if it does not */ asks = "";
  /** @type {(payload: any) => void} Posts to the canvas's document */ #post = () => {};

  /** @param {{ channel: string, instanceId: string, title?: string }} ref @param {Surroundings} around */
  constructor(ref, around) {
    this.ref = ref;
    this.around = around;
    this.httpConn = new HTTPConn((action) => around.dispatch(ref.channel, action));
    const template = /** @type {HTMLTemplateElement} */ (document.createElement("template"));
    const id = `card-${++lastCard}`;
    template.innerHTML = CARD(id);
    this.element = /** @type {HTMLElement} */ (template.content.firstElementChild);
    this.view = this.#newView();
    this.element.addEventListener("pointerenter", () => this.#attended());
    this.element.addEventListener("focusin", () => this.#attended());
    this.#on(".private", () => this.around.setPrivate(ref.channel, !this.private).catch(() => {})); // the page says why
    this.#on(".close", () => this.#requestClose());
    this.#on(".retry", () => {
      if (this.#refusal === undefined) this.reload();
      else this.#subscribe();
      this.#focusFrame(); // the button is removed
    });
    this.render();
  }

  #newView() {
    const offers = new LinkOffers(this.#find(".offer"), () => this.#focusFrame());
    return new View((action) => this.around.dispatch(this.ref.channel, action), () => this.#reloadPage(), {
      offer: async (url) => {
        if (this.state?._meta?.["x-ahp-canvas/links"] !== 1) throw new Error("this canvas may not offer links");
        return offers.offer(url);
      },
      withdraw: () => offers.withdraw(),
      attention: (reason) => this.#ask(reason),
    }, (payload) => this.#post(payload));
  }

  /** Takes why the canvas's page wants the person, until the person comes to it. @param {unknown} reason */
  #ask(reason) {
    if (!this.around.mayAsk(this.ref.channel)) return;
    this.asks = reason && !this.#hasFocus() ? oneLine(reason) : "";
    this.render();
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

  /** Whether a close was requested here. */
  get closing() {
    return this.#closing !== 0;
  }

  /** Whether this page closed the canvas, and the person can still undo that. */
  get undoable() {
    return closingOf(this.state)?.clientId === this.around.clientId;
  }

  /** Applies a new state; the frame reloads only if the url changed. @param {any} state */
  update(state) {
    const before = this.undoable;
    this.state = state;
    if (this.undoable !== before) this.#undoableChanged();
    this.#refusal = undefined;
    this.view.update({ input: state.input });
    const back = this.#refreshConn();
    if (state.url !== undefined && state.url !== this.#shown) this.reload();
    else if (back) this.#reloadMissed();
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
    if (up && this.#refusal !== undefined) this.#subscribe();
    if (this.#refreshConn()) this.#reloadMissed();
    if (up && this.#closing) this.#close(); // it might not have arrived; repeating it is harmless
  }

  /** Whether the provider answers http/1. Without it a canvas can only read files. */
  get #http() {
    return this.state?._meta?.["x-ahp-canvas/http"] === 1;
  }

  /** Opens or resets the http/1 connection: it ends with the host's connection and when the provider is lost. @returns {boolean} whether the provider became reachable */
  #refreshConn() {
    const before = this.#reachable;
    this.#reachable = this.#connected && this.state !== undefined && this.state.availability !== "stale";
    const open = this.#reachable && this.#http;
    if (open !== this.httpConn.open) this.httpConn.reset(open);
    return this.#reachable && !before;
  }

  /** Reloads a page that failed to load while the provider was unreachable; its error page would stay otherwise. */
  #reloadMissed() {
    if (this.#bridge?.missed || (this.#failure?.retry && !this.#shownOnce)) this.#reloadPage();
  }

  #reloadPage() {
    if (this.#failure || this.#missing) this.reload();
    else this.#mount?.reload();
  }

  /** Mounts the url again, on a new origin. */
  reload() {
    this.#unmount();
    this.#failure = undefined;
    this.#shown = this.state?.url;
    if (this.#shown !== undefined) this.#show(judge(this.#shown, this.state.instanceId));
    this.render();
  }

  setTheme() {
    const theme = this.around.theme();
    this.view.update({ theme });
    this.#mount?.setTheme(theme);
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

  /** Handles a close that the host refused. */
  closeRefused() {
    this.#closing = 0;
    this.render();
  }

  /** Whether the frame shows the canvas, or a message in its place. */
  get phase() {
    if (this.#failure || this.#refusal !== undefined || (this.state && this.state.url === undefined)) return "failed";
    return this.#starting || !this.#shown ? "starting" : "live";
  }

  /** What people see here, for an agent. @returns {Promise<any>} */
  async look() {
    if (this.private) throw new Error("a person made this canvas private");
    const stage = this.#find(".stage");
    const seen = (await this.#mount?.look()) ?? {};
    const words = this.#find(".words");
    return {
      phase: this.phase, message: words.hidden ? this.#unread() : words.innerText.replace(/\s+/g, " ").trim(),
      width: stage.clientWidth, height: stage.clientHeight, ...cleaned(seen),
    };
  }

  /** Why the document of a direct url is not described. */
  #unread() {
    return this.#mount || !this.#shown ? "" : `The frame shows ${this.#shown}, a page of another origin, whose document cannot be read.`;
  }

  remove() {
    this.#unmount();
    this.element.remove();
  }

  /** @param {number} seq */
  isClose(seq) {
    return this.#closing === seq;
  }

  focusClose() {
    this.#find(".close").focus();
  }

  #focusFrame() {
    this.element.querySelector("iframe")?.focus();
  }

  /** @param {import("./policy.js").Verdict} verdict */
  #show(verdict) {
    const stage = this.#find(".stage");
    if (verdict.kind === "refused") return this.#fail("This address is not allowed", verdict.why);
    if (verdict.kind === "direct") {
      const { element, post } = directFrame(verdict.url, this.title, (payload) => this.view.fromDocument(payload));
      this.#post = post;
      return stage.prepend(element);
    }
    const origin = single ? "" : this.around.contentOrigin;
    this.#missing = origin ? undefined : [];
    const { channel } = this.ref;
    const instanceId = this.state.instanceId;
    const bridge = this.#bridge = new Bridge(this.httpConn, {
      http: () => this.#http,
      read: (path) => this.around.read(channel, instanceId, path, this.#cache),
    });
    this.#mount = new Mount(origin, { path: verdict.path, title: this.title, theme: this.around.theme() }, {
      worker: (port) => bridge.connect(port),
      view: (port) => this.view.connect(port),
      message: (payload) => this.view.fromDocument(payload),
      bye: () => this.view.documentEnded(),
      missing: (what) => { this.#missing = what; this.render(); },
      unworkable: () => { single = true; this.reload(); },
      phase: (phase, word) => {
        this.#starting = phase === "starting";
        if (phase === "live") this.#shownOnce = true;
        this.#failure = undefined;
        if (phase === "failed") this.#fail("This canvas cannot be shown", word ?? "", true);
        else this.render();
      },
    });
    this.#post = (payload) => this.#mount?.post(payload);
    stage.prepend(this.#mount.element);
  }

  #unmount() {
    this.view.disconnect();
    this.#mount?.remove();
    this.#mount = undefined;
    this.#bridge = undefined;
    this.#shownOnce = false;
    this.#starting = false;
    this.#missing = undefined;
    this.#find(".stage").querySelector("iframe")?.remove();
  }

  /** @param {string} title @param {string} text @param {boolean} [retry] */
  #fail(title, text, retry) {
    this.#starting = false;
    this.#failure = { title, text, retry };
    this.render();
  }

  #requestClose() {
    if (!this.#closing) this.#close();
  }

  #close() {
    const seq = this.around.dispatch(this.ref.channel, closeRequested());
    this.#closing = seq ?? 0;
    this.render();
  }

  render() {
    const stale = (this.state?.availability ?? /** @type {any} */ (this.ref).availability) === "stale";
    this.element.dataset.availability = stale ? "stale" : "ready";
    this.#find("h2").textContent = this.title;
    this.#find(".status").textContent = this.state?.status ?? "";
    this.#find(".badge").hidden = !stale;
    const close = /** @type {HTMLButtonElement} */ (this.#find(".close"));
    close.ariaLabel = this.#closing ? `Closing “${this.title}”` : `Close “${this.title}”`;
    close.title = close.ariaLabel;
    close.ariaDisabled = String(this.#closing !== 0); // not disabled: it would drop the focus
    this.#find(".secret").hidden = !this.private;
    this.#find(".private").ariaPressed = String(this.private);
    const frame = this.#find(".stage").querySelector("iframe");
    if (frame) {
      frame.title = this.title;
      frame.inert = stale || this.#failure !== undefined || this.#refusal !== undefined;
    }
    this.#note();
    this.#showMessage(messageText({ stale, closing: closingOf(this.state) !== undefined, state: this.state, refusal: this.#refusal, failure: this.#failure, starting: this.#starting }));
    this.around.announced(this);
    this.around.retitled();
  }

  /** Shows that this is single-document mode, why, and what is missing. */
  #note() {
    const note = this.#find(".note");
    note.hidden = this.#missing === undefined;
    if (!this.#missing) return;
    setText(note, singleText(this.#missing, this.around.contentOrigin));
  }

  /** @param {import("./cardtext.js").Message | undefined} word */
  #showMessage(word) {
    const box = this.#find(".words");
    box.hidden = !word;
    if (!word) return;
    box.classList.toggle("veil", Boolean(word.veil));
    setText(this.#find(".words h3"), word.title);
    setText(this.#find(".words p"), word.text);
    this.#find(".retry").hidden = !word.retry;
    setText(this.#find(".retry"), this.#refusal === undefined ? "Reload" : "Try again");
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
