// @ts-check
// The outer frame: it registers the service worker, hands it a port to the app
// page, and holds the canvas in an inner frame of the same origin. It counts as
// controlled by the canvas (same origin), so it enforces nothing: the app page
// does, and names the instance.
"use strict";
{
  const SANDBOX = "allow-scripts allow-same-origin allow-forms allow-modals allow-downloads";
  const PATIENCE = 10_000; // ms until a service worker that does not take over is given up

  /** @typedef {{ mode: string, tokens: Record<string, string> }} Theme */

  /** @type {MessagePort | undefined} */
  let app;
  /** @type {HTMLIFrameElement | undefined} */
  let inner;
  /** @type {ServiceWorkerRegistration | undefined} */
  let registration;

  /** @param {unknown} message @param {Transferable[]} [transfer] */
  const tell = (message, transfer = []) => app?.postMessage(message, transfer);

  /** What is done when the worker says that it has its port. @type {(() => void) | undefined} */
  let connected;

  /** Gives the worker a new port to the app page; the one before is dropped there. */
  function connectWorker() {
    const { port1, port2 } = new MessageChannel();
    navigator.serviceWorker.controller?.postMessage({ t: "port" }, [port1]);
    tell({ t: "port" }, [port2]);
  }

  /** @template T @param {Promise<T>} done @returns {Promise<T>} */
  const soon = (done) => Promise.race([
    done,
    new Promise((_, reject) => setTimeout(() => reject(new Error("worker-late")), PATIENCE)),
  ]);

  /** Registers the worker and waits until it controls this page. */
  async function takeOver() {
    const sw = navigator.serviceWorker;
    if (!sw) throw new Error("no-service-worker");
    // Listen first: a worker that claims before we listen would be missed.
    const controlled = new Promise((resolve) => sw.addEventListener("controllerchange", resolve, { once: true }));
    sw.addEventListener("message", (event) => {
      if (event.data?.t === "port?") connectWorker();
      if (event.data?.t === "port!") connected?.();
    });
    try {
      registration = await sw.register("/.ahp/sw.js", { scope: "/", updateViaCache: "none" });
    } catch {
      throw new Error("no-service-worker");
    }
    if (!sw.controller) await soon(controlled);
    // Wait for its word: the first request can overtake the message that brings the port.
    await soon(new Promise((resolve) => { connected = () => resolve(undefined); connectWorker(); }));
  }

  /** @param {string} path */
  function showCanvas(path) {
    const url = new URL(location.origin + path); // not resolved: "//x" must stay a path of ours
    inner = document.createElement("iframe");
    inner.setAttribute("sandbox", SANDBOX);
    inner.setAttribute("allow", "");
    inner.title = document.title;
    let again = false;
    inner.addEventListener("load", () => {
      try {
        const view = inner?.contentWindow;
        if (view?.location.origin !== location.origin) throw new Error();
        if (!again && !view.navigator.serviceWorker.controller) {
          again = true; // once: it was read past the worker, as Firefox does where a person has everything loaded anew
          return view.location.replace(url.href);
        }
        paint();
        tell({ t: "live" });
      } catch {
        tell({ t: "left" }); // it went to another origin, which was refused
      }
    });
    inner.src = url.href;
    document.body.append(inner);
  }

  /** Puts the theme on the canvas document; shim.js asks for it before the first paint. */
  function paint() {
    const root = inner?.contentDocument?.documentElement;
    const theme = /** @type {any} */ (globalThis).ahpTheme;
    if (!root || !theme) return;
    root.dataset.colorMode = theme.mode;
    for (const [name, value] of Object.entries(theme.tokens)) root.style.setProperty(name, value);
  }

  /** Loads the canvas's page again, where it was scrolled to. */
  function reload() {
    const view = inner?.contentWindow;
    if (!inner || !view) return;
    try {
      const { scrollX, scrollY } = view;
      // Where the person has scrolled since, that counts.
      inner.addEventListener("load", () => { if (!view.scrollX && !view.scrollY) view.scrollTo(scrollX, scrollY); }, { once: true });
      view.location.reload();
    } catch {
      tell({ t: "left" }); // it is on another origin, which was refused
    }
  }

  /** @param {{ path: string, title: string, theme: Theme }} order */
  async function mount(order) {
    tell({ t: "here" });
    /** @type {any} */ (globalThis).ahpTheme = order.theme;
    document.title = order.title;
    try {
      await takeOver();
      showCanvas(order.path);
    } catch (err) {
      tell({ t: "failed", reason: err instanceof Error ? err.message : "unknown" });
    }
  }

  addEventListener("message", (event) => {
    const kind = event.data?.["x-ahp"];
    if (kind === "mount" && event.source === parent && !app) {
      app = event.ports[0];
      app.onmessage = ({ data }) => {
        if (data.t === "ping") return tell({ t: "pong" });
        if (data.t === "reload") return reload();
        if (data.t !== "theme") return;
        /** @type {any} */ (globalThis).ahpTheme = data.theme;
        paint();
      };
      mount(event.data);
    } else if (kind === "view" && event.source === inner?.contentWindow && event.ports[0]) {
      tell({ t: "view" }, [event.ports[0]]);
    }
  });

  // A registration would stay on disk for ever: this origin is never used again.
  addEventListener("pagehide", () => registration?.unregister());
}
