// @ts-check
// An AHP client over one WebSocket at a time: it connects, dispatches, and recovers after a
// lost connection (reconnect, or initialize on the same socket if the host no longer knows
// this client).
import { Bookmark } from "./bookmark.js";
import { Calls, RPCError } from "./calls.js";
import { Handshake, MOVE, refusal } from "./handshake.js";
import { provable, proven, tokenIsRefused } from "./proof.js";
import { BROKEN, NEEDED, SealedSocket, UNABLE } from "./seal.js";
import { parse } from "./wire.js";

const FIRST_WAIT = 200, GROWTH = 1.5, LONGEST_WAIT = 5_000; // ms between attempts to connect, the same as in the Go client
const STABLE = 2_000; // ms after which a connection resets the backoff
const PROBE_TIMEOUT = 3_000; // ms for the ping after the computer slept or changed networks
const OPEN_TIMEOUT = 10_000; // ms for the WebSocket to open
const PING_INTERVAL = 20_000; // ms
const LEFT_FOR = 60_000; // ms that a connection is kept after a move

export const UNVERIFIED = 4999; // our own close code: the listener did not prove that it is our host

/**
 * @typedef {{ state: "connecting" | "ready" }
 *   | { state: "waiting", retryAt: number, code: number }
 *   | { state: "refused", why: "token" | "version" | "person" | "used" | "seal" | "key" | "unable", at?: string }} Status
 * @typedef {import("./bookmark.js").Envelope} Envelope
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

  #calls = new Calls();
  #bookmark; #handshake; #url; #listener; #protocols; #seal;
  /** @type {WebSocket | SealedSocket | undefined} */ #socket;
  #moving = false;
  #token = "";
  #ready = false;
  #clientSeq = 0;
  #tries = 0;
  #since = Infinity; // time at which the connection became ready
  #retry = 0;
  #dialed = false; // before the first dial, the listener is the host that served this page

  /** @param {URL} url of the WebSocket @param {Listener} listener @param {string} opened a random id of the opened link, for a relay; "" for none @param {{ key: Uint8Array<ArrayBuffer>, host: string }} [seal] the host to which the connection is sealed; it is never clear then */
  constructor(url, listener, opened, seal) {
    this.#seal = seal;
    this.#url = url;
    this.#listener = listener;
    this.#bookmark = new Bookmark(listener);
    this.#handshake = new Handshake(this.#calls, this.clientId, listener.made);
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
    this.#handshake.person = person;
    for (const c of channels) this.#bookmark.add(c);
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
    this.#bookmark.add(channel);
    if (!this.#ready) return; // the handshake subscribes to all channels
    this.request("subscribe", { channel }).then(
      ({ snapshot }) => this.#bookmark.subscribed(snapshot, channel),
      (err) => { if (this.#ready) this.#bookmark.drop(channel, err.message); }, // otherwise the next handshake subscribes
    );
  }

  /** @param {string} channel */
  unsubscribe(channel) {
    if (this.#bookmark.remove(channel) && this.#ready) this.#calls.send(this.#socket, { method: "unsubscribe", params: { channel } });
  }

  /** Dispatches an action, which the host echoes. @param {string} channel @param {any} action @returns {number | undefined} its clientSeq; undefined without a connection */
  dispatch(channel, action) {
    if (!this.#ready) return undefined;
    const clientSeq = ++this.#clientSeq;
    this.#calls.send(this.#socket, { method: "dispatchAction", params: { channel, clientSeq, action } });
    return clientSeq;
  }

  /** @param {string} method @param {any} params @param {number} [deadline] ms @returns {Promise<any>} */
  request(method, params, deadline) {
    return this.#calls.request(this.#socket, method, params, deadline);
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
    this.#bookmark.hold();
    let opened = false;
    const late = setTimeout(() => socket.close(), OPEN_TIMEOUT); // a browser would try for minutes
    socket.onopen = () => { opened = true; clearTimeout(late); this.#begin(); };
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
    else {
      this.#calls.fail(socket);
      if (this.#ready) this.#calls.repeat(this.#socket);
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
    this.#calls.hold();
    let leaving = false;
    try {
      await this.#calls.request(old, "ping", {}, OPEN_TIMEOUT, true); // the host has handled what was sent before
      if (this.#socket !== old || !this.#ready) throw new Error("the connection has ended");
      leaving = true;
      this.#bookmark.hold(); // what the old connection delivers from here on: the answer has it, too
      const asked = this.#bookmark.channels;
      const r = await this.#handshake.reconnect(next, this.#bookmark.lastSeq, asked, true);
      await this.#calls.request(old, "ping", {}, OPEN_TIMEOUT, true); // the last one: the host then ends the old connection when all on it is answered
      this.#bookmark.resumed(r, asked, true);
    } catch {
      next.close();
      if (leaving) old.close(); // and connect again
      else this.#calls.release(this.#socket);
      return;
    }
    if (this.#socket !== old || !this.#ready) return next.close();
    this.#socket = next;
    this.#since = Date.now();
    this.#bookmark.release();
    for (const e of early) this.#bookmark.receive(e);
    this.#calls.release(next);
    setTimeout(() => old.close(), LEFT_FOR);
  }

  async #begin() {
    const asked = this.#bookmark.channels;
    try {
      if (this.#bookmark.lastSeq === 0 || !(await this.#resume(asked))) this.#bookmark.initialized(await this.#handshake.initialize(this.#socket, asked), asked);
    } catch (err) {
      const refused = refusal(err);
      if (refused) this.#refuse(refused.why, refused.at);
      this.#socket?.close();
      return;
    }
    this.#bookmark.release();
    this.#ready = true;
    this.#since = Date.now();
    this.#listener.status({ state: "ready" });
    // Snapshots of this handshake can add subscriptions that it did not ask for.
    for (const channel of this.#bookmark.channels) if (!asked.includes(channel)) this.subscribe(channel);
    this.#calls.repeat(this.#socket);
  }

  /** @param {string[]} asked @returns {Promise<boolean>} false if the host no longer knows this client */
  async #resume(asked) {
    try {
      this.#bookmark.resumed(await this.#handshake.reconnect(this.#socket, this.#bookmark.lastSeq, asked), asked);
      return true;
    } catch (err) {
      if (err instanceof RPCError) return false;
      throw err;
    }
  }

  /** @param {any} socket @param {any} m */
  #receive(socket, m) {
    if (m.method === "action") {
      if (socket !== this.#socket) return; // the connection was left: the new one delivers it
      this.#bookmark.receive(m.params);
      return;
    }
    if (m.method === MOVE && socket === this.#socket) this.#move(socket);
    if (m.method !== undefined) {
      if (m.id !== undefined) this.#answer(socket, m);
      return;
    }
    this.#calls.answered(m);
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
    this.#calls.sendNow(socket, { id, ...answer });
  }

  /** @param {boolean} opened whether the socket had been open @param {number} code of its close @param {boolean} again whether this is not the first socket */
  async #lost(opened, code, again) {
    this.#ready = false;
    this.#calls.discard();
    this.#calls.fail(this.#socket, this.#tries !== Infinity);
    if (this.#tries === Infinity) return;
    if (code === UNABLE) return this.#refuse("unable");
    if (code === NEEDED && !this.#seal) return this.#refuse("key");
    if (code === BROKEN && this.#seal && !opened) return this.#refuse("seal");
    if (!opened && (await tokenIsRefused(this.#url, this.#token, again, OPEN_TIMEOUT))) return this.#refuse("token");
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

  /** Stops connecting. @param {"token" | "version" | "person" | "used" | "seal" | "key" | "unable"} why @param {string} [at] */
  #refuse(why, at) {
    this.#tries = Infinity;
    this.#calls.fail(undefined, false);
    this.#listener.status({ state: "refused", why, at });
  }
}
