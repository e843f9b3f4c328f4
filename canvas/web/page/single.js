// @ts-check
// Single-document mode: without a service worker, this opaque frame reads a
// document and its resources over its port to the app page, shows them as one srcdoc
// (assemble.js), and reports what it could not inline. The canvas can control this
// frame, so nothing is enforced here: the app page and the frame's policy, which the
// srcdoc inherits, do that. The host puts this script into single.html, behind assemble.js.
"use strict";
{
  // Filled in by the host: the texts of canvas.js, singleshim.js and sockets.js.
  const CANVAS = "";
  const SHIM = "";
  const SOCKETS = "";

  const MAX_MISSING = 32;
  const MAX_REQUESTS = 64;
  const CHUNK = 32 * 1024; // bytes of a request body in one message

  /** @typedef {{ type?: string, body?: ArrayBuffer, word?: string }} Answer */

  /** @type {MessagePort | undefined} */ let app;
  /** @type {MessagePort} */ let reads;
  /** @type {Map<number, (a: Answer) => void>} */ const pending = new Map();
  /** @type {Map<number, Exchange>} Requests of the document */ const requests = new Map();
  /** @type {any} */ let theme;
  /** @type {HTMLIFrameElement | undefined} */ let inner;
  /** @type {Set<string>} */ const missing = new Set();
  const REPLY_TIMEOUT = 2_000; // ms after which a silent frame counts as another page
  let lastId = 0, replyTimer = 0;
  let shown = "/"; // the path of the document
  let sockets = false; // the provider answers ws/1

  /** @param {unknown} m @param {Transferable[]} [transfer] */
  const post = (m, transfer = []) => app?.postMessage(m, transfer);

  /** @param {string} what */
  function reportMissing(what) {
    if (missing.size >= MAX_MISSING || missing.has(what)) return;
    missing.add(what.slice(0, 200));
    post({ t: "lacks", what: [...missing] });
  }

  /** Reads a file of the canvas. @param {string} path @returns {Promise<Answer>} */
  const read = (path) => new Promise((resolve) => {
    pending.set(++lastId, resolve);
    reads.postMessage({ t: "ask", id: lastId, method: "GET", path, headers: [], read: true });
  });

  /**
   * A fetch of the document for a path of its canvas: its body goes to the app page in
   * chunks, and what the app page answers goes to the document's port.
   */
  class Exchange {
    #sent = 0;
    #given = 0;

    /** @param {number} id @param {MessagePort} port of the document @param {Uint8Array<ArrayBuffer>} body */
    constructor(id, port, body) {
      this.id = id;
      this.port = port;
      this.body = body;
      port.onmessage = () => { // the document canceled it
        requests.delete(id);
        reads.postMessage({ t: "cancel", id });
      };
    }

    /** @param {any} m of the app page @param {string} path */
    receive(m, path) {
      if (m.t === "more") return this.#upload(m.n);
      if (m.t === "words") reportMissing(path);
      if (["whole", "words", "end"].includes(m.t)) requests.delete(this.id);
      this.port.postMessage(m);
      if (m.t === "data") reads.postMessage({ t: "more", id: this.id, n: m.chunks.reduce((/** @type {number} */ n, /** @type {ArrayBuffer} */ c) => n + c.byteLength, 0) });
    }

    /** @param {number} n bytes more that the app page takes */
    #upload(n) {
      this.#given += n;
      while (this.#sent < this.body.length && this.#given > 0) {
        const part = this.body.slice(this.#sent, this.#sent + Math.min(CHUNK, this.#given));
        this.#sent += part.length;
        this.#given -= part.length;
        reads.postMessage({ t: "data", id: this.id, bytes: part.buffer }, [part.buffer]);
      }
      if (this.#sent !== this.body.length) return;
      this.#sent = Infinity; // the end is sent once
      reads.postMessage({ t: "end", id: this.id });
    }
  }

  /** Sends a request of the document to the app page. @param {any} m untrusted @param {MessagePort} port for the answer */
  function request({ method, path, headers, body }, port) {
    if (typeof path !== "string" || !path.startsWith("/") || requests.size >= MAX_REQUESTS) return port.postMessage({ t: "words", status: 429, word: "This canvas sends too many requests at once." });
    const id = ++lastId;
    const bytes = new Uint8Array(body instanceof ArrayBuffer ? body : []);
    const made = new Exchange(id, port, bytes);
    requests.set(id, made);
    pending.set(id, (answer) => made.receive(answer, path));
    const length = body instanceof ArrayBuffer ? bytes.length : undefined;
    reads.postMessage({ t: "ask", id, method, path, headers, length, ...(length !== undefined && length <= CHUNK && { bytes: body }) });
  }

  /** @param {string} path */
  async function show(path) {
    shown = path;
    const srcdoc = await assemble(path.replace(/#.*/s, ""), {
      modules: { "/.ahp/canvas.js": CANVAS }, read, reportMissing,
      start: (given) => `(() => { ${SHIM}\nprepareDocument(${JSON.stringify({ theme, ...given })}); })(); ${sockets ? `globalThis.ahpSocketsAt = ${JSON.stringify(`http://canvas${given.path}`)}; (() => { ${SOCKETS} })();` : ""}`,
    });
    if (srcdoc === undefined) return post({ t: "failed", reason: "no-document" });
    if (inner) post({ t: "bye" });
    for (const id of requests.keys()) reads.postMessage({ t: "cancel", id });
    requests.clear();
    inner?.remove();
    inner = document.createElement("iframe");
    inner.setAttribute("sandbox", "allow-scripts");
    inner.setAttribute("allow", "");
    inner.title = document.title;
    inner.addEventListener("load", () => {
      clearTimeout(replyTimer);
      replyTimer = setTimeout(() => post({ t: "left" }), REPLY_TIMEOUT);
      inner?.contentWindow?.postMessage({ "x-ahp": "here?" }, "*");
    });
    inner.srcdoc = srcdoc;
    document.body.append(inner);
  }

  /** @param {{ path: string, title: string, theme: any, sockets?: boolean }} order */
  function mount(order) {
    const { port1, port2 } = new MessageChannel();
    reads = port1;
    reads.onmessage = ({ data }) => {
      pending.get(data.id)?.(data);
      if (!requests.has(data.id)) pending.delete(data.id);
    };
    theme = order.theme;
    sockets = order.sockets === true;
    document.title = order.title;
    post({ t: "here" });
    post({ t: "port" }, [port2]);
    show(order.path).catch(() => post({ t: "failed", reason: "unknown" }));
  }

  addEventListener("keydown", (e) => { if (e.isTrusted && e.key === "Escape") post({ t: "key" }); }); // as in frame.js

  addEventListener("message", ({ data, source, ports }) => {
    const kind = data?.["x-ahp"];
    if (source === parent && kind === "mount" && !app) {
      app = ports[0];
      app.onmessage = ({ data }) => {
        if (data.t === "ping") return post({ t: "pong" });
        if (data.t === "reload") return void show(shown).catch(() => {}); // without its scroll position: the document is opaque
        if (data.t === "look") return inner?.contentWindow?.postMessage({ "x-ahp": "look", id: data.id, masked: data.masked }, "*");
        if (data.t === "sketch") return inner?.contentWindow?.postMessage({ "x-ahp": "sketch", id: data.id }, "*");
        if (data.t === "message") return inner?.contentWindow?.postMessage({ type: "canvas/message", payload: data.payload }, "*");
        if (data.t !== "theme") return;
        theme = data.theme;
        inner?.contentWindow?.postMessage({ "x-ahp": "theme", theme }, "*");
      };
      return mount(data);
    }
    if (!inner || source !== inner.contentWindow) return;
    if (kind === "here") {
      clearTimeout(replyTimer);
      post({ t: "live" });
    }
    if (kind === "view" && ports[0]) post({ t: "view" }, [ports[0]]);
    if (kind === "sockets" && ports[0]) post({ t: "sockets" }, [ports[0]]);
    if (kind === "bye") post({ t: "bye" });
    if (data?.type === "canvas/message") post({ t: "message", payload: data.payload });
    if (kind === "key") post({ t: "key" });
    if (kind === "fetch" && ports[0]) request(data, ports[0]);
    if (kind === "looked") post({ ...data, t: "looked" });
    if (kind === "lack") reportMissing(String(data.what));
    if (kind === "go" && typeof data.path === "string" && data.path.startsWith("/")) show(data.path).catch(() => {});
  });
}
