// @ts-check
/// <reference lib="webworker" />
// The service worker of a canvas: it sends every request to the app page that shows the
// document, and returns the response with our policies. It enforces nothing else: the app
// page and the host do. It keeps nothing on disk, where an earlier document could change it.
// doc.go describes the messages on its ports.
"use strict";
{
  // Filled in by the host: the headers of every response, including errors.
  /** @type {Record<string, string>} */
  const POLICY = {};
  // Filled in by the host: the origins that the canvas may load from besides its own.
  /** @type {string[]} */
  const ALLOWED = [];
  // Filled in by the host: canvas.js. A document gets it also if the host cannot be reached
  // at that moment; otherwise the canvas would take this page for another renderer.
  const CANVAS = "";
  // Filled in by the host: sockets.js, for dedicated workers.
  const SOCKETS = "";
  const { retryLater, isHTML, redirectTo, withShim, failure, covers, fileName, isOuterFrame, toOuterFrames } = documents(POLICY);

  const TIMEOUT = 35_000; // ms for the app page to answer; its own deadlines are shorter
  const WINDOW = 512 * 1024; // buffered bytes of one response body
  const CHUNK = 32 * 1024; // bytes of an upload in one message
  const MAX_LAST_EVENT_IDS = 64;
  const COOKIES = "/.ahp/cookies"; // the host answers it for the app
  const COOKIE_PATIENCE = 3_000; // ms that other requests wait for it
  const READ_DESTINATIONS = ["script", "style", "image", "font", "worker", "track", "manifest"];
  const NO_HTTP_AUTH = "The app of this canvas asks for a name and a password with HTTP authentication, which is not available in a canvas.";
  const canReadBlobs = new Response("x").blob().then((b) => b.arrayBuffer()).then(() => true, () => false); // false in WebKit's workers
  const sw = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));

  const tabs = portsOfTabs(sw);
  let sockets = false; // the provider answers ws/1, and the canvas has no other way to its WebSockets
  /** @type {Map<number, Exchange>} Requests in progress at the app page, by id */
  const exchanges = new Map();
  let lastId = 0;
  /** @type {Promise<unknown>} Ends when the cookies that scripts have set are at the host */ let cookiesSet = Promise.resolve();
  /** @type {Map<string, string>} Last-Event-IDs of event streams, by client and url */
  const lastEventIds = new Map();

  sw.addEventListener("install", () => sw.skipWaiting());
  sw.addEventListener("activate", (event) => event.waitUntil(sw.clients.claim()));

  sw.addEventListener("message", (event) => {
    if (event.data?.t === "last") return remember(`${/** @type {Client} */ (event.source).id} ${event.data.url}`, String(event.data.id));
    if (event.data?.t === "claim") return event.waitUntil(sw.clients.claim());
    if (event.data?.t !== "port" || !event.ports[0] || !isOuterFrame(event.source)) return;
    const port = event.ports[0], { id } = /** @type {WindowClient} */ (event.source);
    sockets = event.data.sockets === true;
    port.onmessage = ({ data }) => exchanges.get(data.id)?.receive(data);
    const before = tabs.connect(id, port);
    // Requests on the old port get no answer. Reads are sent again; other requests must not be.
    for (const x of exchanges.values()) if (x.app === before && before) x.moved(port);
    event.source?.postMessage({ t: "port!", client: id });
  });

  sw.addEventListener("fetch", (event) => {
    const url = new URL(event.request.url);
    if (url.origin !== sw.location.origin && ALLOWED.some((a) => covers(a, url))) return; // under the policies of its document
    if (url.origin !== sw.location.origin) return event.respondWith(Response.error());
    if (event.request.destination === "sharedworker") return event.respondWith(Response.error()); // it could outlive the tab
    if (url.pathname === "/.ahp/canvas.js" && event.request.destination === "script" && CANVAS) {
      return event.respondWith(new Response(CANVAS, { headers: { ...POLICY, "Content-Type": "text/javascript; charset=utf-8" } }));
    }
    if (url.pathname.startsWith("/.ahp/") && url.pathname !== COOKIES) return; // the host's own files, with the host's own headers
    event.respondWith(answer(event, url));
  });

  /** Stores a Last-Event-ID, which a service worker does not see in the request, so shim.js sends it. @param {string} key @param {string} id */
  function remember(key, id) {
    const bytes = String.fromCharCode(...new TextEncoder().encode(id.slice(0, 1024)));
    if (/^[^\x00-\x1f\x7f]+$/.test(bytes)) lastEventIds.set(key, bytes);
    if (lastEventIds.size > MAX_LAST_EVENT_IDS) lastEventIds.delete(/** @type {string} */ (lastEventIds.keys().next().value));
  }

  /** @param {FetchEvent} event @param {URL} url @returns {Promise<Response>} */
  async function answer({ request, clientId, resultingClientId }, url) {
    const key = `${clientId} ${url.href}`;
    const x = new Exchange(request, url, lastEventIds.get(key));
    lastEventIds.delete(key);
    const before = cookiesSet;
    const answered = (async () => {
      await x.prepare();
      await before;
      x.app = await tabs.portOf(clientId, resultingClientId);
      return new Promise((/** @type {(r: Response) => void} */ resolve) => x.start(resolve));
    })();
    if (url.pathname === COOKIES) cookiesSet = Promise.race([answered, new Promise((go) => setTimeout(go, COOKIE_PATIENCE))]);
    return answered;
  }

  /** One request and its response, which arrives in one piece or as a head and a stream of chunks. */
  class Exchange {
    /** @type {(r: Response) => void} */ #resolve = () => {};
    /** @type {ReadableStreamDefaultController<Uint8Array> | undefined} */ #controller;
    /** @type {Uint8Array | undefined} The start of a document, buffered until the shim is inserted */ #documentStart;
    #enqueued = 0; // response bytes received
    #credited = 0; // response bytes reported as read
    #window = 0; // upload bytes that the app page accepts
    #resume = () => {};
    #timer = 0;
    /** @type {MessagePort | undefined} Of the page that shows the document */ app;

    /** @param {Request} request @param {URL} url @param {string} [last] Last-Event-ID of the stream */
    constructor(request, url, last) {
      this.request = request;
      this.document = request.mode === "navigate";
      this.events = request.headers.get("Accept") === "text/event-stream";
      /** @type {Record<string, string>} Attributes for the shim's script element */ this.marks = {};
      this.redirects = 20; // left for a form, the same limit as in a browser
      /** @type {[string, string][]} */ const headers = [];
      request.headers.forEach((value, name) => headers.push([name, value]));
      if (last) headers.push(["last-event-id", last]);
      this.ask = {
        t: "ask", id: ++lastId, method: request.method, path: url.pathname + url.search, headers, events: this.events, document: this.document,
        read: request.method === "GET" && !request.headers.has("Range") && READ_DESTINATIONS.includes(request.destination),
        length: /** @type {number | undefined} */ (undefined), bytes: /** @type {ArrayBuffer | undefined} */ (undefined),
      };
    }

    /** Reads the body (as a Blob, which need not be in memory), because an app without chunked requests needs its length. */
    async prepare() {
      if (["GET", "HEAD"].includes(this.request.method)) return;
      const body = await canReadBlobs ? await this.request.blob() : await this.request.arrayBuffer();
      const length = "size" in body ? body.size : body.byteLength;
      if (length > 0) this.ask.length = length;
      if (length > CHUNK) this.body = body;
      else if (length > 0) this.ask.bytes = await new Response(body).arrayBuffer();
    }

    /** @param {(r: Response) => void} resolve */
    start(resolve) {
      this.#resolve = resolve;
      exchanges.set(this.ask.id, this);
      if (!this.app) return this.receive({ t: "lost" });
      this.app.postMessage(this.ask);
      this.#armTimeout();
      const body = this.body && new Response(this.body).body; // a new stream: a redirected form is sent again
      if (body) this.#upload(body.getReader()).catch(() => this.#cancel());
    }

    /** Handles a port that replaces its own. @param {MessagePort} port */
    moved(port) {
      if (!this.ask.read) return this.receive({ t: "lost" });
      this.app = port;
      port.postMessage(this.ask);
    }

    /** @param {any} m of the app page */
    receive(m) {
      switch (m.t) {
        case "whole": return this.#end(() => this.#resolve(this.#whole(m)));
        case "head": return this.#head(m);
        case "data": // bytes: from a page of an older release
          for (const bytes of m.chunks ?? [m.bytes]) this.#data(new Uint8Array(bytes));
          return;
        case "end": return this.#end(() => { this.#flush(); this.#controller?.close(); });
        case "more":
          this.#window += m.n;
          this.#armTimeout();
          return this.#resume();
        case "words": return this.#fail(() => failure(m.status, m.word, this.document), m.status === 501);
        case "late": return this.#fail(() => failure(504, "The app of this canvas did not answer in time.", this.document));
        case "lost": return this.#fail(() => failure(503, "This canvas is no longer connected to its page. Reload the page.", this.document));
      }
    }

    /** @param {{ type: string, body: ArrayBuffer }} m */
    #whole({ type, body }) {
      const bytes = new Uint8Array(body);
      const parts = this.document && isHTML(type) ? withShim(bytes, {}) : sockets && this.request.destination === "worker" ? [SOCKETS, bytes] : [bytes];
      return new Response(new Blob(/** @type {BlobPart[]} */ (parts)), { headers: { ...POLICY, "Content-Type": type } });
    }

    /** @param {{ status: number, text: string, headers: [string, string][], empty: boolean }} m */
    #head({ status, text, headers: given, empty }) {
      clearTimeout(this.#timer); // no timeout for the body: an event stream can be silent
      const headers = new Headers(POLICY);
      for (const [name, value] of given) {
        // Our headers stay; the app's own policy applies in addition.
        if (/^content-security-policy$/i.test(name) || !Object.keys(POLICY).some((p) => p.toLowerCase() === name.toLowerCase())) headers.append(name, value);
      }
      const location = headers.get("Location");
      if (this.document && location && status >= 300 && status < 400) return this.#end(() => this.#redirect(status, location));
      if (this.document && status === 401 && headers.has("WWW-Authenticate")) {
        this.#cancel();
        return this.#resolve(failure(401, NO_HTTP_AUTH, true));
      }
      if (this.document && isHTML(headers.get("Content-Type") ?? "") && !empty) {
        this.#documentStart = new Uint8Array();
        headers.delete("Content-Length");
      }
      const stream = empty ? null : new ReadableStream({
        start: (c) => { this.#controller = c; },
        pull: () => this.#creditRead(),
        cancel: () => this.#cancel(),
      }, { highWaterMark: WINDOW, size: (c) => c.byteLength });
      // The app's own policy must allow the shim too.
      this.marks.nonce = /'nonce-([\w+/=-]+)'/.exec(headers.get("Content-Security-Policy") ?? "")?.[1] ?? "";
      this.marks["data-cookies"] = headers.get("X-Ahp-Cookies") ?? "";
      if (!this.document && headers.has("X-Ahp-Cookies")) this.#tellCookies(headers.get("X-Ahp-Cookies") ?? "");
      headers.delete("X-Ahp-Cookies");
      if (sockets && this.request.destination === "worker" && status === 200) {
        headers.delete("Content-Length");
        this.#controller?.enqueue(new TextEncoder().encode(SOCKETS)); // not credited
      }
      const response = new Response(stream, { status, statusText: text, headers });
      const file = headers.get("Content-Disposition") ?? "";
      if (!this.document || empty || !/^\s*attachment\b/i.test(file)) return this.#resolve(response);
      this.#resolve(new Response(null, { status: 204, headers: POLICY })); // the document stays
      toOuterFrames(sw, async () => ({ t: "file", blob: await response.blob(), name: fileName(file, this.ask.path) }), tabs.frameOf(this.app));
    }

    /** Tells the canvas's documents what their cookies are now. @param {string} cookies */
    async #tellCookies(cookies) {
      for (const client of await sw.clients.matchAll({ type: "window" })) if (!isOuterFrame(client)) client.postMessage({ t: "cookies", cookies });
    }

    /** Redirects a navigation, which our policies do not allow as a 30x: by a document that navigates, or, for a form that keeps its method, by a new request. @param {number} status @param {string} location */
    #redirect(status, location) {
      if (status < 307 || ["GET", "HEAD"].includes(this.request.method)) return this.#resolve(redirectTo(location));
      if (this.redirects === 0) return this.#resolve(failure(502, "The app of this canvas redirected a form too many times.", true));
      const url = new URL(location, sw.location.origin);
      const next = new Exchange(this.request, url);
      Object.assign(next, { app: this.app, marks: { "data-at": next.ask.path + url.hash }, redirects: this.redirects - 1, body: this.body });
      Object.assign(next.ask, { length: this.ask.length, bytes: this.ask.bytes });
      next.start(this.#resolve);
    }

    /** @param {Uint8Array} bytes */
    #data(bytes) {
      if (!this.#documentStart) return this.#enqueue(bytes);
      this.#documentStart = new Uint8Array([...this.#documentStart, ...bytes]);
      if (this.#documentStart.length >= 1024) this.#flush();
    }

    /** Passes the start of a document on, with the shim inserted. */
    #flush() {
      const start = this.#documentStart;
      this.#documentStart = undefined;
      if (start) for (const part of withShim(start, this.marks)) this.#enqueue(part);
    }

    /** @param {Uint8Array} bytes */
    #enqueue(bytes) {
      this.#enqueued += bytes.length;
      this.#controller?.enqueue(bytes);
    }

    /** Credits bytes that were read: in few messages, but before the page has to credit the connection's bytes separately. */
    #creditRead() {
      const read = this.#enqueued - (WINDOW - (this.#controller?.desiredSize ?? WINDOW));
      if (read - this.#credited < WINDOW * 3 / 8) return;
      this.app?.postMessage({ t: "more", id: this.ask.id, n: read - this.#credited });
      this.#credited = read;
    }

    /** @param {ReadableStreamDefaultReader<Uint8Array>} reader */
    async #upload(reader) {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        for (let at = 0; at < value.length;) {
          while (this.#window <= 0 && exchanges.has(this.ask.id)) await new Promise((go) => { this.#resume = () => go(undefined); });
          if (!exchanges.has(this.ask.id)) return void reader.cancel();
          const part = value.slice(at, at + Math.min(CHUNK, this.#window));
          at += part.length;
          this.#window -= part.length;
          this.app?.postMessage({ t: "data", id: this.ask.id, bytes: part.buffer }, [part.buffer]);
        }
      }
      this.app?.postMessage({ t: "end", id: this.ask.id });
    }

    #armTimeout() {
      clearTimeout(this.#timer);
      if (!this.#controller) this.#timer = setTimeout(() => { this.#cancel(); this.receive({ t: "late" }); }, TIMEOUT);
    }

    #cancel() {
      if (exchanges.has(this.ask.id)) this.app?.postMessage({ t: "cancel", id: this.ask.id });
      this.#end(() => {});
    }

    /** Fails the request, before or during its response. An event stream is closed and not failed, so that the EventSource reconnects. @param {() => Response} inWords @param {boolean} [final] whether a retry cannot succeed */
    #fail(inWords, final) {
      this.#end(() => {
        if (!this.#controller) this.#resolve(this.events && !final ? retryLater() : inWords());
        else if (this.events) this.#controller.close();
        else this.#controller.error(new TypeError("the connection to the host was lost"));
      });
    }

    /** @param {() => void} last */
    #end(last) {
      clearTimeout(this.#timer);
      exchanges.delete(this.ask.id);
      last();
      this.#resume();
    }
  }
}
