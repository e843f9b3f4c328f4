// @ts-check
// Decides which urls may be shown, and how (the Canvas proposal (#297), section 9).
// The host applies the same rules; the page does not rely on it.

/**
 * @typedef {{ kind: "content", path: string }
 *   | { kind: "direct", url: string }
 *   | { kind: "refused", why: string }} Verdict
 */

const CONTENT = /^ahp-canvas-content:\/([^/?#]+)(\/[^?#]*)?(\?[^#]*)?(#.*)?$/;

/**
 * Judges CanvasState.url. A content url is matched by a pattern, because a URL
 * parser would resolve "..", which the host must see and refuse.
 * @param {string} url @param {string} instanceId @returns {Verdict}
 */
export function judge(url, instanceId) {
  const content = CONTENT.exec(url);
  if (content) {
    const [, owner, path = "/", query = "", fragment = ""] = content;
    if (decoded(owner) !== instanceId) return refused("The address of this canvas belongs to another canvas.");
    return { kind: "content", path: path + query + fragment };
  }
  const direct = URL.canParse(url) ? new URL(url) : undefined;
  if (!direct) return refused("The address of this canvas is not a URL.");
  if (direct.username || direct.password) return refused("The address of this canvas contains a user name or a password.");
  if (direct.protocol === "https:") return { kind: "direct", url: direct.href };
  if (direct.protocol === "http:") {
    if (direct.hostname === "localhost" || direct.hostname === "127.0.0.1") return { kind: "direct", url: direct.href };
    return refused("Plain http addresses are shown only if they are on this machine.");
  }
  return refused(`Addresses that begin with “${direct.protocol}” are not shown here.`);
}

/** @param {string} why @returns {Verdict} */
const refused = (why) => ({ kind: "refused", why });

/** The content uri of a path in an instance. @param {string} instanceId @param {string} path begins with "/" */
export const contentURI = (instanceId, path) => `ahp-canvas-content:/${encodeURIComponent(instanceId)}${path}`;

/** @param {string} segment @returns {string | undefined} undefined if it is not percent-encoded */
function decoded(segment) {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

/**
 * Whether a direct url may keep its origin in its frame. Not if that is the page's
 * or a content origin: it could then act as the page or as a canvas.
 * @param {string} url @param {string[]} appOrigins @param {string} contentPattern "http://*.localhost:8080", or ""
 */
export function mayKeepOrigin(url, appOrigins, contentPattern) {
  const { origin } = new URL(url);
  const [before, after] = contentPattern.split("*");
  const isContent = contentPattern !== "" && origin.startsWith(before) && origin.endsWith(after);
  return !appOrigins.includes(origin) && !isContent;
}
