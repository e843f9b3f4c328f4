// @ts-check
/// <reference lib="webworker" />
// The service worker of one mount: it hands every request of the canvas to the
// app page and answers with what comes back, always under our policies. It
// judges nothing: the app page does, and so does the host. doc.go has the words
// that go over the port.
"use strict";
{
  // Filled in by the host: the headers of every answer, errors included.
  /** @type {Record<string, string>} */
  const POLICY = {};
  const { again, isHTML, onward, shimmed, words } = documents(POLICY);

  const PATIENCE = 35_000; // ms without a word of the app page; its own deadlines are shorter
  const WINDOW = 512 * 1024; // bytes of one body that may wait here for their reader
  const CHUNK = 32 * 1024; // bytes of an upload in one message
  const MAX_LASTS = 64; // event streams whose last event is kept
  const READS = ["script", "style", "image", "font", "worker", "sharedworker", "track", "manifest"];
  const PROMPT = "The app of this canvas asks for a name and a password in the browser's own window (HTTP authentication). A canvas has no such window.";
  const readable = new Response("x").blob().then((b) => b.arrayBuffer()).then(() => true, () => false); // a body as a Blob: not in WebKit's workers
  const sw = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));

  /** @type {MessagePort | undefined} */ let app;
  /** @type {Map<number, Exchange>} What the app page was asked, and has not ended */
  const exchanges = new Map();
  /** @type {Promise<void> | undefined} */ let connecting;
  /** @type {(() => void) | undefined} */ let connected;
  let lastId = 0;
  /** @type {Map<string, string>} What an event stream's page heard last, by client and url */
  const lasts = new Map();

  sw.addEventListener("install", () => sw.skipWaiting());
  sw.addEventListener("activate", (event) => event.waitUntil(sw.clients.claim()));

  sw.addEventListener("message", (event) => {
    if (event.data?.t === "last") return remember(`${/** @type {Client} */ (event.source).id} ${event.data.url}`, String(event.data.id));
    if (event.data?.t !== "port" || !event.ports[0]) return;
    const port = event.ports[0];
    app?.close();
    app = port;
    port.onmessage = ({ data }) => exchanges.get(data.id)?.hear(data);
    // Nobody reads the old port any more. A read is asked again; nothing else ever is.
    for (const x of exchanges.values()) if (x.ask.read) port.postMessage(x.ask); else x.hear({ t: "lost" });
    connected?.();
    event.source?.postMessage({ t: "port!" });
  });

  sw.addEventListener("fetch", (event) => {
    const url = new URL(event.request.url);
    if (url.origin !== sw.location.origin) return event.respondWith(Response.error());
    if (url.pathname.startsWith("/.ahp/")) return; // the host's own files, with the host's own headers
    event.respondWith(answer(event.request, url, event.clientId));
  });

  /** A worker is not shown the Last-Event-ID with which a stream is opened again: shim.js says it. @param {string} key @param {string} id */
  function remember(key, id) {
    const bytes = String.fromCharCode(...new TextEncoder().encode(id.slice(0, 1024)));
    if (/^[^\x00-\x1f\x7f]+$/.test(bytes)) lasts.set(key, bytes);
    if (lasts.size > MAX_LASTS) lasts.delete(/** @type {string} */ (lasts.keys().next().value));
  }

  /** @param {Request} request @param {URL} url @param {string} client @returns {Promise<Response>} */
  async function answer(request, url, client) {
    const key = `${client} ${url.href}`;
    const x = new Exchange(request, url, lasts.get(key));
    lasts.delete(key);
    await x.prepare();
    if (!app) await connect();
    return new Promise((resolve) => x.start(resolve));
  }

  /** A worker that was put to sleep has lost its port: it asks the outer frame for another, once for all that wait. */
  function connect() {
    connecting ??= (async () => {
      const renewed = new Promise((resolve) => { connected = () => resolve(undefined); setTimeout(resolve, 5_000); });
      for (const client of await sw.clients.matchAll({ includeUncontrolled: true, type: "window" })) {
        if (new URL(client.url).pathname === "/.ahp/frame.html") client.postMessage({ t: "port?" });
      }
      await renewed;
      connecting = undefined;
    })();
    return connecting;
  }

  /** One request and its answer, as the app page gives it: in one piece, or as a head and a stream of chunks. */
  class Exchange {
    /** @type {(r: Response) => void} */ #resolve = () => {};
    /** @type {ReadableStreamDefaultController<Uint8Array> | undefined} */ #controller;
    /** @type {Uint8Array | undefined} The start of a document, until the shim can be put into it */ #start;
    /** Bytes of the answer: that came, and that the reader took */ #enqueued = 0;
    #credited = 0;
    #room = 0; // bytes of the upload that the app page takes
    #go = () => {};
    #late = 0;

    /** @param {Request} request @param {URL} url @param {string} [last] the last event that its page heard */
    constructor(request, url, last) {
      this.request = request;
      this.document = request.mode === "navigate";
      this.events = request.headers.get("Accept") === "text/event-stream";
      /** @type {Record<string, string>} What the shim is told */ this.marks = {};
      this.forwards = 20; // that a form may still go from address to address, as in a browser
      /** @type {[string, string][]} */ const headers = [];
      request.headers.forEach((value, name) => headers.push([name, value]));
      if (last) headers.push(["last-event-id", last]);
      this.ask = {
        t: "ask", id: ++lastId, method: request.method, path: url.pathname + url.search, headers, events: this.events, document: this.document,
        read: request.method === "GET" && !request.headers.has("Range") && READS.includes(request.destination),
        length: /** @type {number | undefined} */ (undefined), bytes: /** @type {ArrayBuffer | undefined} */ (undefined),
      };
    }

    /** Reads the body, which the browser keeps wherever it likes, if it can: an app without chunked requests needs its length. */
    async prepare() {
      if (["GET", "HEAD"].includes(this.request.method)) return;
      const body = await readable ? await this.request.blob() : await this.request.arrayBuffer();
      const length = "size" in body ? body.size : body.byteLength;
      if (length > 0) this.ask.length = length;
      if (length > CHUNK) this.body = body;
      else if (length > 0) this.ask.bytes = await new Response(body).arrayBuffer();
    }

    /** @param {(r: Response) => void} resolve */
    start(resolve) {
      this.#resolve = resolve;
      exchanges.set(this.ask.id, this);
      if (!app) return this.hear({ t: "lost" });
      app.postMessage(this.ask);
      this.#wait();
      const body = this.body && new Response(this.body).body; // anew: a form may be sent on
      if (body) this.#upload(body.getReader()).catch(() => this.#cancel());
    }

    /** @param {any} m of the app page */
    hear(m) {
      switch (m.t) {
        case "whole": return this.#end(() => this.#resolve(this.#whole(m)));
        case "head": return this.#head(m);
        case "data": // bytes: of a page that was loaded before the host was replaced
          for (const bytes of m.chunks ?? [m.bytes]) this.#data(new Uint8Array(bytes));
          return;
        case "end": return this.#end(() => { this.#flush(); this.#controller?.close(); });
        case "more":
          this.#room += m.n;
          this.#wait();
          return this.#go();
        case "words": return this.#fail(() => words(m.status, m.word, this.document), m.status === 501);
        case "late": return this.#fail(() => words(504, "The app of this canvas did not answer in time.", this.document));
        case "lost": return this.#fail(() => words(503, "This canvas is not connected to its page any more. Load it again.", this.document));
      }
    }

    /** @param {{ type: string, body: ArrayBuffer }} m */
    #whole({ type, body }) {
      const bytes = new Uint8Array(body);
      const parts = this.document && isHTML(type) ? shimmed(bytes, {}) : [bytes];
      return new Response(new Blob(/** @type {BlobPart[]} */ (parts)), { headers: { ...POLICY, "Content-Type": type } });
    }

    /** @param {{ status: number, text: string, headers: [string, string][], empty: boolean }} m */
    #head({ status, text, headers: given, empty }) {
      clearTimeout(this.#late); // what follows takes the time that it takes: an event stream may be silent
      const headers = new Headers(POLICY);
      for (const [name, value] of given) {
        // What is ours stays; the app's own policy comes on top of it.
        if (/^content-security-policy$/i.test(name) || !Object.keys(POLICY).some((p) => p.toLowerCase() === name)) headers.append(name, value);
      }
      const location = headers.get("Location");
      if (this.document && location && status >= 300 && status < 400) return this.#end(() => this.#redirected(status, location));
      if (this.document && status === 401 && headers.has("WWW-Authenticate")) {
        this.#cancel();
        return this.#resolve(words(401, PROMPT, true));
      }
      if (this.document && isHTML(headers.get("Content-Type") ?? "") && !empty) {
        this.#start = new Uint8Array();
        headers.delete("Content-Length");
      }
      const stream = empty ? null : new ReadableStream({
        start: (c) => { this.#controller = c; },
        pull: () => this.#drained(),
        cancel: () => this.#cancel(),
      }, { highWaterMark: WINDOW, size: (c) => c.byteLength });
      // The shim has to pass the app's own policy too.
      this.marks.nonce = /'nonce-([\w+/=-]+)'/.exec(headers.get("Content-Security-Policy") ?? "")?.[1] ?? "";
      this.marks["data-cookies"] = headers.get("X-Ahp-Cookies") ?? "";
      this.#resolve(new Response(stream, { status, statusText: text, headers }));
    }

    /** A navigation may not be redirected under our policies: its document goes on by itself, and a form that keeps its method is sent again from here. @param {number} status @param {string} location */
    #redirected(status, location) {
      if (status < 307 || ["GET", "HEAD"].includes(this.request.method)) return this.#resolve(onward(location));
      if (this.forwards === 0) return this.#resolve(words(502, "The app of this canvas sends a form on from address to address without an end.", true));
      const url = new URL(location, sw.location.origin);
      const next = new Exchange(this.request, url);
      Object.assign(next, { marks: { "data-at": next.ask.path + url.hash }, forwards: this.forwards - 1, body: this.body });
      Object.assign(next.ask, { length: this.ask.length, bytes: this.ask.bytes });
      next.start(this.#resolve);
    }

    /** @param {Uint8Array} bytes */
    #data(bytes) {
      if (!this.#start) return this.#enqueue(bytes);
      this.#start = new Uint8Array([...this.#start, ...bytes]);
      if (this.#start.length >= 1024) this.#flush();
    }

    /** Lets the start of a document go on, with the shim in it. */
    #flush() {
      const start = this.#start;
      this.#start = undefined;
      if (start) for (const part of shimmed(start, this.marks)) this.#enqueue(part);
    }

    /** @param {Uint8Array} bytes */
    #enqueue(bytes) {
      this.#enqueued += bytes.length;
      this.#controller?.enqueue(bytes);
    }

    /** Gives back what was read: rarely, but before the page has to give the lane's bytes back in a message of their own. */
    #drained() {
      const read = this.#enqueued - (WINDOW - (this.#controller?.desiredSize ?? WINDOW));
      if (read - this.#credited < WINDOW * 3 / 8) return;
      app?.postMessage({ t: "more", id: this.ask.id, n: read - this.#credited });
      this.#credited = read;
    }

    /** @param {ReadableStreamDefaultReader<Uint8Array>} reader */
    async #upload(reader) {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        for (let at = 0; at < value.length;) {
          while (this.#room <= 0 && exchanges.has(this.ask.id)) await new Promise((go) => { this.#go = () => go(undefined); });
          if (!exchanges.has(this.ask.id)) return void reader.cancel();
          const part = value.slice(at, at + Math.min(CHUNK, this.#room));
          at += part.length;
          this.#room -= part.length;
          app?.postMessage({ t: "data", id: this.ask.id, bytes: part.buffer }, [part.buffer]);
        }
      }
      app?.postMessage({ t: "end", id: this.ask.id });
    }

    #wait() {
      clearTimeout(this.#late);
      if (!this.#controller) this.#late = setTimeout(() => { this.#cancel(); this.hear({ t: "late" }); }, PATIENCE);
    }

    #cancel() {
      if (exchanges.has(this.ask.id)) app?.postMessage({ t: "cancel", id: this.ask.id });
      this.#end(() => {});
    }

    /** Ends without an answer, or in the middle of one. An event stream is closed, never failed: the page's EventSource then tries again. @param {() => Response} inWords @param {boolean} [final] it will never be there */
    #fail(inWords, final) {
      this.#end(() => {
        if (!this.#controller) this.#resolve(this.events && !final ? again() : inWords());
        else if (this.events) this.#controller.close();
        else this.#controller.error(new TypeError("the connection to the host was lost"));
      });
    }

    /** @param {() => void} last */
    #end(last) {
      clearTimeout(this.#late);
      exchanges.delete(this.ask.id);
      last();
      this.#go();
    }
  }
}
