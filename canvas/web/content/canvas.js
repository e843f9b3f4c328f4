// @ts-check
/**
 * How a page without a server takes part in its canvas (view/1). It works in any
 * renderer: in one that is not this host's, messages go to the parent window
 * (canvas/PROTOCOL.md section 4.8). There input is undefined, onTheme is never called,
 * send does not report refusals, and offerLink, offerFile and fullscreen reject.
 *
 *     import { onAction, send, onMessage, input } from "/.ahp/canvas.js";
 *     onAction("add_card", ({ title }) => board.add(title));   // the agent acts; the value returned is its answer
 *     onMessage((value) => draw(value));                       // a message of the provider
 *     await send({ moved: 3 });                                // to the provider
 *     const { start } = await input;                           // the input with which the agent opened the canvas
 *     await state.set("todos", ["Milk"]);                      // what all viewers share, in the canvas "page"
 */

/** Limit of a message and of an action's answer, in bytes of JSON. */
export const MAX_BYTES = 64 * 1024;

// Filled in by the host.
/** @type {string[]} */
const ALLOWED = [];

/**
 * Whether the canvas may load a url of another origin: the host's operator allowed the
 * origin (--allow-origin), and the page that shows the canvas applies it.
 * @param {string} url
 */
export function mayLoad(url) {
  if (!URL.canParse(url)) return false;
  const { origin, host } = new URL(url);
  return ALLOWED.some((allowed) => {
    const [before, domain] = allowed.split("*");
    return domain === undefined ? origin === allowed : origin.startsWith(before) && host.endsWith(domain);
  });
}

/** @typedef {(input: any) => any} Handler */

/** @type {Map<string, Handler>} */
const actions = new Map();
/** @type {Set<(value: any) => void>} */
const listeners = new Set();
/** @type {Set<(value: any) => void>} */
const inputListeners = new Set();
/** @type {Set<(theme: any) => void>} */
const themeListeners = new Set();
/** @type {Map<number, { resolve: (value?: any) => void, reject: (err: Error) => void }>} */
const sent = new Map();
/** @type {Set<(value: any) => void>} of the script of the canvas "page" */
const pageListeners = new Set();
let lastId = 0;
let saidHello = false;
/** @type {Set<() => void>} */
const missedListeners = new Set();
/** @type {Set<(panel: { fullscreen: boolean }) => void>} */
const panelListeners = new Set();
/** @type {{ input: any, theme: any, panel?: { fullscreen: boolean } } | undefined} */
let latest;

/** @type {(value: any) => void} */
let resolveInput;
/** @type {Promise<any>} The input with which the agent opened the canvas; undefined if there was none. */
export const input = new Promise((resolve) => { resolveInput = resolve; });

const { port1: port, port2 } = new MessageChannel();

/**
 * Runs fn when the agent invokes the declared action of this name. The value that
 * fn returns, directly or as a promise, is the agent's answer: any JSON, at most
 * 64 KiB. If fn throws, the agent receives the error.
 * @param {string} name @param {Handler} fn
 */
export function onAction(name, fn) {
  actions.set(name, fn);
  if (saidHello) return;
  saidHello = true;
  // Later, so that this script can register its other handlers first.
  setTimeout(() => port.postMessage({ t: "hello" }));
}

/**
 * Sends any JSON, at most 64 KiB, to the canvas's provider. The promise resolves
 * when the host has accepted it, and rejects with the reason if it was refused.
 * @param {any} value @returns {Promise<void>}
 */
export async function send(value) {
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError("send: only a JSON value can be sent");
  if (new TextEncoder().encode(text).length > MAX_BYTES) throw new RangeError("send: a message can have at most 64 KiB");
  const id = ++lastId;
  await new Promise((resolve, reject) => {
    sent.set(id, { resolve, reject });
    port.postMessage({ t: "send", id, value: JSON.parse(text) });
  });
}

/**
 * Offers a link to the person. A canvas opens no windows: the renderer shows the full
 * address outside the frame, with buttons to open and dismiss it. The promise resolves
 * with "opened" or "dismissed"; a later offer, and the end of this page, dismiss it. It
 * rejects with the reason if the link may not be offered: show the address as text then.
 * A link begins with https:, or with http: if it is on this machine, and has at most
 * 2,048 bytes and no user name.
 * @param {string | URL} url @returns {Promise<"opened" | "dismissed">}
 */
export const offerLink = (url) => ask({ t: "offer", url: String(url) });

/**
 * Offers a file to the person, at most 16 MiB. The renderer shows its name and size outside
 * the frame, with buttons to save and dismiss it. The promise resolves with "saved" or
 * "dismissed"; it rejects with the reason if the file may not be offered: one at a time and
 * ten a minute are allowed.
 * @param {string} name @param {ArrayBuffer} bytes @returns {Promise<"saved" | "dismissed">}
 */
export const offerFile = (name, bytes) => ask({ t: "file", name: String(name), bytes });

/**
 * Asks the renderer to show the canvas alone, or beside the others again. It does so only
 * directly after the person did something in the page. The promise resolves with whether the
 * canvas is shown alone now, and rejects if the renderer cannot do it.
 * @param {boolean} on @returns {Promise<boolean>}
 */
export const fullscreen = (on) => ask({ t: "fullscreen", on: Boolean(on) });

/** Asks the renderer for a height in CSS pixels. The first one counts, unless a person chose one. @param {number} height */
export const resize = (height) => port.postMessage({ t: "resize", height: Number(height) });

/** @param {object} question of the renderer @returns {Promise<any>} */
function ask(question) {
  const id = ++lastId;
  return new Promise((resolve, reject) => {
    sent.set(id, { resolve, reject });
    port.postMessage({ ...question, id });
  });
}

/**
 * Says that the canvas waits for the person, and why: the renderer marks it, also while the
 * person looks at something else. One line of at most 200 characters; "" says that it waits
 * no more. It ends when the person comes to the canvas. At most once a second, and a
 * renderer may ignore it.
 * @param {string} reason
 */
export const attention = (reason) => port.postMessage({ t: "attention", reason: String(reason) });

/** @type {(() => { unsaved?: boolean, state?: any } | void) | undefined} */
let leave;

/**
 * Calls fn before a renderer unloads this page because the person looks at other canvases.
 * If fn returns unsaved: true, the page stays. state, any JSON of at most 64 KiB, is in
 * "kept" when the page is loaded again. fn has half a second. Without fn, the page stays
 * while a field has input of the person.
 * @param {() => { unsaved?: boolean, state?: any } | void} fn
 */
export function onLeave(fn) {
  leave = fn;
}

/** @type {(value: any) => void} */
let resolveKept;
/** @type {Promise<any>} The state that onLeave returned when this page was unloaded; undefined if there is none. */
export const kept = new Promise((resolve) => { resolveKept = resolve; });

/** Calls fn with each later message of the provider. @param {(value: any) => void} fn @returns {() => void} removes fn */
export const onMessage = (fn) => listen(listeners, fn);

/**
 * Calls fn when messages of the provider may be lost, for example while a chat did not show
 * the canvas: fn asks the provider for what it shows. Without fn, a page with onMessage is
 * loaded again then.
 * @param {() => void} fn @returns {() => void} removes fn
 */
export const onMissed = (fn) => listen(missedListeners, fn);

/** Calls fn with the input, now and whenever the agent opens the canvas with another one. @param {(value: any) => void} fn @returns {() => void} removes fn */
export function onInput(fn) {
  if (latest) fn(latest.input);
  return listen(inputListeners, fn);
}

/** Calls fn with { mode: "light" | "dark", locale: "de-CH", tokens }, now and after each change. The document already has the mode and the tokens. @param {(theme: any) => void} fn @returns {() => void} removes fn */
export function onTheme(fn) {
  if (latest) fn(latest.theme);
  return listen(themeListeners, fn);
}

/** Calls fn with { fullscreen }, now and whenever the canvas is shown alone or beside others. @param {(panel: { fullscreen: boolean }) => void} fn @returns {() => void} removes fn */
export function onPanel(fn) {
  if (latest?.panel) fn(latest.panel);
  return listen(panelListeners, fn);
}

/**
 * A small store that all viewers of the canvas share and that survives restarts: any
 * JSON by key, 64 KiB in all; the last writer of a key wins. Only the canvas "page" has it.
 * @typedef {{
 *   ready: Promise<void>,
 *   get: (key: string) => any,
 *   all: () => Record<string, any>,
 *   set: (key: string, value: any) => Promise<void>,
 *   delete: (key: string) => Promise<void>,
 *   onChange: (fn: (keys: string[]) => void) => () => void,
 * }} State
 */

const NO_STATE = "this canvas has no shared state; only the canvas \"page\" has it";
/** @type {State} */
let shared = {
  get ready() { return Promise.reject(new Error(NO_STATE)); },
  get: () => undefined,
  all: () => ({}),
  set: () => Promise.reject(new Error(NO_STATE)),
  delete: () => Promise.reject(new Error(NO_STATE)),
  onChange: () => () => {},
};

/** ready resolves when get has values; set and delete when the host has stored the change. @type {State} */
export const state = {
  get ready() { return shared.ready; },
  get: (key) => shared.get(key),
  all: () => shared.all(),
  set: (key, value) => shared.set(key, value),
  delete: (key) => shared.delete(key),
  onChange: (fn) => shared.onChange(fn),
};

/** For the script of the canvas "page" alone: its store, and the messages {"x-ahp-page": …} of its provider. @param {State} store @param {(value: any) => void} receive */
export function attachPage(store, receive) {
  shared = store;
  pageListeners.add(receive);
}

/** @template F @param {Set<F>} set @param {F} fn */
function listen(set, fn) {
  set.add(fn);
  return () => { set.delete(fn); };
}

/** @param {{ id: unknown, action: string, input: any }} call */
async function invoke({ id, action, input }) {
  const fn = actions.get(action);
  try {
    if (!fn) throw Object.assign(new Error(`this page has no handler for "${action}"`), { code: "canvas_action_no_handler" });
    const value = await fn(input);
    const text = JSON.stringify(value);
    if (text && new TextEncoder().encode(text).length > MAX_BYTES) throw Object.assign(new Error("the action ran; its value was dropped: it has more than 64 KiB"), { code: "canvas_limit_exceeded" });
    port.postMessage({ t: "result", id, value: text === undefined ? undefined : JSON.parse(text) });
  } catch (err) {
    const e = /** @type {any} */ (err);
    port.postMessage({ t: "error", id, code: typeof e?.code === "string" ? e.code : "canvas_handler_error", message: String(e?.message ?? e) });
  }
}

/** @param {{ id: number }} m */
function leaving({ id }) {
  const { unsaved = false, state } = leave?.() ?? {};
  port.postMessage({ t: "leaving", id, unsaved: Boolean(unsaved), state: state === undefined ? undefined : JSON.parse(JSON.stringify(state)) });
}

/** @type {Record<string, (m: any) => void>} */
const handlers = {
  invoke,
  leaving,
  message: (m) => (m.value?.["x-ahp-page"] === undefined ? listeners : pageListeners).forEach((fn) => fn(m.value)),
  problems: (m) => port.postMessage({ t: "problems", id: m.id, .../** @type {any} */ (globalThis).ahpProblems?.take() }),
  missed() {
    missedListeners.forEach((fn) => fn());
    if (!missedListeners.size && listeners.size + pageListeners.size) port.postMessage({ t: "reload" });
  },
  taken: (m) => { sent.get(m.id)?.resolve(); sent.delete(m.id); },
  offered: (m) => { sent.get(m.id)?.resolve(m.outcome); sent.delete(m.id); },
  refused: (m) => { sent.get(m.id)?.reject(new Error(m.reason)); sent.delete(m.id); },
  state(m) {
    const before = latest;
    latest = m;
    resolveInput(m.input);
    resolveKept(m.kept);
    if (!before || JSON.stringify(before.input) !== JSON.stringify(m.input)) inputListeners.forEach((fn) => fn(m.input));
    if (JSON.stringify(before?.theme) !== JSON.stringify(m.theme)) themeListeners.forEach((fn) => fn(m.theme));
    if (JSON.stringify(before?.panel) !== JSON.stringify(m.panel)) panelListeners.forEach((fn) => fn(m.panel));
  },
};

/** Whether the parent is the frame of this host's page, which takes a port. */
function inOwnFrame() {
  if (/** @type {any} */ (globalThis).ahpSingle) return true; // set by singleshim.js
  try {
    return parent !== self && parent.location.pathname === "/.ahp/frame.html";
  } catch {
    return false; // the parent has another origin
  }
}

/**
 * Connects this page in another renderer: {type: "canvas/message", payload} to and from
 * the parent window. The origin of the parent is not known, so any may receive it.
 * @param {MessagePort} other end of the port
 */
function connectParent(other) {
  /** @param {any} payload */
  const post = (payload) => parent.postMessage({ type: "canvas/message", payload }, "*");
  /** @param {any} m */
  const postView = (m) => post({ "x-ahp": "view/1", ...m });
  other.onmessage = ({ data: { t, id, value, code, message, reason, unsaved, state } }) => {
    switch (t) {
      case "hello": return postView({ type: t });
      case "result": return postView({ type: t, id, value });
      case "attention": return postView({ type: t, reason });
      case "leaving": return postView({ type: t, id, unsaved, state });
      case "error": return postView({ type: t, id, error: { code, message } });
      case "send":
        post(value);
        return other.postMessage({ t: "taken", id });
      case "offer": return other.postMessage({ t: "refused", id, reason: "this renderer opens no links" });
      case "file": return other.postMessage({ t: "refused", id, reason: "this renderer saves no files" });
      case "fullscreen": return other.postMessage({ t: "refused", id, reason: "this renderer does not show a canvas alone" });
    }
  };
  addEventListener("message", ({ source, data }) => {
    if (source !== parent || data?.type !== "canvas/message") return;
    const { payload } = data;
    const tag = payload?.["x-ahp"];
    if (tag === undefined) return other.postMessage({ t: "message", value: payload });
    if (tag === "view/1" && payload.type === "leaving") other.postMessage({ t: "leaving", id: payload.id });
    if (tag === "view/1" && payload.type === "invoke") other.postMessage({ t: "invoke", id: payload.id, action: payload.action, input: payload.input });
  });
  addEventListener("pagehide", () => { if (saidHello) postView({ type: "bye" }); });
  other.postMessage({ t: "state" });
}

port.onmessage = (/** @type {MessageEvent} */ { data }) => handlers[data.t]?.(data);
const outside = /** @type {any} */ (globalThis).ahpOutside;
if (outside) outside(port2); // shown by canvas/local, without an app page
// In single-document mode the origin is opaque, and the parent is always the host's page.
else if (inOwnFrame()) parent.postMessage({ "x-ahp": "view" }, origin === "null" ? "*" : location.origin, [port2]);
else if (parent !== self) connectParent(port2);
addEventListener("pagehide", () => port.postMessage({ t: "bye" }));
