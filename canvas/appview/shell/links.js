// @ts-check
// Links that a canvas offers: a bar shows the whole address, a person presses, and the chat
// opens it.
import { judgeLink } from "../../web/page/linkrule.js";
import { openLink } from "./chat.js";
import { byId, setText } from "./dom.js";

const ARM = 500; // ms until the button works: the bar can appear under a pointer that is about to click

export class ChatLinks {
  /** The link in the bar. @type {{ url: string, armed: number, done: (outcome: "opened" | "dismissed") => void } | undefined} */ #offered;
  #capabilities; #resized;
  allowed = false; // the canvas's provider allows links
  /** Runs when the canvas was disconnected because it sends far too many messages. */ flooded = () => {};

  /** @param {() => any} capabilities of the chat @param {() => void} resized runs when the bar appears or disappears */
  constructor(capabilities, resized) {
    this.#capabilities = capabilities;
    this.#resized = resized;
    byId("take").addEventListener("click", () => this.#open());
    byId("drop").addEventListener("click", () => this.withdraw());
  }

  /** Shows a link to the person, one at a time. @param {unknown} address untrusted @returns {Promise<"opened" | "dismissed">} */
  async offer(address) {
    const url = judgeLink(address);
    if (!this.allowed) throw new Error("this canvas may not offer links");
    if (!this.#capabilities().openLinks) throw new Error("this chat opens no links");
    if (typeof url === "string") throw new Error(url);
    if (this.#offered) return "dismissed";
    return new Promise((done) => {
      this.#offered = { url: url.href, armed: performance.now() + ARM, done };
      setText(byId("offered"), url.href);
      byId("offer").hidden = false;
      this.#resized();
    });
  }

  /** Removes the link from the bar, unopened. */
  withdraw() {
    this.#takeOffer()?.done("dismissed");
  }

  #takeOffer() {
    const offered = this.#offered;
    this.#offered = undefined; // a second click opens nothing
    byId("offer").hidden = true;
    if (offered) this.#resized();
    return offered;
  }

  async #open() {
    if (!this.#offered || performance.now() < this.#offered.armed) return;
    const { url, done } = this.#offered;
    this.#takeOffer();
    done(await openLink(url, this.#capabilities()) ? "opened" : "dismissed");
  }
}
