// @ts-check
// The first script in each document of a canvas (the service worker puts it
// there). It sets the theme before the first paint, shows the final address after
// a redirected form, opens links for new windows in place, reopens event streams after
// the worker was stopped, limits history entries, keeps out messages of other canvases,
// and removes WebRTC: Chromium kills the process of a page
// that uses it under our policies.
"use strict";
{
  const theme = (() => {
    try {
      return parent !== self && parent.location.pathname === "/.ahp/frame.html" ? /** @type {any} */ (parent).ahpTheme : undefined;
    } catch {
      return undefined; // the parent has another origin
    }
  })();
  if (theme) {
    const root = document.documentElement;
    root.dataset.colorMode = theme.mode;
    root.dataset.titled = String(theme.titled === true); // the renderer shows the canvas's title and status
    for (const [name, value] of Object.entries(theme.tokens)) root.style.setProperty(name, /** @type {string} */ (value));
  }

  const { at } = document.currentScript?.dataset ?? {};
  if (at) history.replaceState(history.state, "", at.includes("#") ? at : at + location.hash);

  const Native = globalThis.EventSource;
  const REOPEN_DELAY = 500; // ms

  /**
   * The native EventSource, which also survives the end of its service worker: the
   * browser closes such a stream for good, and this class opens it again. A stream
   * that the server ends or refuses behaves as usual. The worker does not see the
   * Last-Event-ID of a reconnect, so it is sent there.
   */
  globalThis.EventSource = class EventSource extends Native {
    /** @type {globalThis.EventSource | undefined} The stream that was opened after this one closed */ #replacement;
    #observed = new Set();
    #opened = false;
    #lastEventId = "";
    #reopenTimer = 0;

    /** @param {string | URL} url @param {EventSourceInit} [init] */
    constructor(url, init) {
      super(url, init);
      for (const type of ["open", "message", "error"]) this.#observe(type);
      super.addEventListener("open", () => { this.#opened = true; });
      super.addEventListener("error", () => {
        const state = this.readyState;
        if (this.#opened && state === Native.CLOSED) this.#reopenTimer = setTimeout(() => this.#reopen(), REOPEN_DELAY);
        this.#opened = false;
        if (this.#lastEventId && (this.#reopenTimer || state === Native.CONNECTING)) {
          navigator.serviceWorker?.controller?.postMessage({ t: "last", url: this.url, id: this.#lastEventId });
        }
      });
    }

    /** @returns {number} */
    get readyState() {
      if (this.#reopenTimer) return Native.CONNECTING;
      return this.#replacement ? this.#replacement.readyState : super.readyState;
    }

    close() {
      clearTimeout(this.#reopenTimer);
      this.#reopenTimer = 0;
      this.#opened = false;
      this.#replacement?.close();
      super.close();
    }

    /** @param {string} type @param {any} listener @param {any} [options] */
    addEventListener(type, listener, options) {
      super.addEventListener(type, listener, options);
      this.#observe(type);
    }

    /** Listens to a type of event, here and on the replacement, and records its id. @param {string} type */
    #observe(type) {
      if (this.#observed.has(type)) return;
      this.#observed.add(type);
      super.addEventListener(type, (/** @type {any} */ event) => { this.#lastEventId = event.lastEventId ?? this.#lastEventId; });
      this.#replacement?.addEventListener(type, this.#forward);
    }

    #forward = (/** @type {any} */ event) => {
      const { type, data, origin, lastEventId } = event;
      this.dispatchEvent(event instanceof MessageEvent ? new MessageEvent(type, { data, origin, lastEventId }) : new Event(type));
    };

    #reopen() {
      this.#reopenTimer = 0;
      this.#replacement = new Native(this.url, { withCredentials: this.withCredentials });
      for (const type of this.#observed) this.#replacement.addEventListener(type, this.#forward);
    }
  };

  /** The outermost window of the canvas's origin. @param {any} from @returns {any} */
  function outermost(from) {
    try {
      return from.parent !== from && from.parent.origin ? outermost(from.parent) : from;
    } catch {
      return from;
    }
  }

  /** Whether a window or one of its frames has this name. @param {any} window @param {string} name @returns {boolean} */
  const hasFrame = (window, name) => {
    try {
      return window.name === name || Array.from({ length: window.length }, (_, i) => window[i]).some((frame) => hasFrame(frame, name));
    } catch {
      return false; // of another origin
    }
  };

  /** Opens a link or form of the app in this window if it asks for a new one, which a canvas cannot have. @param {{ target: string }} element @param {string} url */
  function openHere(element, url) {
    const { target } = element;
    if (!target || /^_(self|parent|top)$/i.test(target) || hasFrame(outermost(self), target)) return;
    if (new URL(url, document.baseURI).origin === location.origin) element.target = "_self";
  }
  addEventListener("click", (event) => {
    const link = /** @type {HTMLAnchorElement | undefined} */ (event.composedPath().find((node) => node instanceof HTMLAnchorElement || node instanceof HTMLAreaElement));
    if (link?.href && !event.defaultPrevented) openHere(link, link.href);
  });
  addEventListener("submit", ({ target, defaultPrevented }) => {
    if (target instanceof HTMLFormElement && !defaultPrevented) openHere(target, target.getAttribute("action") ?? "");
  });

  // Other tabs can show this canvas too: the service worker asks which one shows this document.
  navigator.serviceWorker?.addEventListener("message", ({ data, ports }) => { if (data?.t === "whose?") ports[0]?.postMessage(outermost(self).ahpClient ?? ""); });
  navigator.serviceWorker?.startMessages();
  Reflect.deleteProperty(globalThis, "SharedWorker"); // it could outlive the page

  // Messages of another canvas's window do not arrive: only this canvas's own windows and the outer frame may post.
  // A window that was removed meanwhile is null or has no parent; whose it was is not known.
  const root = outermost(self);
  if (root !== self) {
    /** @param {any} w @returns {boolean} */
    const isOurs = (w) => w === root || (w !== null && w.parent !== w && isOurs(w.parent));
    addEventListener("message", (event) => {
      const from = /** @type {any} */ (event.source);
      if (from === null ? event.isTrusted : from.window === from && !isOurs(from)) event.stopImmediatePropagation();
    }, { capture: true });
  }

  // A canvas's entries are those of the page's history too: after a few, the rest replaces the last one.
  const MAX_ENTRIES = 20;
  let entries = 0;
  const { pushState } = history;
  history.pushState = function (...given) {
    Reflect.apply(entries++ < MAX_ENTRIES ? pushState : history.replaceState, this, given);
  };

  for (const name of ["registerProtocolHandler", "unregisterProtocolHandler"]) Reflect.deleteProperty(Navigator.prototype, name);
  Reflect.deleteProperty(globalThis, "EyeDropper"); // it reads the whole screen
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection"]) Reflect.deleteProperty(globalThis, name);
  document.currentScript?.remove();
}
