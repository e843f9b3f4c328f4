// @ts-check
// Makes one text of a canvas's document and what it loads: scripts, style sheets and media
// are inlined, and imports of modules go to a scheme that the document's first script
// (singleshim.js) resolves.
"use strict";
const assemble = (() => {
  const MAX_FILES = 256, MAX_BYTES = 16 * 1024 * 1024; // of one document
  const SCHEME = "ahp-canvas:"; // imports are rewritten to this scheme: a relative import does not work in a blob module
  const ROOT = "http://canvas";
  const IMPORT = /(\bfrom\s*|\bimport\s*\(?\s*)(["'])((?:\.{1,2})?\/[^"'\n]*)\2/g;
  const CSS_URL = /(@import\s+)?url\(\s*(["']?)([^"')]+)\2\s*\)|@import\s+(["'])([^"']+)\4/g;

  /**
   * @typedef {{
   *   modules: Record<string, string>,
   *   read: (path: string) => Promise<{ type?: string, body?: ArrayBuffer }>,
   *   reportMissing: (what: string) => void,
   *   start: (given: { modules: Record<string, string>, scheme: string, title: string, path: string }) => string,
   * }} Source modules: those that are not read, by path; start: the text of the document's first script
   */

  /** One document while its resources are inlined. */
  class Page {
    #files = 0;
    #bytes = 0;
    #source;
    /** @type {Map<string, string>} by path */ modules;

    /** @param {string} path @param {Source} source */
    constructor(path, source) {
      this.path = path;
      this.#source = source;
      this.modules = new Map(Object.entries(source.modules));
    }

    /** @param {string} href @param {string} from @returns {string | undefined} the path of a file of the canvas */
    resolve(href, from) {
      if (!URL.canParse(href, ROOT + from)) return undefined;
      const url = new URL(href, ROOT + from);
      if (url.origin === ROOT) return url.pathname + url.search;
      if (url.protocol !== "data:" && url.protocol !== "blob:") this.#source.reportMissing(url.href);
      return undefined;
    }

    /** @param {string} path @returns {Promise<{ type: string, body: ArrayBuffer } | undefined>} */
    async read(path) {
      if (this.#files++ >= MAX_FILES || this.#bytes > MAX_BYTES) return void this.#source.reportMissing(path);
      const got = await this.#source.read(path);
      if (!got.body) return void this.#source.reportMissing(path);
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

  /** Returns the document with its resources inlined. @param {string} path @param {Source} source @returns {Promise<string | undefined>} */
  return async function assemble(path, source) {
    const page = new Page(path, source);
    const got = await page.read(path);
    if (!got) return undefined;
    if (!/^text\/html\b/i.test(got.type)) return `<!doctype html><p>This file is not an HTML page, so it cannot be shown in single-document mode.`;
    const doc = new DOMParser().parseFromString(new TextDecoder().decode(got.body), "text/html");
    for (const el of doc.querySelectorAll("base, meta[http-equiv=refresh i]")) el.remove();
    for (const el of doc.querySelectorAll("iframe, object, embed")) source.reportMissing(el.getAttribute("src") ?? el.getAttribute("data") ?? el.localName);
    await Promise.all([...doc.querySelectorAll("link[rel~=stylesheet], style")].map((el) => inlineStyle(page, doc, el)));
    for (const el of doc.querySelectorAll("link[href]")) el.remove(); // hints and icons have no effect here
    await Promise.all([...doc.querySelectorAll("img[src], input[src], video[src], audio[src], source[src], track[src], image[href]")].map((el) => inlineMedia(page, el)));
    for (const el of doc.querySelectorAll("script")) await inlineScript(page, doc, el); // in sequence: deferred scripts keep their order
    const first = doc.createElement("script");
    first.textContent = script(source.start({ modules: Object.fromEntries(page.modules), scheme: SCHEME, title: doc.title, path }));
    doc.documentElement.prepend(first);
    return (doc.doctype ? "<!doctype html>" : "") + doc.documentElement.outerHTML;
  };
})();
