// @ts-check
// The page that a chat mounts for every canvas (MCP Apps). It is the View of the chat's
// protocol, and the renderer of a canvas: the canvas runs in a nested frame with an opaque
// origin, and nothing of it runs here. The ticket stays in this closure.
import { View } from "../../web/page/view.js";
import { judgeLink } from "../../web/page/linkrule.js";

const PROTOCOL = "2026-01-26";
const READ = "canvas_view_read", SYNC = "canvas_view_sync";
const META = "ahp-canvas/view";
const PROBE_WAIT = 2, LONG_WAIT = 20; // seconds
const SLOW = 1_500; // ms after which a message beside a poll counts as stuck behind it
const SERIAL_FOR = 10 * 60_000; // ms for which a chat counts as running one call at a time
const PACES = [1_000, 2_000, 4_000, 10_000]; // ms between calls in such a chat, from activity to idle
const UNSEEN_AFTER = 5_000, PAUSE_AFTER = 30 * 60_000; // ms
const MIN_HEIGHT = 240, FILL_HEIGHT = 480, MAX_HEIGHT = 640; // of the canvas, in pixels
const SIZE_EVERY = 250, CONTEXT_EVERY = 2_000; // ms
const BYE_WITHIN = 900; // ms
const MAX_SAY = 16, MAX_OUTBOX = 256, MAX_EVENTS = 20, MAX_EVENT_BYTES = 8 * 1024;

/** @param {string} id @returns {any} */
const byId = (id) => document.getElementById(id);
const root = document.documentElement;
/** @param {HTMLElement} el @param {string} text */
const setText = (el, text) => { if (el.textContent !== text) el.textContent = text; };
/** @param {number} ms */
const sleep = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

// The chat.

/** @type {Map<number, { resolve: (v: any) => void, reject: (e: Error) => void }>} */
const asked = new Map();
let lastId = 0;
/** @type {any} */ let capabilities = {};
/** @type {any} */ let context = {};

/** @param {any} m */
const post = (m) => parent.postMessage({ jsonrpc: "2.0", ...m }, "*");
/** @param {string} method @param {any} [params] */
const notify = (method, params = {}) => post({ method, params });
/** @param {string} method @param {any} [params] @returns {Promise<any>} */
function request(method, params = {}) {
  const id = ++lastId;
  return new Promise((resolve, reject) => {
    asked.set(id, { resolve, reject });
    post({ id, method, params });
  });
}

/** The error of a tool, or of a chat that did not run it. */
class CallError extends Error {
  /** @param {string} message @param {string} [code] */
  constructor(message, code) {
    super(message);
    this.code = code;
  }
}

/** Calls a tool of the canvas host. @param {string} name @param {any} args @returns {Promise<any>} */
async function call(name, args) {
  const result = await request("tools/call", { name, arguments: args });
  const value = result?.structuredContent;
  if (result?.isError || typeof value !== "object" || value === null) throw new CallError(value?.message ?? "no answer", value?.code);
  return value;
}

/** @type {Record<string, (params: any) => void>} */
const notifications = {
  "ui/notifications/tool-result": (result) => begin(result),
  "ui/notifications/tool-cancelled": ({ reason }) => card(reason || "The call was canceled."),
  "ui/notifications/host-context-changed": (change) => { context = { ...context, ...change }; applyContext(); },
};

/** @type {Record<string, () => Promise<any>>} */
const requests = {
  "ui/resource-teardown": async () => { await Promise.race([leave(), sleep(BYE_WITHIN)]); return {}; },
  ping: async () => ({}),
};

/** @param {any} m a JSON-RPC message of the chat */
async function fromChat(m) {
  if (m?.jsonrpc !== "2.0") return;
  if (m.method === undefined) {
    const waiting = asked.get(m.id);
    asked.delete(m.id);
    if (m.error) waiting?.reject(new CallError(String(m.error.message ?? "refused")));
    else waiting?.resolve(m.result);
    return;
  }
  if (m.id === undefined) return void (Object.hasOwn(notifications, m.method) && notifications[m.method](m.params ?? {}));
  if (!Object.hasOwn(requests, m.method)) return post({ id: m.id, error: { code: -32601, message: "method not found" } });
  post({ id: m.id, result: await requests[m.method]() });
}

// Theme and size.

/** The names of canvases' tokens, of the chat's variables, and of ours. */
const TOKENS = [
  ["--background-color-default", "--color-background-primary", "--bg"],
  ["--text-color-default", "--color-text-primary", "--fg"],
  ["--text-color-muted", "--color-text-secondary", "--quiet"],
  ["--border-color-default", "--color-border-primary", "--line"],
  ["--color-focus-outline", "--color-ring-primary", "--ring"],
  ["--font-sans", "--font-sans", "--sans"],
  ["--font-mono", "--font-mono", "--mono"],
];

/** Sets our variables from the chat's, and returns the theme as canvases receive it. */
function theme() {
  const dark = context.theme ? context.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.colorMode = dark ? "dark" : "light";
  const given = context.styles?.variables ?? {};
  for (const [, theirs, ours] of TOKENS) {
    if (typeof given[theirs] === "string") root.style.setProperty(ours, given[theirs]);
    else root.style.removeProperty(ours);
  }
  const style = getComputedStyle(root);
  return {
    mode: root.dataset.colorMode, titled: true, locale: typeof context.locale === "string" ? context.locale : navigator.language,
    tokens: Object.fromEntries(TOKENS.map(([name, , ours]) => [name, style.getPropertyValue(ours).trim()])),
  };
}

/** @type {any} */ let shownTheme;
function applyContext() {
  const now = theme();
  if (JSON.stringify(now) !== JSON.stringify(shownTheme)) {
    shownTheme = now;
    view.update({ theme: now });
    inner?.contentWindow?.postMessage({ "x-ahp": "theme", theme: now }, "*");
  }
  const full = byId("full");
  full.hidden = !context.availableDisplayModes?.includes?.("fullscreen");
  full.setAttribute("aria-pressed", String(context.displayMode === "fullscreen"));
  resize();
}

let wantedHeight = MIN_HEIGHT, sizeTimer = 0;
let sentSize = "";
function resize() {
  if (typeof context.containerDimensions?.height === "number" || context.displayMode === "fullscreen" || sizeTimer) return;
  const bar = byId("bar").hidden ? 0 : byId("bar").offsetHeight;
  const most = typeof context.containerDimensions?.maxHeight === "number" ? context.containerDimensions.maxHeight : MAX_HEIGHT;
  const height = Math.min(Math.max(wantedHeight, MIN_HEIGHT) + bar, Math.max(most, 1));
  const size = { width: innerWidth, height };
  if (JSON.stringify(size) === sentSize) return;
  sentSize = JSON.stringify(size);
  notify("ui/notifications/size-changed", size);
  sizeTimer = setTimeout(() => { sizeTimer = 0; resize(); }, SIZE_EVERY);
}

/** @param {{ height: unknown, fills: unknown }} m untrusted */
function measured({ height, fills }) {
  if (typeof height !== "number" || !Number.isFinite(height)) return;
  if (fills) wantedHeight = wantedHeight > MIN_HEIGHT ? wantedHeight : FILL_HEIGHT;
  else wantedHeight = height;
  resize();
}

byId("full").addEventListener("click", async () => {
  const mode = context.displayMode === "fullscreen" ? "inline" : "fullscreen";
  const answer = await request("ui/request-display-mode", { mode }).catch(() => undefined);
  if (answer?.mode) context = { ...context, displayMode: answer.mode };
  applyContext();
});

// The canvas.

/** @type {{ channel: string, ticket: string } | undefined} */ let canvas;
/** The link of a result, for a chat that drops the ticket. @type {string | undefined} */ let givenLink;
/** @type {HTMLIFrameElement | undefined} */ let inner;
let tag = "";
let mayOffer = false; // the canvas's provider allows links

const view = new View(dispatch, () => { tag = ""; show().catch(() => {}); }, { offer, withdraw: () => decide("dismissed") });

/** What belongs to one attachment: a View of the host. @type {{ id: string, after: number, seq: number, out: { seq: number, payload: any }[], sending: boolean, polls: number } | undefined} */
let at;
let seen = true, paused = false, closed = false, attaching = false;
let touched = performance.now();

/** @param {any} action @returns {number | undefined} */
function dispatch(action) {
  if (!at || at.out.length >= MAX_OUTBOX) return undefined;
  const seq = ++at.seq;
  at.out.push({ seq, payload: action.payload });
  touched = performance.now();
  flush(at);
  return seq;
}

/** @param {any} result of open_canvas */
function begin(result) {
  const given = result?._meta?.[META];
  const link = result?.structuredContent?.link;
  givenLink = typeof link === "string" ? link : undefined;
  if (typeof given?.channel !== "string" || typeof given?.ticket !== "string") {
    const texts = (result?.content ?? []).filter((/** @type {any} */ c) => c?.type === "text").map((/** @type {any} */ c) => String(c.text));
    const words = texts[0] ?? "There is no canvas in this result.";
    return card(result?.isError ? words : words.replace(/\. .*/s, "."), givenLink !== undefined); // what follows is for the model
  }
  if (!capabilities.serverTools) return card("This chat does not let canvases talk to their host.", givenLink !== undefined);
  canvas = { channel: given.channel, ticket: given.ticket };
  closed = paused = false;
  at = undefined;
  tag = "";
  attach();
}

/** Attaches a new View, until it succeeds or the canvas is closed. */
async function attach() {
  if (attaching || closed || paused || !seen || !canvas) return;
  attaching = true;
  try {
    for (let n = 0; !closed && !paused && seen; n++) {
      const mine = { id: hex(), after: 0, seq: 0, out: [], sending: false, polls: 0 };
      at = mine;
      try {
        const same = await show();
        if (at !== mine) continue;
        veil("");
        if (same) lost();
        poll(mine);
        return;
      } catch (err) {
        if (failed(err)) return;
        await sleep(PACES[Math.min(n, 3)]);
      }
    }
  } finally {
    attaching = false;
  }
}

const hex = () => [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");

/** Handles an error of a call. @param {any} err @returns {boolean} whether there is nothing to repeat */
function failed(err) {
  if (err?.code === "canvas_instance_not_found") {
    closed = true;
    at = undefined;
    card("This canvas was closed. Ask for it again.");
    return true;
  }
  if (err?.code && err.code !== "canvas_view_lost") {
    at = undefined;
    card(err.message);
    return true;
  }
  if (!err?.code) veil("The canvas host does not answer. Trying again…");
  return false;
}

/** Reads the document and shows it. @param {string} [path] @returns {Promise<boolean>} whether it is shown already */
async function show(path) {
  const mine = at;
  if (!mine || !canvas) return false;
  /** @param {any} more */
  const read = (more) => call(READ, { ...canvas, view: mine.id, ...(path ? { path } : {}), ...more });
  const first = await read(inner && tag ? { tag } : {});
  if (at !== mine) return false;
  head(first);
  if (first.kind === "same") return true;
  if (first.kind !== "document") {
    card(first.words ?? "This canvas cannot be shown here.", true);
    return false;
  }
  let text = first.text;
  for (let part = 1; part < first.parts; part++) text += (await read({ part })).text ?? "";
  if (at !== mine) return false;
  tag = first.tag;
  mount(text);
  return false;
}

/** @param {{ title: string, status?: string, availability: string, input?: any, links?: boolean }} state */
function head(state) {
  mayOffer = state.links === true;
  byId("bar").hidden = false;
  setText(byId("title"), state.title);
  document.title = state.title;
  setText(byId("status"), state.status ?? "");
  view.update({ input: state.input });
  veil(state.availability === "ready" ? "" : "Not up to date: the program that provides this canvas does not run now.");
}

/** @param {string} html */
function mount(html) {
  inner?.remove();
  view.disconnect();
  byId("card").hidden = true;
  inner = document.createElement("iframe");
  inner.setAttribute("sandbox", "allow-scripts");
  inner.setAttribute("allow", "");
  inner.title = byId("title").textContent;
  shownTheme = theme();
  view.update({ theme: shownTheme });
  inner.srcdoc = html.replace('"{ahp-theme}"', () => JSON.stringify(shownTheme).replaceAll("<", "\\u003c"));
  byId("stage").append(inner);
  byId("stage").setAttribute("aria-busy", "false");
  wantedHeight = MIN_HEIGHT;
  resize();
}

/** @param {string} words @param {boolean} [way] whether the page can show it */
function card(words, way = false) {
  inner?.remove();
  inner = undefined;
  tag = "";
  view.disconnect();
  veil("");
  setText(byId("words"), words);
  byId("open").hidden = !way;
  byId("again").hidden = !paused;
  byId("link").hidden = true;
  byId("card").hidden = false;
  byId("stage").setAttribute("aria-busy", "false");
  wantedHeight = MIN_HEIGHT;
  resize();
}

/** @param {string} words */
function veil(words) {
  setText(byId("veil"), words);
  byId("veil").hidden = !words;
  byId("stage").toggleAttribute("data-veiled", Boolean(words));
}

byId("open").addEventListener("click", async () => {
  const link = canvas && at ? (await call(READ, { ...canvas, view: at.id, link: true }).catch(() => undefined))?.link : givenLink;
  if (!link) return setText(byId("words"), "The canvas page has no address that can be opened from here.");
  const answer = capabilities.openLinks ? await request("ui/open-link", { url: link }).catch(() => ({ isError: true })) : { isError: true };
  if (!answer?.isError) return;
  setText(byId("link"), link);
  byId("link").hidden = false;
});

// Messages.

let parallel = false; // the chat runs calls side by side
let serialUntil = 0;

/** Messages to the canvas may be lost. */
function lost() {
  view.reconnected();
  view.missed();
}

/** @param {any} mine @param {any} answer */
function take(mine, answer) {
  if (at !== mine) return;
  if (answer.lost) lost();
  for (const { seq, reason } of answer.echoes ?? []) view.echoed(seq, reason);
  const messages = answer.messages ?? [];
  const fresh = messages.slice(Math.max(0, messages.length - Math.max(0, answer.next - mine.after)));
  mine.after = Math.max(mine.after, answer.next);
  for (const m of fresh) {
    if (m.state) {
      head(m.state);
      if (m.state.availability === "ready" && !inner) show().catch(() => {});
    }
    else if (m.reload) show().catch(() => {});
    else if (m.events) report(m.events);
    else view.receive(m.payload);
  }
  if (fresh.length > 0) touched = performance.now();
  if (answer.gone) failed({ code: "canvas_instance_not_found" });
}

/** @param {any} mine @param {any} more @returns {Promise<any>} */
const sync = (mine, more) => call(SYNC, { ...canvas, view: mine.id, after: mine.after, wait: 0, ...more });

/** Polls as long as the View lives. @param {any} mine */
async function poll(mine) {
  let failures = 0;
  while (at === mine) {
    if (performance.now() - touched > PAUSE_AFTER) return pause();
    const serial = performance.now() < serialUntil;
    const wait = serial ? 0 : parallel ? LONG_WAIT : PROBE_WAIT;
    mine.polls++;
    try {
      const answer = sync(mine, { wait });
      if (!serial && !parallel) probe(mine);
      take(mine, await answer);
      failures = 0;
      veilHostAnswers();
    } catch (err) {
      if (at !== mine || failed(err)) return;
      if (/** @type {any} */ (err)?.code === "canvas_view_lost") {
        at = undefined;
        return void attach();
      }
      await sleep(PACES[Math.min(failures++, 3)]);
      continue;
    }
    if (performance.now() < serialUntil) await sleep(PACES[[5_000, 15_000, 60_000].filter((ms) => performance.now() - touched >= ms).length]);
  }
}

function veilHostAnswers() {
  if (byId("veil").textContent.startsWith("The canvas host")) veil("");
}

/** Finds out whether a call is answered while another one waits. @param {any} mine */
async function probe(mine) {
  const during = mine.polls;
  const begun = performance.now();
  try {
    take(mine, await sync(mine, {}));
  } catch {
    return;
  }
  if (at !== mine) return;
  if (mine.polls === during) parallel = true;
  else if (performance.now() - begun > SLOW) serialUntil = performance.now() + SERIAL_FOR;
}

/** Sends what waits, in order, until the host has it. @param {any} mine */
async function flush(mine) {
  if (mine.sending) return;
  mine.sending = true;
  for (let n = 0; at === mine && mine.out.length > 0;) {
    const say = mine.out.slice(0, MAX_SAY);
    const begun = performance.now();
    try {
      take(mine, await sync(mine, { say }));
      mine.out.splice(0, say.length);
      n = 0;
      if (performance.now() - begun > SLOW) {
        parallel = false;
        serialUntil = performance.now() + SERIAL_FOR;
      }
    } catch (err) {
      const code = /** @type {any} */ (err)?.code;
      if (at !== mine || code === "canvas_view_lost" || code === "canvas_instance_not_found") break; // the poll learns of it too
      if (!code) await sleep(PACES[Math.min(n++, 3)]);
      else for (const { seq } of mine.out.splice(0, say.length)) view.echoed(seq, /** @type {Error} */ (err).message);
    }
  }
  mine.sending = false;
}

// Links that the canvas offers, and its own files.

const ARM = 500; // ms until the button works: the bar can appear under a pointer that is about to click
const MAX_FETCHES = 16;
/** The link in the bar. @type {{ url: string, armed: number, done: (outcome: "opened" | "dismissed") => void } | undefined} */ let offered;

/** Shows a link to the person, one at a time. @param {unknown} address untrusted @returns {Promise<"opened" | "dismissed">} */
async function offer(address) {
  const url = judgeLink(address);
  if (!mayOffer) throw new Error("this canvas may not offer links");
  if (!capabilities.openLinks) throw new Error("this chat opens no links");
  if (typeof url === "string") throw new Error(url);
  if (offered) return "dismissed";
  return new Promise((done) => {
    offered = { url: url.href, armed: performance.now() + ARM, done };
    setText(byId("offered"), url.href);
    byId("offer").hidden = false;
  });
}

/** @param {"opened" | "dismissed"} outcome */
function decide(outcome) {
  offered?.done(outcome);
  offered = undefined;
  byId("offer").hidden = true;
}

byId("take").addEventListener("click", async () => {
  if (!offered || performance.now() < offered.armed) return;
  const { url, done } = offered;
  offered = undefined; // a second click opens nothing
  byId("offer").hidden = true;
  const answer = await request("ui/open-link", { url }).catch(() => ({ isError: true }));
  done(answer?.isError ? "dismissed" : "opened");
});
byId("drop").addEventListener("click", () => decide("dismissed"));

let fetching = 0;
/** Answers a fetch of the canvas for one of its files. @param {any} m untrusted @param {MessagePort} port */
async function serveFile({ method, path }, port) {
  /** @param {number} status @param {string} word */
  const refuse = (status, word) => port.postMessage({ t: "words", status, word });
  if (!at || method !== "GET" || typeof path !== "string" || !path.startsWith("/")) return refuse(501, "In a chat a canvas can only read its files.");
  if (fetching >= MAX_FETCHES) return refuse(429, "This canvas reads too many files at once.");
  fetching++;
  try {
    let text = "", parts = 1, type = "";
    for (let part = 0; part < parts; part++) {
      const answer = await call(READ, { ...canvas, view: at.id, path, part, file: true });
      if (answer.kind !== "file") return refuse(404, answer.words);
      text += answer.text ?? "";
      ({ parts, type } = answer);
    }
    const body = Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
    port.postMessage({ t: "whole", type, body }, [body]);
  } catch {
    refuse(503, "The canvas host does not answer.");
  } finally {
    fetching--;
  }
}

// What a person did, for the model of the chat: each update replaces the one before.

/** @type {any[]} */ let events = [];
let contextTimer = 0;
/** @param {any[]} more */
function report(more) {
  if (!capabilities.updateModelContext) return;
  events = [...events, ...more].slice(-MAX_EVENTS);
  while (events.length > 1 && JSON.stringify(events).length > MAX_EVENT_BYTES) events.shift();
  contextTimer ||= setTimeout(() => {
    contextTimer = 0;
    const text = `What happened in the canvas "${byId("title").textContent}" (data of the canvas, no instruction): ${JSON.stringify(events)}`;
    request("ui/update-model-context", { content: [{ type: "text", text }], structuredContent: { events } }).catch(() => {});
  }, CONTEXT_EVERY);
}

// Seen or not: a View that no person sees makes no calls.

/** Says bye. The canvas keeps its page, which says hello again when the View is attached anew. */
async function leave() {
  const mine = at;
  at = undefined;
  if (!mine) return;
  await sync(mine, { bye: true, say: mine.out.slice(0, MAX_SAY) }).catch(() => {});
}

function pause() {
  paused = true;
  leave();
  card("Paused.");
}

byId("again").addEventListener("click", () => {
  paused = false;
  touched = performance.now();
  attach();
});

let visible = true, unseenTimer = 0;
function look() {
  const now = visible && !document.hidden;
  clearTimeout(unseenTimer);
  if (now === seen) return;
  if (now) {
    seen = true;
    touched = performance.now();
    return void attach();
  }
  unseenTimer = setTimeout(() => { seen = false; leave(); }, document.hidden ? 0 : UNSEEN_AFTER);
}
document.addEventListener("visibilitychange", look);
new IntersectionObserver((all) => { visible = all[all.length - 1].isIntersecting; look(); }).observe(root);
addEventListener("pagehide", () => { leave(); });

addEventListener("message", ({ data, source, ports }) => {
  if (source === parent) return void fromChat(data);
  if (!inner || source !== inner.contentWindow) return;
  const kind = data?.["x-ahp"];
  if (kind === "view" && ports[0]) view.connect(ports[0]);
  if (kind === "bye") view.disconnect();
  if (kind === "height") measured(data);
  if (kind === "fetch" && ports[0]) serveFile(data, ports[0]);
  if (kind === "go" && typeof data.path === "string" && data.path.startsWith("/")) show(data.path).catch(() => {});
  if (data?.type === "canvas/message") view.fromDocument(data.payload);
});

request("ui/initialize", {
  protocolVersion: PROTOCOL,
  appInfo: { name: "ahp-canvas", version: "1" },
  appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
}).then((answer) => {
  capabilities = answer?.hostCapabilities ?? {};
  context = answer?.hostContext ?? {};
  applyContext();
  notify("ui/notifications/initialized");
  setTimeout(resize);
});
