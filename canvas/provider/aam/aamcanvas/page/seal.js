// @ts-check
// Encrypts a secret for the provider. A message of a page is kept for its client id, so a
// PIN or a code in the clear could be read by a program that reconnects under that id.

const INFO = "ahp-canvas aam seal 1";
const utf8 = new TextEncoder();

/** @param {ArrayBuffer | Uint8Array<ArrayBuffer>} bytes */
const toBase64 = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)));
/** @param {string} text */
const fromBase64 = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

/** Whether this page can seal secrets: browsers have the means on https and loopback only. */
export const canSeal = Boolean(globalThis.crypto?.subtle);

/**
 * Seals a secret for the key that the provider gave to this View. about is what the secret
 * is entered for: the provider opens the box only for the same texts.
 * @param {{ to: string, key: string }} key @param {string} secret @param {string[]} about
 */
export async function seal(key, secret, ...about) {
  const subtle = crypto.subtle, curve = { name: "ECDH", namedCurve: "P-256" };
  const own = /** @type {CryptoKeyPair} */ (await subtle.generateKey(curve, false, ["deriveBits"]));
  const theirs = await subtle.importKey("raw", fromBase64(key.key), curve, false, []);
  const shared = await subtle.deriveBits({ name: "ECDH", public: theirs }, own.privateKey, 256);
  const root = await subtle.importKey("raw", shared, "HKDF", false, ["deriveKey"]);
  const aes = await subtle.deriveKey({ name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info: utf8.encode(INFO) }, root, { name: "AES-GCM", length: 256 }, false, ["encrypt"]);
  const iv = crypto.getRandomValues(new Uint8Array(12));
  const box = await subtle.encrypt({ name: "AES-GCM", iv, additionalData: utf8.encode(about.join("\n")) }, aes, utf8.encode(secret));
  return { to: key.to, key: toBase64(await subtle.exportKey("raw", own.publicKey)), iv: toBase64(iv), box: toBase64(box) };
}
