// @ts-check
// What canvases store in this browser. Each canvas has one origin here, which lasts until the
// canvas is closed, its provider changes, or it is cleared; then it gets another one, and the
// old one is cleared by a frame of its own. The name of the origin comes from a secret of
// this browser, so nobody else can name it.

const SECRET = "browser";
const RECORDS = "kept"; // of origins, by canvas
const GONE = "kept gone"; // origins to be cleared
export const MAX_BYTES = 64 << 20; // that a canvas may store
const MAX_TOTAL = 512 << 20; // that all canvases may store; the one that was not shown for longest is cleared first
const MAX_RECORDS = 256;
const MAX_GONE = 1024;
const MAX_AGE = 90 * 24 * 3600_000; // ms after which a canvas that was not shown is cleared
const CLEAR_TIMEOUT = 10_000; // ms
const PAGE = random(); // tells the locks of this page from those of other tabs

/** @typedef {{ home: string, channel: string, extensionId: string, net: string }} Canvas home: host and session; net: allowed.js. Another opening of an instance has another channel */
/** @typedef {{ home: string, channel: string, salt: string, origins: string[], used: number, bytes: number, cleared?: boolean }} Kept */

/** Of this browser; of this page if it may not store. */
const secret = read(SECRET, (s) => /^[0-9a-f]{64}$/.test(s) ? s : undefined) ?? random(32);
/** Whether this browser keeps anything. */
const lasts = write(SECRET, secret);

/** @param {number} [bytes] @returns {string} */
function random(bytes = 16) {
  return hex(crypto.getRandomValues(new Uint8Array(bytes)));
}

/** @param {Uint8Array} bytes */
function hex(bytes) {
  return Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
}

/** @template T @param {string} key @param {(text: string) => T | undefined} parse @returns {T | undefined} */
function read(key, parse) {
  try {
    return parse(localStorage.getItem(key) ?? "");
  } catch {
    return undefined; // storage is not allowed, or the text is another page's
  }
}

/** @param {string} key @param {string} text @returns {boolean} whether it is stored */
function write(key, text) {
  try {
    localStorage.setItem(key, text);
    return localStorage.getItem(key) === text;
  } catch {
    return false;
  }
}

/** @returns {Record<string, Kept>} */
const records = () => read(RECORDS, (text) => JSON.parse(text || "{}")) ?? {};
/** @returns {string[]} */
const gone = () => read(GONE, (text) => JSON.parse(text || "[]")) ?? [];

/** @param {...string} of @returns {Promise<string>} 32 hex digits */
async function sign(...of) {
  const text = new TextEncoder();
  const key = await crypto.subtle.importKey("raw", text.encode(secret), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return hex(new Uint8Array(await crypto.subtle.sign("HMAC", key, text.encode(JSON.stringify(of)))).subarray(0, 16));
}

/** @param {Canvas} canvas */
const nameOf = ({ home, channel, extensionId, net }) => sign("canvas", home, channel, extensionId, net);

/** The label of a canvas's origin in this browser, also the name by which its host knows the browser. @param {Canvas} canvas @returns {Promise<string>} "" if the browser cannot make it */
export async function labelIn(canvas) {
  if (!globalThis.crypto?.subtle) return "";
  const name = await nameOf(canvas);
  return sign("origin", name, records()[name]?.salt ?? "");
}

/**
 * Notes that a canvas is shown on an origin, and that those which the same canvas had with
 * another provider are not used again.
 * @param {Canvas} canvas @param {string} origin
 * @returns {Promise<{ kept: boolean, cleared: boolean }>} kept: whether this browser keeps it; cleared: whether the canvas's storage was cleared for others since it was shown
 */
export async function use(canvas, origin) {
  const name = await nameOf(canvas), all = records();
  const { salt = "", origins = [], bytes = 0, cleared = false } = all[name] ?? {};
  for (const [other, { home, channel }] of Object.entries(all)) if (other !== name && home === canvas.home && channel === canvas.channel) drop(all, other);
  all[name] = { home: canvas.home, channel: canvas.channel, salt, origins: [...new Set([...origins, origin])], used: Date.now(), bytes };
  return { kept: lasts && save(all), cleared };
}

/** Whether a canvas is still on its origin: another tab can have cleared it. @param {Canvas} canvas @param {string} origin */
export const isCurrent = async (canvas, origin) => Boolean(records()[await nameOf(canvas)]?.origins.includes(origin));

/** Notes how much a canvas stores, and clears others if all store too much. @param {Canvas} canvas @param {number} bytes @returns {Promise<boolean>} whether this is more than a canvas may store */
export async function measured(canvas, bytes) {
  const name = await nameOf(canvas), all = records();
  if (!all[name]) return false;
  Object.assign(all[name], { bytes, used: Date.now() });
  let total = Object.values(all).reduce((sum, one) => sum + one.bytes, 0);
  for (const [other, one] of oldestFirst(all)) {
    if (total <= MAX_TOTAL) break;
    if (other === name || one.bytes === 0) continue;
    total -= one.bytes;
    renew(one).cleared = true;
  }
  save(all);
  return bytes > MAX_BYTES;
}

/** Clears what a canvas stored: it gets another origin. @param {Canvas} canvas */
export async function clear(canvas) {
  const all = records(), one = all[await nameOf(canvas)];
  if (one) renew(one);
  save(all);
}

/** Clears the origins of canvases that are no longer open. @param {string} home @param {string[]} open their channels */
export function keepOnly(home, open) {
  const all = records(), before = Date.now() - MAX_AGE;
  const over = Object.keys(all).filter((name) => all[name].used < before || (all[name].home === home && !open.includes(all[name].channel)));
  for (const name of over) drop(all, name);
  if (over.length) save(all);
  else clearGone();
}

/** @param {Record<string, Kept>} all @returns {[string, Kept][]} */
const oldestFirst = (all) => Object.entries(all).sort(([, a], [, b]) => a.used - b.used);

/** Gives a canvas another origin. @param {Kept} one */
function renew(one) {
  write(GONE, JSON.stringify([...gone(), ...one.origins].slice(-MAX_GONE)));
  return Object.assign(one, { salt: random(), origins: [], bytes: 0 });
}

/** @param {Record<string, Kept>} all @param {string} name */
function drop(all, name) {
  renew(all[name]);
  delete all[name];
}

/** @param {Record<string, Kept>} all */
function save(all) {
  for (const [name] of oldestFirst(all).slice(0, -MAX_RECORDS)) drop(all, name);
  const saved = write(RECORDS, JSON.stringify(all));
  clearGone();
  return saved;
}

let clearing = false;

/** Clears the origins that are not used again, one after the other. One that does not answer stays for the next page. */
async function clearGone() {
  if (clearing) return;
  clearing = true;
  const tried = new Set();
  for (let next; (next = gone().find((origin) => !tried.has(origin))); ) {
    tried.add(next);
    if (await clearOrigin(next)) write(GONE, JSON.stringify(gone().filter((origin) => origin !== next)));
  }
  clearing = false;
}

/** @param {string} origin @returns {Promise<boolean>} whether it was cleared */
function clearOrigin(origin) {
  const frame = document.createElement("iframe");
  frame.hidden = true;
  frame.setAttribute("sandbox", "allow-scripts allow-same-origin");
  frame.src = `${origin}/.ahp/clear.html`;
  const cleared = new Promise((resolve) => {
    const listen = (/** @type {MessageEvent} */ e) => { if (e.source === frame.contentWindow && e.origin === origin && e.data?.["x-ahp"] === "cleared") end(true); };
    const end = (/** @type {boolean} */ is) => { removeEventListener("message", listen); resolve(is); };
    addEventListener("message", listen);
    setTimeout(end, CLEAR_TIMEOUT, false);
  });
  document.body.append(frame);
  return cleared.finally(() => frame.remove());
}

/** Notes that this page shows an origin. @param {string} origin @returns {Promise<{ alone: boolean, release: () => void }>} alone: no other tab does */
export async function hold(origin) {
  const name = `canvas ${origin} `;
  const held = (await navigator.locks?.query())?.held ?? [];
  let release = () => {};
  navigator.locks?.request(name + PAGE, { mode: "shared" }, () => new Promise((go) => { release = () => go(undefined); }));
  return { alone: !held.some((lock) => lock.name?.startsWith(name) && lock.name !== name + PAGE), release: () => release() };
}

/** Calls a function when another tab has changed what is kept. @param {() => void} changed */
export const onChanged = (changed) => addEventListener("storage", ({ key }) => { if (key === RECORDS) changed(); });
