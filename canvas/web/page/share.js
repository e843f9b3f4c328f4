// @ts-check
// What a person takes away from a canvas or gives to others: a link that is good once, a
// copy of what the canvas holds, a print.
import { addLayer } from "./layers.js";
import { notice } from "./ui.js";

const COPY = "x-ahp-canvas/copy"; // member of a state's _meta
const UNITS = ["bytes", "KB", "MB"];

/** The file that the provider offers. @param {any} state @returns {{ name: string, path: string } | undefined} */
export const copyOf = (state) => state?._meta?.[COPY];

/** @typedef {{ session: string, relay: Record<string, string>, request: (method: string, params: any) => Promise<any> }} Sharing relay: what a link needs to reach the host through a relay; {} without one */

/**
 * Makes an invitation, and puts its link into the clipboard.
 * @param {Sharing} sharing @param {string} id of the canvas @param {"view" | "read"} role
 */
export async function copyLink({ request, session, relay }, id, role) {
  try {
    const { invitation, seconds } = await request("x-ahp-canvas/invite", { channel: session, role });
    const link = `${location.origin}${location.pathname}#${new URLSearchParams({ ...relay, invite: invitation, session, canvas: id })}`;
    const what = role === "read" ? "The link only shows the canvases." : "The link lets someone use the canvases as you do.";
    const text = `${what} It is good once, for ${Math.round(seconds / 60)} minutes.`;
    await navigator.clipboard.writeText(link).then(
      () => notice(`Copied. ${text}`),
      () => show("Copy this link", text, link), // the browser does not allow it
    );
  } catch (err) {
    notice(`No link was made: ${/** @type {Error} */ (err).message}`);
  }
}

/** Saves the file that a canvas offers, if the person agrees to its name and size. @param {string} name @param {Promise<import("./mount.js").Content>} reading */
export async function saveCopy(name, reading) {
  const content = await reading;
  if (!("body" in content)) return notice(`Nothing was saved: ${content.word}`);
  const { body } = content;
  const file = name.replace(/[/\\:*?"<>|]/g, "_");
  const save = button("Save");
  const dialog = show("Save a copy?", `${file}, ${sizeText(body.byteLength)}`, "", save);
  save.addEventListener("click", () => {
    saveFile(file, body);
    dialog.close();
  });
}

/** Lets the browser save a file. @param {string} name @param {BlobPart} body */
export function saveFile(name, body) {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(new Blob([body], { type: "application/octet-stream" })); // never opened as a page of this origin
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 60_000);
}

/** A size for people. @param {number} n bytes */
export function sizeText(n) {
  let unit = 0;
  for (; n >= 1000 && unit < UNITS.length - 1; unit++) n /= 1000;
  return `${unit ? n.toFixed(1) : n} ${UNITS[unit]}`;
}

/** Shows a dialog with an answer to choose, or a text to copy. @param {string} title @param {string} text @param {string} link "" for none @param {HTMLElement[]} buttons */
function show(title, text, link, ...buttons) {
  const dialog = document.createElement("dialog");
  dialog.className = "ask";
  dialog.ariaLabel = title;
  const [h, p] = [document.createElement("h2"), document.createElement("p")];
  h.textContent = title;
  p.textContent = text;
  p.dir = "auto";
  dialog.append(h, p);
  if (link) {
    const field = Object.assign(document.createElement("input"), { value: link, readOnly: true, ariaLabel: "Link", dir: "ltr" });
    field.addEventListener("focus", () => field.select());
    dialog.append(field);
  }
  const cancel = button(buttons.length ? "Cancel" : "Close");
  cancel.addEventListener("click", () => dialog.close());
  const answers = document.createElement("div");
  answers.className = "answers";
  answers.append(...buttons, cancel);
  dialog.append(answers);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  dialog.addEventListener("close", addLayer(() => dialog.close()));
  return dialog;
}

/** @param {string} text */
function button(text) {
  const b = document.createElement("button");
  b.type = "button";
  b.textContent = text;
  return b;
}
