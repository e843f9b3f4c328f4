// @ts-check
// What a person can open here, in words for people: name, picture, one line, and Open. The
// descriptions that agents read are not shown.
import { icon, kindIcon } from "./icons.js";
import { addLayer } from "./layers.js";
import { byId } from "./ui.js";

/** The line for people of a declaration. @param {any} declaration */
function summary(declaration) {
  const own = declaration._meta?.["x-ahp-canvas/summary"];
  if (typeof own === "string" && own) return own;
  return declaration.extensionName ? `From ${declaration.extensionName}.` : "";
}

/** Whether a canvas opens without an input of the agent. @param {any} declaration */
const opensAlone = ({ inputSchema }) => !(Array.isArray(inputSchema?.required) && inputSchema.required.length);

export class Gallery {
  #dialog = /** @type {HTMLDialogElement} */ (byId("gallery"));
  #open; #show;
  /** @type {any[]} */ #canvases = [];

  /** @param {(declaration: any) => Promise<string>} open opens a canvas and returns its instance id; it rejects with the reason for the person @param {(id: string) => void} show */
  constructor(open, show) {
    this.#open = open;
    this.#show = show;
    byId("open-canvas").addEventListener("click", () => this.open());
    byId("gallery-close").addEventListener("click", () => this.#dialog.close());
    this.#dialog.addEventListener("click", (e) => { if (e.target === this.#dialog) this.#dialog.close(); });
  }

  /** @param {any[]} canvases the session's declarations */
  update(canvases) {
    const before = JSON.stringify(this.#canvases);
    this.#canvases = canvases;
    byId("open-canvas").hidden = canvases.length === 0;
    if (JSON.stringify(canvases) !== before) byId("declarations").replaceChildren(...canvases.map((c) => this.#entry(c)));
  }

  open() {
    if (this.#dialog.open) return;
    this.#say("");
    this.#dialog.showModal();
    this.#dialog.addEventListener("close", addLayer(() => this.#dialog.close()), { once: true });
  }

  /** @param {string} text */
  #say(text) {
    byId("gallery-problem").textContent = text;
    byId("gallery-problem").hidden = !text;
  }

  /** @param {any} declaration */
  #entry(declaration) {
    const li = document.createElement("li"), picture = document.createElement("span"), words = document.createElement("div");
    const name = Object.assign(document.createElement("h3"), { textContent: declaration.displayName, dir: "auto" });
    const line = Object.assign(document.createElement("p"), { textContent: summary(declaration), dir: "auto" });
    picture.className = "picture";
    picture.append(icon(kindIcon(declaration.canvasId)));
    words.append(name, line);
    li.append(picture, words);
    if (opensAlone(declaration)) li.append(this.#button(declaration));
    else words.append(Object.assign(document.createElement("p"), { className: "hint", textContent: "Ask your agent for it: it has to be filled with something." }));
    return li;
  }

  /** @param {any} declaration */
  #button(declaration) {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: "Open", ariaLabel: `Open ${declaration.displayName}` });
    button.addEventListener("click", async () => {
      if (button.ariaDisabled === "true") return;
      button.ariaDisabled = "true";
      try {
        const id = await this.#open(declaration);
        this.#dialog.close(); // first: it gives the focus back
        this.#show(id);
      } catch (err) {
        this.#say(`${declaration.displayName} was not opened: ${/** @type {Error} */ (err).message}.`);
      }
      button.ariaDisabled = "false";
    });
    return button;
  }
}
