// @ts-check
// Single-document mode: without a service worker, this opaque frame reads a
// document and its resources over its port to the app page, inlines everything
// into one srcdoc, and reports what it could not inline. The canvas can control
// this frame, so nothing is enforced here: the app page and the frame's policy,
// which the srcdoc inherits, do that. The host puts this script into single.html.
"use strict";
{
  // Filled in by the host: the texts of canvas.js, singleshim.js and sockets.js.
  const CANVAS = "";
  const SHIM = "";
  const SOCKETS = "";

  const MAX_FILES = 256, MAX_BYTES = 16 * 1024 * 1024; // of one document
  const MAX_MISSING = 32;
  const MAX_REQUESTS = 64;
  const CHUNK = 32 * 1024; // bytes of a request body in one message
  const SCHEME = "ahp-canvas:"; // imports are rewritten to this scheme: a relative import does not work in a blob module
  const ROOT = "http://canvas";
  const IMPORT = /(\bfrom\s*|\bimport\s*\(?\s*)(["'])((?:\.{1,2})?\/[^"'\n]*)\2/g;
  const CSS_URL = /(@import\s+)?url\(\s*(["']?)([^"')]+)\2\s*\)|@import\s+(["'])([^"']+)\4/g;

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

  /** One document while its resources are inlined. */
  class Page {
    #files = 0;
    #bytes = 0;
    /** @type {Map<string, string>} by path */ modules = new Map([["/.ahp/canvas.js", CANVAS]]);

    /** @param {string} path */
    constructor(path) {
      this.path = path;
    }

    /** @param {string} href @param {string} from @returns {string | undefined} the path of a file of the canvas */
    resolve(href, from) {
      if (!URL.canParse(href, ROOT + from)) return undefined;
      const url = new URL(href, ROOT + from);
      if (url.origin === ROOT) return url.pathname + url.search;
      if (url.protocol !== "data:" && url.protocol !== "blob:") reportMissing(url.href);
      return undefined;
    }

    /** @param {string} path @returns {Promise<{ type: string, body: ArrayBuffer } | undefined>} */
    async read(path) {
      if (this.#files++ >= MAX_FILES || this.#bytes > MAX_BYTES) return void reportMissing(path);
      const got = await new Promise((/** @type {(a: Answer) => void} */ resolve) => {
        pending.set(++lastId, resolve);
        reads.postMessage({ t: "ask", id: lastId, method: "GET", path, headers: [], read: true });
      });
      if (!got.body) return void reportMissing(path);
      this.#bytes += got.body.byteLength;
      return { type: got.type ?? "application/octet-stream", body: got.body };
    }

    /** @param {string} path */
    async text(path) {
      const got = await this.read(path);
      return got && new TextDecoder().decode(got.body);
    }

    /** @param {string} path @returns {Promise<string | undefined>} */
    async data(path) {
      const got = await this.read(path);
      if (!got) return undefined;
      return new Promise((resolve) => {
        const reader = new FileReader();
        reader.onload = () => resolve(String(reader.result));
        reader.readAsDataURL(new Blob([got.body], { type: got.type }));
      });
    }

    /** Reads a module's imports, and rewrites them to SCHEME. @param {string} code @param {string} from @returns {Promise<string>} */
    async module(code, from) {
      for (const [, , , spec] of code.matchAll(IMPORT)) {
        const path = this.resolve(spec, from);
        if (!path || this.modules.has(path)) continue;
        this.modules.set(path, ""); // imports can be circular
        const text = await this.text(path);
        if (text === undefined) this.modules.delete(path);
        else this.modules.set(path, await this.module(text, path));
      }
      return code.replace(IMPORT, (all, word, quote, spec) => {
        const path = this.resolve(spec, from);
        return path && this.modules.has(path) ? `${word}${quote}${SCHEME}${path}${quote}` : all;
      });
    }

    /** Inlines a style sheet's resources and imports. @param {string} css @param {string} from @param {number} [depth] @returns {Promise<string>} */
    async style(css, from, depth = 0) {
      const found = [...css.matchAll(CSS_URL)];
      const replacements = await Promise.all(found.map(async ([all, at, , url, , plain]) => {
        const path = this.resolve(plain ?? url, from);
        if (!path) return all;
        if (!at && !plain) return `url("${await this.data(path) ?? "data:,"}")`;
        const text = depth < 4 ? await this.text(path) : undefined;
        return text === undefined ? "" : `url("data:text/css,${encodeURIComponent(await this.style(text, path, depth + 1))}")`;
      }));
      let i = 0;
      return css.replace(CSS_URL, () => replacements[i++]);
    }
  }

  /** @param {string} code */
  const script = (code) => code.replace(/<(?=\/script|!--)/gi, "\\x3c");

  /** @param {Page} page @param {Document} doc @param {HTMLScriptElement} el */
  async function inlineScript(page, doc, el) {
    const module = el.type === "module";
    const src = el.getAttribute("src");
    if (!src) {
      if (module) el.textContent = script(await page.module(el.textContent ?? "", page.path));
      return;
    }
    const path = page.resolve(src, page.path);
    el.removeAttribute("src");
    if (module) {
      el.textContent = path ? script(await page.module(`import ${JSON.stringify(path)}`, page.path)) : "";
    } else {
      el.textContent = script((path && await page.text(path)) ?? "");
      if (el.defer) doc.body.append(el); // inline scripts ignore defer
    }
  }

  /** @param {Page} page @param {Document} doc @param {Element} el */
  async function inlineStyle(page, doc, el) {
    if (el.localName === "style") return void (el.textContent = await page.style(el.textContent ?? "", page.path));
    const path = page.resolve(el.getAttribute("href") ?? "", page.path);
    const css = path && await page.text(path);
    if (!path || css === undefined) return el.remove();
    const style = doc.createElement("style");
    style.media = el.getAttribute("media") ?? "";
    style.textContent = (await page.style(css, path)).replace(/<(?=\/style)/gi, "\\3c ");
    el.replaceWith(style);
  }

  /** @param {Page} page @param {Element} el */
  async function inlineMedia(page, el) {
    const name = el.hasAttribute("src") ? "src" : "href";
    const path = page.resolve(el.getAttribute(name) ?? "", page.path);
    el.removeAttribute("srcset");
    const data = path && await page.data(path);
    if (data) el.setAttribute(name, data);
  }

  /** Returns the document with its resources inlined. @param {string} path @returns {Promise<string | undefined>} */
  async function assemble(path) {
    const page = new Page(path);
    const got = await page.read(path);
    if (!got) return undefined;
    if (!/^text\/html\b/i.test(got.type)) return `<!doctype html><p>This file is not an HTML page, so it cannot be shown in single-document mode.`;
    const doc = new DOMParser().parseFromString(new TextDecoder().decode(got.body), "text/html");
    for (const el of doc.querySelectorAll("base, meta[http-equiv=refresh i]")) el.remove();
    for (const el of doc.querySelectorAll("iframe, object, embed")) reportMissing(el.getAttribute("src") ?? el.getAttribute("data") ?? el.localName);
    await Promise.all([...doc.querySelectorAll("link[rel~=stylesheet], style")].map((el) => inlineStyle(page, doc, el)));
    for (const el of doc.querySelectorAll("link[href]")) el.remove(); // hints and icons have no effect here
    await Promise.all([...doc.querySelectorAll("img[src], input[src], video[src], audio[src], source[src], track[src], image[href]")].map((el) => inlineMedia(page, el)));
    for (const el of doc.querySelectorAll("script")) await inlineScript(page, doc, el); // in sequence: deferred scripts keep their order
    const first = doc.createElement("script");
    const given = JSON.stringify({ theme, modules: Object.fromEntries(page.modules), scheme: SCHEME, title: doc.title, path });
    const withSockets = sockets ? `globalThis.ahpSocketsAt = ${JSON.stringify(ROOT + path)}; (() => { ${SOCKETS} })();` : "";
    first.textContent = script(`(() => { ${SHIM}\nprepareDocument(${given}); })(); ${withSockets}`);
    doc.documentElement.prepend(first);
    return (doc.doctype ? "<!doctype html>" : "") + doc.documentElement.outerHTML;
  }

  /** @param {string} path */
  async function show(path) {
    shown = path;
    const srcdoc = await assemble(path.replace(/#.*/s, ""));
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
