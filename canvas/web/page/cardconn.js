// @ts-check
// What connects a canvas to its web app: http/1 and ws/1 on the canvas's channel. Both end
// with the host's connection, and when the provider is lost.
import { HTTPConn } from "./http.js";
import { SocketConn } from "./sockets.js";

export class CardConn {
  #state;
  #connected = false;
  #reachable = false; // connected, and the provider is ready

  /** @param {(action: any) => number | undefined} dispatch @param {() => any} state of the canvas */
  constructor(dispatch, state) {
    this.#state = state;
    this.http = new HTTPConn(dispatch);
    this.sockets = new SocketConn(dispatch);
  }

  /** Whether the provider answers http/1. Without it a canvas can only read files. */
  get hasHTTP() {
    return this.#state()?._meta?.["x-ahp-canvas/http"] === 1;
  }

  /** Whether the provider answers ws/1. */
  get hasSockets() {
    return this.#state()?._meta?.["x-ahp-canvas/ws"] === 1;
  }

  get connected() {
    return this.#connected;
  }

  /** Whether the host is connected and the provider is ready. */
  get reachable() {
    return this.#reachable;
  }

  /** Opens or resets both, after a change of the state or of the host's connection. @param {boolean} [connected] to the host; absent: as before @returns {boolean} whether the provider became reachable */
  refresh(connected = this.#connected) {
    const before = this.#reachable, state = this.#state();
    this.#connected = connected;
    this.#reachable = connected && state !== undefined && state.availability !== "stale";
    const open = this.#reachable && this.hasHTTP;
    if (open !== this.http.open) this.http.reset(open);
    const sockets = open && this.hasSockets;
    if (sockets !== this.sockets.open) this.sockets.reset(sockets);
    return this.#reachable && !before;
  }
}
