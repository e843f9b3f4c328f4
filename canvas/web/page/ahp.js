// @ts-check
// An AHP client over one WebSocket at a time: handshake, subscriptions, dispatch,
// and recovery after a lost connection (reconnect, or initialize on the same
// socket if the host no longer knows this client).
import { laneProof, provable, proven } from "./proof.js";
import { BROKEN, NEEDED, SealedSocket, UNABLE } from "./seal.js";
import { SAFE } from "./safe.js";
import { parse } from "./wire.js";

const ROOT = "ahp-root://";
const RESUME = "x-ahp-canvas/resume";
const TOKEN = "x-ahp-canvas/token";
const VERSIONS = ["0.6.0", "0.5.1"];
const FIRST_WAIT = 200, GROWTH = 1.5, LONGEST_WAIT = 5_000; // ms between attempts to connect, the same as in the Go client
const STABLE = 2_000; // ms after which a connection resets the backoff
const TIMEOUT = 35_000; // ms for a response
const PROBE_TIMEOUT = 3_000; // ms for the ping after the computer slept or changed networks
const OPEN_TIMEOUT = 10_000; // ms for the WebSocket to open
const PING_INTERVAL = 20_000; // ms
const MOVE = "x-ahp-canvas/move", MOVED = "x-ahp-canvas/moved";
const LEFT_FOR = 60_000; // ms that a connection is kept after a move
const PERSONAL = ["token_unknown", "invitation_used", "role_required"]; // codes of a handshake that a relay's host refuses

export const UNVERIFIED = 4999; // our own close code: the listener did not prove that it is our host

/** An error response of the host. */
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
 *   | { state: "refused", why: "token" | "version" | "person" | "used" | "seal" | "key" | "unable", at?: string }} Status
 * @typedef {{ channel: string, action: any, serverSeq: number, origin?: { clientId: string, clientSeq: number }, rejectionReason?: string }} Envelope
 * @typedef {{
 *   status: (s: Status) => void,
 *   snapshot: (channel: string, state: any) => void,
 *   action: (e: Envelope) => void,
 *   missing: (channel: string, reason: string) => void,
 *   request: (method: string, params: any) => Promise<any> | undefined,
 *   made: (token: string) => void,
 * }} Listener missing: the page is not subscribed to a channel that it asked for; subscribe asks again
 */

export class Client {
  /** Identifies the echoes of our own actions. */
  clientId = `page-${Array.from(crypto.getRandomValues(new Uint8Array(12)), (b) => b.toString(16).padStart(2, "0")).join("")}`;

  #url; #listener; #protocols; #seal;
  /** @type {WebSocket | SealedSocket | undefined} */ #socket;
  /** @type {Map<number, { resolve: (v: any) => void, reject: (e: Error) => void, timer: number, socket: any, again?: any }>} socket: undefined while it waits for the next connection; again: the message that is sent there if this one ends before the answer */ #pending = new Map();
  /** @type {any[] | undefined} what is sent after a move, while nothing is sent */ #held;
  /** @type {Envelope[] | undefined} actions that arrived before the result of their handshake was handled */ #early;
  #moving = false;
  /** @type {Set<string>} */ #channels = new Set();
  #token = "";
  #ready = false;
  #lastId = 0;
  #clientSeq = 0;
  #lastSeq = 0;
  /** Shows a host that a new connection is this client; see MetaResume in ahp/messages.go. @type {Record<string, string> | undefined} */ #meta;
  #tries = 0;
  #since = Infinity; // time at which the connection became ready
  #retry = 0;
  /** What shows the host at a relay who we are: a token of this browser, or the link's invitation. @type {{ token?: string, invitation?: string }} */ #person = {};
  #dialed = false; // before the first dial, the listener is the host that served this page

  /** @param {URL} url of the WebSocket @param {Listener} listener @param {string} opened a random id of the opened link, for a relay; "" for none @param {{ key: Uint8Array<ArrayBuffer>, host: string }} [seal] the host to which the connection is sealed; it is never clear then */
  constructor(url, listener, opened, seal) {
    this.#seal = seal;
    this.#url = url;
    this.#listener = listener;
    this.#protocols = opened ? ["ahp", `opened.${opened}`] : ["ahp"];
    setInterval(() => this.#ready && this.request("ping", {}, 10_000).catch(() => this.#socket?.close()), PING_INTERVAL);
    addEventListener("online", () => this.#probe());
    addEventListener("pageshow", () => this.#probe());
    document.addEventListener("visibilitychange", () => document.hidden || this.#probe());
  }

  /**
   * Connects, and reconnects whenever the connection is lost.
   * @param {string[]} channels @param {string} token
   * @param {{ token?: string, invitation?: string }} [person] for a host at a relay
   */
  start(channels, token, person = {}) {
    this.#token = token;
    this.#person = person;
    for (const c of channels) this.#channels.add(c);
    this.#connect();
  }

  /** Connects at once if the client is waiting to retry. */
  retryNow() {
    if (!this.#retry) return;
    clearTimeout(this.#retry);
    this.#connect();
  }

  /** Checks a connection that may be dead though it looks open: the computer slept or changed networks. */
  #probe() {
    if (this.#ready) this.request("ping", {}, PROBE_TIMEOUT).catch(() => this.#socket?.close());
    else this.retryNow();
  }

  /** @param {string} channel */
  subscribe(channel) {
    this.#channels.add(channel);
    if (!this.#ready) return; // the handshake subscribes to all channels
    this.request("subscribe", { channel }).then(
      ({ snapshot }) => { if (snapshot && this.#channels.has(channel)) this.#applySnapshot(snapshot); },
      (err) => { if (this.#ready) this.#drop(channel, err.message); }, // otherwise the next handshake subscribes
    );
  }

  /** @param {string} channel */
  unsubscribe(channel) {
    if (this.#channels.delete(channel) && this.#ready) this.#send({ method: "unsubscribe", params: { channel } });
  }

  /** Dispatches an action, which the host echoes. @param {string} channel @param {any} action @returns {number | undefined} its clientSeq; undefined without a connection */
  dispatch(channel, action) {
    if (!this.#ready) return undefined;
    const clientSeq = ++this.#clientSeq;
    this.#send({ method: "dispatchAction", params: { channel, clientSeq, action } });
    return clientSeq;
  }

  /** @param {string} method @param {any} params @param {number} [deadline] ms @returns {Promise<any>} */
  request(method, params, deadline = TIMEOUT) {
    return this.#requestOn(this.#socket, method, params, deadline);
  }

  /** @param {any} socket @param {string} method @param {any} params @param {number} [deadline] ms @param {boolean} [now] also while nothing is sent @returns {Promise<any>} */
  #requestOn(socket, method, params, deadline = TIMEOUT, now = false) {
    return new Promise((resolve, reject) => {
      if (socket?.readyState !== WebSocket.OPEN) return reject(new Error("there is no connection to the host"));
      const id = ++this.#lastId;
      const timer = setTimeout(() => this.#takePending(id)?.reject(new Error("the host did not answer in time")), deadline);
      const message = { id, method, params: { channel: ROOT, ...params } };
      this.#pending.set(id, { resolve, reject, timer, socket, again: SAFE.has(method) ? message : undefined });
      if (now) this.#sendOn(socket, message);
      else this.#send(message);
    });
  }

  async #connect() {
    this.#retry = 0;
    this.#listener.status({ state: "connecting" });
    const again = this.#dialed;
    if (again && provable(this.#url)) {
      const known = await proven(this.#token);
      if (!known) return this.#wait(known === false ? UNVERIFIED : 1006);
    }
    this.#dialed = true;
    const socket = this.#dial();
    this.#socket = socket;
    this.#early = [];
    let opened = false;
    const late = setTimeout(() => socket.close(), OPEN_TIMEOUT); // a browser would try for minutes
    socket.onopen = () => { opened = true; clearTimeout(late); this.#handshake(); };
    socket.onmessage = (/** @type {{ data: string }} */ { data }) => this.#receive(socket, parse(data));
    socket.onclose = (/** @type {{ code: number }} */ { code }) => { clearTimeout(late); this.#ended(socket, opened, code, again); };
  }

  /** @returns {any} a WebSocket or a SealedSocket */
  #dial() {
    const protocols = [...this.#protocols, `bearer.${this.#token}`];
    return this.#seal ? new SealedSocket(this.#url, protocols, this.#seal.key, this.#seal.host) : new WebSocket(this.#url, protocols);
  }

  /** @param {any} socket @param {boolean} opened @param {number} code @param {boolean} again */
  #ended(socket, opened, code, again) {
    if (this.#socket === socket) this.#lost(opened, code, again);
    else this.#fail(socket);
  }

  /** Fails the requests that a connection has not answered, except those that the next one can repeat. @param {any} socket */
  #fail(socket) {
    for (const [id, call] of [...this.#pending]) {
      if (call.socket !== socket) continue;
      if (call.again && this.#tries !== Infinity) call.socket = undefined;
      else this.#takePending(id)?.reject(new Error("the connection to the host was lost before it answered: it is not known whether this was done"));
    }
    if (this.#ready) this.#repeat();
  }

  /** Repeats the requests that wait for a connection, once. */
  #repeat() {
    for (const call of this.#pending.values()) {
      if (call.socket) continue;
      call.socket = this.#socket;
      this.#send(call.again);
      call.again = undefined;
    }
  }

  /** Moves to another connection, because the relay is about to end this one. @param {any} old */
  async #move(old) {
    if (this.#moving) return;
    this.#moving = true;
    for (let tries = 0; this.#socket === old && this.#ready; tries++) {
      await new Promise((done) => setTimeout(done, Math.min(FIRST_WAIT * GROWTH ** tries, LONGEST_WAIT) * (0.5 + Math.random())));
      if (this.#socket === old && this.#ready) await this.#moveFrom(old);
    }
    this.#moving = false;
  }

  /** Opens another connection, and leaves this one for it. @param {any} old */
  async #moveFrom(old) {
    const next = this.#dial();
    /** @type {Envelope[]} */
    const early = [];
    const open = await new Promise((done) => {
      const late = setTimeout(() => next.close(), OPEN_TIMEOUT);
      next.onopen = () => { clearTimeout(late); done(true); };
      next.onclose = (/** @type {{ code: number }} */ { code }) => { clearTimeout(late); done(false); this.#ended(next, true, code, true); };
      next.onmessage = (/** @type {{ data: string }} */ { data }) => {
        const m = parse(data);
        if (m.method === "action" && this.#socket !== next) early.push(m.params);
        else this.#receive(next, m);
      };
    });
    if (!open || this.#socket !== old || !this.#ready) return next.close();
    this.#held = [];
    let leaving = false;
    try {
      await this.#requestOn(old, "ping", {}, OPEN_TIMEOUT, true); // the host has handled what was sent before
      if (this.#socket !== old || !this.#ready) throw new Error("the connection has ended");
      leaving = true;
      this.#early = []; // of the old connection from here on: the answer has them, too
      const asked = [...this.#channels];
      const r = await this.#show("reconnect", { clientId: this.clientId, lastSeenServerSeq: this.#lastSeq, subscriptions: asked }, next);
      await this.#requestOn(old, "ping", {}, OPEN_TIMEOUT, true); // the last one: the host then ends the old connection when all on it is answered
      // What was for this connection alone is neither in a replay nor in snapshots.
      if (r.type === "replay") r.actions = [...r.actions, ...this.#early].sort((/** @type {Envelope} */ a, /** @type {Envelope} */ b) => a.serverSeq - b.serverSeq);
      else for (const e of this.#early) this.#apply(e);
      this.#resumed(r, asked);
    } catch {
      next.close();
      if (leaving) old.close(); // and connect again
      else this.#release();
      return;
    }
    if (this.#socket !== old || !this.#ready) return next.close();
    this.#socket = next;
    this.#since = Date.now();
    this.#early = undefined;
    for (const e of early) this.#apply(e);
    this.#release();
    setTimeout(() => old.close(), LEFT_FOR);
  }

  /** Sends what was held. */
  #release() {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const message of held) {
      const call = message.method === undefined ? undefined : this.#pending.get(message.id);
      if (call) call.socket = this.#socket;
      this.#sendOn(this.#socket, message);
    }
  }

  async #handshake() {
    const asked = [...this.#channels];
    try {
      if (this.#lastSeq === 0 || !(await this.#resume(asked))) await this.#initialize(asked);
    } catch (err) {
      if (err instanceof RPCError && err.code === -32005) this.#refuse("version");
      else if (err instanceof RPCError && PERSONAL.includes(err.data?.code)) this.#refuse(err.data.code === "invitation_used" ? "used" : "person", err.data.at);
      this.#socket?.close();
      return;
    }
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const e of early) this.#apply(e);
    this.#ready = true;
    this.#since = Date.now();
    this.#listener.status({ state: "ready" });
    // Snapshots of this handshake can add subscriptions that it did not ask for.
    for (const channel of this.#channels) if (!asked.includes(channel)) this.subscribe(channel);
    this.#repeat();
  }

  /** @param {string[]} asked @returns {Promise<boolean>} false if the host no longer knows this client */
  async #resume(asked) {
    let r;
    try {
      r = await this.#show("reconnect", { clientId: this.clientId, lastSeenServerSeq: this.#lastSeq, subscriptions: asked });
    } catch (err) {
      if (err instanceof RPCError) return false;
      throw err;
    }
    this.#resumed(r, asked);
    return true;
  }

  /** @param {any} r the result of reconnect @param {string[]} asked */
  #resumed(r, asked) {
    if (r.type === "replay") {
      for (const envelope of r.actions) this.#apply(envelope);
      for (const channel of r.missing) this.#drop(channel);
    } else {
      this.#applySnapshots(r.snapshots, asked);
    }
  }

  /** @param {string[]} asked */
  async #initialize(asked) {
    const r = await this.#show("initialize", {
      clientId: this.clientId,
      protocolVersions: VERSIONS,
      initialSubscriptions: asked,
      locale: navigator.language,
      capabilities: { canvas: {}, "x-ahp-canvas/look": {}, [MOVE]: {} },
    });
    const secret = r._meta?.[RESUME];
    if (typeof secret === "string") this.#meta = { [RESUME]: secret };
    const made = r._meta?.[TOKEN]?.token;
    if (typeof made === "string") {
      this.#person = { token: made };
      this.#listener.made(made);
    }
    this.#lastSeq = r.serverSeq;
    this.#applySnapshots(r.snapshots, asked);
  }

  /** Sends a handshake, and proves the token of this browser if it has one. @param {string} method @param {any} params @param {any} [next] the connection to which the client moves */
  async #show(method, params, next) {
    const { token, invitation } = this.#person;
    const meta = next && this.#meta ? { ...this.#meta, [MOVED]: true } : this.#meta;
    const send = (/** @type {any} */ shown) => this.#requestOn(next ?? this.#socket, method, { ...params, _meta: shown ? { ...meta, [TOKEN]: shown } : meta }, TIMEOUT, true);
    if (!token) return send(invitation && { invitation });
    try {
      return await send({ id: "" });
    } catch (err) {
      if (!(err instanceof RPCError) || err.data?.code !== "proof_required") throw err;
      return send(await laneProof(token, this.clientId, err.data.challenge));
    }
  }

  /** Applies snapshots, and drops requested channels without one. @param {any[]} snapshots @param {string[]} asked */
  #applySnapshots(snapshots, asked) {
    for (const s of snapshots) this.#applySnapshot(s);
    for (const channel of asked) if (!snapshots.some((s) => s.resource === channel)) this.#drop(channel);
  }

  /** @param {{ resource: string, state: any, fromSeq: number }} s */
  #applySnapshot(s) {
    this.#lastSeq = Math.max(this.#lastSeq, s.fromSeq);
    this.#listener.snapshot(s.resource, s.state);
  }

  /** @param {string} channel @param {string} [reason] */
  #drop(channel, reason = "it no longer has this canvas") {
    if (this.#channels.delete(channel)) this.#listener.missing(channel, reason);
  }

  /** @param {Envelope} envelope */
  #apply(envelope) {
    if (envelope.serverSeq <= this.#lastSeq) return; // already applied
    this.#lastSeq = envelope.serverSeq;
    if (this.#channels.has(envelope.channel)) this.#listener.action(envelope);
  }

  /** @param {any} socket @param {any} m */
  #receive(socket, m) {
    if (m.method === "action") {
      if (socket !== this.#socket) return; // the connection was left: the new one delivers it
      if (this.#early) this.#early.push(m.params);
      else this.#apply(m.params);
      return;
    }
    if (m.method === MOVE && socket === this.#socket) this.#move(socket);
    if (m.method !== undefined) {
      if (m.id !== undefined) this.#answer(socket, m);
      return;
    }
    const call = this.#takePending(m.id);
    if (m.error) call?.reject(new RPCError(m.error));
    else call?.resolve(m.result);
  }

  /** Answers a request of the host. @param {any} socket @param {{ id: number, method: string, params: any }} m */
  async #answer(socket, { id, method, params }) {
    let answer;
    try {
      const result = await this.#listener.request(method, params);
      answer = result === undefined ? { error: { code: -32601, message: "this page provides no canvases" } } : { result };
    } catch (err) {
      answer = { error: { code: -32603, message: /** @type {Error} */ (err).message } };
    }
    this.#sendOn(socket, { id, ...answer });
  }

  /** @param {number} id */
  #takePending(id) {
    const call = this.#pending.get(id);
    clearTimeout(call?.timer);
    this.#pending.delete(id);
    return call;
  }

  /** @param {any} message */
  #send(message) {
    if (this.#held) this.#held.push(message);
    else this.#sendOn(this.#socket, message);
  }

  /** @param {any} socket @param {any} message */
  #sendOn(socket, message) {
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
  }

  /** @param {boolean} opened whether the socket had been open @param {number} code of its close @param {boolean} again whether this is not the first socket */
  async #lost(opened, code, again) {
    this.#ready = false;
    this.#held = undefined;
    this.#fail(this.#socket);
    if (this.#tries === Infinity) return;
    if (code === UNABLE) return this.#refuse("unable");
    if (code === NEEDED && !this.#seal) return this.#refuse("key");
    if (code === BROKEN && this.#seal && !opened) return this.#refuse("seal");
    if (!opened && (await this.#tokenIsRefused(again))) return this.#refuse("token");
    if (Date.now() - this.#since >= STABLE) this.#tries = 0;
    this.#wait(code);
  }

  /** @param {number} code of the close, or UNVERIFIED */
  #wait(code) {
    this.#since = Infinity;
    const wait = Math.min(FIRST_WAIT * GROWTH ** this.#tries++, LONGEST_WAIT) * (0.5 + Math.random());
    this.#retry = setTimeout(() => this.#connect(), wait);
    this.#listener.status({ state: "waiting", retryAt: Date.now() + wait, code });
  }

  /**
   * Finds out whether a WebSocket was refused because of the token, which browsers do not report. If the
   * host can prove that it knows the token, a failed proof means a wrong token on the first attempt, and
   * another program on the port later. Otherwise the same endpoint is asked over HTTP.
   * @param {boolean} again whether this is not the first attempt
   */
  async #tokenIsRefused(again) {
    if (provable(this.#url)) return !again && (await proven(this.#token)) === false;
    const endpoint = new URL(this.#url);
    endpoint.protocol = endpoint.protocol.replace("ws", "http");
    try {
      const r = await fetch(endpoint, { headers: { Authorization: `Bearer ${this.#token}` }, cache: "no-store", signal: AbortSignal.timeout(OPEN_TIMEOUT) });
      return r.status === 401 || r.status === 403;
    } catch {
      return false; // the host is unreachable
    }
  }

  /** Stops connecting. @param {"token" | "version" | "person" | "used" | "seal" | "key" | "unable"} why @param {string} [at] */
  #refuse(why, at) {
    this.#tries = Infinity;
    this.#fail(undefined);
    this.#listener.status({ state: "refused", why, at });
  }
}
