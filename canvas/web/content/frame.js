// @ts-check
// The outer frame: it registers the service worker, gives it a port to the app
// page, and shows the canvas in an inner frame of the same origin. The canvas can
// control it (same origin), so nothing is enforced here: the app page does that.
"use strict";
{
  const SANDBOX = "allow-scripts allow-same-origin allow-forms allow-pointer-lock"; // as far as the outer frame has it
  const TIMEOUT = 10_000; // ms for the service worker to start
  const CONTROL_TIMEOUT = 2_000; // ms for it to take control
  const MEASURE_INTERVAL = 20_000; // ms
  const WORKER = "/.ahp/sw.js";

  /** @typedef {{ mode: string, titled?: boolean, tokens: Record<string, string> }} Theme */

  /** @type {MessagePort | undefined} */
  let app;
  /** @type {HTMLIFrameElement | undefined} */
  let inner;
  /** @type {ServiceWorkerRegistration | undefined} Of an origin that is used once */
  let registration;
  let kept = false; // the origin is used again
  let direct = false; // the canvas is reached without a service worker
  /** @type {Document | null | undefined} The document whose end is reported because it sent a message */
  let sender;

  /** @param {unknown} message @param {Transferable[]} [transfer] */
  const post = (message, transfer = []) => app?.postMessage(message, transfer);

  /** Called when the worker confirms its port. @type {(() => void) | undefined} */
  let connected;

  /** Gives the worker a new port to the app page, which replaces the previous one. */
  function connectWorker() {
    const { port1, port2 } = new MessageChannel();
    navigator.serviceWorker.controller?.postMessage({ t: "port", sockets: /** @type {any} */ (globalThis).ahpSockets === true }, [port1]);
    post({ t: "port" }, [port2]);
  }

  /** @param {string} reason @param {number} patience in ms @param {Promise<unknown>} done */
  const within = (reason, patience, done) => Promise.race([done, new Promise((_, reject) => setTimeout(() => reject(new Error(reason)), patience))]);

  /**
   * Registers the worker and waits until it controls this page. Earlier documents of a
   * lasting origin can have registered it at another scope, where it would control later
   * ones, so only this registration may stay.
   * @param {boolean} kept whether the origin is used again @param {boolean} alone whether no other tab uses it @returns {Promise<true>}
   */
  async function registerWorker(kept, alone) {
    const sw = navigator.serviceWorker;
    if (!sw) throw new Error("no-service-worker");
    sw.addEventListener("message", (event) => {
      if (event.data?.t === "port?") connectWorker();
      if (event.data?.t === "port!") {
        Object.assign(globalThis, { ahpClient: event.data.client }); // read by shim.js
        connected?.();
      }
      if (event.data?.t === "file") ahpOffer(post, Promise.resolve(event.data));
    });
    /** @type {ServiceWorkerRegistration} */ let ours;
    try {
      if (kept) await removeLeftovers(sw, alone);
      ours = await sw.register(WORKER, { scope: "/", updateViaCache: "none" });
    } catch {
      throw new Error("no-service-worker");
    }
    if (!kept) registration = ours;
    await within("worker-late", TIMEOUT, started(ours));
    await within(kept ? "leftover" : "worker-late", kept ? CONTROL_TIMEOUT : TIMEOUT, controlledBy(sw, ours));
    return true;
  }

  /** @type {Promise<boolean> | undefined} Whether the worker was registered before there is a canvas */
  let warmed;

  /** Registers the worker of an origin that is used once before there is a canvas, or keeps it running. */
  function warm() {
    if (warmed) navigator.serviceWorker?.controller?.postMessage({ t: "stay" });
    else warmed = registerWorker(false, false).catch(() => false); // mount tries again
  }

  /** Unregisters what earlier documents left. @param {ServiceWorkerContainer} sw @param {boolean} alone */
  async function removeLeftovers(sw, alone) {
    for (const one of await sw.getRegistrations()) {
      const isOurs = one.scope === `${location.origin}/` && one.active?.scriptURL === location.origin + WORKER;
      if (alone || !isOurs) await one.unregister();
    }
  }

  /** Waits until the registered worker runs. @param {ServiceWorkerRegistration} ours */
  const started = (ours) => new Promise((resolve) => {
    const worker = ours.installing ?? ours.waiting;
    const check = () => { if (!worker || ["activated", "redundant"].includes(worker.state)) resolve(undefined); };
    worker?.addEventListener("statechange", check);
    check();
  });

  /** Waits until this page is controlled by that worker, and not by one of another registration. @param {ServiceWorkerContainer} sw @param {ServiceWorkerRegistration} ours */
  const controlledBy = (sw, ours) => new Promise((resolve) => {
    const check = () => { if (sw.controller && sw.controller === ours.active && ours.scope === `${location.origin}/` && sw.controller.scriptURL === location.origin + WORKER) resolve(undefined); };
    sw.addEventListener("controllerchange", check);
    ours.active?.postMessage({ t: "claim" });
    check();
  });

  let lastMeasured = 0;

  /** Says how much the origin stores. Firefox counts all origins of a domain together. */
  async function measure() {
    lastMeasured = Date.now();
    if (/Firefox\//.test(navigator.userAgent) && !location.hostname.endsWith(".localhost")) return;
    const { usage } = await navigator.storage?.estimate().catch(() => ({ usage: undefined })) ?? {};
    if (usage !== undefined) post({ t: "stored", bytes: usage });
  }

  /** @type {any} What had the focus last in the document */
  let focused;
  /** @type {Set<any>} Elements in which a person typed or chose something */
  let touched = new Set();
  /** @type {[number, number]} How far the document was scrolled when it was last visible: a hidden frame is not scrolled */ let scrolled = [0, 0];

  /** Watches a document: what a person enters, and Escape if the document does not use it. @param {Window} view */
  function watch(view) {
    touched = new Set();
    scrolled = [view.scrollX, view.scrollY];
    view.addEventListener("scroll", () => { if (view.innerHeight) scrolled = [view.scrollX, view.scrollY]; });
    focused = view.document.activeElement;
    view.addEventListener("focusin", (e) => { focused = e.target; }, true);
    for (const type of ["input", "change"]) view.addEventListener(type, (e) => { if (e.isTrusted) touched.add(e.target); }, true);
    view.addEventListener("keydown", (e) => {
      if (e.isTrusted && e.key === "Escape" && !e.isComposing) setTimeout(() => { if (!e.defaultPrevented) post({ t: "key" }); }); // after the document's own handlers
    });
  }

  /** Whether an element still has what a person entered. @param {any} el */
  function unsaved(el) {
    if (!el.isConnected || el.disabled) return false;
    if (el.isContentEditable) return el.textContent.trim() !== "";
    if (el.type === "checkbox" || el.type === "radio") return el.checked !== el.defaultChecked;
    if (el.options) return [...el.options].some((o) => o.selected !== o.defaultSelected);
    return el.value !== el.defaultValue && el.type !== "range";
  }

  /** Answers whether the document has unsaved input, and how far it is scrolled. @param {{ id: number }} m */
  function leaving({ id }) {
    try {
      if (!inner?.contentDocument) return; // of another origin
      post({ t: "looked", id, unsaved: [...touched].some(unsaved), scroll: scrolled });
    } catch {} // the document is of another origin, or has changed what is read here
  }

  /** Gives the focus back to what had it last. */
  function refocus() {
    try {
      inner?.contentWindow?.focus();
      focused?.focus({ preventScroll: true });
    } catch {} // the document is of another origin
  }

  /** @param {string} path @param {[number, number]} [scroll] */
  function showCanvas(path, scroll) {
    const url = new URL(location.origin + path); // concatenated, because "//x" would resolve to another host
    inner = document.createElement("iframe");
    inner.setAttribute("sandbox", SANDBOX);
    inner.setAttribute("allow", "fullscreen"); // what the outer frame has not, nothing in it has
    inner.title = document.title;
    let reloaded = false, first = true;
    inner.addEventListener("load", () => {
      try {
        const view = inner?.contentWindow;
        if (view?.location.origin !== location.origin) throw new Error();
        if (!direct && !reloaded && !view.navigator.serviceWorker.controller) {
          reloaded = true; // only once: a forced reload in Firefox bypasses the service worker
          return view.location.replace(url.href);
        }
        paint();
        watch(view);
        if (first && scroll) restoreScroll(view, scroll); // as it was when it was unmounted
        first = false;
        post({ t: "live" });
      } catch {
        post({ t: "left" }); // it navigated to another origin, which was blocked
      }
    });
    inner.src = url.href;
    document.body.append(inner);
  }

  /** Scrolls to where a document was, now or when it has grown that long: many pages draw what they show after they are loaded. A person who scrolls ends it. @param {Window} view @param {[number, number]} scroll */
  function restoreScroll(view, scroll) {
    const page = view.document.documentElement;
    view.scrollTo(...scroll);
    if (Math.abs(view.scrollY - scroll[1]) < 1 && Math.abs(view.scrollX - scroll[0]) < 1) return;
    const grown = new ResizeObserver(() => {
      view.scrollTo(...scroll);
      if (view.scrollY >= scroll[1] - 1) end();
    });
    const end = () => { grown.disconnect(); clearTimeout(timer); };
    const timer = setTimeout(end, 10_000);
    for (const what of ["wheel", "keydown", "pointerdown"]) view.addEventListener(what, end, { once: true, capture: true });
    grown.observe(page);
    if (view.document.body) grown.observe(view.document.body);
  }

  /** Sets the theme on the canvas document. shim.js reads it before the first paint. */
  function paint() {
    const root = inner?.contentDocument?.documentElement;
    const theme = /** @type {any} */ (globalThis).ahpTheme;
    if (!root || !theme) return;
    root.dataset.colorMode = theme.mode;
    root.dataset.titled = String(theme.titled === true);
    for (const [name, value] of Object.entries(theme.tokens)) root.style.setProperty(name, value);
  }

  /** Reloads the canvas's page and restores its scroll position. */
  function reload() {
    const view = inner?.contentWindow;
    if (!inner || !view) return;
    try {
      const { scrollX, scrollY } = view;
      // Unless the page has been scrolled since.
      inner.addEventListener("load", () => { if (!view.scrollX && !view.scrollY) restoreScroll(view, [scrollX, scrollY]); }, { once: true });
      view.location.reload();
    } catch {
      post({ t: "left" }); // it is on another origin, which was blocked
    }
  }

  /** Waits until the browser has painted what is set now. */
  const painted = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));

  /** Waits until this frame has its height, which the browser passes on some time after the page has set it. @param {number} height */
  async function sized(height) {
    const end = performance.now() + 1_000;
    while (Math.abs(innerHeight - height) > 1 && performance.now() < end) await new Promise(requestAnimationFrame);
  }

  /** Answers what the canvas's document shows, and its problems since the last answer. @param {{ id: number, masked: boolean, height: number }} m masked: a picture follows; height: of this frame */
  async function look({ id, masked, height }) {
    const view = /** @type {any} */ (inner?.contentWindow);
    let seen = {};
    try {
      const { problems, dropped } = view.ahpProblems?.take() ?? { problems: [], dropped: 0 };
      seen = {
        problems, dropped, idle: view.ahpProblems?.idle?.(),
        outline: /** @type {any} */ (globalThis).ahpOutline(view.document),
        full: view.document.documentElement.scrollHeight,
        revision: Number(view.document.querySelector("script[data-ahp-page]")?.dataset.ahpPage) || 0,
      };
      if (masked) {
        /** @type {any} */ (globalThis).ahpMask(view.document);
        await sized(height);
        await painted();
        seen = { ...seen, masked: true };
      }
    } catch {} // the document is of another origin, or has changed what is read here
    post({ t: "looked", id, ...seen });
  }

  /** Answers with a sketch of what the document shows. @param {{ id: number }} m */
  function sketch({ id }) {
    try {
      post({ t: "looked", id, sketch: /** @type {any} */ (globalThis).ahpSketch(inner?.contentDocument) });
    } catch {} // the document is of another origin, or has changed what is read here
  }

  /** Posts a message to the canvas's document. @param {unknown} payload */
  function postToDocument(payload) {
    // This window's function: with the other window's, WebKit names that window as the source.
    if (inner?.contentWindow) Reflect.apply(postMessage, inner.contentWindow, [{ type: "canvas/message", payload }, location.origin]);
  }

  /** Passes on a message that the canvas's document posted to its parent. @param {unknown} payload */
  function fromDocument(payload) {
    const view = inner?.contentWindow;
    if (view && sender !== view.document) {
      sender = view.document;
      view.addEventListener("pagehide", () => post({ t: "bye" }), { once: true });
    }
    post({ t: "message", payload });
  }

  function pong() {
    post({ t: "pong" });
    if (kept && Date.now() - lastMeasured > MEASURE_INTERVAL) measure();
  }

  /** @param {{ path: string, title: string, theme: Theme, permissions?: string[], http?: boolean, direct?: boolean, kept?: boolean, alone?: boolean, sockets?: boolean, scroll?: [number, number] }} order */
  async function mount(order) {
    post({ t: "here" });
    /** @type {any} */ (globalThis).ahpTheme = order.theme;
    /** @type {any} */ (globalThis).ahpSockets = order.sockets === true && !order.direct; // read by sockets.js
    /** @type {any} */ (globalThis).ahpPermissions = order.permissions ?? []; // read by asks.js
    Object.assign(globalThis, { ahpDirect: order.direct === true, ahpHTTP: order.http === true }); // read by cookies.js
    document.title = order.title;
    try {
      direct = Boolean(order.direct);
      kept = order.kept === true;
      if (!direct) {
        await warmed || await registerWorker(kept, order.alone === true);
        // Wait for the confirmation: the first request can overtake the message with the port.
        await within("worker-late", TIMEOUT, new Promise((resolve) => { connected = () => resolve(undefined); connectWorker(); }));
      }
      if (kept) await measure();
      showCanvas(order.path, order.scroll);
    } catch (err) {
      post({ t: "failed", reason: err instanceof Error ? err.message : "unknown" });
    }
  }

  // The page moves the focus to this document, from which a person has not gone on into the canvas's.
  addEventListener("keydown", (e) => { if (e.isTrusted && e.key === "Escape") post({ t: "key" }); });

  addEventListener("message", (event) => {
    const kind = event.data?.["x-ahp"];
    if (kind === "here" && event.source === parent) return event.ports[0]?.postMessage("here"); // the address works
    if (kind === "warm" && event.source === parent && !app) return warm();
    if (kind === "mount" && event.source === parent && !app) {
      app = event.ports[0];
      app.onmessage = ({ data }) => {
        if (data.t === "ping") return pong();
        if (data.t === "reload") return reload();
        if (data.t === "message") return postToDocument(data.payload);
        if (data.t === "look") return look(data);
        if (data.t === "sketch") return sketch(data);
        if (data.t === "focus") return refocus();
        if (data.t === "leaving") return leaving(data);
        if (data.t !== "theme") return;
        /** @type {any} */ (globalThis).ahpTheme = data.theme;
        paint();
      };
      mount(event.data);
      return;
    }
    if (kind === "sockets" && event.origin === location.origin && event.ports[0]) return post({ t: "sockets" }, [event.ports[0]]); // also of a frame in the canvas
    if (kind === "file" && event.origin === location.origin && direct) return ahpOffer(post, ahpFetchFile(String(event.data.path)));
    if (kind === "ask" && event.origin === location.origin && event.ports[0]) return post({ t: "ask", ask: event.data.ask }, [event.ports[0]]);
    if (!inner || event.source !== inner.contentWindow || event.origin !== location.origin) return;
    if (kind === "view" && event.ports[0]) post({ t: "view" }, [event.ports[0]]);
    if (event.data?.type === "canvas/message") fromDocument(event.data.payload);
  });

  // An origin that is never used again: the registration would only occupy disk space.
  addEventListener("pagehide", () => registration?.unregister());
}
