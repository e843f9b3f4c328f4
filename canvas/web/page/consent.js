// @ts-check
// What a canvas wants of the person, and gets if they agree on the card: the answers to its
// dialogs, links, downloads, prints and permissions. All that it says is untrusted.
import { AskBar } from "./askbar.js";
import { oneLine } from "./attention.js";
import { fileName } from "./fileoffer.js";
import { declared, isPermission, Permissions, permissionText } from "./permissions.js";
import { saveFile, sizeText } from "./share.js";

const MAX_TEXT = 600; // characters of a dialog
const FETCH_TIMEOUT = 60_000; // ms for a canvas to read the file that it offers

/**
 * @typedef {{
 *   element: HTMLElement, title: string, state: any, ref: any,
 *   declaration: () => any, offer: (url: unknown) => Promise<any>, frame: { reload: () => void, print: () => void, focus: () => void },
 * }} Asker a card
 */

/** Whether a person pressed something a moment ago: presses in a frame count for its ancestors too. */
const pressed = () => navigator.userActivation?.isActive !== false;

export class Consent {
  #card; #bar;
  /** @type {Permissions | undefined} */ #permissions;
  /** @type {Set<string>} What was asked since the canvas was mounted */ #asked = new Set();

  /** @param {Asker} card */
  constructor(card) {
    this.#card = card;
    this.#bar = new AskBar(/** @type {Element} */ (card.element.querySelector(".offer")), () => card.frame.focus());
  }

  get #allowed() {
    return this.#permissions ??= new Permissions(JSON.stringify([this.#card.ref.channel, this.#card.state?.extensionId]));
  }

  /** What the canvas may use. */
  get names() {
    return this.#allowed.names;
  }

  /** A sentence for the card, "" if nothing is allowed. */
  get text() {
    return this.names.length ? `You let it ${permissionText(this.names)}; its menu withdraws that.` : "";
  }

  /** Takes all permissions back. */
  takeBack() {
    this.#allowed.set([]);
    this.#card.frame.reload();
  }

  /** Asks for what the canvas declares, once it is shown. */
  mounted() {
    const wanted = declared(this.#card.declaration()).filter((name) => !this.names.includes(name) && !this.#asked.has(name));
    if (!wanted.length) return;
    wanted.forEach((name) => this.#asked.add(name));
    this.#permit(wanted, `This canvas asks to ${permissionText(wanted)}.`);
  }

  /** Drops what a document that is gone asked. */
  withdraw() {
    this.#bar.withdraw();
  }

  /** @param {any} ask untrusted @param {MessagePort | undefined} port for the answer */
  take(ask, port) {
    switch (ask?.kind) {
      case "link": return void this.#card.offer(ask.url).catch((err) => this.#line(`This canvas wanted to open another site, which was refused: ${oneLine(err.message)}.`));
      case "gone": return this.withdraw();
      case "permission": return this.#used(ask.what);
      case "print": return this.#confirm(`This canvas wants to print itself.`, "Print", () => this.#card.frame.print());
      case "download": return this.#download(port);
      case "alert": return void this.#bar.ask({ text: "This canvas says:", says: text(ask.text), yes: "OK", answer: () => {} });
      case "confirm":
      case "prompt":
        return void this.#bar.ask({
          text: ask.again === true ? "This canvas asks:" : "This canvas asks (it continued without an answer; repeat what you did once you have answered):", says: text(ask.text),
          value: ask.kind === "prompt" ? text(ask.value) : undefined, yes: "OK", no: "Cancel", answer: (answer) => port?.postMessage(answer === false ? (ask.kind === "prompt" ? null : false) : answer),
        });
    }
  }

  /** @param {string} line */
  #line(line) {
    this.#bar.ask({ text: line, yes: "OK", answer: () => {} });
  }

  /** @param {string} text @param {string} yes @param {() => void} run @param {string} [says] */
  #confirm(text, yes, run, says) {
    this.#bar.ask({ text, says, yes, no: "Not now", answer: (answer) => { if (answer) run(); } });
  }

  /** @param {string[]} names @param {string} text */
  #permit(names, text) {
    this.#confirm(`${text} It is off. Allowing it loads the canvas again.`, "Allow", () => {
      this.#allowed.set([...new Set([...this.names, ...names])]);
      this.#card.frame.reload();
    });
  }

  /** Says that the canvas used what is off. @param {unknown} what */
  #used(what) {
    if (!isPermission(what)) return;
    const name = /** @type {string} */ (what);
    if (this.names.includes(name) || this.#asked.has(`used ${name}`)) return; // said before
    this.#asked.add(`used ${name}`);
    const line = `This canvas tried to ${permissionText([name])}.`;
    const may = declared(this.#card.declaration()).includes(name) || this.#card.state?._meta?.["x-ahp-canvas/http"] === 1;
    if (may) this.#permit([name], line);
    else this.#line(`${line} Its declaration does not ask for that, so it stays off.`);
  }

  /** @param {MessagePort | undefined} port on which the file arrives */
  #download(port) {
    if (!port) return;
    if (!pressed()) return this.#line("This canvas tried to save a file without a press of yours, which was refused.");
    const late = setTimeout(() => port.close(), FETCH_TIMEOUT);
    port.onmessage = ({ data }) => {
      clearTimeout(late);
      port.close();
      const { blob } = data ?? {};
      const name = fileName(typeof data?.name === "string" ? data.name : "");
      if (!(blob instanceof Blob)) return this.#line("This canvas offered a file that could not be read.");
      this.#confirm("This canvas wants to save a file:", "Save", () => saveFile(name, blob), `${name}, ${sizeText(blob.size)}`);
    };
  }
}

/** @param {unknown} given untrusted */
const text = (given) => (typeof given === "string" ? given.slice(0, MAX_TEXT) : "");
