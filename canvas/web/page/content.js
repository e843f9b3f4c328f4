// @ts-check
// Reads of content over the channel (canvasReadResource), a few at a time: the
// others wait here, so that one canvas's hundred files do not stand before
// another one's click.
import { RPCError } from "./ahp.js";
import { decode } from "./base64.js";
import { contentURI } from "./policy.js";

const AT_ONCE = 6;
const ETAG = "x-ahp-canvas/etag";
const TEXTUAL = /^(text\/|application\/(json|javascript|xml|[\w.-]+\+(json|xml))|image\/svg\+xml)/i;

/** @typedef {import("./mount.js").Content} Content */

export class Reader {
  #client;
  #running = 0;
  /** @type {Array<() => void>} */ #waiting = [];

  /** @param {import("./ahp.js").Client} client */
  constructor(client) {
    this.#client = client;
  }

  /** @param {string} channel @param {string} instanceId @param {string} path @param {import("./cache.js").Cache} cache of the canvas @returns {Promise<Content>} never broken: a failure is an answer */
  async read(channel, instanceId, path, cache) {
    if (this.#running >= AT_ONCE) await new Promise((go) => this.#waiting.push(() => go(undefined)));
    this.#running++;
    try {
      const kept = cache.get(path);
      const { contents, _meta: meta } = await this.#client.request("canvasReadResource", {
        channel, uri: contentURI(instanceId, path), _meta: kept && { [ETAG]: kept.etag },
      });
      if (!contents[0] && kept) return { type: kept.type, body: kept.body.slice(0) };
      const { type, body } = unpack(contents[0]);
      const etag = meta?.[ETAG];
      if (typeof etag === "string") cache.put(path, { etag, type, body: body.slice(0) }); // the other one is handed away
      return { type, body };
    } catch (err) {
      return explain(err);
    } finally {
      this.#running--;
      this.#waiting.shift()?.();
    }
  }
}

/** @param {{ mimeType?: string, text?: string, blob?: string }} entry */
function unpack({ mimeType: given, text, blob }) {
  const mimeType = given || "application/octet-stream";
  const type = TEXTUAL.test(mimeType) && !/charset=/i.test(mimeType) && text !== undefined ? `${mimeType}; charset=utf-8` : mimeType;
  const bytes = text !== undefined ? new TextEncoder().encode(text) : decode(blob ?? "");
  return { type, body: bytes.buffer };
}

/** A failed read in plain words. @param {unknown} err @returns {Content} */
function explain(err) {
  if (!(err instanceof RPCError)) return { status: 503, word: "The host is not connected. Load this again when it is back." };
  switch (err.code) {
    case -32008: return { status: 404, word: "This canvas has no such file." };
    case -32009: return { status: 403, word: "The host does not give this file out." };
    case -32012: return { status: 503, word: "What provides this canvas is not running. It can come back." };
    case -32602: return { status: 400, word: "This address is not a path in the canvas." };
    default: return { status: 502, word: "The host could not read this file." };
  }
}
