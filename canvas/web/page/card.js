// @ts-check
// One open canvas in the page: title, status, availability, controls, the frame, and
// messages over the frame. The frame exists only while the canvas is mounted. A card is
// never moved in the document, because a frame that is moved reloads.
import { allowedText, labelOf } from "./allowed.js";
import { oneLine } from "./attention.js";
import { Bridge } from "./bridge.js";
import { Cache } from "./cache.js";
import { Consent } from "./consent.js";
import { CARD, messageText, singleText } from "./cardtext.js";
import { HTTPConn } from "./http.js";
import { browserName, gatewayAddress, gatewayTried } from "./gateway.js";
import { drawIcons, setIcon } from "./icons.js";
import { Mount, directFrame } from "./mount.js";
import { LOOKING } from "./key.js";
import { LinkOffers } from "./offer.js";
import { cleaned } from "./look.js";
import { judge } from "./policy.js";
import { printCard } from "./print.js";
import { SocketPorts } from "./socketports.js";
import { SocketConn } from "./sockets.js";
import { focusMoves } from "./keyboard.js";
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
 *   setPrivate: (card: Card, isPrivate: boolean) => void,
 *   retitled: () => void,
 *   announced: (card: Card) => void,
 *   ask: (channel: string, run: () => void) => void,
 *   request: (method: string, params: any) => Promise<any>,
 *   menu: (card: Card, button: HTMLElement) => void,
 *   escape: () => void,
 *   clientId: string,
 *   closing: (channel: string, title: string, seconds: number, focus: boolean) => void,
 *   kept: (channel: string) => void,
 *   declaration: (state: any) => any,
 * }} Surroundings menu: opens the card's menu; escape: the canvas did not use the Escape key
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
  /** @type {Element | null | undefined} What had the focus when the frame was to get it */ #focusFrom;
  #cutOff = false; // without a connection for longer than a moment
  #awake = false; // to be mounted
  #used = false; // a person has focused the frame since it was mounted
  /** @type {{ scroll?: [number, number] }} What the next mount gets back */ #kept = {};
  #reachable = false; // connected, and the provider is ready
  /** @type {Bridge | undefined} */ #bridge;
  /** @type {SocketPorts | undefined} */ #sockets;
  #shownOnce = false; // the current mount has shown a page
  #direct = false; // the frame is on the host's listener
  #noDirect = false; // the frame there showed nothing: the next one is on the channel
  /** @type {object | undefined} The request for an address that has not been answered */ #asked;
  #cache = new Cache();
  /** Why the canvas's page wants the person; "" if it does not */ asks = "";
  /** @type {(payload: any) => void} Posts to the canvas's document */ #post = () => {};
  /** @type {(url: unknown) => Promise<any>} Shows a link that the canvas offers */ offer = async () => {};

  /** @param {{ channel: string, instanceId: string, canvasId?: string, title?: string }} ref @param {Surroundings} around */
  constructor(ref, around) {
    this.ref = ref;
    this.around = around;
    this.httpConn = new HTTPConn((action) => around.dispatch(ref.channel, action));
    this.socketConn = new SocketConn((action) => around.dispatch(ref.channel, action));
    const template = /** @type {HTMLTemplateElement} */ (document.createElement("template"));
    const id = `card-${++lastCard}`;
    template.innerHTML = CARD(id);
    this.element = /** @type {HTMLElement} */ (template.content.firstElementChild);
    drawIcons(this.element);
    this.view = this.#newView();
    this.consent = new Consent(this);
    this.element.addEventListener("pointerenter", () => this.#attended());
    this.element.addEventListener("focusin", () => this.#attended());
    const more = this.#find(".more");
    more.addEventListener("click", () => around.menu(this, more));
    this.#on(".private", () => this.togglePrivate());
    this.#on(".close", () => this.requestClose());
    this.#on(".retry", () => {
      if (this.#refusal === undefined) this.reload();
      else this.#subscribe();
      this.focusFrame(); // the button is removed
    });
    this.render();
  }

  /** What the canvas's provider declared. */
  declaration() {
    return this.around.declaration(this.state);
  }

  #newView() {
    const offers = new LinkOffers(this.#find(".offer"), () => this.focusFrame());
    this.offer = async (/** @type {unknown} */ url) => {
      if (this.state?._meta?.["x-ahp-canvas/links"] !== 1) throw new Error("this canvas may not offer links");
      return offers.offer(url);
    };
    return new View((action) => this.around.dispatch(this.ref.channel, action), () => this.#reloadPage(), {
      offer: (url) => this.offer(url),
      withdraw: () => offers.withdraw(),
      attention: (reason) => this.#ask(reason),
    }, (payload) => this.#post(payload));
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

  /** Applies a new state; the frame reloads only if the url changed. @param {any} state */
  update(state) {
    const before = this.undoable;
    this.state = state;
    if (this.undoable !== before) this.#undoableChanged();
    this.#refusal = undefined;
    this.view.update({ input: state.input });
    const back = this.#refreshConn();
    if (this.#awake && state.url !== undefined && state.url !== this.#shown) this.reload();
    else if (back) this.#returned();
    this.render();
  }

  /** Mounts the canvas. */
  wake() {
    if (this.#awake) return;
    this.#awake = true;
    if (this.state?.url !== undefined) this.reload();
  }

  /** Notes that a person focused the frame. */
  focused() {
    this.#used = true;
  }

  /** Asks the canvas whether it can be unmounted, and for what it wants back when it is mounted again. @returns {Promise<boolean>} */
  async mayUnmount() {
    if (this.view.busy) return false;
    const [frame, page] = await Promise.all([this.#mount?.leaving(), this.view.leaving()]);
    if (frame?.unsaved || page?.unsaved || this.view.busy) return false;
    if (!frame && !page && this.#used && this.#shown) return false; // nothing answers: a person may have typed there
    this.#kept = { scroll: frame?.scroll };
    this.view.update({ kept: page?.state });
    return true;
  }

  /** Removes the frame; wake mounts it again. */
  unmount() {
    this.#awake = false;
    this.#unmount();
    this.#failure = undefined;
    this.#shown = undefined;
    this.render();
  }

  #undoableChanged() {
    if (this.undoable) this.around.closing(this.ref.channel, this.title, closingOf(this.state)?.seconds ?? 0, this.element.contains(document.activeElement));
    this.element.dataset.closing = this.undoable ? "here" : "";
    if (this.undoable) return;
    this.#closing = 0;
    this.around.kept(this.ref.channel);
  }

  /** The provider is reachable again, with the same url: its address on the host's listener is a new one. */
  async #returned() {
    const mount = this.#mount;
    if (mount && this.#direct) {
      const url = await this.#askDirect();
      if (mount !== this.#mount) return;
      if (!url) return this.reload();
      mount.renew(url);
    }
    this.#reloadMissed();
  }

  #askDirect() {
    return gatewayAddress(this.around.request, this.around.contentOrigin, this.#address);
  }

  get #address() {
    return { channel: this.ref.channel, extensionId: this.state.extensionId, net: labelOf(this.state) };
  }

  /** Handles a connection to the host that was made or lost. @param {boolean} up */
  connected(up) {
    if (up) this.view.reconnected();
    this.#connected = up;
    if (up) this.cutOff(false);
    if (up && this.#refusal !== undefined) this.#subscribe();
    if (this.#refreshConn()) this.#returned();
    if (up && this.#closing) this.#close(); // it might not have arrived; repeating it is harmless
  }

  /** Disables what does not work without a connection. @param {boolean} is */
  cutOff(is) {
    if (this.#cutOff === is) return;
    this.#cutOff = is;
    this.render();
  }

  /** Whether the provider answers http/1. Without it a canvas can only read files. */
  get #http() {
    return this.state?._meta?.["x-ahp-canvas/http"] === 1;
  }

  /** Whether the provider answers ws/1. */
  get #ws() {
    return this.state?._meta?.["x-ahp-canvas/ws"] === 1;
  }

  /** Opens or resets the http/1 and ws/1 connections: they end with the host's connection and when the provider is lost. @returns {boolean} whether the provider became reachable */
  #refreshConn() {
    const before = this.#reachable;
    this.#reachable = this.#connected && this.state !== undefined && this.state.availability !== "stale";
    const open = this.#reachable && this.#http;
    if (open !== this.httpConn.open) this.httpConn.reset(open);
    const sockets = open && this.#ws;
    if (sockets !== this.socketConn.open) this.socketConn.reset(sockets);
    return this.#reachable && !before;
  }

  /** Reloads a page that failed to load while the provider was unreachable; its error page would stay otherwise. */
  #reloadMissed() {
    if (!this.#awake) return;
    if (this.#bridge?.missed || (this.#failure?.retry && !this.#shownOnce)) this.#reloadPage();
  }

  #reloadPage() {
    if (!this.#awake) return;
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
      ...(LOOKING && this.#mount && seen.masked !== true && { unmasked: true }),
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

  /** Whether the canvas can be printed: a page of another origin, or a single document, cannot be asked to. */
  get printable() {
    return this.phase === "live" && this.#mount !== undefined && this.#missing === undefined;
  }

  /** Prints the canvas. */
  async print() {
    if (this.#mount) printCard(this.element, await this.#mount.look());
  }

  /** The file that the canvas offers, read now. @param {string} path */
  readCopy(path) {
    return this.around.read(this.ref.channel, this.state.instanceId, path, this.#cache);
  }

  /** Moves the focus into the canvas, also if it is mounted later and the focus has not moved meanwhile. */
  focusFrame() {
    const frame = this.element.querySelector("iframe");
    this.#focusFrom = frame ? undefined : document.activeElement;
    focusMoves(frame);
    frame?.focus();
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
    if (this.#http) this.#tryDirect(verdict);
    else this.#mountAt(verdict, "");
  }

  /** Mounts a web app on the host's listener if the page reaches it, or else through the channel. @param {{ path: string }} verdict */
  async #tryDirect(verdict) {
    const asked = this.#asked = {};
    this.#starting = true;
    const [name, url] = await Promise.all([browserName(this.#address), this.#noDirect ? "" : this.#askDirect()]);
    if (this.#asked !== asked) return;
    this.httpConn.introduce(name);
    this.#mountAt(verdict, url);
    this.render();
  }

  /** @param {{ path: string }} verdict @param {string} direct the address on the host's listener, or "" */
  #mountAt(verdict, direct) {
    const stage = this.#find(".stage");
    this.#direct = direct !== "";
    this.#noDirect = false;
    const origin = single && !direct ? "" : this.around.contentOrigin;
    this.#missing = origin ? undefined : [];
    const { channel } = this.ref;
    const instanceId = this.state.instanceId;
    const bridge = this.#bridge = new Bridge(this.httpConn, {
      http: () => this.#http,
      read: (path) => this.around.read(channel, instanceId, path, this.#cache),
    });
    const sockets = this.#sockets = new SocketPorts(this.socketConn);
    this.#mount = new Mount(origin, { path: verdict.path, title: this.title, theme: this.around.theme(), permissions: this.consent.names, http: this.#http, sockets: this.#ws, ...this.#kept }, {
      worker: (port) => bridge.connect(port),
      view: (port) => this.view.connect(port),
      sockets: (port) => sockets.connect(port),
      message: (payload) => this.view.fromDocument(payload),
      bye: () => this.view.documentEnded(),
      ask: (ask, port) => this.consent.take(ask, port),
      key: () => { if (document.activeElement === this.#mount?.element) this.around.escape(); },
      missing: (what) => { this.#missing = what; this.render(); },
      unworkable: () => { single = true; this.reload(); },
      phase: (phase, word) => {
        this.#starting = phase === "starting";
        if (phase === "live") {
          this.#shownOnce = true;
          this.consent.mounted();
        }
        if (direct && phase !== "starting") gatewayTried(this.#shownOnce);
        if (direct && phase === "failed" && !this.#shownOnce) {
          this.#noDirect = true;
          return this.reload();
        }
        this.#failure = undefined;
        if (phase === "failed") this.#fail("This canvas cannot be shown", word ?? "", true);
        else this.render();
      },
    }, labelOf(this.state), direct);
    this.#post = (payload) => this.#mount?.post(payload);
    stage.prepend(this.#mount.element);
    if (this.#focusFrom && this.#focusFrom === document.activeElement) {
      focusMoves(this.#mount.element);
      this.#mount.element.focus();
    }
    this.#focusFrom = undefined;
  }

  #unmount() {
    this.view.disconnect();
    this.consent.withdraw();
    this.#asked = undefined;
    this.#direct = false;
    this.#mount?.remove();
    this.#mount = undefined;
    this.#bridge = undefined;
    this.#sockets?.close();
    this.#sockets = undefined;
    this.#shownOnce = false;
    this.#starting = false;
    this.#used = false;
    this.#missing = undefined;
    this.#find(".stage").querySelector("iframe")?.remove();
  }

  /** @param {string} title @param {string} text @param {boolean} [retry] */
  #fail(title, text, retry) {
    this.#starting = false;
    this.#failure = { title, text, retry };
    this.render();
  }

  /** Gives the focus back to what had it in the canvas. */
  refocus() {
    this.focusFrame();
    this.#mount?.refocus();
  }

  /** Removes the frame, which took the keyboard (keyboard.js). */
  stop() {
    this.#unmount();
    this.#fail("This canvas took the keyboard", "It moved the focus to itself while you were elsewhere, so it was stopped before what you type could reach it. You can reload it.", true);
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
    const stale = this.stale;
    this.element.dataset.availability = stale ? "stale" : "ready";
    this.#write("h2", this.title);
    this.#write(".status", this.state?.status ?? "");
    this.#find(".badge.stale").hidden = !stale;
    this.#renderControls();
    const frame = this.#find(".stage").querySelector("iframe");
    if (frame) {
      frame.title = this.title;
      frame.inert = stale || this.#cutOff || this.#failure !== undefined || this.#refusal !== undefined;
    }
    this.#note();
    this.#showMessage(messageText({
      stale, closing: closingOf(this.state) !== undefined, state: this.state, refusal: this.#refusal, failure: this.#failure, starting: this.#starting, cutOff: this.#cutOff,
      seen: this.#shownOnce && !this.#bridge?.missed,
    }));
    this.around.announced(this);
    this.around.retitled();
  }

  #renderControls() {
    const close = /** @type {HTMLButtonElement} */ (this.#find(".close"));
    close.ariaLabel = this.#closing ? `Closing “${this.title}”` : `Close “${this.title}”`;
    close.title = close.ariaLabel;
    close.ariaDisabled = String(this.#closing !== 0 || this.#cutOff); // not disabled: it would drop the focus
    this.#find(".secret").hidden = !this.private;
    const hide = this.#find(".private");
    hide.ariaPressed = String(this.private);
    hide.ariaDisabled = String(this.#cutOff);
    setIcon(hide, this.private ? "hidden" : "visible");
  }

  /** Writes a text, and its tooltip, which shows it where it is cut. @param {string} selector @param {string} text */
  #write(selector, text) {
    const at = this.#find(selector);
    setText(at, text);
    at.title = text;
  }

  /** Shows what the canvas may load from, and that this is single-document mode, why, and what is missing. */
  #note() {
    const note = this.#find(".note");
    const texts = [this.#missing ? singleText(this.#missing, this.around.contentOrigin) : "", allowedText(this.state, this.#missing !== undefined), this.consent.text];
    const text = texts.filter(Boolean).join(" ");
    note.hidden = !text;
    if (text) setText(note, text);
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
