// @ts-check
// document.cookie of an app: its cookies are at the host, and this script reads and writes
// those that scripts may see. The host serves it in front of shim.js.
"use strict";
{
  const PATH = "/.ahp/cookies";
  const MAX = 4096 + 2048; // characters that the host takes
  const { cookies } = document.currentScript?.dataset ?? {};

  /** The outer frame, if this document is below one. @returns {any} */
  const frameOf = () => {
    try {
      for (let w = /** @type {any} */ (self); ; w = w.parent) {
        if (w.ahpDirect !== undefined) return w;
        if (w.parent === w) return undefined;
      }
    } catch {
      return undefined; // of another origin
    }
  };
  const frame = frameOf();
  const inert = Object.getOwnPropertyDescriptor(Document.prototype, "cookie");
  if (frame?.ahpHTTP && inert) replace(frame.ahpDirect, inert);

  /** @param {boolean} direct whether requests reach the host without a service worker @param {PropertyDescriptor} inert */
  function replace(direct, inert) {
    let known = cookies ?? "";
    const { fetch, XMLHttpRequest: XHR } = self;

    /** Asks the host, and waits. @param {string} method @param {string} [line] */
    function ask(method, line) {
      const x = new XHR();
      x.open(method, `${PATH}?at=${encodeURIComponent(location.pathname)}`, false);
      try {
        x.send(line);
        if (x.status === 200) known = x.responseText;
      } catch {} // the host is unreachable
    }

    /** What the cookies are once a script has set one, until the host says so. @param {string} line */
    function guess(line) {
      const [pair, ...more] = line.split(";");
      const at = pair.indexOf("="), name = at < 0 ? "" : pair.slice(0, at).trim(), value = pair.slice(at + 1).trim();
      const over = more.some((m) => /^\s*max-age\s*=\s*(0|-)/i.test(m) || (/^\s*expires\s*=/i.test(m) && Date.parse(m.split("=")[1]) <= Date.now()));
      const others = known.split("; ").filter((p) => p && !p.startsWith(`${name}=`));
      known = [...others, ...(over ? [] : [`${name}=${value}`])].join("; ");
    }

    Object.defineProperty(document, "cookie", {
      ...inert,
      get() {
        if (direct) ask("GET");
        return known;
      },
      set(given) {
        const line = String(given);
        if (line.length > MAX) return;
        if (direct) return ask("POST", line);
        guess(line);
        // The service worker sends it before later requests.
        fetch(`${PATH}?at=${encodeURIComponent(location.pathname)}`, { method: "POST", body: line, keepalive: true }).then(async (r) => { if (r.ok) known = await r.text(); }).catch(() => {});
      },
    });
    navigator.serviceWorker?.addEventListener("message", ({ data }) => { if (data?.t === "cookies") known = String(data.cookies); });
    navigator.serviceWorker?.startMessages();
  }
}
