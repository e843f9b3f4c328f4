// @ts-check
// One open canvas as a person sees it: title, status, availability, a way to
// close it, and the frame, with plain words above it where there is something
// to say. The card is never moved in the document: a frame that is moved reloads.
import { Bridge } from "./bridge.js";
import { Cache } from "./cache.js";
import { Lane } from "./lane.js";
import { Mount, directFrame } from "./mount.js";
import { judge } from "./policy.js";
import { say } from "./ui.js";
import { View } from "./view.js";

/**
 * @typedef {{
 *   contentOrigin: string,
 *   theme: () => any,
 *   read: (channel: string, instanceId: string, path: string, cache: Cache) => Promise<import("./mount.js").Content>,
 *   dispatch: (channel: string, action: any) => number | undefined,
 *   retitled: () => void,
 * }} Surroundings
 */

let lastCard = 0;
/** Once one mount found no service worker, none is tried again. */
let single = false;

export class Card {
  /** @type {any} the canvas's state; undefined until its snapshot came */ state;
  /** @type {Mount | undefined} */ #mount;
  /** @type {string | undefined} The url that the frame shows */ #shown;
  /** @type {{ title: string, text: string, retry?: boolean } | undefined} */ #failure;
  #starting = false;
  /** @type {string[] | undefined} What single-document mode cannot show; undefined in the other mode */ #lacks;
  #closing = 0;
  #connected = false;
  #there = false; // connected, and its provider is there
  /** @type {Bridge | undefined} */ #bridge;
  #lived = false; // the mount has shown a page
  #cache = new Cache();

  /** @param {{ channel: string, instanceId: string, title?: string }} ref @param {Surroundings} around */
  constructor(ref, around) {
    this.ref = ref;
    this.around = around;
    this.view = new View((action) => around.dispatch(ref.channel, action), () => this.#again());
    this.lane = new Lane((action) => around.dispatch(ref.channel, action));
    const template = /** @type {HTMLTemplateElement} */ (document.createElement("template"));
    const id = `card-${++lastCard}`;
    template.innerHTML = `<article class="card" aria-labelledby="${id}">
      <header><div class="names"><h2 id="${id}"></h2><p class="status"></p></div>
      <span class="badge" hidden>Stale</span>
      <button class="tool earlier" id="${id}-earlier" aria-label="Move earlier" aria-labelledby="${id}-earlier ${id}" type="button"><span aria-hidden="true">‹</span></button>
      <button class="tool later" id="${id}-later" aria-label="Move later" aria-labelledby="${id}-later ${id}" type="button"><span aria-hidden="true">›</span></button>
      <button class="tool maximise" id="${id}-maximise" aria-label="Maximise" aria-labelledby="${id}-maximise ${id}" aria-pressed="false" type="button"><span aria-hidden="true">⤢</span></button>
      <button class="tool close" type="button"><span aria-hidden="true">✕</span></button></header>
      <p class="note" role="note" hidden></p>
      <div class="stage"><div class="words" role="status" hidden><div><h3></h3><p></p><button class="retry" type="button">Load it again</button></div></div></div>
      <div class="grip" role="separator" tabindex="0" id="${id}-grip" aria-label="Size, by the arrow keys:" aria-labelledby="${id}-grip ${id}" aria-valuemin="3" aria-valuemax="12" aria-valuenow="12"></div>
    </article>`;
    this.element = /** @type {HTMLElement} */ (template.content.firstElementChild);
    this.#on(".close", () => this.#askToClose());
    this.#on(".retry", () => {
      this.reload();
      this.element.querySelector("iframe")?.focus(); // the button goes
    });
    this.render();
  }

  get title() {
    return this.state?.title ?? this.ref.title ?? this.state?.displayName ?? this.ref.instanceId;
  }

  /** Whether the person asked to close it. */
  get closing() {
    return this.#closing !== 0;
  }

  /** Takes a new state, and shows another url only where it is another one. @param {any} state */
  update(state) {
    this.state = state;
    this.view.update({ input: state.input });
    const back = this.#tend();
    if (state.url !== undefined && state.url !== this.#shown) this.reload();
    else if (back) this.#catchUp();
    this.render();
  }

  /** The connection to the host is there, or it is lost. @param {boolean} up */
  connected(up) {
    if (up) this.view.reconnected();
    this.#connected = up;
    if (this.#tend()) this.#catchUp();
    if (up && this.#closing) this.#close(); // it may not have arrived; it is heard once however often it is asked
  }

  /** Whether the provider answers http/1; without it the canvas only reads. */
  get #http() {
    return this.state?._meta?.["x-ahp-canvas/http"] === 1;
  }

  /** A lane is of one connection, and of a provider that is there. @returns {boolean} whether they are back */
  #tend() {
    const before = this.#there;
    this.#there = this.#connected && this.state !== undefined && this.state.availability !== "stale";
    const open = this.#there && this.#http;
    if (open !== this.lane.open) this.lane.reset(open);
    return this.#there && !before;
  }

  /** What was asked for in vain meanwhile has words of ours in its place, which would stay. */
  #catchUp() {
    if (this.#bridge?.missed || (this.#failure?.retry && !this.#lived)) this.#again();
  }

  #again() {
    if (this.#failure || this.#lacks) this.reload();
    else this.#mount?.reload();
  }

  /** Mounts the url afresh, on an origin that was never used. */
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

  /** The host would not close it. */
  closeRefused() {
    this.#closing = 0;
    this.render();
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

  /** @param {import("./policy.js").Verdict} verdict */
  #show(verdict) {
    const stage = this.#find(".stage");
    if (verdict.kind === "refused") return this.#fail("This address is refused", verdict.why);
    if (verdict.kind === "direct") return stage.prepend(directFrame(verdict.url, this.title));
    const origin = single ? "" : this.around.contentOrigin;
    this.#lacks = origin ? undefined : [];
    const { channel } = this.ref;
    const instanceId = this.state.instanceId;
    const bridge = this.#bridge = new Bridge(this.lane, {
      http: () => this.#http,
      read: (path) => this.around.read(channel, instanceId, path, this.#cache),
    });
    this.#mount = new Mount(origin, { path: verdict.path, title: this.title, theme: this.around.theme() }, {
      worker: (port) => bridge.connect(port),
      view: (port) => this.view.connect(port),
      lacks: (what) => { this.#lacks = what; this.render(); },
      unworkable: () => { single = true; this.reload(); },
      phase: (phase, word) => {
        this.#starting = phase === "starting";
        if (phase === "live") this.#lived = true;
        this.#failure = undefined;
        if (phase === "failed") this.#fail("This canvas cannot be shown", word ?? "", true);
        else this.render();
      },
    });
    stage.prepend(this.#mount.element);
  }

  #unmount() {
    this.view.disconnect();
    this.#mount?.remove();
    this.#mount = undefined;
    this.#bridge = undefined;
    this.#lived = false;
    this.#starting = false;
    this.#lacks = undefined;
    this.#find(".stage").querySelector("iframe")?.remove();
  }

  /** @param {string} title @param {string} text @param {boolean} [retry] */
  #fail(title, text, retry) {
    this.#starting = false;
    this.#failure = { title, text, retry };
    this.render();
  }

  #askToClose() {
    if (!this.#closing) this.#close();
  }

  #close() {
    const seq = this.around.dispatch(this.ref.channel, { type: "canvas/closeRequested" });
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
    const frame = this.#find(".stage").querySelector("iframe");
    if (frame) {
      frame.title = this.title;
      frame.inert = stale || this.#failure !== undefined;
    }
    this.#note();
    this.#say(this.#word(stale));
    this.around.retitled();
  }

  /** Says that this is single-document mode, why, and what it lacks. */
  #note() {
    const note = this.#find(".note");
    note.hidden = this.#lacks === undefined;
    if (!this.#lacks) return;
    const why = this.around.contentOrigin ? "this browser allows no service worker here" : "this address has no content origins (start the host with --content-origin, or use “ahp-canvas view”)";
    const text = `Single-document mode: ${why}. The canvas keeps nothing${this.#lacks.length ? `, and it lacks ${this.#lacks.join(", ")}` : ""}.`;
    say(note, text);
  }

  /** What stands above the frame. @param {boolean} stale @returns {{ title: string, text: string, retry?: boolean, veil?: boolean } | undefined} */
  #word(stale) {
    if (stale && this.state?.url === undefined) {
      return { title: "Waiting for its provider", text: "What shows this canvas is not running. It appears here by itself when it is back." };
    }
    if (this.#failure) return this.#failure;
    if (stale) return { title: "Not up to date", text: "What provides this canvas is not running. It goes on by itself when it is back.", veil: true };
    if (!this.state || this.#starting) return { title: "Opening…", text: "" };
    if (this.state.url === undefined) return { title: "Nothing to show", text: "This canvas is open, but its provider gave it no address." };
    return undefined;
  }

  /** @param {{ title: string, text: string, retry?: boolean, veil?: boolean } | undefined} word */
  #say(word) {
    const box = this.#find(".words");
    box.hidden = !word;
    if (!word) return;
    box.classList.toggle("veil", Boolean(word.veil));
    say(this.#find(".words h3"), word.title);
    say(this.#find(".words p"), word.text);
    this.#find(".retry").hidden = !word.retry;
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
