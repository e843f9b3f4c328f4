// @ts-check
// The page of aap-pages. Everything in a state comes from agents and from what people did
// in their pages, so it is shown as text only.
import { onAction, onMessage, send } from "/.ahp/canvas.js";

/**
 * @typedef {{ id: string, name: string }} Agent
 * @typedef {{ file: string, name: string, bytes: number, modifiedAt: string, open: boolean, new?: boolean }} Page
 * @typedef {{ agent: Agent, agents: Agent[], pages: Page[], interactions: any[], acknowledged: Record<string, { note?: string }>, before?: string, older: boolean, problem?: string }} State
 */

/** @param {string} id @returns {any} */
const at = (id) => document.getElementById(id);

/** @param {string} name @param {Record<string, unknown>} properties @param {(Node | string)[]} children */
function element(name, properties = {}, ...children) {
  const e = Object.assign(document.createElement(name), properties);
  e.append(...children);
  return e;
}

/** @param {unknown} v */
const text = (v) => (typeof v === "string" ? v : v === undefined || v === null ? "" : JSON.stringify(v));

/** @param {number} bytes */
const size = (bytes) => (bytes < 1024 ? `${bytes} bytes` : bytes < 1024 * 1024 ? `${Math.round(bytes / 1024)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`);

/** @param {string} when */
function age(when) {
  const seconds = (Date.now() - Date.parse(when)) / 1000;
  const format = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
  if (!(seconds >= 60)) return "just now";
  if (seconds < 3600) return format.format(-Math.floor(seconds / 60), "minute");
  if (seconds < 86400) return format.format(-Math.floor(seconds / 3600), "hour");
  return format.format(-Math.floor(seconds / 86400), "day");
}

/** @type {any[]} Records above the last state's, which "Older" has loaded */
let older = [];
/** @type {State | undefined} */
let state;

/** @param {unknown} message */
const request = (message) => send(message).catch((err) => { at("status").textContent = `The host cannot be reached: ${err.message}`; });

/** @param {Page} page */
function pageRow(page) {
  const open = element("button", { type: "button", disabled: page.open, onclick: () => request({ type: "aap:open", file: page.file }) }, page.open ? "Open already" : "Open");
  open.setAttribute("aria-label", `${open.textContent}: ${page.file}`);
  const about = element("div", { className: "text" }, element("div", {}, page.file), element("p", {}, `${age(page.modifiedAt)}, ${size(page.bytes)}`));
  const row = element("li", {}, about, open);
  if (page.new) about.firstElementChild?.append(" ", element("span", { className: "new" }, "new"));
  row.dataset.file = page.file;
  return row;
}

/** @param {any} record @param {Record<string, { note?: string }>} acknowledged */
function historyRow(record, acknowledged) {
  const time = text(record.timestamp);
  const ack = acknowledged[text(record.id)];
  const about = element("div", { className: "text" }, element("div", {}, text(record.summary) || text(record.action)),
    element("p", {}, `${Number.isNaN(Date.parse(time)) ? time : new Date(time).toLocaleString()} · ${text(record.canvasFile)}`));
  if (ack) about.append(element("p", { className: "acknowledged" }, ack.note ? `The agent: ${ack.note}` : "The agent has read it."));
  return element("li", {}, about);
}

/** Replaces the children of a list, and keeps the focus on the button that had it. @param {HTMLElement} list @param {HTMLElement[]} rows */
function fill(list, rows) {
  const focused = /** @type {HTMLElement | null} */ (document.activeElement?.closest("[data-file]"));
  const file = list.contains(focused) ? focused?.dataset.file : undefined;
  list.replaceChildren(...rows);
  if (file) /** @type {HTMLElement | undefined} */ (rows.find((r) => r.dataset.file === file)?.querySelector("button"))?.focus();
}

/** @param {State} s */
function draw(s) {
  at("title").textContent = s.agent.name ? `Pages of ${s.agent.name}` : "Pages";
  at("status").textContent = s.problem ?? `${s.pages.length} ${s.pages.length === 1 ? "page" : "pages"}`;
  at("agents").hidden = s.agents.length < 2;
  at("agent").replaceChildren(...s.agents.map((a) => element("option", { value: a.id, selected: a.id === s.agent.id }, a.name)));
  at("empty").hidden = s.pages.length > 0;
  at("empty").textContent = s.agent.id ? `No pages yet. An agent writes HTML files into the folder canvas of ${s.agent.name}, as in canvas/reports/dashboard.html.` : "There are no agents yet.";
  fill(at("pages"), s.pages.map(pageRow));
  const records = [...s.interactions, ...older];
  at("none").hidden = records.length > 0;
  at("history").replaceChildren(...records.map((r) => historyRow(r, s.acknowledged)));
  document.body.setAttribute("aria-busy", "false");
}

onMessage((m) => {
  if (m?.type !== "aap:state") return;
  if (m.before) {
    older.push(...m.interactions);
    if (state) state = { ...state, acknowledged: { ...state.acknowledged, ...m.acknowledged } };
  } else {
    if (m.agent.id !== state?.agent.id) older = [];
    const known = new Set(m.interactions.map((/** @type {any} */ r) => r.id));
    const last = state?.interactions ?? [];
    if (older.length) older = [...last.filter((r) => !known.has(r.id)), ...older].filter((r) => !known.has(r.id));
    state = m;
  }
  if (!state) return;
  at("older").hidden = !m.older && !(m.before === undefined && older.length && !at("older").hidden);
  draw(state);
});

at("agent").addEventListener("change", () => { older = []; request({ type: "aap:agent", agent: at("agent").value }); });
at("older").addEventListener("click", () => {
  const last = older.at(-1) ?? state?.interactions.at(-1);
  if (last) request({ type: "aap:older", before: text(last.id) });
});

// hello of view/1 too: a View that may only watch can say nothing else.
onAction("aap.none", () => {});
const hello = () => request({ type: "aap:hello" });
hello();
const retry = setInterval(() => (state ? clearInterval(retry) : hello()), 3000);
document.addEventListener("visibilitychange", () => { if (!document.hidden) hello(); });
