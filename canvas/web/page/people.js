// @ts-check
// Who has this session open, and how the person here wants to be called. The name is
// stored in this browser.
import { byId, setText } from "./ui.js";

const KEY = "name";
const INTERVAL = 10_000; // ms between questions
const MAX = 100; // people that are listed

let name = "";
try {
  name = localStorage.getItem(KEY) ?? "";
} catch {} // storage is not allowed

/**
 * Shows who has the session open, and asks again while the page is visible.
 * @param {string} session
 * @param {(method: string, params: any) => Promise<any>} request
 * @param {(why: string) => void} stored learns why the host cannot store changes, "" if it can
 * @returns {() => void} asks now, after a connection was made
 */
export function startPeople(session, request, stored) {
  const input = /** @type {HTMLInputElement} */ (byId("name"));
  input.value = name;
  const ask = async () => {
    try {
      const { people, unstored } = await request("x-ahp-canvas/people", { channel: session, name });
      show(people);
      stored(typeof unstored === "string" ? unstored : "");
    } catch {
      byId("people").hidden = true; // an older host, or no connection
    }
  };
  byId("naming").addEventListener("submit", (event) => {
    event.preventDefault();
    name = input.value.trim();
    try {
      localStorage.setItem(KEY, name);
    } catch {} // this page keeps it
    ask();
  });
  setInterval(() => { if (!document.hidden) ask(); }, INTERVAL);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) ask(); });
  return ask;
}

/** @param {any} people of the host: names are texts of other people */
function show(people) {
  if (!Array.isArray(people)) return;
  byId("people").hidden = false;
  showHere(people.filter((one) => !one.you));
  setText(byId("people-count"), String(people.length));
  const lines = people.slice(0, MAX).map(({ name, role, you }) => [String(name || "Without a name"), you && "you", role === "read" && "only sees"].filter(Boolean).join(" · "));
  const list = byId("present");
  if (lines.join("\n") === [...list.children].map((li) => li.textContent).join("\n")) return;
  list.replaceChildren(...lines.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
}

/** @param {string[]} names of those who have one @param {number} n all others */
function hereText(names, n) {
  if (n === 1) return `${names[0] ?? "Someone else"} is here`;
  if (n === 2 && names.length === 2) return `${names[0]} and ${names[1]} are here`;
  return names.length ? `${names[0]} and ${n - 1} ${n === 2 ? "other" : "others"} are here` : `${n} others are here`;
}

/** Names the others in the page's header. @param {any[]} others */
function showHere(others) {
  let here = document.getElementById("here");
  if (!here) {
    here = Object.assign(document.createElement("p"), { id: "here", className: "here", dir: "auto" });
    byId("connection").before(here);
  }
  const names = others.map(({ name }) => String(name ?? "")).filter(Boolean), n = others.length;
  here.hidden = n === 0;
  setText(here, hereText(names, n));
  here.title = names.join(", ");
}
