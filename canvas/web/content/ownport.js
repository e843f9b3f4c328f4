// @ts-check
// WebSockets of an app on the host's listener. An app can know the port of its server, as
// development servers do, and open WebSockets there: they go to this document's origin, from
// which the listener passes them on. The host serves this script in front of shim.js.
"use strict";
{
  const { port } = document.currentScript?.dataset ?? {}; // of the app's server
  const LOCAL = /^(localhost|127\.0\.0\.1|\[::1\])$/i;

  /** The address at the listener for one of the app's server; other addresses stay. @param {any} given */
  const here = (given) => {
    if (!URL.canParse(String(given), document.baseURI)) return given;
    const url = new URL(String(given), document.baseURI);
    const isApp = url.host !== location.host && (url.port || "80") === port && (url.hostname === location.hostname || LOCAL.test(url.hostname));
    if (!isApp) return given;
    url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    url.hostname = location.hostname;
    url.port = location.port;
    return url.href;
  };

  if (port && globalThis.WebSocket) {
    globalThis.WebSocket = new Proxy(globalThis.WebSocket, {
      construct: (target, args, self) => Reflect.construct(target, args.length > 0 ? [here(args[0]), ...args.slice(1)] : args, self),
    });
  }
}
