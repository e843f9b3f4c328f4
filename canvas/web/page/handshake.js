// @ts-check
// The first request of a connection, initialize or reconnect: it shows the host which client
// this is, and at a relay who uses it.
import { RPCError } from "./calls.js";
import { laneProof } from "./proof.js";

const RESUME = "x-ahp-canvas/resume";
const TOKEN = "x-ahp-canvas/token";
const MOVED = "x-ahp-canvas/moved";
const VERSIONS = ["0.6.0", "0.5.1"];
const PERSONAL = ["token_unknown", "invitation_used", "role_required"]; // codes of a handshake that a relay's host refuses

/** The notification of a relay that is about to end a connection. */
export const MOVE = "x-ahp-canvas/move";

/** Why a handshake cannot succeed later either; undefined if it can. @param {unknown} err @returns {{ why: "version" | "used" | "person", at?: string } | undefined} */
export function refusal(err) {
  if (!(err instanceof RPCError)) return undefined;
  if (err.code === -32005) return { why: "version" };
  if (PERSONAL.includes(err.data?.code)) return { why: err.data.code === "invitation_used" ? "used" : "person", at: err.data.at };
  return undefined;
}

export class Handshake {
  /** What shows the host at a relay who we are: a token of this browser, or the link's invitation. @type {{ token?: string, invitation?: string }} */ person = {};
  #calls; #clientId; #made;
  /** Shows a host that a new connection is this client; see MetaResume in ahp/messages.go. @type {Record<string, string> | undefined} */ #meta;

  /** @param {import("./calls.js").Calls} calls @param {string} clientId @param {(token: string) => void} made takes the token that the host makes for this browser */
  constructor(calls, clientId, made) {
    this.#calls = calls;
    this.#clientId = clientId;
    this.#made = made;
  }

  /** @param {import("./calls.js").Socket} socket @param {string[]} channels @returns {Promise<any>} */
  async initialize(socket, channels) {
    const r = await this.#show(socket, "initialize", {
      clientId: this.#clientId,
      protocolVersions: VERSIONS,
      initialSubscriptions: channels,
      locale: navigator.language,
      capabilities: { canvas: {}, "x-ahp-canvas/look": {}, [MOVE]: {} },
    });
    const secret = r._meta?.[RESUME];
    if (typeof secret === "string") this.#meta = { [RESUME]: secret };
    const token = r._meta?.[TOKEN]?.token;
    if (typeof token !== "string") return r;
    this.person = { token };
    this.#made(token);
    return r;
  }

  /** @param {import("./calls.js").Socket} socket @param {number} lastSeenServerSeq @param {string[]} channels @param {boolean} [moving] whether the client moves to this connection @returns {Promise<any>} */
  reconnect(socket, lastSeenServerSeq, channels, moving) {
    return this.#show(socket, "reconnect", { clientId: this.#clientId, lastSeenServerSeq, subscriptions: channels }, moving);
  }

  /** Sends a handshake, and proves the token of this browser if it has one. @param {import("./calls.js").Socket} socket @param {string} method @param {any} params @param {boolean} [moving] */
  async #show(socket, method, params, moving) {
    const { token, invitation } = this.person;
    const meta = moving && this.#meta ? { ...this.#meta, [MOVED]: true } : this.#meta;
    const send = (/** @type {any} */ shown) => this.#calls.request(socket, method, { ...params, _meta: shown ? { ...meta, [TOKEN]: shown } : meta }, undefined, true);
    if (!token) return send(invitation && { invitation });
    try {
      return await send({ id: "" });
    } catch (err) {
      if (!(err instanceof RPCError) || err.data?.code !== "proof_required") throw err;
      return send(await laneProof(token, this.#clientId, err.data.challenge));
    }
  }
}
