// @ts-check
// Which url may be shown, and how (#297 section 9). The host keeps the same
// table; the page trusts nobody and looks again.

/**
 * @typedef {{ kind: "content", path: string }
 *   | { kind: "direct", url: string }
 *   | { kind: "refused", why: string }} Verdict
 */

const CONTENT = /^ahp-canvas-content:\/([^/?#]+)(\/[^?#]*)?(\?[^#]*)?(#.*)?$/;

/**
 * Judges CanvasState.url. A content url is taken apart by hand: a URL parser
 * would resolve "..", which the host must see and refuse.
 * @param {string} url @param {string} instanceId @returns {Verdict}
 */
export function judge(url, instanceId) {
  const content = CONTENT.exec(url);
  if (content) {
    const [, owner, path = "/", query = "", fragment = ""] = content;
    if (owner !== instanceId) return refused("Its address belongs to another canvas.");
    return { kind: "content", path: path + query + fragment };
  }
  const direct = URL.canParse(url) ? new URL(url) : undefined;
  if (!direct) return refused("Its address is none that this page understands.");
  if (direct.username || direct.password) return refused("Its address carries a user name or a password.");
  if (direct.protocol === "https:") return { kind: "direct", url: direct.href };
  if (direct.protocol === "http:") {
    if (direct.hostname === "localhost" || direct.hostname === "127.0.0.1") return { kind: "direct", url: direct.href };
    return refused("Plain http is shown from this machine only.");
  }
  return refused(`Addresses that begin with “${direct.protocol}” are not shown here.`);
}

/** @param {string} why @returns {Verdict} */
const refused = (why) => ({ kind: "refused", why });

/** The uri of what a canvas asked for by path. @param {string} instanceId @param {string} path begins with "/" */
export const contentURI = (instanceId, path) => `ahp-canvas-content:/${instanceId}${path}`;

/**
 * Whether a direct url may keep its own origin in its frame: never where that
 * origin is the app's or a content host's, for it could then act as one.
 * @param {string} url @param {string[]} appOrigins @param {string} contentPattern "http://*.localhost:8080", or ""
 */
export function mayKeepOrigin(url, appOrigins, contentPattern) {
  const { origin } = new URL(url);
  const [before, after] = contentPattern.split("*");
  const isContent = contentPattern !== "" && origin.startsWith(before) && origin.endsWith(after);
  return !appOrigins.includes(origin) && !isContent;
}
