// @ts-check
// The runtime of a folder with an actions.json: it runs the tools' handlers in this page,
// reports the page's states, and carries the items of a runtime of another author that
// is part of the page. The host checks what goes in and comes out.
import { onAction, onMessage, send } from "/.ahp/canvas.js";
import { attachmentOf, driftOf, find, stateOf } from "./probe.js";

const MAX_ITEM = 60 * 1024; // bytes of an item as JSON
const LOOK_INTERVAL = 1000; // ms between looks at the states
const LOOK_AFTER = 50; // ms from an answer to a look, so that calls in a row need one look
const PATIENCE = 1000; // ms that a call waits for a page that is still drawing itself

const early = /** @type {any} */ (globalThis)[Symbol.for("ahp.actions")];
const runtimeId = `page-${crypto.randomUUID?.() ?? Array.from(crypto.getRandomValues(new Uint32Array(4)), (n) => n.toString(36)).join("")}`;
const url = new URL(early.path, location.protocol.startsWith("http") ? location.href : "http://canvas").href;

/** Sends an item to the host. @param {any} item @returns {Promise<boolean>} whether it was accepted */
async function post(item) {
  const whole = { ...item, runtime_id: runtimeId };
  if (sizeOf(whole) > MAX_ITEM) return false;
  try {
    await send({ actions: "item", item: whole });
    return true;
  } catch {
    return false; // this viewer may not send, or the canvas was closed
  }
}

/** @param {any} value @returns {number} bytes as JSON; infinite if it is not JSON */
function sizeOf(value) {
  try {
    return new TextEncoder().encode(JSON.stringify(value) ?? "null").length;
  } catch {
    return Infinity;
  }
}

const now = () => new Date().toISOString();

// What the page reports.

/** Returns a function that looks at each state once. @returns {(name: unknown) => { holds: boolean | undefined, missing: string[] }} */
function statesNow() {
  /** @type {Map<unknown, { holds: boolean | undefined, missing: string[] }>} */
  const seen = new Map();
  return (name) => {
    let found = seen.get(name);
    if (!found) seen.set(name, found = stateOf(early.config.states.find((/** @type {any} */ s) => s.name === name), early.path));
    return found;
  };
}

function look() {
  const { states, attachments, checks } = early.config;
  const now = statesNow(), holds = (/** @type {string} */ name) => now(name).holds !== false;
  return {
    states: states.map((/** @type {any} */ s) => s.name).filter((/** @type {any} */ name) => now(name).holds),
    attachments: attachments.flatMap((/** @type {any} */ a) => {
      const state = attachmentOf(a, holds, early.path);
      return state ? [{ id: a.id, state }] : [];
    }),
    drift: driftOf(checks, holds, early.path),
  };
}

const ready = () => post({ type: "runtime_ready", url, title: document.title.slice(0, 512), manifest: { protocol: "actions.json", version: 1, sha256: early.config.hash } });

let reported = "";
/** @type {Set<string>} what differed at the last look, and was not reported yet */
let suspected = new Set();
/** @type {Set<string>} */
const known = new Set();

let soon = 0;

/** Reports after the answers of calls, once for all that come now. */
function reportSoon() {
  soon ||= setTimeout(() => { soon = 0; report(); }, LOOK_AFTER);
}

/** Reports states, attachments and drift if they changed. */
function report() {
  const seen = look();
  reportDrift(seen);
  const text = JSON.stringify(seen);
  if (text === reported) return;
  reported = text;
  post({ type: "runtime_status", url, ...seen, observed_at: now() });
}

/** Reports each check and attachment that differs in two looks, once until it fits again. @param {ReturnType<typeof look>} seen */
function reportDrift({ drift, attachments }) {
  const all = new Map([
    ...drift.map((/** @type {any} */ d) => [`check ${d.check}`, d]),
    ...attachments.filter((/** @type {any} */ a) => a.state === "drifted").map((/** @type {any} */ a) => [`attachment ${a.id}`, { attachment: a.id, state: a.state }]),
  ]);
  for (const name of known) if (!all.has(name)) known.delete(name);
  for (const [name, evidence] of all) {
    if (known.has(name) || !suspected.has(name)) continue;
    known.add(name);
    const severity = /^(info|minor|major|critical)$/.test(evidence.severity) ? evidence.severity : "minor";
    post({ type: "action_error", error: { code: "drift_detected", message: `the page differs from actions.json: ${name}`, severity, recoverable: false, evidence: { ...evidence, url: early.path } } });
  }
  suspected = new Set(all.keys());
}

// Calls.

/** @typedef {{ type: string, call_id: string, runtime_id: string, name: string, arguments: any, timeout_ms: number }} Item */
/** @typedef {{ handler?: string, state?: string, target?: any }} Tool */

/** An error with a code of the protocol. @param {string} code @param {string} message @param {any} [evidence] @param {boolean} [recoverable] */
const failure = (code, message, evidence = {}, recoverable = true) => Object.assign(new Error(message), { item: { code, message, recoverable, severity: "major", evidence } });

const FORBIDDEN = new Set(["constructor", "__proto__", "prototype"]);
const LANGUAGE = new Set([Object.prototype, Function.prototype]);

/**
 * Returns the function below window that a dotted name names, and its object. Members of
 * every object and function are not the page's own.
 * @param {string} path @returns {{ fn: Function, self: any } | undefined}
 */
function resolve(path) {
  let self = undefined, value = /** @type {any} */ (window);
  for (const name of path.split(".")) {
    if (FORBIDDEN.has(name) || value === null || !/^(object|function)$/.test(typeof value)) return undefined;
    let owner = value;
    while (owner && !Object.hasOwn(owner, name)) owner = Object.getPrototypeOf(owner);
    if (!owner || LANGUAGE.has(owner)) return undefined;
    [self, value] = [value, value[name]];
  }
  return typeof value === "function" ? { fn: value, self } : undefined;
}

/** Throws if the page is not as actions.json describes it. @param {Item} item @param {Tool} tool */
function check({ name }, { state, target }) {
  const now = statesNow(), holds = (/** @type {string} */ name) => now(name).holds !== false;
  const drift = driftOf(early.config.checks, holds, early.path)
    .find((d) => /^(major|critical)$/.test(d.severity) && (d.tool === undefined || d.tool === name));
  if (drift) throw failure("drift_detected", `the page is not as actions.json describes it: ${drift.selector} ${drift.found} (check ${drift.check})`, { ...drift, tool: name, url: early.path });
  const { holds: so, missing } = now(state);
  if (so === false) throw failure("state_mismatch", `the page is not in the state ${state}`, { tool: name, state, missing, states: look().states, url: early.path });
  if (find(target) === undefined) throw failure("target_not_found", "the tool's target is not in the page", { tool: name, selector: target.selector ?? target.selectors?.[0], url: early.path });
}

/** Is check, with patience. @param {Item} item @param {Tool} tool */
async function guard(item, tool) {
  for (const end = Date.now() + Math.min(PATIENCE, item.timeout_ms / 2); ;) {
    try {
      return check(item, tool);
    } catch (err) {
      if (Date.now() >= end) throw err;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Resolves when everything in the page is loaded. @type {Promise<void>} */
const loaded = new Promise((done) => {
  if (document.readyState === "complete") done();
  else addEventListener("load", () => done(), { once: true });
});

/** @param {Item} item @param {Tool} tool @returns {Promise<any>} the value of the handler */
async function run(item, tool) {
  const path = tool.handler;
  if (!path) throw failure("capability_unavailable", `${item.name} has steps and no handler, and this runtime runs handlers`, { capability: item.name, host: "page", reason: "steps" }, false);
  await guard(item, tool);
  let found = resolve(path);
  if (!found && document.readyState !== "complete") {
    await loaded;
    found = resolve(path);
  }
  if (!found) throw failure("missing_handler", `the page has no function ${path}`, { tool: item.name, handler: path });
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(new DOMException("the call took too long", "TimeoutError")), item.timeout_ms);
  try {
    return await Reflect.apply(found.fn, found.self, [item.arguments, {
      callId: item.call_id,
      signal: abort.signal,
      step: (/** @type {string} */ name) => { post({ type: "action_progress", call_id: item.call_id, last_entered_content_phase: String(name).slice(0, 256) }); },
    }]);
  } catch (err) {
    throw /** @type {any} */ (err)?.item ?? failure("handler_failed", `the handler threw: ${String(/** @type {any} */ (err)?.message ?? err).slice(0, 900)}`, { tool: item.name, handler: path });
  } finally {
    clearTimeout(timer);
  }
}

/** Runs a call. @param {{ item: Item, tool: Tool }} call @returns {Promise<any>} the item that answers it */
async function answer({ item, tool }) {
  const head = { call_id: item.call_id, runtime_id: runtimeId };
  const refuse = (/** @type {any} */ error) => ({ type: "action_error", ...head, error });
  let reply;
  try {
    reply = embedded?.tools.has(item.name) ? await embedded.call(item) : { type: "action_call_output", ...head, output: (await run(item, tool)) ?? null };
  } catch (err) {
    reply = refuse(/** @type {any} */ (err)?.item ?? { code: "handler_failed", message: String(/** @type {any} */ (err)?.message ?? err).slice(0, 900) });
  }
  const size = sizeOf(reply);
  if (size > MAX_ITEM) {
    const what = size === Infinity ? "is not JSON" : `has ${size} bytes, at most ${MAX_ITEM} are allowed`;
    reply = refuse({ code: "invalid_result", message: `the tool ran; its result ${what}`, severity: "major", recoverable: false, evidence: { tool: item.name } });
  }
  reportSoon();
  return reply;
}

// A runtime of another author in this page.

class Embedded {
  /** @type {Map<string, (item: any) => void>} by call id */
  #pending = new Map();

  /** @type {Set<string>} names of its tools */ tools = new Set();

  /** @param {string} id */
  constructor(id) {
    this.id = id;
  }

  /** @param {any} tools of its manifest */
  offers(tools) {
    this.tools = new Set((Array.isArray(tools) ? tools : []).slice(0, 512).map((t) => t?.name));
  }

  /** @param {Item} item @returns {Promise<any>} its answer, as ours */
  call(item) {
    return new Promise((resolve) => {
      this.#pending.set(item.call_id, resolve);
      setTimeout(() => this.#pending.delete(item.call_id), item.timeout_ms);
      window.postMessage({ source: "ajex", direction: "extension-to-page", item: { ...item, runtime_id: this.id, target: { runtime_id: this.id } } }, "*");
    });
  }

  /** @param {any} item */
  answered(item) {
    const done = this.#pending.get(item.call_id);
    this.#pending.delete(item.call_id);
    done?.({ ...item, runtime_id: runtimeId });
  }

  end() {
    for (const [id, done] of this.#pending) done({ type: "action_error", call_id: id, runtime_id: runtimeId, error: { code: "transport_failed", message: "the runtime in the page ended" } });
    this.#pending.clear();
  }
}

/** @type {Embedded | undefined} */
let embedded;

/** @param {any} item of the runtime in the page */
function carry(item) {
  switch (item.type) {
    case "runtime_ready":
      if (typeof item.runtime_id !== "string") return;
      if (embedded?.id !== item.runtime_id) {
        embedded?.end();
        embedded = new Embedded(item.runtime_id);
      }
      embedded?.offers(item.manifest?.tools);
      return;
    case "action_call_output":
    case "action_error":
      if (item.runtime_id === embedded?.id) embedded?.answered(item);
      return;
    case "action_progress":
    case "dom_event":
      if (item.runtime_id === embedded?.id) post(item);
      return;
    case "runtime_removed":
      if (item.runtime_id !== embedded?.id) return;
      embedded?.end();
      embedded = undefined;
  }
}

// Start.

/** Resolves when the page's own modules have run, unless they are async. @type {Promise<void>} */
const begun = new Promise((done) => {
  if (document.readyState === "complete") done();
  for (const target of [document, window]) target.addEventListener(target === document ? "DOMContentLoaded" : "load", () => done(), { once: true });
});

let lastEvent = 0;

early.receive = (/** @type {any} */ heard) => {
  if (heard.kind === "item") return carry(heard.item);
  const signal = early.config.signals.find((/** @type {any} */ s) => s.event === heard.event);
  if (!signal || heard.detail === undefined) return;
  post({ type: "dom_event", event_id: `${runtimeId}-${++lastEvent}`, name: signal.name, event: heard.event, url, payload: heard.detail, observed_at: now() });
};

onMessage((message) => {
  if (message?.actions === "config") {
    early.config = message.config;
    early.listen(early.config.signals);
  } else if (message?.actions !== "who") return;
  reported = "";
  ready();
  report();
});

ready();
for (const heard of early.held.splice(0)) early.receive(heard);

// A call waits until the page's own scripts have run.
onAction("actions.call", (call) => begun.then(() => answer(call)));
begun.then(() => {
  report();
  setInterval(() => { if (!document.hidden) report(); }, LOOK_INTERVAL);
});
