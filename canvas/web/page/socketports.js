// @ts-check
// The WebSockets of one canvas's documents, which arrive over the ports of
// content/sockets.js: each becomes a WebSocket of the canvas's ws/1 connection. The
// canvas can control these ports, so the shape, size and number of their messages are
// checked here.
import { CHUNK, COST } from "./sockets.js";

const MAX_PORTS = 64; // documents of one mount
const MAX_SOCKETS = 64; // of one mount; the host's limit
const BUFFER = 256 * 1024; // cost of one WebSocket's messages that are buffered here
const UNREACHABLE = "This canvas's provider is not running.";
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;

/** @typedef {import("./sockets.js").SocketConn} SocketConn */
/** @typedef {{ socket: ReturnType<SocketConn["start"]>, given: number, delivered: number, closing: boolean }} Open given: cost that the document may still send; delivered: cost that it has not read */

export class SocketPorts {
  #conn;
  /** @type {Map<MessagePort, Map<number, Open>>} by the document's id */ #ports = new Map();
  #sockets = 0;

  /** @param {SocketConn} conn */
  constructor(conn) {
    this.#conn = conn;
  }

  /** Attaches the port of a document. @param {MessagePort} port */
  connect(port) {
    if (this.#ports.size >= MAX_PORTS) return port.close();
    this.#ports.set(port, new Map());
    port.onmessage = ({ data }) => this.#receive(port, data);
  }

  /** Closes the WebSockets of all documents. */
  close() {
    for (const port of this.#ports.keys()) this.#bye(port);
  }

  /** @param {MessagePort} port */
  #bye(port) {
    for (const { socket } of this.#ports.get(port)?.values() ?? []) {
      this.#sockets--;
      this.#conn.leave(socket);
    }
    this.#ports.delete(port);
    port.close();
  }

  /** @param {MessagePort} port @param {any} m untrusted message of a document */
  #receive(port, m) {
    const open = this.#ports.get(port);
    if (!open || !m) return;
    if (m.t === "bye") return this.#bye(port);
    if (!Number.isInteger(m.id)) return;
    if (m.t === "open" && !open.has(m.id)) return this.#open(port, open, m);
    const one = open.get(m.id);
    if (!one) return;
    if (m.t === "send") return this.#send(port, open, one, m);
    if (m.t === "read") return this.#read(one, m.n);
    if (m.t === "close") return this.#close(one, m);
  }

  /** @param {MessagePort} port @param {Map<number, Open>} open @param {any} m */
  #open(port, open, { id, path, host, protocols }) {
    const refuse = (/** @type {string} */ word) => port.postMessage({ t: "closed", id, code: 1006, reason: "", clean: false, word, failed: true });
    if (!this.#conn.open) return refuse(UNREACHABLE);
    if (this.#sockets >= MAX_SOCKETS) return refuse("This canvas has too many WebSockets.");
    if (typeof path !== "string" || !/^\/[!-~]*$/.test(path) || path.length > 8192) return refuse("The address is not valid.");
    if (host !== undefined && (typeof host !== "string" || !/^[!-~]{1,255}$/.test(host))) return refuse("The address is not valid.");
    const list = Array.isArray(protocols) ? protocols : [];
    if (list.length > 32 || new Set(list).size !== list.length || !list.every((p) => typeof p === "string" && TOKEN.test(p))) return refuse("The subprotocols are not valid.");
    /** @type {Open} */
    const one = /** @type {any} */ ({ given: BUFFER, delivered: 0, closing: false });
    this.#sockets++;
    open.set(id, one);
    one.socket = this.#conn.start({ path: path.replaceAll("\\", "%5C"), host, protocols: list.length > 0 ? list : undefined }, {
      opened: (protocol) => port.postMessage({ t: "opened", id, protocol }),
      message: (binary, more, bytes) => {
        one.delivered += COST + bytes.length;
        port.postMessage({ t: "message", id, binary, more, bytes: bytes.buffer }, [bytes.buffer]);
      },
      sent: (n) => {
        one.given += n;
        port.postMessage({ t: "sent", id, n });
      },
      closed: (end) => {
        open.delete(id);
        this.#sockets--;
        port.postMessage({ t: "closed", id, ...end });
      },
    });
  }

  /** @param {MessagePort} port @param {Map<number, Open>} open @param {Open} one @param {any} m */
  #send(port, open, one, { id, binary, more, bytes }) {
    const size = bytes instanceof ArrayBuffer ? COST + bytes.byteLength : Infinity;
    if (one.closing) return;
    if (size > COST + CHUNK || size > one.given) {
      open.delete(id);
      this.#sockets--;
      this.#conn.leave(one.socket);
      return port.postMessage({ t: "closed", id, code: 1006, reason: "", clean: false, word: "A message of this canvas is not valid.", failed: true });
    }
    one.given -= size;
    this.#conn.send(one.socket, { binary: binary === true, more: more === true, bytes: new Uint8Array(bytes) });
  }

  /** @param {Open} one @param {unknown} n cost that the document read; only delivered cost counts */
  #read(one, n) {
    if (!Number.isInteger(n)) return;
    const read = Math.min(/** @type {number} */ (n), one.delivered);
    one.delivered -= read;
    if (read > 0) this.#conn.read(one.socket, read);
  }

  /** @param {Open} one @param {any} m */
  #close(one, { code, reason }) {
    if (one.closing) return;
    one.closing = true;
    const known = code === 1000 || code === 1001 || (Number.isInteger(code) && code >= 3000 && code <= 4999);
    this.#conn.close(one.socket, known ? code : undefined, typeof reason === "string" && new TextEncoder().encode(reason).length <= 123 ? reason : undefined);
  }
}
