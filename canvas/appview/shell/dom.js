// @ts-check
// Elements of shell.html.

/** @param {string} id @returns {any} */
export const byId = (id) => document.getElementById(id);

/** @param {HTMLElement} el @param {string} text */
export const setText = (el, text) => { if (el.textContent !== text) el.textContent = text; };

export const HOST_SILENT = "The canvas host does not answer. Trying again…";

/** Covers the canvas with words, or uncovers it. @param {string} words */
export function veil(words) {
  setText(byId("veil"), words);
  byId("veil").hidden = !words;
  byId("stage").toggleAttribute("data-veiled", Boolean(words));
}

/** Uncovers the canvas when the host answers again. */
export function unveilHost() {
  if (byId("veil").textContent === HOST_SILENT) veil("");
}
