// @ts-check
// Verifies that the listener is still our host before the page sends its token
// there again: after a host exits, any local program can listen on its port. The
// host proves that it knows the token with an HMAC of our nonce, which does not
// disclose the token.
//
// Only plain http needs this; with https the certificate identifies the host. It
// does not help a person who reloads the page from another program: that page, and
// this origin's storage, are then under the program's control.

import { BASE } from "./base.js";

const CONTEXT = "ahp-canvas host\n"; // ahp/proof/proof.go
const TIMEOUT = 5_000; // ms

/** @param {ArrayBuffer | Uint8Array} bytes */
const hex = (bytes) => Array.from(new Uint8Array(bytes), (b) => b.toString(16).padStart(2, "0")).join("");

/** @param {URL} endpoint of the WebSocket @returns {boolean} whether a proof can be requested: the endpoint is a host and not a relay, on http, and the browser has HMAC here */
export const provable = (endpoint) => endpoint.href.endsWith(`${BASE.host}${BASE.pathname}ahp`) && location.protocol === "http:" && !!crypto.subtle;

/** @param {string} token @returns {Promise<boolean | undefined>} undefined if there is no answer, or 503 (the host is at its connection limit) */
export async function proven(token) {
  const nonce = hex(crypto.getRandomValues(new Uint8Array(16)));
  const utf8 = new TextEncoder();
  try {
    const hash = hex(await crypto.subtle.digest("SHA-256", utf8.encode(token))); // all that the host keeps of some tokens
    const r = await fetch(`${BASE}proof?at=${encodeURIComponent(location.host)}&nonce=${nonce}&id=${hash.slice(0, 16)}`, { cache: "no-store", signal: AbortSignal.timeout(TIMEOUT) });
    if (r.status === 503) return undefined;
    const answer = await r.text();
    const lines = answer.split("\n");
    for (const known of [token, hash]) {
      const key = await crypto.subtle.importKey("raw", utf8.encode(known), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
      if (lines.includes(hex(await crypto.subtle.sign("HMAC", key, utf8.encode(`${CONTEXT}${location.host}\n${nonce}`))))) return true;
    }
    return false;
  } catch {
    return undefined;
  }
}
