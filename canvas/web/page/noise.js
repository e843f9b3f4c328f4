// @ts-check
// The client's side of Noise_NK_25519_AESGCM_SHA256 (ahp/PROTOCOL.md section 16), with the
// browser's WebCrypto for X25519, SHA-256, HMAC and AES-GCM.

const NAME = "Noise_NK_25519_AESGCM_SHA256";
const KEY_SIZE = 32;
const REKEY_FRAMES = 2 ** 20, REKEY_BYTES = 2 ** 30;
const EMPTY = new Uint8Array();

export const TAG = 16; // bytes that encryption adds

/** @typedef {Uint8Array<ArrayBuffer>} Bytes */
/** @typedef {{ private: CryptoKey, public: Bytes }} Pair an X25519 key pair */

/** @param {Bytes[]} parts @returns {Bytes} */
export function join(...parts) {
  const all = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const p of parts) {
    all.set(p, at);
    at += p.length;
  }
  return all;
}

/** @param {string} text @returns {Bytes} */
export const utf8 = (text) => new TextEncoder().encode(text);

/** The bytes of a key in a link; undefined if it is none. @param {string} text @returns {Bytes | undefined} */
export function decodeKey(text) {
  if (!/^[\w-]{42}[AEIMQUYcgkosw048]$/.test(text)) return undefined;
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
}

/** @param {Bytes} key @param {Bytes} data @returns {Promise<Bytes>} */
async function hmac(key, data) {
  const imported = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", imported, data));
}

/** Noise's HKDF with two outputs. @param {Bytes} chaining @param {Bytes} input @returns {Promise<[Bytes, Bytes]>} */
async function hkdf(chaining, input) {
  const key = await hmac(chaining, input);
  const first = await hmac(key, Uint8Array.of(1));
  return [first, await hmac(key, join(first, Uint8Array.of(2)))];
}

/** @param {Bytes} bytes @returns {Promise<Bytes>} */
const sha256 = async (bytes) => new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));

/** @param {Bytes} key */
const aes = (key) => crypto.subtle.importKey("raw", key, "AES-GCM", false, ["encrypt", "decrypt"]);

/** A new key pair of the browser. @returns {Promise<Pair>} */
async function newPair() {
  const pair = /** @type {CryptoKeyPair} */ (await crypto.subtle.generateKey({ name: "X25519" }, false, ["deriveBits"]));
  return { private: pair.privateKey, public: new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey)) };
}

/** @param {Pair} pair @param {Bytes} other @returns {Promise<Bytes>} fails for a point of low order */
async function agree(pair, other) {
  const key = await crypto.subtle.importKey("raw", other, { name: "X25519" }, false, []);
  return new Uint8Array(await crypto.subtle.deriveBits({ name: "X25519", public: key }, pair.private, KEY_SIZE * 8));
}

/** One direction of a connection. */
export class Cipher {
  #key; #n = 0;
  frames = 0; // with the current key
  bytes = 0;

  /** @param {Bytes} key */
  constructor(key) {
    this.#key = aes(key);
  }

  /** @param {Bytes} plain @returns {Promise<Bytes>} the frames of concurrent calls are in the order of the calls */
  async seal(plain) {
    const { key, how } = this.#next(plain.length + TAG);
    return new Uint8Array(await crypto.subtle.encrypt(how, await key, plain));
  }

  /** @param {Bytes} sealed @returns {Promise<Bytes>} fails unless this is the next frame */
  async open(sealed) {
    const { key, how } = this.#next(sealed.length);
    return new Uint8Array(await crypto.subtle.decrypt(how, await key, sealed));
  }

  /** Takes the nonce of a frame, and changes the key behind the last frame that it may have. @param {number} size */
  #next(size) {
    const key = this.#key;
    const how = { name: "AES-GCM", iv: nonce(this.#n++) };
    this.bytes += size;
    if (++this.frames >= REKEY_FRAMES || this.bytes >= REKEY_BYTES) {
      this.frames = this.bytes = 0;
      this.#key = key.then(rekey);
    }
    return { key, how };
  }
}

/** @param {number} n @returns {Bytes} */
function nonce(n) {
  const iv = new DataView(new ArrayBuffer(12));
  iv.setUint32(4, n / 2 ** 32);
  iv.setUint32(8, n >>> 0);
  return new Uint8Array(iv.buffer);
}

/** @param {CryptoKey} key */
async function rekey(key) {
  const iv = new Uint8Array(12).fill(0xff, 4);
  return aes(new Uint8Array(await crypto.subtle.encrypt({ name: "AES-GCM", iv }, key, new Uint8Array(KEY_SIZE))).slice(0, KEY_SIZE));
}

/** The client's side of a handshake. */
export class Handshake {
  #prologue; #host; #hash = EMPTY; #chaining = EMPTY; #key = EMPTY; #n = 0;
  /** @type {Pair | undefined} */ #pair;

  /** @param {Bytes} prologue @param {Bytes} host its public key @param {Pair} [pair] for tests; a new one each time otherwise */
  constructor(prologue, host, pair) {
    this.#prologue = prologue;
    this.#host = host;
    this.#pair = pair;
  }

  /** The client's message. @param {Bytes} payload @returns {Promise<Bytes>} */
  async first(payload = EMPTY) {
    this.#hash = this.#chaining = join(utf8(NAME), new Uint8Array(KEY_SIZE - NAME.length));
    await this.#mix(this.#prologue);
    await this.#mix(this.#host);
    const pair = this.#pair ??= await newPair();
    await this.#mix(pair.public);
    await this.#agree(pair, this.#host);
    const sealed = new Uint8Array(await crypto.subtle.encrypt(this.#how(), await aes(this.#key), payload));
    await this.#mix(sealed);
    return join(pair.public, sealed);
  }

  /** Takes the host's message. @param {Bytes} message @returns {Promise<{ payload: Bytes, hash: Bytes, out: Cipher, in: Cipher }>} fails if it is not the host's */
  async second(message) {
    const theirs = message.slice(0, KEY_SIZE), sealed = message.slice(KEY_SIZE);
    await this.#mix(theirs);
    await this.#agree(/** @type {Pair} */ (this.#pair), theirs);
    const payload = new Uint8Array(await crypto.subtle.decrypt(this.#how(), await aes(this.#key), sealed));
    await this.#mix(sealed);
    const [up, down] = await hkdf(this.#chaining, EMPTY);
    return { payload, hash: this.#hash, out: new Cipher(up), in: new Cipher(down) };
  }

  /** The parameters of the next encryption, which also authenticates what came before. */
  #how() {
    return { name: "AES-GCM", iv: nonce(this.#n++), additionalData: this.#hash };
  }

  /** @param {Bytes} sent */
  async #mix(sent) {
    this.#hash = await sha256(join(this.#hash, sent));
  }

  /** @param {Pair} pair @param {Bytes} theirs */
  async #agree(pair, theirs) {
    [this.#chaining, this.#key] = await hkdf(this.#chaining, await agree(pair, theirs));
    this.#n = 0;
  }
}
