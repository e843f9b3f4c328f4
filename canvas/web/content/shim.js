// @ts-check
// Put by the service worker before everything else in the canvas's document:
// the theme is there before the first paint, the answer to a form that was sent
// on has its own address, the app's script finds what it sends back as proof that
// it is the app's, a link that wants a new window is no dead one, an event stream
// outlives the worker, and a page that asks whether there is WebRTC hears no: Chromium
// ends the process of a page that uses it under our policies.
"use strict";
{
  const theme = (() => {
    try {
      return parent !== self && parent.location.pathname === "/.ahp/frame.html" ? /** @type {any} */ (parent).ahpTheme : undefined;
    } catch {
      return undefined; // a frame of another origin: not ours to ask
    }
  })();
  if (theme) {
    const root = document.documentElement;
    root.dataset.colorMode = theme.mode;
    for (const [name, value] of Object.entries(theme.tokens)) root.style.setProperty(name, /** @type {string} */ (value));
  }

  const { at, cookies } = document.currentScript?.dataset ?? {};
  if (at) history.replaceState(history.state, "", at.includes("#") ? at : at + location.hash);
  if (cookies) {
    const inert = /** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(Document.prototype, "cookie"));
    Object.defineProperty(document, "cookie", { ...inert, get: () => [cookies, inert.get?.call(document)].filter(Boolean).join("; ") });
  }

  const Native = globalThis.EventSource;
  const AGAIN = 500; // ms until a stream that was cut is opened again

  /**
   * The browser's own EventSource, but for one thing: a service worker that the
   * browser ends takes its streams along, and they then close for good. Such a
   * stream is opened again. One that the server ends or refuses behaves as ever;
   * but the worker does not see what number the browser goes on from, so it is told.
   */
  globalThis.EventSource = class EventSource extends Native {
    /** @type {globalThis.EventSource | undefined} What is heard in the place of ourselves */ #other;
    #types = new Set();
    #live = false;
    #last = "";
    #again = 0;

    /** @param {string | URL} url @param {EventSourceInit} [init] */
    constructor(url, init) {
      super(url, init);
      for (const type of ["open", "message", "error"]) this.#follow(type);
      super.addEventListener("open", () => { this.#live = true; });
      super.addEventListener("error", () => {
        const state = this.readyState;
        if (this.#live && state === Native.CLOSED) this.#again = setTimeout(() => this.#reopen(), AGAIN);
        this.#live = false;
        if (this.#last && (this.#again || state === Native.CONNECTING)) {
          navigator.serviceWorker?.controller?.postMessage({ t: "last", url: this.url, id: this.#last });
        }
      });
    }

    /** @returns {number} */
    get readyState() {
      if (this.#again) return Native.CONNECTING;
      return this.#other ? this.#other.readyState : super.readyState;
    }

    close() {
      clearTimeout(this.#again);
      this.#again = 0;
      this.#live = false;
      this.#other?.close();
      super.close();
    }

    /** @param {string} type @param {any} listener @param {any} [options] */
    addEventListener(type, listener, options) {
      super.addEventListener(type, listener, options);
      this.#follow(type);
    }

    /** Hears a type of event for its number, and wherever it comes from. @param {string} type */
    #follow(type) {
      if (this.#types.has(type)) return;
      this.#types.add(type);
      super.addEventListener(type, (/** @type {any} */ event) => { this.#last = event.lastEventId ?? this.#last; });
      this.#other?.addEventListener(type, this.#forward);
    }

    #forward = (/** @type {any} */ event) => {
      const { type, data, origin, lastEventId } = event;
      this.dispatchEvent(event instanceof MessageEvent ? new MessageEvent(type, { data, origin, lastEventId }) : new Event(type));
    };

    #reopen() {
      this.#again = 0;
      this.#other = new Native(this.url, { withCredentials: this.withCredentials });
      for (const type of this.#types) this.#other.addEventListener(type, this.#forward);
    }
  };

  /** The frames of the canvas have a common ancestor of its origin. @param {any} from @returns {any} */
  function outermost(from) {
    try {
      return from.parent !== from && from.parent.origin ? outermost(from.parent) : from;
    } catch {
      return from;
    }
  }

  /** Whether a window or a frame in it has a name. @param {any} window @param {string} name @returns {boolean} */
  const has = (window, name) => {
    try {
      return window.name === name || Array.from({ length: window.length }, (_, i) => window[i]).some((frame) => has(frame, name));
    } catch {
      return false; // of another origin
    }
  };

  /** A canvas opens no windows: what the app's own page wants to have in a new one comes in this one. @param {{ target: string }} element @param {string} url */
  function stay(element, url) {
    const { target } = element;
    if (!target || /^_(self|parent|top)$/i.test(target) || has(outermost(self), target)) return;
    if (new URL(url, document.baseURI).origin === location.origin) element.target = "_self";
  }
  addEventListener("click", (event) => {
    const link = /** @type {HTMLAnchorElement | undefined} */ (event.composedPath().find((node) => node instanceof HTMLAnchorElement || node instanceof HTMLAreaElement));
    if (link?.href && !event.defaultPrevented) stay(link, link.href);
  });
  addEventListener("submit", ({ target, defaultPrevented }) => {
    if (target instanceof HTMLFormElement && !defaultPrevented) stay(target, target.getAttribute("action") ?? "");
  });

  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection"]) Reflect.deleteProperty(globalThis, name);
  document.currentScript?.remove();
}
