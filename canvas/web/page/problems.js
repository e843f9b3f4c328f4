// @ts-check
// What concerns the whole page: the state of the connection, problems, and that nothing is
// open. A problem is shown above the canvases, or in their place if none is open.
import { UNVERIFIED } from "./ahp.js";
import { DEFAULT_SESSION, dropKey, dropView, keepPerson, personAt } from "./key.js";
import { BROKEN } from "./seal.js";
import { showBanner, showConnection, showEmpty, showNextStep } from "./ui.js";

/** @typedef {import("./ui.js").Word} Word */

/**
 * @typedef {{
 *   host: string, key: string, view: string, session: string, token: () => string,
 *   state: () => any,
 *   cards: Map<string, import("./card.js").Card>,
 *   note: (text: string) => void,
 *   ready: () => void,
 *   retry: () => void,
 *   gallery: () => void,
 * }} Page host: at a relay, or ""; key: of the host, if the relay cannot read the connection, or ""; view: the host's view token at a relay, or ""; state: of the session; note: adds to the activity; ready: the page is connected
 */

const BLIP = 2_000; // ms without a connection that disable nothing
const SUSPICION = "If that was not you, “ahp-canvas people revoke” locks that browser out.";

const IN_TERMINAL = "To see the canvases without this browser, run “ahp-canvas view LINK” with the whole link.";

/** @type {Word} */
const NOT_VALID = { title: "The link is not valid here.", text: "The host does not accept this link's token. Open the link that the host printed last, or ask for a new one: “ahp-canvas link” prints it." };

/** Why there is no sealed connection. @type {Record<string, Word>} */
const SEALING = {
  seal: { title: "This relay is not passing on what the host sent.", text: "Or the host has another key now. Nothing was shown. Open the link that the host printed last.", action: ["Try again", () => location.reload()] },
  key: { title: "This link has no key.", text: "The host accepts only connections that the relay cannot read. Open the link that the host printed last." },
  unable: { title: "This browser cannot seal the connection.", text: `The link asks for a connection that the relay cannot read, and this browser has no X25519. Use a current Chrome, Firefox or Safari. ${IN_TERMINAL}` },
  insecure: { title: "This page cannot seal the connection.", text: `The link asks for a connection that the relay cannot read. Browsers encrypt only on pages that came over https, or from this machine. Open the link with https. ${IN_TERMINAL}` },
  incomplete: { title: "The link is not complete.", text: "The host's key in it is cut or changed. Open the whole link that the host printed." },
};

/** Titles for WebSocket close codes (ahp/relay/code.go; 1013: the host is at its connection limit). @type {Record<number, string>} */
const CLOSE_TITLES = {
  1013: "The host has too many connections.",
  4003: "The host is not connected to the relay.",
  4006: "The host has too many connections.",
  [BROKEN]: "This relay is not passing on what the host sent.",
  [UNVERIFIED]: "Another program answers at the host's address.",
  4007: "This link was revoked or has expired.",
  4008: "This page is open elsewhere.",
};

/** Whether the host runs on this machine, which needs no network. */
const onThisMachine = /^(localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(location.hostname);

/** @param {string} [at] */
const clock = (at) => new Date(at ?? Date.now()).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });

export class Problems {
  #page;
  /** @type {Word | undefined} */ #word;
  #countdown = 0;
  #cutOff = 0;

  /** @param {Page} page */
  constructor(page) {
    this.#page = page;
  }

  /** Shows a problem; undefined is none. @param {Word | undefined} word */
  set(word) {
    this.#word = word;
    this.show();
  }

  show() {
    const any = [...this.#page.cards.values()].some((card) => !card.undoable);
    const empty = any ? undefined : this.#word ?? (this.#page.state() && this.#emptyText());
    showBanner(any ? this.#word : undefined);
    showEmpty(empty);
    showNextStep(empty !== undefined && !this.#word);
  }

  /** Shows the session's own failure, or none: a state has arrived, so the problem of a connection is over. */
  ofSession() {
    const state = this.#page.state();
    this.set(state?.lifecycle === "creationFailed" ? { title: "This session could not be created.", text: state.creationError?.message ?? "" } : undefined);
  }

  noSession() {
    const { session, host, key } = this.#page;
    this.set({
      title: "There is no such session.", text: `The host has no session “${session}”. It may have ended, or the link is not complete.`,
      action: session === DEFAULT_SESSION ? ["Reload", () => location.reload()] : ["Open the host's first session", () => { location.hash = host ? `${new URLSearchParams(key ? { host, key } : { host })}` : ""; }],
    });
  }

  #emptyText() {
    const { canvases } = this.#page.state();
    return {
      title: "Nothing is open",
      text: canvases?.length ? "What an agent opens appears here at once. You can also open something yourself." : "What an agent opens appears here at once.",
      action: canvases?.length ? /** @type {[string, () => void]} */ (["Open a canvas", this.#page.gallery]) : undefined,
    };
  }

  /** Handles a change of the connection. @param {import("./ahp.js").Status} s */
  status(s) {
    clearInterval(this.#countdown);
    document.body.dataset.connection = s.state;
    switch (s.state) {
      case "connecting": return showConnection("connecting", "Connecting…");
      case "ready": return this.#ready();
      case "waiting": return this.#waiting(s.retryAt, s.code);
      case "refused": return this.#refused(s);
    }
  }

  #ready() {
    const { cards, note, state, ready } = this.#page;
    showConnection("ready", "Connected");
    if (document.body.dataset.lost === "true") note("is connected again");
    document.body.dataset.lost = "false";
    if (state()) this.ofSession();
    else this.noSession();
    clearTimeout(this.#cutOff);
    this.#cutOff = 0;
    for (const card of cards.values()) card.connected(true);
    ready();
  }

  /** @param {number} retryAt @param {number} code of the close */
  #waiting(retryAt, code) {
    const { cards, note, host, retry } = this.#page;
    for (const card of cards.values()) card.connected(false);
    this.#cutOff ||= setTimeout(() => cards.forEach((card) => card.cutOff(true)), BLIP);
    if (document.body.dataset.lost !== "true") note("lost the connection to the host");
    document.body.dataset.lost = "true";
    showConnection("waiting", "Not connected");
    const abnormal = host && code === 1006; // no close frame, so the relay did not close it
    const known = CLOSE_TITLES[code] ?? (abnormal ? "The relay cannot be reached." : "The connection to the host is lost.");
    const tick = () => {
      const offline = !navigator.onLine && !onThisMachine;
      const s = Math.max(0, Math.ceil((retryAt - Date.now()) / 1000));
      const text = offline ? "" : cards.size ? "The canvases may be out of date." : "Is the host still running?";
      this.set({
        title: offline ? "This device is offline." : known,
        text: `${text} The page reconnects automatically${offline ? " when it is online again" : ""}. Next try in ${s} s.`.trim(), action: ["Try now", retry],
      });
    };
    this.#countdown = setInterval(tick, 1000);
    tick();
  }

  /** @param {Extract<import("./ahp.js").Status, { state: "refused" }>} s */
  #refused(s) {
    const { cards, host, view, token } = this.#page;
    showConnection("refused", "Refused");
    if (s.why === "token") dropKey(token());
    cards.forEach((card) => card.cutOff(true));
    if (s.why === "person" && view) {
      dropView(host);
      return this.set(NOT_VALID);
    }
    if (s.why === "person" && host) keepPerson(host, "");
    if (s.why === "used") return personAt(host) ? location.reload() : this.#usedLink(s.at); // the address has no invitation any more
    if (s.why === "person") return this.#invalidLink();
    if (s.why in SEALING) return this.set(SEALING[s.why]);
    this.set(s.why === "token"
      ? NOT_VALID
      : { title: "This page and the host use different protocol versions.", text: "Reload the page. If that does not help, the page and the host come from different releases.", action: ["Reload", () => location.reload()] });
  }

  /** Says why there can be no sealed connection. @param {string} why */
  notSealed(why) {
    showConnection("refused", "Not sealed");
    this.set(SEALING[why]);
  }

  /** Says why the page has no token. @param {{ used: string } | object | undefined} redeemed of the link's invitation */
  noToken(redeemed) {
    if (redeemed && "used" in redeemed) return this.#usedLink(redeemed.used);
    if (redeemed) return this.#invalidLink();
    showConnection("refused", "No link");
    this.set({ title: "This page needs its link.", text: "Open the link that the host prints when it starts. It contains the token that this page needs. “ahp-canvas link” prints it again." });
  }

  /** @param {string} [at] when this link was used before */
  #usedLink(at) {
    showConnection("refused", "Used link");
    this.set({ title: `This link was used already, at ${clock(at)}.`, text: `It is good once. ${SUSPICION}` });
  }

  #invalidLink() {
    showConnection("refused", "No link");
    this.set({ title: "This invitation is not valid any more.", text: "An invitation is good once, for ten minutes. Ask for a new link." });
  }
}

/** The notice that an invitation was used before, in a page that has a token. @param {string} at */
export const usedNotice = (at) => `This link was used already, at ${clock(at)}. ${SUSPICION}`;
