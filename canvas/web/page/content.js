// @ts-check
// Reads content over the channel (canvasReadResource), a few files of each canvas at
// a time. Further reads are queued here, so that a canvas with many files, or one whose
// provider does not answer, does not delay other canvases.
import { RPCError } from "./calls.js";
import { decode } from "./base64.js";
import { contentURI } from "./policy.js";

const MAX_EACH = 4; // active reads of one canvas
const MAX_ACTIVE = 512; // of all; the host closes a connection on which more than 1,024 wait
const ETAG = "x-ahp-canvas/etag";
const TEXTUAL = /^(text\/|application\/(json|javascript|xml|[\w.-]+\+(json|xml))|image\/svg\+xml)/i;

/** @typedef {import("./mount.js").Content} Content */

export class Reader {
  #client;
  #active = 0;
  /** @type {Map<string, number>} Active reads by channel */ #each = new Map();
  /** @type {Array<{ channel: string, go: () => void }>} */ #queued = [];

  /** @param {import("./ahp.js").Client} client */
  constructor(client) {
    this.#client = client;
  }

  /** @param {string} channel @param {string} instanceId @param {string} path @param {import("./cache.js").Cache} cache of the canvas @returns {Promise<Content>} never rejects: a failure is Content too */
  async read(channel, instanceId, path, cache) {
    await this.#place(channel);
    try {
      const cached = cache.get(path);
      const { contents, _meta: meta } = await this.#client.request("canvasReadResource", {
        channel, uri: contentURI(instanceId, path), _meta: cached && { [ETAG]: cached.etag },
      });
      if (!contents[0] && cached) return { type: cached.type, body: cached.body.slice(0) };
      const { type, body } = unpack(contents[0]);
      const etag = meta?.[ETAG];
      if (typeof etag === "string") cache.put(path, { etag, type, body: body.slice(0) }); // a copy: the other one is transferred
      return { type, body };
    } catch (err) {
      return explain(err);
    } finally {
      this.#count(channel, -1);
      const i = this.#queued.findIndex((next) => this.#mayRead(next.channel));
      if (i >= 0) this.#start(this.#queued.splice(i, 1)[0]);
    }
  }

  /** Waits until a read of this canvas may begin. @param {string} channel @returns {Promise<void>} */
  #place(channel) {
    return new Promise((resolve) => {
      const read = { channel, go: resolve };
      if (this.#mayRead(channel)) this.#start(read);
      else this.#queued.push(read);
    });
  }

  /** @param {string} channel */
  #mayRead(channel) {
    return this.#active < MAX_ACTIVE && (this.#each.get(channel) ?? 0) < MAX_EACH;
  }

  /** @param {{ channel: string, go: () => void }} read */
  #start({ channel, go }) {
    this.#count(channel, 1);
    go();
  }

  /** @param {string} channel @param {number} change */
  #count(channel, change) {
    this.#active += change;
    const left = (this.#each.get(channel) ?? 0) + change;
    if (left) this.#each.set(channel, left);
    else this.#each.delete(channel);
  }
}

/** @param {{ mimeType?: string, text?: string, blob?: string }} entry */
function unpack({ mimeType: given, text, blob }) {
  const mimeType = given || "application/octet-stream";
  const type = TEXTUAL.test(mimeType) && !/charset=/i.test(mimeType) && text !== undefined ? `${mimeType}; charset=utf-8` : mimeType;
  const bytes = text !== undefined ? new TextEncoder().encode(text) : decode(blob ?? "");
  return { type, body: bytes.buffer };
}

/** Describes a failed read to people. @param {unknown} err @returns {Content} */
function explain(err) {
  if (!(err instanceof RPCError)) return { status: 503, word: "The host is not connected. Reload this page when it is back." };
  switch (err.code) {
    case -32008: return { status: 404, word: "This canvas has no such file. Your agent can add it." };
    case -32009: return { status: 403, word: "The host does not serve this file." };
    case -32012: return { status: 503, word: "This canvas's provider is not running. Try again when it is back." };
    case -32602: return { status: 400, word: "This address is not a path in the canvas." };
    default: return { status: 502, word: "The host could not read this file. Reload this page to try again." };
  }
}
