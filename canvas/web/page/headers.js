// @ts-check
// Which headers of an app's answer a canvas gets. The host drops some too; the
// page trusts nobody and looks again: a header can make a browser speak to
// somebody else, or change the frame that the app is shown in.

const MAX_ENTRIES = 256;
const MAX_BYTES = 16 * 1024; // names and values together

/** Never passed on: cookies, hop by hop, other connections, what is for a whole site, and how the frame around it behaves. */
const DROPPED = new RegExp(`^(${[
  "set-cookie2?", "connection", "keep-alive", "proxy-.*", "te", "trailer", "transfer-encoding", "upgrade", "content-encoding",
  "service-worker-allowed", "clear-site-data", "refresh", "link", "alt-svc", "strict-transport-security", "set-login",
  "speculation-rules", "supports-loading-mode", "sourcemap", "x-sourcemap", "x-dns-prefetch-control", "accept-ch", "critical-ch", "origin-trial",
  "report-to", "reporting-endpoints", "nel", "content-security-policy-report-only", "document-policy.*", "require-document-policy", "permissions-policy-report-only",
  "cross-origin-.*", "attribution-reporting-.*", "observe-browsing-topics", "shared-storage-write", "activate-storage-access", "integrity-policy.*",
  "x-frame-options", "expect-ct", "public-key-pins.*", "use-as-dictionary", "no-vary-search",
].join("|")})$`);

/** What an app's own policy may not say: where reports go, who frames it (a canvas is always framed), and that there is https. */
const NOT_ITS_OWN = /^(report-uri|report-to|frame-ancestors|upgrade-insecure-requests)$/i;

/** @typedef {[string, string][]} Headers */

/** @param {unknown} list of a message: anything @returns {Headers | undefined} undefined where it is no list of headers */
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

/** What of them a canvas gets. @param {Headers} list @returns {Headers} */
export function passed(list) {
  const decoded = list.some(([name]) => name === "content-encoding");
  return list.flatMap(([name, value]) => {
    if (DROPPED.test(name) || (decoded && name === "content-length")) return [];
    if (name !== "content-security-policy") return [[name, value]];
    const policy = ownPolicy(value);
    return policy ? [[name, policy]] : [];
  });
}

/** @param {string} value of a Content-Security-Policy, which may be several */
function ownPolicy(value) {
  return value.split(",").map((policy) => policy.split(";").map((d) => d.trim()).filter((d) => d && !NOT_ITS_OWN.test(d.split(/\s/)[0])).join("; "))
    .filter(Boolean).join(", ");
}
