// @ts-check
// The host's part of a page that an agent wrote: it loads the page again after a change,
// unless the person has typed something; it keeps the shared state; it reports blocked
// addresses; and it shows the revisions. The provider puts it into every HTML document.
import { attachPage, send } from "/.ahp/canvas.js";
import { makeStore } from "./store.js";
import { Tools } from "./tools.js";

const LOAD_TIMEOUT = 1500; // ms until the page loads itself, in a renderer that does not

const own = Number(/** @type {HTMLElement | null} */ (document.querySelector("script[data-ahp-page]"))?.dataset.ahpPage ?? NaN);
let typed = false; // the person has changed something since the page was loaded
let readOnly = false; // this viewer may not send; the provider loads its page again
let lastRef = 0;
/** @type {Map<number, { resolve: (m: any) => void, reject: (err: Error) => void }>} requests by ref */
const pending = new Map();

/** @param {any} m */
const post = (m) => send(m);

/** @param {string} kind @param {any} [more] @returns {Promise<any>} the provider's answer */
function request(kind, more) {
  const ref = ++lastRef;
  return new Promise((resolve, reject) => {
    pending.set(ref, { resolve, reject });
    post({ "x-ahp-page": kind, ref, ...more }).catch((err) => { pending.delete(ref); reject(err); });
  });
}

const store = makeStore((change) => request("set", change));
const tools = new Tools({
  history: () => request("history"),
  async revert(revision) {
    typed = false; // the person wants to see another revision
    await request("revert", { revision });
  },
  load,
  taken: () => { post({ "x-ahp-page": "taken" }).catch(() => {}); },
});

/** Asks to be loaded again; the renderer keeps the scroll position. */
function load() {
  post({ "x-ahp-page": "load" }).catch(() => location.reload());
  setTimeout(() => location.reload(), LOAD_TIMEOUT);
}

/** Handles another revision than this page's. @param {{ revision: number, by?: string }} m */
function changed({ revision, by }) {
  if (!(revision > own) || readOnly) return;
  if (!typed) return load();
  post({ "x-ahp-page": "asking" }).catch(() => {});
  tools.ask(by === "person" ? "A person went back to an earlier revision of this page." : "The agent has changed this page.");
}

/** @type {Record<string, (m: any) => void>} */
const receivers = {
  welcome(m) {
    store.restart();
    tools.show(m.tools && m.revision > 1);
    if (m.readOnly && m.revision > own) location.reload(); // it cannot ask for it
    else if (!m.readOnly) changed(m);
    readOnly = m.readOnly;
  },
  state: (m) => store.receive(m),
  ready: () => store.begun(),
  changed,
  export: (m) => tools.offer(m),
  history: (m) => pending.get(m.ref)?.resolve(m),
  done: (m) => pending.get(m.ref)?.resolve(m),
  refused: (m) => pending.get(m.ref)?.reject(new Error(m.message)),
};

attachPage(store, (m) => {
  receivers[m["x-ahp-page"]]?.(m);
  if (m.ref !== undefined) pending.delete(m.ref);
});

for (const type of ["input", "change"]) addEventListener(type, (event) => { typed ||= event.isTrusted; }, true);

/** @type {Set<string>} */
const reported = new Set();
/** @param {string} address */
function reportBlocked(address) {
  if (!/^(https?|wss?):/i.test(address) || reported.has(address) || reported.size >= 50) return;
  reported.add(address);
  post({ "x-ahp-page": "blocked", url: address.slice(0, 500) }).catch(() => {});
}
for (const address of /** @type {any} */ (globalThis).ahpProblems?.blocked ?? []) reportBlocked(address); // before this script ran
addEventListener("securitypolicyviolation", ({ blockedURI }) => reportBlocked(blockedURI));

const hello = () => post({ "x-ahp-page": "hello" }).catch(() => {});
hello();
document.addEventListener("visibilitychange", () => { if (!document.hidden) hello(); }); // it may have missed changes
