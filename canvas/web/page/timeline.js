// @ts-check
// The list of what the agent and the person did, as far as this page saw it.
// A screen reader announces new lines while the list is open.

const MAX_LINES = 100;
const MAX_CHARS = 160; // of one line

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

/** @typedef {"agent" | "you" | "canvas" | "host"} Who */
const WHO = { agent: "Agent", you: "You", canvas: "Canvas", host: "Host" };

export class Timeline {
  #list; #count;
  #total = 0;

  /** @param {HTMLElement} list @param {HTMLElement} count */
  constructor(list, count) {
    this.#list = list;
    this.#count = count;
  }

  /** @param {Who} who @param {string} text */
  add(who, text) {
    const time = document.createElement("time");
    const now = new Date();
    time.dateTime = now.toISOString();
    time.textContent = clock.format(now);
    const by = document.createElement("strong");
    by.textContent = WHO[who];
    const what = document.createElement("span");
    what.textContent = text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text;
    const li = document.createElement("li");
    li.dataset.who = who;
    li.append(time, by, what);
    this.#list.prepend(li);
    while (this.#list.children.length > MAX_LINES) this.#list.lastElementChild?.remove();
    this.#count.textContent = String(++this.#total);
  }

  /** Adds a line for each change of a canvas's state. @param {string} title @param {any} before @param {any} after */
  changed(title, before, after) {
    if (before.title !== after.title && after.title) this.add("agent", `renamed “${before.title ?? title}” to “${after.title}”`);
    if (before.status !== after.status) this.add("agent", after.status ? `“${title}”: ${after.status}` : `cleared the status of “${title}”`);
    if (Boolean(before.isPrivate) !== Boolean(after.isPrivate)) this.add("host", after.isPrivate ? `“${title}” is private: agents cannot look at it` : `“${title}” is not private any more: agents can look at it`);
    if (before.availability === after.availability) return;
    this.add("host", after.availability === "stale" ? `“${title}” is not up to date: its provider is not running` : `“${title}” is up to date again`);
  }
}
