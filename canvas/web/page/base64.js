// @ts-check
// Base64 for http/1 and content reads. The browser's own functions are ten times
// as fast, but not in all browsers.

const native = /** @type {{ fromBase64?: (text: string) => Uint8Array<ArrayBuffer> }} */ (/** @type {unknown} */ (Uint8Array));

/** @param {string} text @returns {Uint8Array<ArrayBuffer>} a new buffer; throws if the text is not base64 */
export function decode(text) {
  if (native.fromBase64) return native.fromBase64(text);
  const chars = atob(text);
  const bytes = new Uint8Array(chars.length);
  for (let i = 0; i < chars.length; i++) bytes[i] = chars.charCodeAt(i);
  return bytes;
}

/** @param {Uint8Array} bytes at most a few 10,000, which are passed as arguments @returns {string} */
export function encode(bytes) {
  const own = /** @type {{ toBase64?: () => string }} */ (bytes);
  return own.toBase64 ? own.toBase64() : btoa(String.fromCharCode(...bytes));
}

/** The decoded size of a base64 text. @param {string} text */
export const decodedLength = (text) => Math.floor(text.length / 4) * 3 - (text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0);
