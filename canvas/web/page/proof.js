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

/** @param {string} key @param {string} text */
async function hmac(key, text) {
  const utf8 = new TextEncoder();
  const imported = await crypto.subtle.importKey("raw", utf8.encode(key), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return hex(await crypto.subtle.sign("HMAC", imported, utf8.encode(text)));
}

/** @param {string} token */
const hashOf = async (token) => hex(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token))); // all that the host keeps of some tokens

/**
 * Shows a host behind a relay that this browser has a token, which the relay does not learn
 * (ahp/PROTOCOL.md section 14.5).
 * @param {string} token @param {string} clientId @param {string} challenge of the host
 */
export async function laneProof(token, clientId, challenge) {
  const hash = await hashOf(token);
  return { id: hash.slice(0, 16), proof: await hmac(hash, `ahp-canvas lane\n${clientId}\n${challenge}`) };
}

/** @param {string} token @returns {Promise<boolean | undefined>} undefined if there is no answer, or 503 (the host is at its connection limit) */
export async function proven(token) {
  const nonce = hex(crypto.getRandomValues(new Uint8Array(16)));
  try {
    const hash = await hashOf(token);
    const r = await fetch(`${BASE}proof?at=${encodeURIComponent(location.host)}&nonce=${nonce}&id=${hash.slice(0, 16)}`, { cache: "no-store", signal: AbortSignal.timeout(TIMEOUT) });
    if (r.status === 503) return undefined;
    const answer = await r.text();
    const lines = answer.split("\n");
    for (const known of [token, hash]) if (lines.includes(await hmac(known, `${CONTEXT}${location.host}\n${nonce}`))) return true;
    return false;
  } catch {
    return undefined;
  }
}

/**
 * Finds out whether a WebSocket was refused because of the token, which browsers do not report. If the
 * host can prove that it knows the token, a failed proof means a wrong token on the first attempt, and
 * another program on the port later. Otherwise the same endpoint is asked over HTTP.
 * @param {URL} url of the WebSocket @param {string} token @param {boolean} again whether this is not the first attempt @param {number} timeout ms
 */
export async function tokenIsRefused(url, token, again, timeout) {
  if (provable(url)) return !again && (await proven(token)) === false;
  const endpoint = new URL(url);
  endpoint.protocol = endpoint.protocol.replace("ws", "http");
  try {
    const r = await fetch(endpoint, { headers: { Authorization: `Bearer ${token}` }, cache: "no-store", signal: AbortSignal.timeout(timeout) });
    return r.status === 401 || r.status === 403;
  } catch {
    return false; // the host is unreachable
  }
}
