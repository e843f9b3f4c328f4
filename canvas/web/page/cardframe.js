// @ts-check
// The frame of a canvas: on an origin of its own, at an address of the host's listener, of a direct
// url, or as a single document. It exists only while the canvas is mounted.
import { labelOf } from "./allowed.js";
import { Bridge } from "./bridge.js";
import { Cache } from "./cache.js";
import { CardConn } from "./cardconn.js";
import { gatewayAddress, gatewayTried } from "./gateway.js";
import { clear, hold, isCurrent, labelIn, measured, use } from "./kept.js";
import { LOOKING } from "./key.js";
import { focusMoves } from "./keyboard.js";
import { Mount, directFrame } from "./mount.js";
import { judge } from "./policy.js";
import { printCard } from "./print.js";
import { SocketPorts } from "./socketports.js";

/** Set once a mount found no service worker; later mounts use single-document mode at once. */
let single = false;

export class CardFrame {
  /** @type {{ title: string, text: string, retry?: boolean } | undefined} Why the canvas is not shown */ failure;
  /** @type {string[] | undefined} What single-document mode could not load; undefined in the normal mode */ missing;
  /** @type {string | undefined} The url in the frame */ url;
  starting = false;
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
  #noDirect = false; // the frame there showed nothing: the next one is on the channel
  /** @type {object | undefined} The request for an address that has not been answered */ #asked;
  /** What became of what the canvas stored: "full" or "total" if it was cleared, "leftover" if it is not available this time, or "" */ stored = "";
  #origin = ""; // that this browser keeps, while the frame is on it
  #once = false; // the next mount is on an origin that is used once
  #release = () => {}; // of the origin

  /** @param {import("./card.js").Card} card @param {HTMLElement} stage has the frame as its first child */
  constructor(card, stage) {
    this.#card = card;
    this.#stage = stage;
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
    this.#release();
    this.#origin = "";
    this.#asked = this.#mount = this.#bridge = this.#sockets = this.missing = undefined;
    this.#direct = this.#shownOnce = this.#current = this.#used = this.starting = false;
    this.element?.remove();
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
    // A page that failed to load meanwhile: its error page would stay otherwise.
    if (this.#bridge?.missed || (this.failure?.retry && !this.#shownOnce)) this.reloadPage();
  }

  #askDirect() {
    const { around } = this.#card;
    return gatewayAddress(around.request, around.contentOrigin, this.#address);
  }

  get #address() {
    const { ref, state, around } = this.#card;
    return { home: around.home, channel: ref.channel, extensionId: state.extensionId, net: labelOf(state) };
  }

  /** @param {import("./policy.js").Verdict} verdict */
  #show(verdict) {
    const card = this.#card;
    if (verdict.kind === "refused") return this.#fail("This address is not allowed", verdict.why);
    if (verdict.kind === "direct") {
      const { element, post } = directFrame(verdict.url, card.title, (payload) => card.view.fromDocument(payload));
      this.#post = post;
      return this.#stage.prepend(element);
    }
    this.#prepare(verdict);
  }

  /** Mounts a web app on the host's listener if the page reaches it, and everything else through the channel, on the canvas's lasting origin. @param {{ path: string }} verdict */
  async #prepare(verdict) {
    const asked = this.#asked = {};
    this.starting = true;
    const address = this.#address, { contentOrigin } = this.#card.around, web = this.conn.hasHTTP;
    const [name, url] = await Promise.all([labelIn(address), web && !this.#noDirect ? this.#askDirect() : ""]);
    if (this.#asked !== asked) return;
    if (web) this.conn.http.introduce(name);
    const lasting = url || (single || this.#once || LOOKING || !name || !contentOrigin ? "" : `${contentOrigin.replace("*", `${address.net}-${name}`)}/.ahp/frame.html`);
    const { kept = false, alone = false } = lasting && !LOOKING ? await this.#take(new URL(lasting).origin, address, asked) : {};
    if (this.#asked !== asked) return;
    this.#mountAt(verdict, url, kept ? lasting : "", alone);
    this.#card.render();
  }

  /** Takes the lasting origin of the canvas. @param {string} origin @param {import("./kept.js").Canvas} address @param {object} asked */
  async #take(origin, address, asked) {
    const [{ kept, cleared }, { alone, release }] = await Promise.all([use(address, origin), hold(origin)]);
    if (this.#asked !== asked) return release(), {};
    this.#release = release;
    this.#origin = kept ? origin : "";
    if (cleared) this.stored = "total";
    return { kept, alone };
  }

  /** Clears what the canvas stored in this browser. @param {string} [why] why the page does; "" if a person wants it */
  async clearStored(why = "") {
    this.remove();
    await clear(this.#address);
    this.stored = why;
    if (this.#awake) this.reload();
  }

  /** Whether the canvas can store something in this browser. */
  get keeps() {
    return this.#origin !== "";
  }

  /** Mounts the canvas again if another tab cleared what it stored. */
  async keptChanged() {
    const origin = this.#origin;
    if (origin && !(await isCurrent(this.#address, origin)) && origin === this.#origin) this.reload();
  }

  /** @param {number} bytes that the canvas stores */
  async #measured(bytes) {
    const origin = this.#origin;
    if (origin && (await measured(this.#address, bytes)) && origin === this.#origin) this.clearStored("full");
  }

  /** @param {{ path: string }} verdict @param {string} direct the address on the host's listener, or "" @param {string} lasting that on the canvas's lasting origin, or "" @param {boolean} alone whether no other tab shows it */
  #mountAt(verdict, direct, lasting, alone) {
    const { state, title, around, view } = this.#card;
    this.#direct = direct !== "";
    this.#noDirect = this.#once = false;
    const origin = single && !direct ? "" : around.contentOrigin;
    this.missing = origin ? undefined : [];
    const bridge = this.#bridge = new Bridge(this.conn.http, { http: () => this.conn.hasHTTP, read: (path) => this.read(path) });
    const sockets = this.#sockets = new SocketPorts(this.conn.sockets);
    this.#mount = new Mount(origin, { path: verdict.path, title, theme: around.theme(), permissions: this.#card.consent.names, http: this.conn.hasHTTP, direct: direct !== "", alone, sockets: this.conn.hasSockets, ...this.#kept }, {
      worker: (port) => bridge.connect(port),
      view: (port) => view.connect(port),
      sockets: (port) => sockets.connect(port),
      message: (payload) => view.fromDocument(payload),
      bye: () => view.documentEnded(),
      ask: (ask, port) => this.#card.consent.take(ask, port),
      key: () => { if (document.activeElement === this.#mount?.element) around.escape(); },
      missing: (what) => { this.missing = what; this.#card.render(); },
      unworkable: () => { single = true; this.reload(); },
      leftover: () => { this.#once = true; this.stored = "leftover"; this.reload(); },
      stored: (bytes) => this.#measured(bytes),
      phase: (phase, word) => this.#phase(phase, word ?? "", direct),
    }, labelOf(state), lasting || direct);
    this.#post = (payload) => this.#mount?.post(payload);
    this.#stage.prepend(this.#mount.element);
    if (this.#focusFrom && this.#focusFrom === document.activeElement) {
      focusMoves(this.#mount.element);
      this.#mount.element.focus();
    }
    this.#focusFrom = undefined;
  }

  /** Handles a mount that starts, shows the canvas or fails. @param {"starting" | "live" | "failed"} phase @param {string} word @param {string} direct */
  #phase(phase, word, direct) {
    this.starting = phase === "starting";
    if (phase === "live") this.#shownOnce = true;
    this.#current ||= this.#shownOnce && this.conn.reachable;
    if (direct && phase !== "starting") gatewayTried(this.#shownOnce);
    if (direct && phase === "failed" && !this.#shownOnce) {
      this.#noDirect = true;
      return this.reload();
    }
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
