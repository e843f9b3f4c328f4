// @ts-check
// The page of the canvases browser and browser-page. Titles, addresses and arguments come
// from pages and agents, so they are shown as text only.
import { onAction, onMessage, send } from "/.ahp/canvas.js";

/**
 * @typedef {{ runtime_id: string, host: string, kind: string, origin?: string, state: string, title?: string, url?: string, scripts: boolean, count: number, issues?: string[], states?: string[], dropped?: number }} Runtime
 * @typedef {{ runtime_id: string, host: string, name: string, arguments: string, code: string, ms: number }} Call
 * @typedef {{ page: boolean, address?: string, runtimes: Runtime[], calls: Call[] }} State
 */

/** @param {string} id @returns {any} */
const at = (id) => document.getElementById(id);

/** @param {string} name @param {Record<string, unknown>} properties @param {(Node | string)[]} children */
function element(name, properties = {}, ...children) {
  const e = Object.assign(document.createElement(name), properties);
  e.append(...children);
  return e;
}

/** @type {State | undefined} */
let state;

/** @param {unknown} message */
const request = (message) => send(message).catch((err) => { at("status").textContent = `The host cannot be reached: ${err.message}`; });

/** @type {Record<string, string>} */
const words = { ready: "Ready", waiting: "Waiting for you", refused: "Refused", invalid: "Its manifest is invalid", silent: "Does not answer", stale: "Changing its page" };

/** @param {Runtime} r @param {string} label @param {string} actions @param {Record<string, unknown>} more */
function button(r, label, actions, more = {}) {
  const b = element("button", { type: "button", onclick: () => request({ actions, runtime_id: r.runtime_id, ...more }) }, label);
  b.setAttribute("aria-label", `${label}: ${r.host}`);
  b.dataset.press = label;
  return b;
}

/** @param {Runtime} r */
function scripts(r) {
  if (r.scripts) return element("p", {}, "Your agent may run scripts in this page.");
  return element("details", {}, element("summary", {}, "Scripts"),
    element("p", {}, "Some actions run code that the agent writes. Such code can do everything that you can do in this page, and read all that it shows. Allow it only if you trust the agent with that."),
    button(r, "Allow scripts", "allow", { scripts: true }));
}

/** @param {Runtime} r */
function row(r) {
  const about = element("div", { className: "text" },
    element("div", {}, r.state === "waiting" ? `${r.host} wants to be worked with by your agent.` : r.title || r.host),
    element("span", { className: `state ${r.state}` }, words[r.state] ?? r.state));
  const detail = r.state === "waiting" ? [r.kind === "page" ? "" : `by a ${r.kind} (${r.origin || "no origin"})`] : [r.url || r.host, `${r.count} actions`, ...(r.states ?? []), r.dropped ? `${r.dropped} events not passed on` : ""];
  about.append(element("p", {}, detail.filter(Boolean).join(" · ")));
  for (const issue of r.issues ?? []) about.append(element("p", {}, issue));
  const buttons = element("div", { className: "buttons" });
  if (r.state === "waiting" || r.state === "refused") buttons.append(button(r, "Allow", "allow"));
  if (r.state === "waiting") buttons.append(button(r, "Refuse", "refuse"));
  if (r.state !== "waiting" && r.state !== "refused") buttons.append(button(r, "Disconnect", "disconnect"));
  const item = element("li", {}, about, buttons);
  if (r.state !== "waiting" && r.state !== "refused") item.append(scripts(r));
  item.dataset.runtime = r.runtime_id;
  item.dataset.state = r.state;
  return item;
}

/** @param {Call} c */
function callRow(c) {
  const about = element("div", { className: "text" }, element("div", {}, c.name), element("p", {}, `${c.host} · ${c.ms} ms · ${c.arguments}`));
  return element("li", {}, about, c.code ? element("span", { className: "code" }, c.code) : element("span", { className: "state ready" }, "done"));
}

/** Replaces the children of a list; the focus stays on the button that had it, and what was open stays open. @param {HTMLElement} list @param {HTMLElement[]} rows */
function fill(list, rows) {
  const focused = /** @type {HTMLElement | null} */ (list.contains(document.activeElement) ? document.activeElement : null);
  const id = focused?.closest("li")?.dataset.runtime;
  const press = focused?.dataset.press;
  const opened = new Set([...list.querySelectorAll("details[open]")].map((d) => d.closest("li")?.dataset.runtime));
  for (const r of rows) if (opened.has(r.dataset.runtime)) r.querySelector("details")?.setAttribute("open", "");
  list.replaceChildren(...rows);
  if (!id) return;
  const same = rows.find((r) => r.dataset.runtime === id);
  /** @type {HTMLElement | null | undefined} */ (same?.querySelector(press ? `[data-press="${press}"]` : "summary") ?? same?.querySelector("button"))?.focus();
}

/** @param {State} s */
function draw(s) {
  at("title").textContent = s.page ? "Browser page" : "Browser pages";
  const waiting = s.runtimes.filter((r) => r.state === "waiting").length;
  at("status").textContent = waiting ? `${waiting} waiting for you` : `${s.runtimes.length} connected`;
  at("empty").hidden = s.runtimes.length > 0;
  at("where").hidden = !s.address;
  at("address").textContent = s.address ?? "";
  fill(at("pages"), s.runtimes.map(row));
  at("none").hidden = s.calls.length > 0;
  at("calls").replaceChildren(...s.calls.map(callRow));
  document.body.setAttribute("aria-busy", "false");
}

onMessage((m) => {
  switch (m?.actions) {
    case "state":
      state = m;
      draw(m);
      break;
    case "log":
      if (!state) break;
      state.calls = [m, ...state.calls].slice(0, 100);
      draw(state);
      break;
    case "refused":
      at("status").textContent = m.message;
      break;
  }
});

// hello of view/1 too: a View that may only watch can say nothing else.
onAction("actions.none", () => {});
const hello = () => request({ actions: "hello" });
hello();
const retry = setInterval(() => (state ? clearInterval(retry) : hello()), 3000);
document.addEventListener("visibilitychange", () => { if (!document.hidden) hello(); });
