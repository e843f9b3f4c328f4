// @ts-check
// What the header of a card shows of work and of waiting: a badge with the reason, and a
// bar with how far the work is.
import { setText } from "./ui.js";

const PROGRESS = "x-ahp-canvas/progress"; // members of a state's _meta
const ATTENTION = "x-ahp-canvas/attention";

/** Why a canvas's provider says that it waits; "" if it does not. @param {any} state */
export const attentionOf = (state) => state?._meta?.[ATTENTION]?.reason ?? "";

/** How far work in a canvas is. @param {any} state @returns {{ done: number, total: number, text: string } | undefined} */
export function progressOf(state) {
  const p = state?._meta?.[PROGRESS];
  return p ? { done: Number(p.done) || 0, total: Number(p.total) || 0, text: String(p.text ?? "") } : undefined;
}

/** Progress in a few words, for a tab. @param {any} state @returns {string} "" if nothing runs */
export function progressText(state) {
  const p = progressOf(state);
  if (!p) return "";
  return p.total ? `${Math.floor((100 * p.done) / p.total)} %` : "Working";
}

/** Draws both below the title of a card. @param {HTMLElement} card @param {string} reason @param {any} state */
export function drawBadges(card, reason, state) {
  const header = /** @type {HTMLElement} */ (card.querySelector("header"));
  card.dataset.attention = String(reason !== "");
  const waits = part(header, "waits");
  waits.hidden = !reason;
  waits.setAttribute("role", "status");
  setText(waits, reason && "Waits for you");
  waits.title = reason;
  const bar = part(header, "progress"), p = progressOf(state);
  bar.hidden = !p;
  if (!p) return;
  const [gauge, text] = bar.children.length ? bar.children : (bar.append(document.createElement("progress"), document.createElement("span")), bar.children);
  const meter = /** @type {HTMLProgressElement} */ (gauge);
  meter.ariaLabel = p.text || "Progress";
  if (p.total) [meter.max, meter.value] = [p.total, p.done];
  else meter.removeAttribute("value");
  setText(/** @type {HTMLElement} */ (text), [p.text, p.total ? progressText(state) : ""].filter(Boolean).join(" · "));
}

/** @param {HTMLElement} header @param {string} name */
function part(header, name) {
  const old = header.querySelector(`.${name}`);
  if (old) return /** @type {HTMLElement} */ (old);
  const made = document.createElement(name === "waits" ? "span" : "div");
  made.className = name === "waits" ? "badge waits" : name;
  made.dir = "auto";
  if (name === "waits") header.querySelector(".names")?.after(made);
  else header.append(made);
  return made;
}
