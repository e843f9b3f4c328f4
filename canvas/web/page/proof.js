// @ts-check
// Whether it is still our host that listens where this page came from. A host that
// has ended leaves its port to anybody, and a page that comes back would send its
// token there. So it asks first: who knows the token proves it by an HMAC of a nonce
// of ours, which tells nobody the token.
//
// It is asked on plain http alone: elsewhere a certificate says who that is. And it
// does not help who loads the page again from a stranger: that page is the stranger's,
// and so is what this origin has kept.

const CONTEXT = "ahp-canvas host\n"; // ahp/proof/proof.go
const PATIENCE = 5_000; // ms for an answer

/** @param {ArrayBuffer | Uint8Array} bytes */
const hex = (bytes) => Array.from(new Uint8Array(bytes), (b) => b.toString(16).padStart(2, "0")).join("");

/** @param {URL} door of the WebSocket @returns {boolean} whether its host can be asked: it is no relay, and the browser has HMAC here */
export const provable = (door) => door.pathname === "/ahp" && location.protocol === "http:" && !!crypto.subtle;

/** @param {string} token @returns {Promise<boolean | undefined>} undefined where nobody answers, or somebody who has too many connections just now (503) */
export async function proven(token) {
  const nonce = hex(crypto.getRandomValues(new Uint8Array(16)));
  const utf8 = new TextEncoder();
  try {
    const r = await fetch(`/proof?at=${encodeURIComponent(location.host)}&nonce=${nonce}`, { cache: "no-store", signal: AbortSignal.timeout(PATIENCE) });
    if (r.status === 503) return undefined;
    const said = await r.text();
    const key = await crypto.subtle.importKey("raw", utf8.encode(token), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
    const want = hex(await crypto.subtle.sign("HMAC", key, utf8.encode(`${CONTEXT}${location.host}\n${nonce}`)));
    return said.split("\n").includes(want);
  } catch {
    return undefined;
  }
}
