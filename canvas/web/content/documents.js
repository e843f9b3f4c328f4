// @ts-check
/// <reference lib="webworker" />
// The service worker's own documents, and what it inserts into those of an app.
// The host serves it in front of sw.js, as one script.
"use strict";

/** @param {Record<string, string>} policy the headers of every answer */
function documents(policy) {
  const SHIM = '<script src="/.ahp/shim.js"></script>';

  /** A response after which an EventSource reconnects: an error, except in Firefox, which then closes the stream for good. */
  const retryLater = () => (/Firefox\//.test(navigator.userAgent) ? new Response("", { headers: { ...policy, "Content-Type": "text/event-stream" } }) : Response.error());
  /** @param {string} type */
  const isHTML = (type) => /^text\/html\b/i.test(type) && !/charset=["']?utf-16/i.test(type);

  /** Inserts shim.js after the doctype, before everything else. @param {Uint8Array} bytes @param {Record<string, string>} marks attributes of the script. nonce: of the app's own policy; data-at: the final address of a redirected form */
  function withShim(bytes, marks) {
    if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) return [bytes]; // UTF-16 is left unchanged
    const start = new TextDecoder("latin1").decode(bytes.subarray(0, 1024));
    const at = /^(\u00ef\u00bb\u00bf)?\s*(<!--[^]*?-->\s*)*<!doctype[^>]*>/i.exec(start)?.[0].length ?? 0;
    const shim = SHIM.replace(" ", () => Object.entries(marks).map(([name, value]) => value && ` ${name}="${escaped(value)}"`).join("") + " ");
    return [bytes.subarray(0, at), new TextEncoder().encode(shim), bytes.subarray(at)];
  }

  /** A document that navigates to another address. @param {string} location */
  function redirectTo(location) {
    const to = JSON.stringify(location).replace(/</g, "\\u003c");
    return new Response(`<!doctype html><meta charset="utf-8"><title></title>${SHIM}<script>{ const to = ${to}; location.replace(to.includes("#") ? to : to + location.hash) }</script>`, { headers: { ...policy, "Content-Type": "text/html; charset=utf-8" } });
  }

  /** A failure as a document or text for people. @param {number} status @param {string} word @param {boolean} document */
  function failure(status, word, document) {
    const type = document ? "text/html; charset=utf-8" : "text/plain; charset=utf-8";
    return new Response(document ? page(status, escaped(word)) : `${word}\n`, { status, headers: { ...policy, "Content-Type": type } });
  }

  /** @param {string} text */
  const escaped = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

  /** @param {number} status @param {string} text */
  const page = (status, text) => `<!doctype html><html lang="en"><meta charset="utf-8"><title>${status}</title>
${SHIM}
<style>
html { height: 100%; background: var(--background-color-default, #fff); color: var(--text-color-default, #1f2328); font: 1rem/1.5 var(--font-sans, system-ui, sans-serif) }
body { margin: 0; min-height: 100%; display: grid; place-content: center; padding: 2rem; box-sizing: border-box; text-align: center }
p { margin: 0; max-width: 34ch; text-wrap: balance } small { display: block; margin-block-start: .5rem } strong + span, small { color: var(--text-color-muted, #59636e) } strong { display: block; font-weight: 600 }
</style><p>${text.replace(/^(.*?\.) (.*)$/, "<strong>$1</strong> <span>$2</span>")}</p><small>Status ${status}</small>`;

  /** Whether an allowed origin, which can begin with "*.", is that of a url. @param {string} allowed @param {URL} url */
  function covers(allowed, url) {
    const [before, domain] = allowed.split("*");
    if (domain === undefined) return url.origin === allowed;
    return url.origin.startsWith(before) && url.host.endsWith(domain);
  }

  /** The name of a file for the person. @param {string} disposition @param {string} path */
  function fileName(disposition, path) {
    const encoded = /filename\*\s*=\s*utf-8''([^;]+)/i.exec(disposition)?.[1];
    try {
      if (encoded) return decodeURIComponent(encoded);
    } catch {}
    return /filename\s*=\s*"?([^";]+)/i.exec(disposition)?.[1] ?? path.split("?")[0].split("/").pop() ?? "";
  }

  /** Whether a message comes from the outer frame; a document of the canvas could give the worker a port that answers nothing. @param {any} client */
  const isOuterFrame = (client) => client instanceof WindowClient && new URL(client.url).pathname === "/.ahp/frame.html";

  /** Sends a message to the outer frames. @param {ServiceWorkerGlobalScope} sw @param {() => Promise<any>} make @param {string} [only] the id of the one that gets it @returns {Promise<number>} how many there are */
  async function toOuterFrames(sw, make, only) {
    const message = await make().catch(() => ({ t: "file" })); // the response broke off
    const all = (await sw.clients.matchAll({ includeUncontrolled: true, type: "window" })).filter(isOuterFrame);
    for (const client of all) if (!only || client.id === only) client.postMessage(message);
    return all.length;
  }

  return { retryLater, isHTML, redirectTo, withShim, failure, covers, fileName, isOuterFrame, toOuterFrames };
}
