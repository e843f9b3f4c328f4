// @ts-check
/**
 * Judges a link that a canvas offers to the person. The limits are those of
 * canvas/PROTOCOL.md section 4.7.
 * @param {unknown} link untrusted @returns {URL | string} or why it may not be offered
 */
export function judgeLink(link) {
  if (typeof link !== "string") return "a link must be a URL";
  const bytes = link.length <= MAX_LINK ? new TextEncoder().encode(link).length : Infinity;
  const url = bytes <= MAX_LINK && URL.canParse(link) ? new URL(link) : undefined;
  if (bytes > MAX_LINK || (url && url.href.length > MAX_LINK)) return "a link can have at most 2,048 bytes";
  if (!url) return "a link must be a URL";
  if (url.username || url.password) return "a link must not contain a user name or a password";
  const here = url.hostname === "localhost" || url.hostname === "127.0.0.1";
  if (url.protocol === "https:" || (url.protocol === "http:" && here)) return url;
  return "a link must begin with https:, or with http: if it is on this machine";
}

const MAX_LINK = 2048; // bytes
