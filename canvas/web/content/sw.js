// @ts-check
/// <reference lib="webworker" />
// The service worker of one mount: it answers every request of the canvas with
// what the app page reads for it, always under our policies.
"use strict";
{
  // Filled in by the host: the headers of every answer, errors included.
  /** @type {Record<string, string>} */
  const POLICY = {};

  const PATIENCE = 35_000; // ms; the host's own deadlines are shorter
  const sw = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));

  /** @typedef {{ id: number, status?: number, word?: string, type?: string, body?: ArrayBuffer }} Answer */

  /** @type {MessagePort | undefined} */
  let app;
  /** @type {Map<number, { path: string, resolve: (a: Answer) => void }>} */
  const pending = new Map();
  /** @type {Array<() => void>} */
  let waiting = [];
  let lastId = 0;

  sw.addEventListener("install", () => sw.skipWaiting());
  sw.addEventListener("activate", (event) => event.waitUntil(sw.clients.claim()));

  sw.addEventListener("message", (event) => {
    if (event.data?.t !== "port" || !event.ports[0]) return;
    const port = event.ports[0];
    app?.close();
    app = port;
    port.onmessage = ({ data }) => {
      pending.get(data.id)?.resolve(data);
      pending.delete(data.id);
    };
    // Nobody reads the old port any more: what is under way is asked again. A read may be.
    for (const [id, { path }] of pending) port.postMessage({ id, path });
    for (const go of waiting.splice(0)) go();
    event.source?.postMessage({ t: "port!" });
  });

  sw.addEventListener("fetch", (event) => {
    const url = new URL(event.request.url);
    if (url.origin !== sw.location.origin) return event.respondWith(Response.error());
    if (url.pathname.startsWith("/.ahp/")) return; // the host's own files, with the host's own headers
    event.respondWith(answer(event.request, url));
  });

  /** @param {Request} request @param {URL} url */
  async function answer(request, url) {
    const document = request.mode === "navigate";
    if (request.method !== "GET" || request.headers.has("Range") || request.headers.get("Accept") === "text/event-stream") {
      return words(501, "This canvas can only be read. It has no server that could answer this request.", document);
    }
    const got = await read(url.pathname + url.search);
    if (!got.body) return words(got.status ?? 502, got.word ?? "The canvas gave no answer.", document);
    const type = got.type ?? "application/octet-stream";
    const body = document && /^text\/html\b/i.test(type) ? withShim(got.body) : got.body;
    return new Response(body, { headers: { ...POLICY, "Content-Type": type } });
  }

  /** @param {string} path @returns {Promise<Answer>} */
  async function read(path) {
    if (!app) await connect();
    const port = app;
    if (!port) return { id: 0, status: 503, word: "This canvas is not connected to its page any more. Load it again." };
    const id = ++lastId;
    return new Promise((resolve) => {
      pending.set(id, { path, resolve });
      port.postMessage({ id, path });
      setTimeout(() => {
        if (pending.delete(id)) resolve({ id, status: 504, word: "The host did not answer in time." });
      }, PATIENCE);
    });
  }

  /** A worker that was put to sleep has lost its port: it asks the outer frame for another. */
  async function connect() {
    const renewed = new Promise((resolve) => {
      waiting.push(() => resolve(undefined));
      setTimeout(resolve, 5_000);
    });
    for (const client of await sw.clients.matchAll({ includeUncontrolled: true, type: "window" })) {
      if (new URL(client.url).pathname === "/.ahp/frame.html") client.postMessage({ t: "port?" });
    }
    await renewed;
  }

  /** Puts shim.js before everything of the page, but behind its doctype. @param {ArrayBuffer} body */
  function withShim(body) {
    const bytes = new Uint8Array(body);
    const start = new TextDecoder("latin1").decode(bytes.subarray(0, 1024));
    const at = /^(\u00ef\u00bb\u00bf)?\s*(<!--[^]*?-->\s*)*<!doctype[^>]*>/i.exec(start)?.[0].length ?? 0;
    return new Blob([bytes.subarray(0, at), '<script src="/.ahp/shim.js"></script>', bytes.subarray(at)]);
  }

  /** A failure in plain words: blank is never an answer. @param {number} status @param {string} word @param {boolean} document */
  function words(status, word, document) {
    const headers = { ...POLICY, "Content-Type": document ? "text/html; charset=utf-8" : "text/plain; charset=utf-8" };
    const text = word.replace(/[&<>]/g, (c) => `&#${c.charCodeAt(0)};`);
    return new Response(document ? page(status, text) : `${word}\n`, { status, headers });
  }

  /** @param {number} status @param {string} text */
  const page = (status, text) => `<!doctype html><html lang="en"><meta charset="utf-8"><title>${status}</title>
<script src="/.ahp/shim.js"></script>
<style>
html { height: 100%; background: var(--background-color-default, #fff); color: var(--text-color-default, #1f2328); font: 1rem/1.5 var(--font-sans, system-ui, sans-serif) }
body { margin: 0; min-height: 100%; display: grid; place-content: center; padding: 2rem; box-sizing: border-box; text-align: center }
p { margin: 0; max-width: 34ch; text-wrap: balance } small { display: block; margin-block-start: .5rem; color: var(--text-color-muted, #59636e) }
</style><p>${text}</p><small>Status ${status}</small>`;
}
