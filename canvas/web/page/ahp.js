// @ts-check
// An AHP client over one WebSocket at a time: handshake, subscriptions,
// dispatch, and coming back after a loss (reconnect, or initialize on the same
// socket where the host does not know us any more).
import { provable, proven } from "./proof.js";
import { parse } from "./wire.js";

const ROOT = "ahp-root://";
const VERSIONS = ["0.6.0", "0.5.1"];
const FIRST_WAIT = 200, GROWTH = 1.5, LONGEST_WAIT = 5_000; // ms between two tries, as the Go client waits
const STABLE = 2_000; // ms that a connection has lasted when the next loss begins with the first wait
const DEADLINE = 35_000; // ms for an answer
const AWAKE = 3_000; // ms for a sign of life after a sleep
const OPENING = 10_000; // ms until a door that says nothing is left
const PING = 20_000; // ms between two signs of life

export const STRANGER = 4999; // in place of a close code: what listens there is not our host

/** An error that the host answered. */
export class RPCError extends Error {
  /** @param {{ code: number, message: string, data?: any }} e */
  constructor(e) {
    super(e.message);
    this.code = e.code;
    this.data = e.data;
  }
}

/**
 * @typedef {{ state: "connecting" | "ready" }
 *   | { state: "waiting", retryAt: number, code: number }
 *   | { state: "refused", why: "token" | "version" }} Status
 * @typedef {{ channel: string, action: any, serverSeq: number, origin?: { clientId: string, clientSeq: number }, rejectionReason?: string }} Envelope
 * @typedef {{
 *   status: (s: Status) => void,
 *   snapshot: (channel: string, state: any) => void,
 *   action: (e: Envelope) => void,
 *   missing: (channel: string) => void,
 * }} Listener missing: a subscription that the host does not have (any more)
 */

export class Client {
  /** Which envelopes are echoes of our own. */
  clientId = `page-${Array.from(crypto.getRandomValues(new Uint8Array(12)), (b) => b.toString(16).padStart(2, "0")).join("")}`;

  #url; #token; #listener;
  /** @type {WebSocket | undefined} */ #socket;
  /** @type {Map<number, { resolve: (v: any) => void, reject: (e: Error) => void, timer: number }>} */ #pending = new Map();
  /** @type {Set<string>} */ #channels = new Set();
  #ready = false;
  #lastId = 0;
  #clientSeq = 0;
  #lastSeq = 0;
  #tries = 0;
  #since = Infinity; // when the connection was ready
  #retry = 0;
  #dialled = false; // once: until then, who listens is who gave us this page

  /** @param {URL} url of the WebSocket @param {string} token @param {Listener} listener */
  constructor(url, token, listener) {
    this.#url = url;
    this.#token = token;
    this.#listener = listener;
    setInterval(() => this.#ready && this.request("ping", {}, 10_000).catch(() => this.#socket?.close()), PING);
    addEventListener("online", () => this.#look());
    addEventListener("pageshow", () => this.#look());
    document.addEventListener("visibilitychange", () => document.hidden || this.#look());
  }

  /** Connects, and keeps connected from then on. @param {string[]} channels */
  start(channels) {
    for (const c of channels) this.#channels.add(c);
    this.#connect();
  }

  /** Ends the waiting between two tries. */
  retryNow() {
    if (!this.#retry) return;
    clearTimeout(this.#retry);
    this.#connect();
  }

  /** The machine slept, or its network is another one: a socket that seems open may lead nowhere. */
  #look() {
    if (this.#ready) this.request("ping", {}, AWAKE).catch(() => this.#socket?.close());
    else this.retryNow();
  }

  /** @param {string} channel */
  subscribe(channel) {
    this.#channels.add(channel);
    if (!this.#ready) return; // the handshake subscribes to all
    this.request("subscribe", { channel }).then(
      ({ snapshot }) => { if (snapshot && this.#channels.has(channel)) this.#take(snapshot); },
      (err) => { if (err instanceof RPCError && this.#channels.delete(channel)) this.#listener.missing(channel); },
    );
  }

  /** @param {string} channel */
  unsubscribe(channel) {
    if (this.#channels.delete(channel) && this.#ready) this.#send({ method: "unsubscribe", params: { channel } });
  }

  /** Dispatches an action; the answer is its echo. @param {string} channel @param {any} action @returns {number | undefined} its clientSeq; undefined while there is no connection */
  dispatch(channel, action) {
    if (!this.#ready) return undefined;
    const clientSeq = ++this.#clientSeq;
    this.#send({ method: "dispatchAction", params: { channel, clientSeq, action } });
    return clientSeq;
  }

  /** @param {string} method @param {any} params @param {number} [deadline] ms @returns {Promise<any>} */
  request(method, params, deadline = DEADLINE) {
    return new Promise((resolve, reject) => {
      if (this.#socket?.readyState !== WebSocket.OPEN) return reject(new Error("there is no connection to the host"));
      const id = ++this.#lastId;
      const timer = setTimeout(() => this.#settle(id)?.reject(new Error("the host did not answer in time")), deadline);
      this.#pending.set(id, { resolve, reject, timer });
      this.#send({ id, method, params: { channel: ROOT, ...params } });
    });
  }

  async #connect() {
    this.#retry = 0;
    this.#listener.status({ state: "connecting" });
    const again = this.#dialled;
    if (again && provable(this.#url)) {
      const known = await proven(this.#token);
      if (!known) return this.#wait(known === false ? STRANGER : 1006);
    }
    this.#dialled = true;
    const socket = new WebSocket(this.#url, ["ahp", `bearer.${this.#token}`]);
    this.#socket = socket;
    let opened = false;
    const late = setTimeout(() => socket.close(), OPENING); // a browser tries for minutes, and nobody could try anew
    socket.onopen = () => { opened = true; clearTimeout(late); this.#handshake(); };
    socket.onmessage = ({ data }) => this.#receive(parse(data));
    socket.onclose = ({ code }) => { clearTimeout(late); this.#lost(opened, code, again); };
  }

  async #handshake() {
    const asked = [...this.#channels];
    try {
      if (this.#lastSeq === 0 || !(await this.#resume(asked))) await this.#initialize(asked);
    } catch (err) {
      if (err instanceof RPCError && err.code === -32005) this.#refuse("version");
      this.#socket?.close();
      return;
    }
    this.#ready = true;
    this.#since = Date.now();
    this.#listener.status({ state: "ready" });
    // What a snapshot of this handshake made us want comes on top of what it asked for.
    for (const channel of this.#channels) if (!asked.includes(channel)) this.subscribe(channel);
  }

  /** @param {string[]} asked @returns {Promise<boolean>} false where the host does not know us any more */
  async #resume(asked) {
    let r;
    try {
      r = await this.request("reconnect", { clientId: this.clientId, lastSeenServerSeq: this.#lastSeq, subscriptions: asked });
    } catch (err) {
      if (err instanceof RPCError) return false;
      throw err;
    }
    if (r.type === "replay") {
      for (const envelope of r.actions) this.#apply(envelope);
      for (const channel of r.missing) this.#drop(channel);
    } else {
      this.#takeAll(r.snapshots, asked);
    }
    return true;
  }

  /** @param {string[]} asked */
  async #initialize(asked) {
    const r = await this.request("initialize", {
      clientId: this.clientId,
      protocolVersions: VERSIONS,
      initialSubscriptions: asked,
      locale: navigator.language,
      capabilities: { canvas: {} },
    });
    this.#lastSeq = r.serverSeq;
    this.#takeAll(r.snapshots, asked);
  }

  /** Takes snapshots; what was asked for and is not among them is gone. @param {any[]} snapshots @param {string[]} asked */
  #takeAll(snapshots, asked) {
    for (const s of snapshots) this.#take(s);
    for (const channel of asked) if (!snapshots.some((s) => s.resource === channel)) this.#drop(channel);
  }

  /** @param {{ resource: string, state: any, fromSeq: number }} s */
  #take(s) {
    this.#lastSeq = Math.max(this.#lastSeq, s.fromSeq);
    this.#listener.snapshot(s.resource, s.state);
  }

  /** @param {string} channel */
  #drop(channel) {
    if (this.#channels.delete(channel)) this.#listener.missing(channel);
  }

  /** @param {Envelope} envelope */
  #apply(envelope) {
    if (envelope.serverSeq <= this.#lastSeq) return; // a mirror never goes back
    this.#lastSeq = envelope.serverSeq;
    if (this.#channels.has(envelope.channel)) this.#listener.action(envelope);
  }

  /** @param {any} m */
  #receive(m) {
    if (m.method === "action") return this.#apply(m.params);
    if (m.method !== undefined) {
      if (m.id !== undefined) this.#send({ id: m.id, error: { code: -32601, message: "this page provides no canvases" } });
      return;
    }
    const call = this.#settle(m.id);
    if (m.error) call?.reject(new RPCError(m.error));
    else call?.resolve(m.result);
  }

  /** @param {number} id */
  #settle(id) {
    const call = this.#pending.get(id);
    clearTimeout(call?.timer);
    this.#pending.delete(id);
    return call;
  }

  /** @param {any} message */
  #send(message) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
  }

  /** @param {boolean} opened whether the socket had been open @param {number} code of its close @param {boolean} again there was one before */
  async #lost(opened, code, again) {
    this.#ready = false;
    for (const id of [...this.#pending.keys()]) this.#settle(id)?.reject(new Error("the connection to the host was lost"));
    if (this.#tries === Infinity) return;
    if (!opened && (await this.#tokenIsRefused(again))) return this.#refuse("token");
    if (Date.now() - this.#since >= STABLE) this.#tries = 0;
    this.#wait(code);
  }

  /** @param {number} code of the close, or STRANGER */
  #wait(code) {
    this.#since = Infinity;
    const wait = Math.min(FIRST_WAIT * GROWTH ** this.#tries++, LONGEST_WAIT) * (0.5 + Math.random());
    this.#retry = setTimeout(() => this.#connect(), wait);
    this.#listener.status({ state: "waiting", retryAt: Date.now() + wait, code });
  }

  /**
   * A browser does not say why a WebSocket was refused, so the same door is asked in plain HTTP, or, where it can be, whether it knows the token:
   * who does not is a stranger by now, or, at the first time, the host that gave us this page.
   * @param {boolean} again
   */
  async #tokenIsRefused(again) {
    if (provable(this.#url)) return !again && (await proven(this.#token)) === false;
    const door = new URL(this.#url);
    door.protocol = door.protocol.replace("ws", "http");
    try {
      const r = await fetch(door, { headers: { Authorization: `Bearer ${this.#token}` }, cache: "no-store", signal: AbortSignal.timeout(OPENING) });
      return r.status === 401 || r.status === 403;
    } catch {
      return false; // nobody is there: a host that is gone, not a token
    }
  }

  /** Gives up for good. @param {"token" | "version"} why */
  #refuse(why) {
    this.#tries = Infinity;
    this.#listener.status({ state: "refused", why });
  }
}
