// @ts-check
// Draws what a card shows around its frame: title, status, badges, controls, notes, and the
// message over the frame.
import { setIcon } from "./icons.js";
import { setText } from "./ui.js";

/**
 * @typedef {{
 *   title: string, status: string, stale: boolean, secret: boolean,
 *   closing: boolean, cutOff: boolean, inert: boolean,
 *   note: string, message?: import("./cardtext.js").Message, retry: string,
 * }} Shown secret: hidden from agents; inert: the frame takes no input; note: "" for none; retry: the text of the message's button
 */

/** @param {Element} card @param {string} selector */
const find = (card, selector) => /** @type {HTMLElement} */ (card.querySelector(selector));

/** @param {HTMLElement} card @param {Shown} shown */
export function drawCard(card, shown) {
  card.dataset.availability = shown.stale ? "stale" : "ready";
  write(card, "h2", shown.title);
  write(card, ".status", shown.status);
  find(card, ".badge.stale").hidden = !shown.stale;
  find(card, ".badge.secret").hidden = !shown.secret;
  drawControls(card, shown);
  const frame = find(card, ".stage").querySelector("iframe");
  if (frame) {
    frame.title = shown.title;
    frame.inert = shown.inert;
  }
  const note = find(card, ".note");
  note.hidden = !shown.note;
  if (shown.note) setText(note, shown.note);
  drawMessage(card, shown);
}

/** @param {HTMLElement} card @param {Shown} shown */
function drawControls(card, { title, closing, cutOff, secret }) {
  const close = find(card, ".close"), hide = find(card, ".private");
  close.ariaLabel = closing ? `Closing “${title}”` : `Close “${title}”`;
  close.title = close.ariaLabel;
  close.ariaDisabled = String(closing || cutOff); // not disabled: it would drop the focus
  hide.ariaPressed = String(secret);
  hide.ariaDisabled = String(cutOff);
  setIcon(hide, secret ? "hidden" : "visible");
}

/** @param {HTMLElement} card @param {Shown} shown */
function drawMessage(card, { message, retry }) {
  const box = find(card, ".words");
  box.hidden = !message;
  if (!message) return;
  box.classList.toggle("veil", Boolean(message.veil));
  setText(find(box, "h3"), message.title);
  setText(find(box, "p"), message.text);
  find(box, ".retry").hidden = !message.retry;
  setText(find(box, ".retry"), retry);
}

/** Writes a text, and its tooltip, which shows it where it is cut. @param {HTMLElement} card @param {string} selector @param {string} text */
function write(card, selector, text) {
  const at = find(card, selector);
  setText(at, text);
  at.title = text;
}
