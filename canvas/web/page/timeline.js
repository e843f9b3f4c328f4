// @ts-check
// What happened, as the host keeps it for people, with the name of each actor, also before this page
// was open. What concerns this page alone, such as its connection, is added here.
import { byId, setText } from "./ui.js";

const MAX_LINES = 300;
const MAX_CHARS = 200; // of one line
const LATER = 400; // ms until the page asks after a change
const INTERVAL = 15_000; // ms between questions
const OWN = "own clients", MAX_OWN = 32; // the client ids of this browser, in its storage
const DAY = 86_400_000; // ms

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const calendar = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** @typedef {"agent" | "you" | "person" | "canvas" | "host" | "page"} Who */
/** @typedef {{ id: number, seq: number, time: string, who: { kind: string, name?: string, clientId?: string }, what: string, instanceId?: string, title?: string, count: number }} Happening */

/** The filters, and which lines they show. @type {[string, (who: string) => boolean][]} */
const FILTERS = [
  ["All", () => true],
  ["Agent", (who) => who === "agent"],
  ["People", (who) => who === "person" || who === "you"],
  ["Canvases", (who) => who === "canvas"],
];

export class Timeline {
  #list; #count; #session; #request; #clientId;
  /** @type {Set<string>} */ #own;
  /** @type {Map<number, HTMLElement>} the host's lines by id */ #lines = new Map();
  #next = 0;
  #total = 0;
  #timer = 0;
  #asking = false;
  #filter = FILTERS[0][1];

  /** @param {string} session @param {string} clientId @param {(method: string, params: any) => Promise<any>} request */
  constructor(session, clientId, request) {
    this.#list = byId("happened");
    this.#count = byId("happened-count");
    this.#session = session;
    this.#request = request;
    this.#clientId = clientId;
    this.#own = new Set(remembered(clientId));
    this.#drawFilters();
    setInterval(() => { if (!document.hidden) this.changed(); }, INTERVAL);
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.changed(); });
  }

  /** Something changed, so the host might have more to tell. */
  changed() {
    this.#timer ||= setTimeout(() => this.#ask(), LATER);
  }

  /** Adds a line of this page: its connection, or why it could not do something. @param {string} text */
  note(text) {
    this.#put(this.#line("page", "This page", text, new Date(), 1));
  }

  /** Adds a line of what the person did in a canvas whose provider does not say it. @param {string} text */
  you(text) {
    this.#put(this.#line("you", "You", text, new Date(), 1));
  }

  async #ask() {
    this.#timer = 0;
    if (this.#asking) return this.changed();
    this.#asking = true;
    try {
      const { happenings, next } = await this.#request("x-ahp-canvas/history", { channel: this.#session, after: this.#next });
      if (next < this.#next) this.#next = 0; // another host, which tells everything
      else for (const one of happenings) this.#take(one);
      this.#next = next;
    } catch {} // no connection: the page asks again
    this.#asking = false;
  }

  /** @param {Happening} one texts in it are those of agents, people and canvases */
  #take({ id, time, who, what, title, count }) {
    this.#lines.get(id)?.remove();
    const you = who.kind === "person" && this.#own.has(who.clientId ?? "");
    const kind = you ? "you" : who.kind;
    const names = /** @type {Record<string, string>} */ ({ agent: who.name ? `Agent ${who.name}` : "Agent", you: "You", person: who.name || "Someone else", host: "Host", canvas: title || "A canvas" });
    const line = this.#line(kind, names[kind] ?? kind, kind === "canvas" ? what : `${what}${title ? ` — ${title}` : ""}`, new Date(time), count);
    this.#lines.set(id, line);
    this.#put(line);
  }

  /** @param {string} kind @param {string} name @param {string} text @param {Date} at @param {number} count */
  #line(kind, name, text, at, count) {
    const time = document.createElement("time");
    time.dateTime = at.toISOString();
    time.textContent = (Date.now() - at.getTime() < DAY / 2 ? clock : calendar).format(at);
    time.title = calendar.format(at);
    const by = document.createElement("strong");
    by.textContent = name;
    const what = document.createElement("span");
    what.textContent = (text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text) + (count > 1 ? ` (${count} times)` : "");
    by.dir = what.dir = "auto";
    const li = document.createElement("li");
    li.dataset.who = kind;
    li.hidden = !this.#filter(kind);
    li.append(time, by, what);
    return li;
  }

  /** Puts a line where its time belongs: the latest is first. @param {HTMLElement} li */
  #put(li) {
    const timeOf = (/** @type {Element} */ e) => /** @type {HTMLTimeElement} */ (e.firstElementChild).dateTime;
    const before = [...this.#list.children].find((e) => timeOf(e) <= timeOf(li));
    this.#list.insertBefore(li, before ?? null);
    while (this.#list.children.length > MAX_LINES) this.#list.lastElementChild?.remove();
    this.#total = this.#list.children.length;
    setText(this.#count, String(this.#total));
    byId("timeline").hidden = false; // a page that never had a connection has none
  }

  #drawFilters() {
    const group = document.createElement("div");
    group.className = "filters";
    group.setAttribute("role", "group");
    group.ariaLabel = "Show what was done by";
    group.append(...FILTERS.map(([text, shows], i) => {
      const b = document.createElement("button");
      b.type = "button";
      b.textContent = text;
      b.ariaPressed = String(i === 0);
      b.addEventListener("click", () => {
        this.#filter = shows;
        for (const other of group.children) other.ariaPressed = String(other === b);
        for (const li of this.#list.children) /** @type {HTMLElement} */ (li).hidden = !shows(/** @type {HTMLElement} */ (li).dataset.who ?? "");
      });
      return b;
    }));
    this.#list.parentElement?.before(group);
  }
}

/** The client ids that this browser had, with this one. @param {string} clientId @returns {string[]} */
function remembered(clientId) {
  let ids = [clientId];
  try {
    const old = JSON.parse(localStorage.getItem(OWN) ?? "[]");
    if (Array.isArray(old)) ids = [...old.filter((id) => typeof id === "string"), clientId].slice(-MAX_OWN);
    localStorage.setItem(OWN, JSON.stringify(ids));
  } catch {} // storage is not allowed: “you” is known until the page is closed
  return ids;
}
