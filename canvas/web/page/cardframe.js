// @ts-check
// The frame of a canvas: on a separate origin, at an address of the host's listener, of a direct
// url, or as a single document. It exists only while the canvas is mounted.
import { labelOf } from "./allowed.js";
import { Bridge } from "./bridge.js";
import { Cache } from "./cache.js";
import { CardConn } from "./cardconn.js";
import { CardOrigin } from "./cardorigin.js";
import { focusMoves } from "./keyboard.js";
import { Mount, directFrame } from "./mount.js";
import { judge } from "./policy.js";
import { printCard } from "./print.js";
import { hasNoWorkers, isSingle } from "./singlemode.js";
import { SocketPorts } from "./socketports.js";
import { takeWarm } from "./warm.js";

export class CardFrame {
  /** @type {{ title: string, text: string, retry?: boolean } | undefined} Why the canvas is not shown */ failure;
  /** @type {string[] | undefined} What single-document mode could not load; undefined in the normal mode */ missing;
  /** @type {string | undefined} The url in the frame */ url;
  starting = false;
  cut = false; // the canvas is on the host's listener, which the page no longer reaches, and may have unsaved input
  #card; #stage;
  /** @type {Mount | undefined} */ #mount;
  /** @type {Bridge | undefined} */ #bridge;
  /** @type {SocketPorts | undefined} */ #sockets;
  #cache = new Cache();
  /** @type {(payload: any) => void} Posts to the canvas's document */ #post = () => {};
  /** @type {Element | null | undefined} What had the focus when the frame was to get it */ #focusFrom;
  #awake = false; // to be mounted
  #used = false; // a person has focused the frame since it was mounted
  /** @type {{ scroll?: [number, number] }} What the next mount gets back */ #kept = {};
  #shownOnce = false; // the current mount has shown a page
  #current = false; // the provider was reachable while the mount showed a page
  #direct = false; // the frame is on the host's listener

  /** @param {import("./card.js").Card} card @param {HTMLElement} stage has the frame as its first child */
  constructor(card, stage) {
    this.#card = card;
    this.#stage = stage;
    this.origin = new CardOrigin(card);
    this.conn = new CardConn((action) => card.around.dispatch(card.ref.channel, action), () => card.state);
  }

  /** @returns {HTMLIFrameElement | null} */
  get element() {
    return this.#stage.querySelector("iframe");
  }

  /** Whether the frame shows the canvas as it was: a page that was loaded while the provider was unreachable has nothing to show. */
  get seen() {
    return this.#shownOnce && this.#current && !this.#bridge?.missed;
  }

  /** Whether the canvas can be printed: a page of another origin, or a single document, cannot be asked to. */
  get printable() {
    return this.#card.phase === "live" && this.#mount !== undefined && this.missing === undefined;
  }

  /** Why the document of a direct url is not described; "" if it is. */
  get unread() {
    return this.#mount || !this.url ? "" : `The frame shows ${this.url}, a page of another origin, whose document cannot be read.`;
  }

  /** Applies a new state of the card; the frame reloads only if the url changed. */
  update() {
    const back = this.#refresh();
    const { state } = this.#card;
    if (this.#awake && state.url !== undefined && state.url !== this.url) this.reload();
    else if (back) this.#returned();
  }

  /** Handles a connection to the host that was made or lost. @param {boolean} up */
  connected(up) {
    if (this.#refresh(up)) this.#returned();
  }

  /** @param {boolean} [up] whether the host is connected */
  #refresh(up) {
    const back = this.conn.refresh(up);
    this.#current ||= this.#shownOnce && this.conn.reachable;
    return back;
  }

  /** Mounts the canvas. */
  wake() {
    if (this.#awake) return;
    this.#awake = true;
    if (this.#card.state?.url !== undefined) this.reload();
  }

  /** Notes that a person focused the frame. */
  focused() {
    this.#used = true;
  }

  /** Asks the canvas whether it can be unmounted, and for what it wants back when it is mounted again. @returns {Promise<boolean>} */
  async mayUnmount() {
    const { view } = this.#card;
    if (view.busy) return false;
    const [frame, page] = await Promise.all([this.#mount?.leaving(), view.leaving()]);
    if (frame?.unsaved || page?.unsaved || view.busy) return false;
    if (!frame && !page && this.#used && this.url) return false; // nothing answers: a person may have typed there
    this.#kept = { scroll: frame?.scroll };
    view.update({ kept: page?.state });
    return true;
  }

  /** Removes the frame; wake mounts it again. */
  unmount() {
    this.#awake = false;
    this.remove();
    this.failure = undefined;
    this.url = undefined;
    this.#card.render();
  }

  /** Mounts the url again. */
  reload() {
    this.remove();
    this.failure = undefined;
    const { state } = this.#card;
    this.url = state?.url;
    if (this.url !== undefined) this.#show(judge(this.url, state.instanceId));
    this.#card.render();
  }

  /** Reloads the canvas's page in its frame. */
  reloadPage() {
    if (!this.#awake) return;
    if (this.failure || this.missing) this.reload();
    else this.#mount?.reload();
  }

  /** Removes the frame, which took the keyboard (keyboard.js). */
  stop() {
    this.remove();
    this.#fail("This canvas took the keyboard", "It moved the focus to itself while you were elsewhere, so it was stopped before what you type could reach it. You can reload it.", true);
  }

  /** Removes the frame, whose page sends so many messages that the other canvases would wait. */
  flooded() {
    this.remove();
    this.#fail("This canvas was stopped", "It kept sending hundreds of messages a second, which would have blocked the other canvases. You can reload it.", true);
  }

  /** Moves the focus into the canvas, also if it is mounted later and the focus has not moved meanwhile. @param {boolean} [again] whether to try twice */
  focus(again = true) {
    const frame = this.element, from = document.activeElement;
    this.#focusFrom = frame ? undefined : from;
    focusMoves(frame);
    frame?.focus();
    if (!again || !frame || document.activeElement === frame) return;
    // Firefox focuses a frame that was hidden a moment ago only once it is drawn.
    requestAnimationFrame(() => requestAnimationFrame(() => { if (document.activeElement === from && this.element === frame) this.focus(false); }));
  }

  /** Gives the focus back to what had it in the canvas. */
  refocus() {
    this.focus();
    this.#mount?.refocus();
  }

  /** @param {any} theme */
  setTheme(theme) {
    this.#mount?.setTheme(theme);
  }

  /** Posts a message to the canvas's document. @param {unknown} payload */
  post(payload) {
    this.#post(payload);
  }

  /** Prints the canvas. */
  async print() {
    if (this.#mount) printCard(this.#card.element, await this.#mount.look());
  }

  /** Asks what the canvas's document shows. @returns {Promise<any>} untrusted; undefined if there is no answer */
  async look() {
    return this.#mount?.look();
  }

  /** Asks for a sketch of what the canvas's document shows. @returns {Promise<unknown>} untrusted; undefined if there is no answer */
  async sketch() {
    return this.#mount?.sketch();
  }

  /** Whether a picture of the canvas must show what an answer to look hides. @param {any} seen */
  unmasked(seen) {
    return this.#mount !== undefined && seen.masked !== true;
  }

  /** A file of the canvas, read now. @param {string} path */
  read(path) {
    const { around, ref, state } = this.#card;
    return around.read(ref.channel, state.instanceId, path, this.#cache);
  }

  /** Removes the frame and what belongs to it. */
  remove() {
    this.#card.view.disconnect();
    this.#card.consent.withdraw();
    this.#mount?.remove();
    this.#sockets?.close();
    this.origin.leave();
    this.#mount = this.#bridge = this.#sockets = this.missing = undefined;
    this.#direct = this.#shownOnce = this.#current = this.#used = this.starting = this.cut = false;
    this.element?.remove();
  }

  /** The provider is reachable again, with the same url: its address on the host's listener is a new one, and the page may reach it no longer, or again. */
  async #returned() {
    const mount = this.#mount;
    if (mount && this.conn.hasHTTP) {
      const direct = await this.origin.reached();
      if (mount !== this.#mount || !this.conn.reachable) return;
      const other = direct !== this.#direct, free = !other || this.failure !== undefined || await this.mayUnmount();
      if (mount !== this.#mount) return;
      if (other && free) return this.reload();
      this.cut = other && this.#direct;
      this.#card.render();
    }
    // A page that failed to load meanwhile: its error page would stay otherwise.
    if (this.#bridge?.missed || (this.failure?.retry && !this.#shownOnce)) this.reloadPage();
  }

  /** @param {import("./policy.js").Verdict} verdict */
  #show(verdict) {
    const card = this.#card;
    if (verdict.kind === "refused") return this.#fail("This address is not allowed", `${verdict.why} Your agent can open the canvas at another one.`);
    if (verdict.kind === "direct") {
      const { element, post } = directFrame(verdict.url, card.title, (payload) => card.view.fromDocument(payload));
      this.#post = post;
      return this.#stage.prepend(element);
    }
    this.#prepare(verdict);
  }

  /** Finds the place of the frame, and mounts the canvas there. @param {{ path: string }} verdict */
  async #prepare(verdict) {
    this.starting = true;
    const place = await this.origin.next(this.conn.hasHTTP);
    if (!place) return;
    if (this.conn.hasHTTP) this.conn.http.introduce(place.name);
    this.#mountAt(verdict, place);
    this.#card.render();
  }

  /** Clears what the canvas stored in this browser. @param {string} [why] why the page does; "" if a person wants it */
  async clearStored(why = "") {
    this.remove();
    await this.origin.clear(why);
    if (this.#awake) this.reload();
  }

  /** Mounts the canvas again if another tab cleared what it stored. */
  async keptChanged() {
    if (await this.origin.isGone()) this.reload();
  }

  /** @param {{ path: string }} verdict @param {import("./cardorigin.js").Place} place */
  #mountAt(verdict, { direct, lasting, alone }) {
    const { state, title, around, view } = this.#card;
    this.#direct = direct !== "";
    const origin = isSingle() && !direct ? "" : around.contentOrigin, label = labelOf(state);
    this.missing = origin ? undefined : [];
    const bridge = this.#bridge = new Bridge(this.conn.http, { http: () => this.conn.hasHTTP, read: (path) => this.read(path) });
    const sockets = this.#sockets = new SocketPorts(this.conn.sockets);
    this.#mount = new Mount(origin, { path: verdict.path, title, theme: around.theme(), permissions: this.#card.consent.names, http: this.conn.hasHTTP, direct: this.#direct, alone, sockets: this.conn.hasSockets, ...this.#kept }, {
      worker: (port) => bridge.connect(port),
      view: (port) => view.connect(port),
      sockets: (port) => sockets.connect(port),
      message: (payload) => view.fromDocument(payload),
      bye: () => view.documentEnded(),
      ask: (ask, port) => this.#card.consent.take(ask, port),
      key: () => { if (document.activeElement === this.#mount?.element) around.escape(); },
      missing: (what) => { this.missing = what; this.#card.render(); },
      unworkable: () => this.#noWorker(),
      leftover: () => { this.origin.avoid(); this.reload(); },
      stored: async (bytes) => { if (await this.origin.isFull(bytes)) this.clearStored("full"); },
      phase: (phase, word) => this.#phase(phase, word ?? "", direct),
    }, label, lasting || direct, origin && !lasting && !direct ? takeWarm(label) : undefined);
    this.#post = (payload) => this.#mount?.post(payload);
    this.#mount.place(this.#stage);
    if (this.#focusFrom && this.#focusFrom === document.activeElement) {
      focusMoves(this.#mount.element);
      this.#mount.element.focus();
    }
    this.#focusFrom = undefined;
  }

  /** Handles a browser that registered no service worker: it does not allow them, or the host did not answer. */
  async #noWorker() {
    const mount = this.#mount, none = await hasNoWorkers(() => this.conn.connected);
    if (mount !== this.#mount) return;
    if (none) return this.reload();
    this.#fail("This canvas cannot be shown", "The host did not answer. The page tries again when it is connected.", true);
  }

  /** Handles a mount that starts, shows the canvas or fails. @param {"starting" | "live" | "failed"} phase @param {string} word @param {string} direct */
  #phase(phase, word, direct) {
    this.starting = phase === "starting";
    if (phase === "live") this.#shownOnce = true;
    this.#current ||= this.#shownOnce && this.conn.reachable;
    if (direct && phase !== "starting") this.origin.tried(this.#shownOnce);
    if (direct && phase === "failed" && !this.#shownOnce) return this.reload();
    this.failure = undefined;
    if (phase === "failed") return this.#fail("This canvas cannot be shown", word, true);
    this.#card.render();
    if (phase !== "live") return;
    this.#card.consent.mounted();
    this.#card.around.loaded(this.#card);
  }

  /** @param {string} title @param {string} text @param {boolean} [retry] */
  #fail(title, text, retry) {
    this.starting = false;
    this.failure = { title, text, retry };
    this.#card.render();
  }
}
