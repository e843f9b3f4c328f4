// @ts-check
// Installs the service worker that shows a page of ours when the host is unreachable
// (offline/worker.js). Browsers have it only in a secure context. A first visit that ends
// sooner than LATER installs nothing: the browser then shows its own error the next time,
// which costs less than canvases that wait for the worker at each first visit.
import { BASE } from "./base.js";
import { LOOKING } from "./key.js";

const LATER = 2_000; // ms after the page is connected: it must not delay the canvases

let begun = false;

/** Installs the worker once, some time after the page has its connection. */
export function prepareOffline() {
  if (begun || LOOKING || !isSecureContext || !navigator.serviceWorker) return;
  begun = true;
  setTimeout(() => {
    navigator.serviceWorker.register(new URL("offline-worker.js", BASE), { scope: BASE.pathname, updateViaCache: "none" }).catch(() => {}); // not allowed in this browser: it shows its own error
  }, LATER);
}
