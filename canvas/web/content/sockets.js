// @ts-check
// WebSockets of a canvas that its page reaches through the channel only: a service worker
// does not see them. This class behaves as the browser's, and sends its messages over a
// port to the app page (doc.go), which checks them. The host serves it in front of shim.js;
// sw.js inserts it into the scripts of dedicated workers, and single.js into its documents.
"use strict";
{
  /** The outer frame, if this document is below one. @returns {any} */
  const frameOf = () => {
    try {
      for (let w = /** @type {any} */ (self); ; w = w.parent) {
        if (w.ahpSockets !== undefined) return w;
        if (w.parent === w) return undefined;
      }
    } catch {
      return undefined; // of another origin
    }
  };

  /** @typedef {{ connect: () => MessagePort, base: () => string, own: string }} Place connect: opens a port to the app page; own: the host by which a url names the app's own server */

  /** The place of a document. @returns {Place | undefined} */
  function inDocument() {
    const single = /** @type {any} */ (globalThis).ahpSocketsAt; // set by single.js: the document's address
    Reflect.deleteProperty(globalThis, "ahpSocketsAt");
    const frame = single === undefined && frameOf();
    if (single === undefined && frame?.ahpSockets !== true) return undefined;
    return {
      connect: () => {
        const { port1, port2 } = new MessageChannel();
        if (frame) frame.postMessage({ "x-ahp": "sockets" }, location.origin, [port2]);
        else parent.postMessage({ "x-ahp": "sockets" }, "*", [port2]);
        return port1;
      },
      base: () => single ?? document.baseURI,
      own: single === undefined ? location.host : new URL(single).host,
    };
  }

  /** The place of a dedicated worker, whose creator passes its port on (replaceWorker). @returns {Place} */
  function inWorker() {
    const creator = new Promise((/** @type {(port: MessagePort) => void} */ resolve) => {
      addEventListener("message", (event) => {
        if (event.data?.["x-ahp"] !== "sockets" || !event.ports[0]) return;
        event.stopImmediatePropagation();
        resolve(event.ports[0]);
      });
    });
    const { host } = new URL(self.origin === "null" ? "http://canvas/" : self.origin);
    return {
      connect: () => {
        const { port1, port2 } = new MessageChannel();
        creator.then((port) => port.postMessage("sockets", [port2]));
        return port1;
      },
      base: () => location.href,
      own: host,
    };
  }

  /** Starts in a worker, once: each module of a worker has this file in front. */
  function startWorker() {
    if (!globalThis.WebSocket || !/\[native code\]/.test(Reflect.apply(Function.prototype.toString, globalThis.WebSocket, []))) return;
    const place = inWorker();
    replaceWebSocket(place);
    replaceWorker(place);
  }

  if (typeof document === "undefined") {
    startWorker();
  } else {
    const place = globalThis.WebSocket && inDocument();
    if (place) {
      replaceWebSocket(place);
      replaceWorker(place);
    }
  }

  /**
   * Gives dedicated workers WebSockets too: those of the app's own scripts, into which sw.js
   * inserts this file, and those of blobs, which get it here. Messages pass through the
   * creator, because a worker that is terminated cannot close its port.
   * @param {Place} place
   */
  function replaceWorker({ connect }) {
    const Native = globalThis.Worker;
    if (!Native) return; // in a worker, in some browsers
    const START = `(() => { "use strict"; ${[inWorker, startWorker, replaceWorker, replaceWebSocket].join("\n")}\nstartWorker(); })();\n`;
    const KEPT = 10_000; // ms until the url of a worker's blob is revoked
    const { createObjectURL, revokeObjectURL } = URL;
    /** @type {Map<string, Blob>} by url */ const blobs = new Map();
    /** @type {Map<object, () => void>} ends the WebSockets of a worker */ const ends = new Map();

    URL.createObjectURL = (object) => {
      const url = Reflect.apply(createObjectURL, URL, [object]);
      if (object instanceof Blob) blobs.set(url, object);
      return url;
    };
    URL.revokeObjectURL = (url) => {
      blobs.delete(url);
      Reflect.apply(revokeObjectURL, URL, [url]);
    };
    addEventListener("pagehide", () => { for (const end of ends.values()) end(); });

    /** The url of a blob's script with the class in front. @param {Blob} blob */
    function withStart(blob) {
      const url = Reflect.apply(createObjectURL, URL, [new Blob([START, blob], { type: blob.type || "text/javascript" })]);
      setTimeout(() => Reflect.apply(revokeObjectURL, URL, [url]), KEPT);
      return url;
    }

    /** @param {string} url */
    const isOwnScript = (url) => /^https?:/.test(location.protocol) && URL.canParse(url, location.href) && new URL(url, globalThis.document?.baseURI ?? location.href).origin === location.origin;

    /** Passes messages on. @param {MessagePort} from @param {MessagePort} to */
    const pass = (from, to) => { from.onmessage = ({ data }) => to.postMessage(data, data?.bytes instanceof ArrayBuffer ? [data.bytes] : []); };

    globalThis.Worker = class Worker extends Native {
      /** @param {string | URL} given @param {WorkerOptions} [options] */
      constructor(given, options) {
        const url = String(given), blob = blobs.get(url);
        super(blob ? withStart(blob) : given, options);
        if (!blob && !isOwnScript(url)) return;
        const { port1, port2 } = new MessageChannel();
        super.postMessage({ "x-ahp": "sockets" }, [port2]);
        port1.onmessage = ({ ports: [worker] }) => {
          const page = connect();
          pass(worker, page);
          pass(page, worker);
          ends.set(this, () => page.postMessage({ t: "bye" }));
        };
      }

      terminate() {
        ends.get(this)?.();
        ends.delete(this);
        super.terminate();
      }
    };
  }

  /** @param {Place} place */
  function replaceWebSocket({ connect, base, own }) {
    const Native = globalThis.WebSocket;
    const CHUNK = 32 * 1024, COST = 64; // bytes of a message to the app page, and what it costs besides
    const BUFFER = 256 * 1024; // cost that the app page takes
    const READ_AT = 32 * 1024; // read cost that is reported to the app page at once
    const MAX_QUEUED = 16 * 1024 * 1024; // bytes that were not sent; a browser fails a WebSocket too if it cannot buffer
    const LOCAL = /^(localhost|127\.0\.0\.1|\[::1\])$/i;
    const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
    const post = MessagePort.prototype.postMessage;

    /** @type {MessagePort | undefined} */ let port;
    /** @type {Map<number, Link>} */ const links = new Map();
    let last = 0;
    let gone = false; // the document has ended

    /** Sends a message to the app page. @param {any} m @param {Transferable[]} [transfer] */
    function tell(m, transfer = []) {
      if (gone) return;
      if (!port) {
        port = connect();
        port.onmessage = ({ data }) => links.get(data.id)?.receive(data);
      }
      Reflect.apply(post, port, [m, transfer]);
    }

    if (typeof document === "undefined") {
      const { close } = globalThis;
      globalThis.close = () => {
        if (port) tell({ t: "bye" });
        Reflect.apply(close, globalThis, []);
      };
    }
    addEventListener("pagehide", () => {
      if (port) tell({ t: "bye" });
      port?.close();
      port = undefined;
      gone = true;
    });
    addEventListener("pageshow", ({ persisted }) => {
      gone = false;
      if (persisted) for (const link of [...links.values()]) link.end(1006, "", false, "", false);
    });

    /** One WebSocket's messages: what its class does not show. */
    class Link {
      id = ++last;
      /** @type {number} */ state = Native.CONNECTING;
      protocol = "";
      /** @type {BinaryType} */ binaryType = "blob";
      buffered = 0; // bytes of messages that did not leave the page
      lost = 0; // bytes that were passed to send after the close
      /** @type {(Blob | { binary: boolean, bytes: Uint8Array })[]} */ #queue = [];
      #reading = false; // of a Blob, before which nothing else is sent
      #window = BUFFER;
      /** @type {number[]} bytes of the parts that the app page has and did not send */ #inPage = [];
      /** @type {{ code?: number, reason?: string } | undefined} */ #closing;
      /** @type {Uint8Array<ArrayBuffer>[]} */ #parts = [];
      #binary = false;
      #read = 0; // cost of parts that the app page does not know to be read

      /** @param {WebSocket} target @param {URL} url @param {string[]} protocols */
      constructor(target, url, protocols) {
        this.target = target;
        this.url = url;
        links.set(this.id, this);
        tell({ t: "open", id: this.id, path: url.pathname + url.search, host: hostOf(url), protocols });
      }

      /** @param {any} m of the app page */
      receive(m) {
        if (m.t === "opened") return this.#opened(m.protocol);
        if (m.t === "message") return this.#message(m);
        if (m.t === "closed") return this.end(m.code, m.reason, m.clean, m.word, m.failed || this.state === Native.CONNECTING);
        if (m.t !== "sent") return;
        this.#window += m.n;
        this.buffered -= this.#inPage.shift() ?? 0;
        this.#flush();
      }

      /** @param {string} protocol */
      #opened(protocol) {
        if (this.state !== Native.CONNECTING) return;
        this.state = Native.OPEN;
        this.protocol = protocol;
        this.target.dispatchEvent(new Event("open"));
      }

      /** @param {{ binary: boolean, more: boolean, bytes: ArrayBuffer }} m */
      #message({ binary, more, bytes }) {
        this.#read += COST + bytes.byteLength;
        if (this.#read >= READ_AT) {
          tell({ t: "read", id: this.id, n: this.#read });
          this.#read = 0;
        }
        if (this.#parts.length === 0) this.#binary = binary;
        this.#parts.push(new Uint8Array(bytes));
        if (more) return;
        const parts = this.#parts;
        this.#parts = [];
        if (this.state === Native.CLOSED) return;
        const data = this.#data(parts);
        if (data === undefined) return this.fail("Could not decode a text frame as UTF-8.");
        this.target.dispatchEvent(new MessageEvent("message", { data, origin: this.url.origin }));
      }

      /** @param {Uint8Array<ArrayBuffer>[]} parts */
      #data(parts) {
        if (this.#binary && this.binaryType === "blob") return new Blob(parts);
        const whole = parts.length === 1 ? parts[0] : joined(parts);
        if (this.#binary) return whole.buffer;
        try {
          return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(whole);
        } catch {
          return undefined;
        }
      }

      /** @param {Blob | { binary: boolean, bytes: Uint8Array }} message @param {number} size */
      send(message, size) {
        this.buffered += size;
        if (this.buffered > MAX_QUEUED) return this.fail("More than 16 MiB were waiting to be sent.");
        this.#queue.push(message);
        this.#flush();
      }

      /** Sends what the app page takes now. */
      #flush() {
        while (!this.#reading && this.#queue.length > 0) {
          const [message] = this.#queue;
          if (message instanceof Blob) return void this.#readBlob(message);
          const size = Math.min(message.bytes.length, CHUNK);
          if (COST + size > this.#window) return;
          const more = message.bytes.length > size;
          const bytes = message.bytes.slice(0, size).buffer;
          this.#window -= COST + size;
          this.#inPage.push(size);
          tell({ t: "send", id: this.id, binary: message.binary, more, bytes }, [bytes]);
          if (more) message.bytes = message.bytes.subarray(size);
          else this.#queue.shift();
        }
        if (this.#closing && this.#queue.length === 0) {
          tell({ t: "close", id: this.id, ...this.#closing });
          this.#closing = undefined;
        }
      }

      /** @param {Blob} blob */
      async #readBlob(blob) {
        this.#reading = true;
        const bytes = await blob.arrayBuffer().catch(() => undefined);
        this.#reading = false;
        if (!bytes) return this.fail("A Blob could not be read.");
        this.#queue[0] = { binary: true, bytes: new Uint8Array(bytes) };
        this.#flush();
      }

      /** @param {number} [code] @param {string} [reason] */
      close(code, reason) {
        if (this.state >= Native.CLOSING) return;
        if (this.state === Native.CONNECTING) {
          this.fail("WebSocket is closed before the connection is established.");
          this.state = Native.CLOSING;
          return;
        }
        this.state = Native.CLOSING;
        this.#closing = { code, reason };
        this.#flush();
      }

      /** Ends it as failed. @param {string} word why */
      fail(word) {
        if (this.state === Native.CLOSED) return;
        tell({ t: "close", id: this.id, code: 1001 });
        setTimeout(() => this.end(1006, "", false, word, true));
      }

      /** @param {number} code @param {string} reason @param {boolean} clean @param {string} word @param {boolean} failed whether it was ended here or at the host, and not by a lost connection */
      end(code, reason, clean, word, failed) {
        if (this.state === Native.CLOSED) return;
        this.state = Native.CLOSED;
        links.delete(this.id);
        this.#queue = [];
        if (word) console.error(`WebSocket connection to '${this.url.href}' failed: ${word}`);
        if (failed) this.target.dispatchEvent(new Event("error"));
        this.target.dispatchEvent(new CloseEvent("close", { code, reason, wasClean: clean }));
      }
    }

    /** @param {Uint8Array[]} parts */
    function joined(parts) {
      const whole = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
      let at = 0;
      for (const p of parts) {
        whole.set(p, at);
        at += p.length;
      }
      return whole;
    }

    /** Whether a url names this page's host with another port, such as one that the app knows as its own. @param {URL} url */
    const isOtherPort = (url) => url.host !== own && url.hostname === new URL(`http://${own}`).hostname;

    /** The host that the app has for a url's; undefined if it is the app's own. @param {URL} url */
    const hostOf = (url) => (url.host === own ? undefined : isOtherPort(url) ? `localhost:${url.port || (url.protocol === "wss:" ? 443 : 80)}` : url.host);

    /** @param {string | URL} given @returns {URL} throws as the browser's WebSocket does */
    function parse(given) {
      const wrong = (/** @type {string} */ why) => new DOMException(`Failed to construct 'WebSocket': ${why}`, "SyntaxError");
      if (!URL.canParse(String(given), base())) throw wrong(`The URL '${given}' is invalid.`);
      const url = new URL(String(given), base());
      if (url.protocol === "http:") url.protocol = "ws:";
      if (url.protocol === "https:") url.protocol = "wss:";
      if (url.protocol !== "ws:" && url.protocol !== "wss:") throw wrong(`The URL's scheme must be either 'http', 'https', 'ws', or 'wss'. '${url.protocol.slice(0, -1)}' is not allowed.`);
      if (url.hash || url.href.endsWith("#")) throw wrong(`The URL contains a fragment identifier ('${url.hash.slice(1)}'). Fragment identifiers are not allowed in WebSocket URLs.`);
      return url;
    }

    /** @param {any} given @returns {string[]} */
    function parseProtocols(given) {
      const list = given === undefined ? [] : typeof given === "object" && given !== null && Symbol.iterator in given ? [...given].map(String) : [String(given)];
      const wrong = list.find((p, i) => !TOKEN.test(p) || list.indexOf(p) !== i);
      if (wrong !== undefined) throw new DOMException(`Failed to construct 'WebSocket': The subprotocol '${wrong}' is ${TOKEN.test(wrong) ? "duplicated" : "invalid"}.`, "SyntaxError");
      return list;
    }

    /** @type {WeakMap<object, Link>} */ const linkOf = new WeakMap();
    /** @param {any} socket @returns {Link} */
    function link(socket) {
      const found = linkOf.get(socket);
      if (!found) throw new TypeError("Illegal invocation");
      return found;
    }

    class WebSocket extends EventTarget {
      /** @param {string | URL} given @param {string | string[]} [protocols] */
      constructor(given, protocols) {
        if (arguments.length === 0) throw new TypeError("Failed to construct 'WebSocket': 1 argument required, but only 0 present.");
        const url = parse(given);
        const list = parseProtocols(protocols);
        super();
        // Another server: the canvas's policy decides, as it does for every request.
        if (url.host !== own && !LOCAL.test(url.hostname) && !isOtherPort(url)) return /** @type {any} */ (new Native(url, list));
        linkOf.set(this, new Link(/** @type {any} */ (this), url, list));
      }

      static [Symbol.hasInstance](/** @type {any} */ value) {
        return Function.prototype[Symbol.hasInstance].call(this, value) || (this === WebSocket && value instanceof Native);
      }

      get url() { return link(this).url.href; }
      get readyState() { return link(this).state; }
      get protocol() { return link(this).protocol; }
      get extensions() { return link(this) && ""; }
      get bufferedAmount() { return link(this).buffered + link(this).lost; }
      get binaryType() { return link(this).binaryType; }
      set binaryType(type) { if (type === "blob" || type === "arraybuffer") link(this).binaryType = type; }

      /** @param {any} data */
      send(data) {
        const l = link(this);
        if (arguments.length === 0) throw new TypeError("Failed to execute 'send' on 'WebSocket': 1 argument required, but only 0 present.");
        if (l.state === Native.CONNECTING) throw new DOMException("Failed to execute 'send' on 'WebSocket': Still in CONNECTING state.", "InvalidStateError");
        const message = data instanceof Blob ? data
          : data instanceof ArrayBuffer ? { binary: true, bytes: new Uint8Array(data.slice(0)) }
          : ArrayBuffer.isView(data) ? { binary: true, bytes: new Uint8Array(data.buffer, data.byteOffset, data.byteLength).slice() }
          : { binary: false, bytes: new TextEncoder().encode(String(data)) };
        const size = message instanceof Blob ? message.size : message.bytes.length;
        if (l.state !== Native.OPEN) l.lost += size;
        else l.send(message, size);
      }

      /** @param {number} [code] @param {string} [reason] */
      close(code, reason) {
        const l = link(this);
        if (code !== undefined) code = Math.min(Math.max(Math.round(Number(code)) || 0, 0), 65535);
        if (code !== undefined && code !== 1000 && !(code >= 3000 && code <= 4999)) {
          throw new DOMException(`Failed to execute 'close' on 'WebSocket': The close code must be either 1000, or between 3000 and 4999. ${code} is neither.`, "InvalidAccessError");
        }
        if (reason !== undefined && new TextEncoder().encode(String(reason)).length > 123) {
          throw new DOMException("Failed to execute 'close' on 'WebSocket': The close reason must not be greater than 123 UTF-8 bytes.", "SyntaxError");
        }
        l.close(code ?? (reason === undefined ? undefined : 1000), reason === undefined ? undefined : String(reason));
      }
    }

    const prototype = WebSocket.prototype;
    for (const [name, value] of Object.entries({ CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 })) {
      for (const at of [WebSocket, prototype]) Object.defineProperty(at, name, { value, enumerable: true });
    }
    /** @type {WeakMap<object, Record<string, { fn: any, call: (event: Event) => void }>>} */ const handlers = new WeakMap();
    for (const type of ["open", "message", "error", "close"]) {
      Object.defineProperty(prototype, `on${type}`, {
        enumerable: true, configurable: true,
        get() { return handlers.get(this)?.[type]?.fn ?? null; },
        set(fn) {
          const own = handlers.get(this) ?? {};
          handlers.set(this, own);
          const set = (typeof fn === "object" && fn !== null) || typeof fn === "function";
          if (set && own[type]) own[type].fn = fn; // in the same place among the listeners
          if (set === (type in own)) return;
          if (!set) {
            this.removeEventListener(type, own[type].call);
            delete own[type];
            return;
          }
          own[type] = { fn, call: (event) => { if (typeof own[type]?.fn === "function") own[type].fn.call(this, event); } };
          this.addEventListener(type, own[type].call);
        },
      });
    }
    for (const name of ["url", "readyState", "protocol", "extensions", "bufferedAmount", "binaryType", "send", "close"]) {
      Object.defineProperty(prototype, name, { enumerable: true });
    }
    Object.defineProperty(prototype, Symbol.toStringTag, { value: "WebSocket", configurable: true });
    globalThis.WebSocket = /** @type {any} */ (WebSocket);
  }
}
