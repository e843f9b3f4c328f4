// @ts-check
// Filters the headers of an app's response. The host drops some too, but the page
// does not rely on it: a header can make a browser contact another server, or
// change the frame that shows the app.

const MAX_ENTRIES = 256;
const MAX_BYTES = 16 * 1024; // names and values together

/** Dropped: cookies, hop-by-hop headers, and those that open connections, apply to a whole site or affect the surrounding frame. */
const DROPPED = new RegExp(`^(${[
  "set-cookie2?", "connection", "keep-alive", "proxy-.*", "te", "trailer", "transfer-encoding", "upgrade", "content-encoding",
  "service-worker-allowed", "clear-site-data", "refresh", "link", "alt-svc", "strict-transport-security", "set-login",
  "speculation-rules", "supports-loading-mode", "sourcemap", "x-sourcemap", "x-dns-prefetch-control", "accept-ch", "critical-ch", "origin-trial",
  "report-to", "reporting-endpoints", "nel", "content-security-policy-report-only", "document-policy.*", "require-document-policy", "permissions-policy-report-only",
  "cross-origin-.*", "attribution-reporting-.*", "observe-browsing-topics", "shared-storage-write", "activate-storage-access", "integrity-policy.*",
  "x-frame-options", "expect-ct", "public-key-pins.*", "use-as-dictionary", "no-vary-search",
].join("|")})$`);

/** Directives removed from an app's own policy: where reports go, who frames it (a canvas is always framed), and https. */
const DROPPED_DIRECTIVES = /^(report-uri|report-to|frame-ancestors|upgrade-insecure-requests)$/i;

/** @typedef {[string, string][]} Headers */

/** @param {unknown} list untrusted @returns {Headers | undefined} undefined if it is not a valid list of headers */
export function parse(list) {
  if (!Array.isArray(list) || list.length > MAX_ENTRIES) return undefined;
  let size = 0;
  for (const entry of list) {
    if (!Array.isArray(entry) || entry.length !== 2) return undefined;
    const [name, value] = entry;
    if (typeof name !== "string" || typeof value !== "string") return undefined;
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name) || /[^\t\x20-\x7e\x80-\xff]/.test(value)) return undefined;
    size += name.length + value.length;
  }
  return size > MAX_BYTES ? undefined : list;
}

/** Returns the headers that a canvas may see. @param {Headers} list @returns {Headers} */
export function passed(list) {
  const decoded = list.some(([name]) => name === "content-encoding");
  return list.flatMap(([name, value]) => {
    if (DROPPED.test(name) || (decoded && name === "content-length")) return [];
    if (name !== "content-security-policy") return [[name, value]];
    const policy = ownPolicy(value);
    return policy ? [[name, policy]] : [];
  });
}

/** @param {string} value of a Content-Security-Policy header, a list of policies */
function ownPolicy(value) {
  return value.split(",").map((policy) => policy.split(";").map((d) => d.trim()).filter((d) => d && !DROPPED_DIRECTIVES.test(d.split(/\s/)[0])).join("; "))
    .filter(Boolean).join(", ");
}
