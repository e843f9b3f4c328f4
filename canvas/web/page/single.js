// @ts-check
// Single-document mode: where there is no service worker, this opaque frame
// reads a document and what stands in it over its port to the app page, puts it
// all into one srcdoc, and says what it could not put there. It counts as
// controlled by the canvas, so it enforces nothing: its policy, which the srcdoc
// inherits, and the app page do. The host puts this script into single.html.
"use strict";
{
  // Filled in by the host: the text of canvas.js, and of what stands first in the document.
  const CANVAS = "";
  const SHIM = "";

  const MAX_FILES = 256, MAX_BYTES = 16 * 1024 * 1024; // of one document
  const MAX_LACKS = 32;
  const OWN = "ahp-canvas:"; // modules are imported by this scheme: a blob has no relative addresses
  const ROOT = "http://canvas";
  const IMPORT = /(\bfrom\s*|\bimport\s*\(?\s*)(["'])((?:\.{1,2})?\/[^"'\n]*)\2/g;
  const CSS_URL = /(@import\s+)?url\(\s*(["']?)([^"')]+)\2\s*\)|@import\s+(["'])([^"']+)\4/g;

  /** @typedef {{ type?: string, body?: ArrayBuffer, word?: string }} Answer */

  /** @type {MessagePort | undefined} */ let app;
  /** @type {MessagePort} */ let reads;
  /** @type {Map<number, (a: Answer) => void>} */ const pending = new Map();
  /** @type {any} */ let theme;
  /** @type {HTMLIFrameElement | undefined} */ let inner;
  /** @type {Set<string>} */ const lacks = new Set();
  const SILENCE = 2_000; // ms until a frame that does not answer is taken for another page
  let lastId = 0, silent = 0;

  /** @param {unknown} m @param {Transferable[]} [transfer] */
  const tell = (m, transfer = []) => app?.postMessage(m, transfer);

  /** @param {string} what */
  function lack(what) {
    if (lacks.size >= MAX_LACKS || lacks.has(what)) return;
    lacks.add(what.slice(0, 200));
    tell({ t: "lacks", what: [...lacks] });
  }

  /** One document on its way into a srcdoc. */
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
      if (url.protocol !== "data:" && url.protocol !== "blob:") lack(url.href);
      return undefined;
    }

    /** @param {string} path @returns {Promise<{ type: string, body: ArrayBuffer } | undefined>} */
    async read(path) {
      if (this.#files++ >= MAX_FILES || this.#bytes > MAX_BYTES) return void lack(path);
      const got = await new Promise((/** @type {(a: Answer) => void} */ resolve) => {
        pending.set(++lastId, resolve);
        reads.postMessage({ t: "ask", id: lastId, method: "GET", path, headers: [], read: true });
      });
      if (!got.body) return void lack(path);
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

    /** Takes in what a module imports, and names it by our scheme. @param {string} code @param {string} from @returns {Promise<string>} */
    async module(code, from) {
      for (const [, , , spec] of code.matchAll(IMPORT)) {
        const path = this.resolve(spec, from);
        if (!path || this.modules.has(path)) continue;
        this.modules.set(path, ""); // taken: modules may go in circles
        const text = await this.text(path);
        if (text === undefined) this.modules.delete(path);
        else this.modules.set(path, await this.module(text, path));
      }
      return code.replace(IMPORT, (all, word, quote, spec) => {
        const path = this.resolve(spec, from);
        return path && this.modules.has(path) ? `${word}${quote}${OWN}${path}${quote}` : all;
      });
    }

    /** Puts what a style sheet names into it. @param {string} css @param {string} from @param {number} [depth] @returns {Promise<string>} */
    async style(css, from, depth = 0) {
      const found = [...css.matchAll(CSS_URL)];
      const put = await Promise.all(found.map(async ([all, at, , url, , plain]) => {
        const path = this.resolve(plain ?? url, from);
        if (!path) return all;
        if (!at && !plain) return `url("${await this.data(path) ?? "data:,"}")`;
        const text = depth < 4 ? await this.text(path) : undefined;
        return text === undefined ? "" : `url("data:text/css,${encodeURIComponent(await this.style(text, path, depth + 1))}")`;
      }));
      let i = 0;
      return css.replace(CSS_URL, () => put[i++]);
    }
  }

  /** @param {string} code */
  const script = (code) => code.replace(/<(?=\/script|!--)/gi, "\\x3c");

  /** @param {Page} page @param {Document} doc @param {HTMLScriptElement} el */
  async function putScript(page, doc, el) {
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
      if (el.defer) doc.body.append(el); // an inline script does not wait by itself
    }
  }

  /** @param {Page} page @param {Document} doc @param {Element} el */
  async function putStyle(page, doc, el) {
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
  async function putMedia(page, el) {
    const name = el.hasAttribute("src") ? "src" : "href";
    const path = page.resolve(el.getAttribute(name) ?? "", page.path);
    el.removeAttribute("srcset");
    const data = path && await page.data(path);
    if (data) el.setAttribute(name, data);
  }

  /** The document with everything in it. @param {string} path @returns {Promise<string | undefined>} */
  async function whole(path) {
    const page = new Page(path);
    const got = await page.read(path);
    if (!got) return undefined;
    if (!/^text\/html\b/i.test(got.type)) return `<!doctype html><p>This is no page, so it cannot be shown in single-document mode.`;
    const doc = new DOMParser().parseFromString(new TextDecoder().decode(got.body), "text/html");
    for (const el of doc.querySelectorAll("base, meta[http-equiv=refresh i]")) el.remove();
    for (const el of doc.querySelectorAll("iframe, object, embed")) lack(el.getAttribute("src") ?? el.getAttribute("data") ?? el.localName);
    await Promise.all([...doc.querySelectorAll("link[rel~=stylesheet], style")].map((el) => putStyle(page, doc, el)));
    for (const el of doc.querySelectorAll("link[href]")) el.remove(); // hints, icons: nothing of them is seen
    await Promise.all([...doc.querySelectorAll("img[src], input[src], video[src], audio[src], source[src], track[src], image[href]")].map((el) => putMedia(page, el)));
    for (const el of doc.querySelectorAll("script")) await putScript(page, doc, el); // one after the other: "defer" keeps its order
    const first = doc.createElement("script");
    const given = JSON.stringify({ theme, modules: Object.fromEntries(page.modules), scheme: OWN, title: doc.title });
    first.textContent = script(`(() => { ${SHIM}\nstandFirst(${given}); })()`);
    doc.documentElement.prepend(first);
    return (doc.doctype ? "<!doctype html>" : "") + doc.documentElement.outerHTML;
  }

  /** @param {string} path */
  async function show(path) {
    const srcdoc = await whole(path.replace(/#.*/s, ""));
    if (srcdoc === undefined) return tell({ t: "failed", reason: "no-document" });
    inner?.remove();
    inner = document.createElement("iframe");
    inner.setAttribute("sandbox", "allow-scripts");
    inner.setAttribute("allow", "");
    inner.title = document.title;
    inner.addEventListener("load", () => {
      clearTimeout(silent);
      silent = setTimeout(() => tell({ t: "left" }), SILENCE);
      inner?.contentWindow?.postMessage({ "x-ahp": "here?" }, "*");
    });
    inner.srcdoc = srcdoc;
    document.body.append(inner);
  }

  /** @param {{ path: string, title: string, theme: any }} order */
  function mount(order) {
    const { port1, port2 } = new MessageChannel();
    reads = port1;
    reads.onmessage = ({ data }) => { pending.get(data.id)?.(data); pending.delete(data.id); };
    theme = order.theme;
    document.title = order.title;
    tell({ t: "here" });
    tell({ t: "port" }, [port2]);
    show(order.path).catch(() => tell({ t: "failed", reason: "unknown" }));
  }

  addEventListener("message", ({ data, source, ports }) => {
    const kind = data?.["x-ahp"];
    if (source === parent && kind === "mount" && !app) {
      app = ports[0];
      app.onmessage = ({ data }) => {
        if (data.t === "ping") return tell({ t: "pong" });
        if (data.t !== "theme") return;
        theme = data.theme;
        inner?.contentWindow?.postMessage({ "x-ahp": "theme", theme }, "*");
      };
      return mount(data);
    }
    if (!inner || source !== inner.contentWindow) return;
    if (kind === "here") {
      clearTimeout(silent);
      tell({ t: "live" });
    }
    if (kind === "view" && ports[0]) tell({ t: "view" }, [ports[0]]);
    if (kind === "lack") lack(String(data.what));
    if (kind === "go" && typeof data.path === "string" && data.path.startsWith("/")) show(data.path).catch(() => {});
  });
}
