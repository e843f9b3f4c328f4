// @ts-check
// A client's position in its channels: those that it is subscribed to, and the number of the
// last action that it applied.

/** @typedef {{ channel: string, action: any, serverSeq: number, origin?: { clientId: string, clientSeq: number }, rejectionReason?: string }} Envelope */

export class Bookmark {
  /** The number of the last action that was applied; 0 before the first handshake */ lastSeq = 0;
  /** @type {Set<string>} */ #channels = new Set();
  /** @type {Envelope[] | undefined} actions that arrived before the result of their handshake was handled */ #early;
  #listener;

  /** @param {Pick<import("./ahp.js").Listener, "snapshot" | "action" | "missing">} listener */
  constructor(listener) {
    this.#listener = listener;
  }

  get channels() {
    return [...this.#channels];
  }

  /** @param {string} channel */
  add(channel) {
    this.#channels.add(channel);
  }

  /** @param {string} channel @returns {boolean} whether it was there */
  remove(channel) {
    return this.#channels.delete(channel);
  }

  /** Keeps the actions that arrive for release. */
  hold() {
    this.#early = [];
  }

  /** Applies the actions that were kept. */
  release() {
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const e of early) this.#apply(e);
  }

  /** Applies an action of the host, now or after the handshake. @param {Envelope} envelope */
  receive(envelope) {
    if (this.#early) this.#early.push(envelope);
    else this.#apply(envelope);
  }

  /** Applies a result of initialize. @param {{ serverSeq: number, snapshots: any[] }} r @param {string[]} asked */
  initialized(r, asked) {
    this.lastSeq = r.serverSeq;
    this.#applySnapshots(r.snapshots, asked);
  }

  /** Applies a result of reconnect. @param {any} r @param {string[]} asked @param {boolean} [moved] whether the actions that were kept came by the connection that the client leaves: those for it alone are neither in a replay nor in snapshots */
  resumed(r, asked, moved = false) {
    const early = moved ? this.#early ?? [] : [];
    if (r.type !== "replay") {
      for (const envelope of early) this.#apply(envelope);
      return this.#applySnapshots(r.snapshots, asked);
    }
    const actions = moved ? [...r.actions, ...early].sort((/** @type {Envelope} */ a, /** @type {Envelope} */ b) => a.serverSeq - b.serverSeq) : r.actions;
    for (const envelope of actions) this.#apply(envelope);
    for (const channel of r.missing) this.drop(channel);
  }

  /** Applies snapshots, and drops requested channels without one. @param {any[]} snapshots @param {string[]} asked */
  #applySnapshots(snapshots, asked) {
    for (const s of snapshots) this.#applySnapshot(s);
    for (const channel of asked) if (!snapshots.some((s) => s.resource === channel)) this.drop(channel);
  }

  /** Applies the snapshot of a subscription that was not left meanwhile. @param {any} snapshot @param {string} channel */
  subscribed(snapshot, channel) {
    if (snapshot && this.#channels.has(channel)) this.#applySnapshot(snapshot);
  }

  /** @param {{ resource: string, state: any, fromSeq: number }} s */
  #applySnapshot(s) {
    this.lastSeq = Math.max(this.lastSeq, s.fromSeq);
    this.#listener.snapshot(s.resource, s.state);
  }

  /** @param {string} channel @param {string} [reason] */
  drop(channel, reason = "it no longer has this canvas") {
    if (this.#channels.delete(channel)) this.#listener.missing(channel, reason);
  }

  /** @param {Envelope} envelope */
  #apply(envelope) {
    if (envelope.serverSeq <= this.lastSeq) return; // already applied
    this.lastSeq = envelope.serverSeq;
    if (this.#channels.has(envelope.channel)) this.#listener.action(envelope);
  }
}
