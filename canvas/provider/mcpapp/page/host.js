// @ts-check
// The host side of MCP Apps (SEP-1865) for one View: it frames the page of a tool's UI,
// speaks JSON-RPC with it over postMessage, and passes its calls to the canvas's provider.
// The View has this page's origin, so nothing is enforced here: the provider and the
// renderer do that.
import { fullscreen, input, offerFile, offerLink, onAction, onMessage, onPanel, onTheme, resize, send } from "/.ahp/canvas.js";

const VERSION = "2026-01-26";
const START = 10_000; // ms for the View to initialize
const LINK = 30_000; // ms for the person to decide about a link
const TEARDOWN = 1_000; // ms for the View to answer ui/resource-teardown
const SETTLE = 2_000; // ms for the renderer to say what it is
const MODES = ["inline", "fullscreen"];
const MAX_FLAGS = 4; // that the card names for hosts which a View asks for
const REQUEST = 25_000; // ms for the View to answer a call of the agent
const FORWARDED = ["tools/call", "tools/list", "resources/read", "resources/list", "resources/templates/list"];
const SAID = ["ui/message", "ui/update-model-context"];
const BLOCKS = { text: {}, image: {}, audio: {}, resource: {}, resourceLink: {}, structuredContent: {} };

/** @typedef {{ jsonrpc: "2.0", id?: any, method?: string, params?: any, result?: any, error?: any }} Message */

/** @type {any} */ let opening;
/** @type {any} known in renderers of this host only */ let theme;
let alone = false; // the renderer shows the canvas alone
/** @type {any} the last host context that the View knows */ let context;
/** @type {HTMLIFrameElement | undefined} */ let frame;
/** @type {any} what the View said about itself */ let app;
/** @type {"waiting" | "initializing" | "ready"} */ let stage = "waiting";
let sentResult = false, lastId = 0, count = 0;
/** @type {Map<number, (m: Message) => void>} requests to the View */ const asked = new Map();
/** @type {Map<string, AbortController>} requests of the View, by id */ const running = new Map();

/** @param {Message} m */
const toView = (m) => frame?.contentWindow?.postMessage(m, "*");
/** @param {string} method @param {any} params */
const notify = (method, params) => toView({ jsonrpc: "2.0", method, params });

/** Adds a line above the View. @param {string} key @param {string} text */
function note(key, text) {
  const notes = /** @type {HTMLElement} */ (document.getElementById("notes"));
  const p = notes.querySelector(`[data-key="${key}"]`) ?? notes.appendChild(document.createElement("p"));
  /** @type {HTMLElement} */ (p).dataset.key = key;
  p.textContent = text;
}

/** @param {string} key */
const unnote = (key) => document.querySelector(`#notes [data-key="${key}"]`)?.remove();

/** Asks the View. @param {string} method @param {any} params @param {number} patience ms */
function ask(method, params, patience) {
  const id = lastId++;
  return /** @type {Promise<Message>} */ (new Promise((resolve, reject) => {
    const timer = setTimeout(() => { asked.delete(id); reject(new Error("The app did not answer in time.")); }, patience);
    asked.set(id, (m) => { clearTimeout(timer); asked.delete(id); resolve(m); });
    toView({ jsonrpc: "2.0", id, method, params });
  }));
}

/** The tokens of the renderer as the variables that Views know. */
function styles() {
  const t = theme?.tokens ?? {};
  const dark = theme?.mode === "dark";
  const back = t["--background-color-default"] ?? (dark ? "#1e1e1e" : "#ffffff"), text = t["--text-color-default"] ?? (dark ? "#e6e6e6" : "#1f1f1f");
  const muted = t["--text-color-muted"] ?? text, border = t["--border-color-default"] ?? (dark ? "#444444" : "#d0d0d0");
  const ring = t["--focus-outline-color"] ?? t["--true-color-blue"] ?? (dark ? "#6cb0ff" : "#0a66d8");
  const danger = t["--true-color-red"] ?? (dark ? "#ff8080" : "#c02020"), good = t["--true-color-green"] ?? (dark ? "#70d080" : "#187a30"), warn = dark ? "#e0b050" : "#8a5a00";
  const raised = `color-mix(in srgb, ${back} 94%, ${text})`, sunk = `color-mix(in srgb, ${back} 88%, ${text})`;
  /** @type {Record<string, string>} */
  const all = {};
  /** @type {[string, string, string, string][]} */
  const rows = [
    ["primary", back, text, border], ["secondary", raised, muted, border], ["tertiary", sunk, muted, border], ["inverse", text, back, text], ["ghost", "transparent", muted, "transparent"],
    ["info", `color-mix(in srgb, ${back} 85%, ${ring})`, ring, ring], ["danger", `color-mix(in srgb, ${back} 85%, ${danger})`, danger, danger],
    ["success", `color-mix(in srgb, ${back} 85%, ${good})`, good, good], ["warning", `color-mix(in srgb, ${back} 85%, ${warn})`, warn, warn], ["disabled", raised, muted, border],
  ];
  for (const [name, b, c, line] of rows) {
    all[`--color-background-${name}`] = b;
    all[`--color-text-${name}`] = c;
    all[`--color-border-${name}`] = line;
    if (!["tertiary", "ghost", "disabled"].includes(name)) all[`--color-ring-${name}`] = name === "primary" ? ring : c;
  }
  all["--font-sans"] = t["--font-family-sans"] ?? "system-ui, sans-serif";
  all["--font-mono"] = t["--font-family-mono"] ?? "ui-monospace, monospace";
  return { variables: all };
}

/** The host context: what the View learns about its place. */
function hostContext() {
  return {
    theme: theme?.mode === "dark" ? "dark" : "light", styles: styles(), locale: theme?.locale ?? navigator.language, timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    displayMode: alone ? "fullscreen" : "inline", availableDisplayModes: theme ? MODES : ["inline"], platform: "web", userAgent: "ahp-canvas",
    containerDimensions: { width: frame?.clientWidth ?? innerWidth, height: frame?.clientHeight ?? innerHeight },
    deviceCapabilities: { touch: navigator.maxTouchPoints > 0, hover: matchMedia("(hover: hover)").matches },
    toolInfo: { tool: opening.tool },
  };
}

/** Sends the members of the context that changed. */
function contextChanged() {
  if (stage === "waiting") return;
  const now = /** @type {Record<string, any>} */ (hostContext());
  const changed = Object.entries(now).filter(([name, value]) => JSON.stringify(context[name]) !== JSON.stringify(value));
  context = now;
  if (stage === "ready" && changed.length) notify("ui/notifications/host-context-changed", Object.fromEntries(changed));
}

function capabilities() {
  return {
    ...(theme && { openLinks: {}, downloadFile: {} }), serverTools: {}, ...(opening.capabilities.resources && { serverResources: {} }), logging: {},
    message: BLOCKS, updateModelContext: BLOCKS, sandbox: { permissions: {}, csp: opening.csp },
  };
}

/** Sends the result, or why there is none, once. */
function sendResult() {
  if (stage !== "ready" || sentResult) return;
  if (opening.result) notify("ui/notifications/tool-result", opening.result);
  else if (opening.cancelled) notify("ui/notifications/tool-cancelled", { reason: opening.cancelled });
  else return;
  sentResult = true;
}

/** @param {any} params @returns {Promise<any>} */
async function openLink(params) {
  const url = String(params?.url ?? "");
  const late = new Promise((resolve) => { setTimeout(resolve, LINK, "late"); });
  try {
    if (await Promise.race([offerLink(url), late]) === "opened") return {};
  } catch {
    note("link", `The app offers a link that cannot be opened here: ${url.slice(0, 500)}`);
  }
  return { isError: true };
}

/** Shows the canvas alone, or beside the others. @param {any} params @returns {Promise<{ mode: string }>} the mode that is */
async function displayMode(params) {
  const able = app?.appCapabilities?.availableDisplayModes;
  const wanted = params?.mode;
  if (MODES.includes(wanted) && (!Array.isArray(able) || able.includes(wanted))) {
    alone = await fullscreen(wanted === "fullscreen").catch(() => alone);
  }
  return { mode: alone ? "fullscreen" : "inline" };
}

/** Offers files to the person, one after the other. @param {any} params @returns {Promise<any>} */
async function download(params) {
  const list = params?.contents;
  if (!Array.isArray(list) || list.length === 0) throw new Refusal(-32602, "invalid params");
  for (const item of list) {
    const file = item?.type === "resource_link" ? await linked(item) : item?.resource;
    const outcome = file && (await offerFile(String(item.name ?? file.uri ?? ""), bytesOf(file)).catch(() => "refused"));
    if (outcome !== "saved") return { isError: true };
  }
  return {};
}

/** Reads a resource of the server. @param {any} link @returns {Promise<any>} */
async function linked(link) {
  const got = await post(`/-/rpc?n=${++count}`, { jsonrpc: "2.0", id: 0, method: "resources/read", params: { uri: link.uri } });
  return got.result?.contents?.[0];
}

/** @param {{ text?: string, blob?: string }} content @returns {ArrayBuffer} */
function bytesOf({ text, blob }) {
  if (typeof blob !== "string") return new TextEncoder().encode(String(text ?? "")).buffer;
  return Uint8Array.from(atob(blob), (c) => c.charCodeAt(0)).buffer;
}

class Refusal extends Error {
  /** @param {number} code @param {string} message */
  constructor(code, message) { super(message); this.code = code; }
}

/** Posts JSON-RPC to the provider. @param {string} path @param {Message} m @param {AbortSignal} [signal] @returns {Promise<Message>} */
async function post(path, m, signal) {
  let answer;
  try {
    answer = await (await fetch(path, { method: "POST", body: JSON.stringify(m), signal })).json();
  } catch {
    throw new Refusal(-32000, "the connection was lost; it may have happened");
  }
  return answer;
}

/** Answers a request of the View. @param {Message} m @returns {Promise<any>} */
async function answer(m) {
  const method = String(m.method);
  if (method === "ping") return {};
  if (method === "ui/initialize") {
    if (typeof m.params !== "object" || m.params === null) throw new Refusal(-32602, "invalid params");
    app = m.params;
    stage = "initializing";
    sentResult = false;
    context = hostContext();
    return { protocolVersion: VERSION, hostInfo: { name: "ahp-canvas", version: opening.version }, hostCapabilities: capabilities(), hostContext: context };
  }
  if (method === "ui/open-link") return openLink(m.params);
  if (method === "ui/request-display-mode") return displayMode(m.params);
  if (method === "ui/download-file") return download(m.params);
  if (FORWARDED.includes(method) || SAID.includes(method)) {
    const said = SAID.includes(method);
    const stop = new AbortController();
    const key = JSON.stringify(m.id);
    running.set(key, stop);
    try {
      const got = await post(said ? "/-/say" : `/-/rpc?n=${++count}`, { jsonrpc: "2.0", id: m.id, method, params: m.params }, stop.signal);
      if (got.error) throw new Refusal(got.error.code, got.error.message);
      return got.result;
    } finally {
      running.delete(key);
    }
  }
  throw new Refusal(-32601, "Method not found");
}

/** @param {Message} m */
function notified(m) {
  switch (m.method) {
    case "ui/notifications/initialized":
      if (stage !== "initializing") return;
      stage = "ready";
      document.documentElement.dataset.stage = stage; // for tests and for looks at the canvas
      unnote("start");
      takeCalls();
      notify("ui/notifications/tool-input", { arguments: opening.arguments });
      sendResult();
      contextChanged();
      return;
    case "notifications/cancelled":
      return running.get(JSON.stringify(m.params?.requestId))?.abort();
    case "ui/notifications/size-changed":
      if (typeof m.params?.height === "number") resize(m.params.height + document.body.clientHeight - (frame?.clientHeight ?? 0));
      return;
    case "notifications/message":
      return void post("/-/say", { jsonrpc: "2.0", method: m.method, params: m.params }).catch(() => {});
  }
}

addEventListener("message", async (event) => {
  const m = event.data;
  if (!frame || event.source !== frame.contentWindow || typeof m !== "object" || m?.jsonrpc !== "2.0") return;
  if (m.method === undefined) return asked.get(m.id)?.(m);
  if (m.id === undefined || m.id === null) return notified(m);
  try {
    toView({ jsonrpc: "2.0", id: m.id, result: await answer(m) });
  } catch (err) {
    const refusal = err instanceof Refusal ? err : new Refusal(-32603, "internal error");
    toView({ jsonrpc: "2.0", id: m.id, error: { code: refusal.code, message: refusal.message } });
  }
});

/** Asks the tools of the View itself, for the agent. @param {string} method @param {any} params */
async function ofView(method, params) {
  if (!app?.appCapabilities?.tools) throw new Error("This app offers no tools.");
  const got = await ask(method, params, REQUEST);
  if (got.error) throw new Error(String(got.error.message ?? "The app refused."));
  return got.result;
}

/** Takes the agent's calls from now on: the first View that is ready gets them. */
function takeCalls() {
  onAction("app_list_tools", () => ofView("tools/list", {}));
  onAction("app_call_tool", ({ name, arguments: args }) => ofView("tools/call", { name, arguments: args ?? {} }));
}

onMessage(async (m) => {
  if (m?.app === "result" && opening && m.generation === opening.generation) {
    await load();
    sendResult();
  }
  if (m?.app === "teardown") {
    if (stage === "ready") await ask("ui/resource-teardown", {}, TEARDOWN).catch(() => {}); // any answer will do
    await send({ app: "torn", id: m.id }).catch(() => {});
  }
});

async function load() {
  const got = await fetch("/-/opening");
  if (!got.ok) throw new Error("The app cannot be shown.");
  const before = opening?.generation;
  const next = await got.json();
  if (before === undefined || next.generation === before) opening = next;
}

/** Says above the View what it asked for and does not get. */
function noteDenied() {
  const denied = opening.denied;
  if (!denied?.length) return;
  const hosts = denied.filter((/** @type {string} */ d) => /^[*\w.-]+\.[a-z]+(:\d+)?$/.test(d)).slice(0, MAX_FLAGS);
  const flags = hosts.map((/** @type {string} */ host) => `--allow-origin ${opening.name}=https://${host}`).join(" ");
  const how = flags && ` (start the host with ${flags})`;
  note("denied", `It asked for ${denied.join(", ")}. They are not allowed here${how}.`);
}

/** Gives the View's document to the frame: by its address, or in single-document mode as a text with its policy. @param {HTMLIFrameElement} frame */
async function fill(frame) {
  const address = `/-/view?g=${opening.generation}`;
  if (!(/** @type {any} */ (globalThis).ahpSingle)) {
    frame.setAttribute("sandbox", "allow-scripts allow-same-origin allow-forms");
    frame.src = address;
    return;
  }
  const text = await (await fetch(address)).text();
  const meta = document.createElement("meta");
  meta.httpEquiv = "Content-Security-Policy";
  meta.content = opening.policy;
  frame.setAttribute("sandbox", "allow-scripts allow-forms");
  // After the doctype: before it, the document would be in quirks mode.
  frame.srcdoc = text.replace(/^(?:\s|<!--[^]*?-->)*(?:<!doctype[^>]*>)?/i, (start) => start + meta.outerHTML + NO_RTC);
}

/** A policy does not cover WebRTC, and the shim of single-document mode is not in the View. */
const NO_RTC = '<script>for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection"]) delete globalThis[name];<\/script>';

async function begin() {
  await Promise.race([input, new Promise((resolve) => { setTimeout(resolve, SETTLE); })]); // then the theme is known too
  await load();
  noteDenied();
  frame = document.createElement("iframe");
  frame.title = opening.tool.title ?? opening.tool.name;
  frame.allow = "";
  await fill(frame);
  document.body.append(frame);
  new ResizeObserver(contextChanged).observe(frame);
  setTimeout(() => { if (stage !== "ready") note("start", "This app has not started. It may need something that is not allowed here."); }, START);
  await send({ app: "here" }).catch(() => {});
}

onTheme((t) => { theme = t; contextChanged(); });
onPanel((panel) => { alone = panel.fullscreen; contextChanged(); });
addEventListener("pagehide", () => { if (stage === "ready") toView({ jsonrpc: "2.0", id: lastId++, method: "ui/resource-teardown", params: {} }); });
begin().catch((err) => note("start", err.message));
