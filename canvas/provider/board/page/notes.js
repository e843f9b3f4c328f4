// @ts-check
// The notes of a card: plain text, with a button for each web address in it. A canvas
// opens no windows, so the button offers the address to the person.
import { offerLink } from "/.ahp/canvas.js";
import { make, toast } from "./ui.js";

/** The addresses that may be offered; see offerLink. */
const ADDRESS = /(?:https:\/\/|http:\/\/(?:localhost|127\.0\.0\.1)(?![\w.-]))[^\s<>"]+/g;
const PUNCTUATION = /[.,;:!?'’”»)\]}]+$/; // ends the sentence, not the address

/** Draws the notes, unless they are drawn already. @param {HTMLElement} el @param {string} notes */
export function drawNotes(el, notes) {
  el.hidden = !notes;
  if (el.textContent === notes) return;
  el.replaceChildren(...parts(notes));
}

/** Splits a text into plain text and buttons. @param {string} text @returns {(Node | string)[]} */
function parts(text) {
  const all = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(ADDRESS)) {
    const address = found.replace(PUNCTUATION, "");
    if (!URL.canParse(address)) continue;
    all.push(text.slice(end, index), make("button", { type: "button", className: "link", title: "Open this link", onclick: () => offer(address) }, address));
    end = index + address.length;
  }
  return [...all, text.slice(end)];
}

/** @param {string} address */
async function offer(address) {
  try {
    await offerLink(address);
  } catch (err) {
    toast(`This link was not opened: ${/** @type {Error} */ (err).message}.`);
  }
}
