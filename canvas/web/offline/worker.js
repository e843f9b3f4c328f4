// @ts-check
/// <reference lib="webworker" />
// The service worker of the page's own origin. It has one purpose: a person who opens or
// reloads the page while the host is unreachable sees a page of ours, which says so and
// waits for the host, in place of the browser's error.
//
// It answers only navigations of a whole tab to the page's address, and only if the network
// did not. All other requests (the API, the page's files, frames) go to the network as
// without it, and it stores nothing: the page that it shows is a part of this script, which
// the browser updates when the host's differs. Content hosts are other origins, with their
// own worker (content/sw.js).
"use strict";
(() => {
  const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));
  const PAGE = ""; // filled in by the host
  /** @type {Record<string, string>} */ const HEADERS = {}; // filled in by the host
  const PATIENCE = 20_000; // ms without the head of a response: the address exists, and nothing answers there
  const CHROMIUM = "addRoutes" in (/** @type {any} */ (worker).InstallEvent?.prototype ?? {});
  const scope = new URL("./", worker.location.href).pathname;

  worker.addEventListener("install", (event) => {
    void worker.skipWaiting();
    try { // Chromium then does not start the worker for the page's files
      void /** @type {any} */ (event).addRoutes?.({ condition: { not: { requestMode: "navigate" } }, source: "network" })?.catch(() => {});
    } catch {} // an older Chromium: the worker ignores the requests
  });

  // In Chromium the navigation does not wait for the start of the worker. In Firefox a
  // preload that fails ends the navigation with the browser's error, whatever the worker answers.
  worker.addEventListener("activate", (event) => {
    if (CHROMIUM) event.waitUntil(worker.registration.navigationPreload.enable().catch(() => {}));
  });

  worker.addEventListener("fetch", (event) => {
    const { request } = event, { pathname } = new URL(request.url);
    const page = pathname === scope || pathname === `${scope}index.html`;
    if (request.mode === "navigate" && request.destination === "document" && request.method === "GET" && page) event.respondWith(answer(event));
  });

  /** @param {FetchEvent} event */
  async function answer(event) {
    const late = new Promise((_, fail) => { setTimeout(fail, PATIENCE); });
    try {
      const response = await Promise.race([network(event), late]);
      if (response.status === 200 && !ours(response)) event.waitUntil(worker.registration.unregister());
      return response;
    } catch {
      return new Response(PAGE, { status: 503, statusText: "Host Unreachable", headers: HEADERS });
    }
  }

  /** @param {FetchEvent} event @returns {Promise<Response>} */
  const network = async (event) => (await event.preloadResponse) ?? fetch(event.request);

  /** Whether it is the page: another program can have the host's port later, and this worker does not stay there. @param {Response} response */
  const ours = (response) => (response.headers.get("Content-Security-Policy") ?? "").startsWith("default-src 'none'; script-src 'self'");
})();
