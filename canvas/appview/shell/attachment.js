// @ts-check
// One attachment: a View of the host. Messages go both ways by calls of a tool, because no
// chat passes the notifications of a server to its pages.
import { call } from "./chat.js";

const READ = "canvas_view_read", SYNC = "canvas_view_sync";
const PROBE_WAIT = 2, LONG_WAIT = 20; // seconds
const PROBE_AFTER = 300; // ms for which a poll waits before a call beside it is a probe
const FIRST_WITHIN = 1_500; // ms for the document's first message, which goes with the first poll
const SLOW = 1_500; // ms after which a message beside a poll counts as stuck behind it
const SERIAL_FOR = 10 * 60_000; // ms for which a chat counts as running one call at a time
const PAUSE_AFTER = 30 * 60_000; // ms without activity
const MAX_SAY = 16, MAX_OUTBOX = 256;
const LOST = "canvas_view_lost", CLOSED = "canvas_instance_not_found";

let parallel = false; // the chat runs calls side by side
let serialUntil = 0;
let touched = performance.now();

/** Notes activity: of a person, or in the canvas. */
export const touch = () => { touched = performance.now(); };

/** @param {number} ms */
export const sleep = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

/** Waits before a call is repeated. @param {number} n how many calls have failed before */
export const retryLater = (n) => sleep([1_000, 2_000, 4_000, 10_000][Math.min(n, 3)]);

/** Returns the ms between calls in a chat that runs one at a time: it is slower the longer nothing happens. */
function pace() {
  const quiet = performance.now() - touched;
  return quiet < 5_000 ? 1_000 : quiet < 15_000 ? 2_000 : quiet < 60_000 ? 4_000 : 10_000;
}

const hex = () => [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");

/**
 * @typedef {{
 *   receive: (answer: any, messages: any[]) => void,
 *   echoed: (seq: number, reason: string | undefined) => void,
 *   answered: () => void,
 *   failed: (err: any) => boolean,
 *   lost: () => void,
 *   idle: () => void,
 * }} Owner receive: an answer and its new messages; failed: whether there is nothing to repeat; lost: the host has forgotten
 *   the View; idle: nothing has happened for half an hour
 */

export class Attachment {
  #id = hex(); #after = 0; #seq = 0; #polls = 0;
  /** @type {{ seq: number, payload: any }[]} */ #out = [];
  #sending = false;
  #begun = false; // the first poll is made
  #spoke = () => {}; // the document has said something
  ended = false;
  #canvas; #owner;

  /** @param {{ channel: string, ticket: string }} canvas @param {Owner} owner */
  constructor(canvas, owner) {
    this.#canvas = canvas;
    this.#owner = owner;
  }

  /** @param {any} more @returns {Promise<any>} */
  read(more) {
    return call(READ, { ...this.#canvas, view: this.#id, ...more });
  }

  /** @param {any} more @returns {Promise<any>} */
  #sync(more) {
    return call(SYNC, { ...this.#canvas, view: this.#id, after: this.#after, wait: 0, ...more });
  }

  /** Sends a message to the provider. @param {any} payload @returns {number | undefined} its number; undefined if too many wait */
  say(payload) {
    if (this.ended || this.#out.length >= MAX_OUTBOX) return undefined;
    const seq = ++this.#seq;
    this.#out.push({ seq, payload });
    touch();
    if (this.#begun) this.#flush();
    else this.#spoke();
    return seq;
  }

  /** Ends the View, here and in the host. */
  async leave() {
    if (this.ended) return;
    this.ended = true;
    await this.#sync({ bye: true, say: this.#out.slice(0, MAX_SAY) }).catch(() => {});
  }

  /** Polls as long as the View lives. */
  async poll() {
    await this.#first();
    for (let failures = 0; !this.ended;) {
      if (performance.now() - touched > PAUSE_AFTER) return this.#owner.idle();
      const serial = performance.now() < serialUntil;
      this.#polls++;
      try {
        const answer = this.#begin({ wait: serial ? 0 : parallel ? LONG_WAIT : PROBE_WAIT });
        if (!serial && !parallel) this.#probe();
        this.#take(await answer);
        failures = 0;
        if (!this.ended) this.#owner.answered();
      } catch (err) {
        if (this.ended || this.#owner.failed(err)) return;
        if (/** @type {any} */ (err)?.code === LOST) return this.#owner.lost();
        await retryLater(failures++);
        continue;
      }
      if (performance.now() < serialUntil) await sleep(pace());
    }
  }

  /** Waits for the document's first message. */
  async #first() {
    if (this.#out.length === 0) await Promise.race([new Promise((resolve) => { this.#spoke = () => resolve(undefined); }), sleep(FIRST_WITHIN)]);
  }

  /**
   * Polls. The first poll sends what the document said, because a chat that runs one call at
   * a time would hold a second call back until the poll ends.
   * @param {any} more @returns {Promise<any>}
   */
  async #begin(more) {
    const say = this.#begun ? [] : this.#out.slice(0, MAX_SAY);
    if (say.length === 0) {
      this.#begun = true;
      return this.#sync(more);
    }
    try {
      const answer = await this.#sync({ ...more, say });
      this.#out.splice(0, say.length);
      return answer;
    } finally {
      this.#begun = true;
      this.#flush();
    }
  }

  /** Finds out whether a call is answered while another one waits. */
  async #probe() {
    const during = this.#polls;
    await sleep(PROBE_AFTER);
    if (this.ended || this.#polls !== during) return;
    const begun = performance.now();
    try {
      this.#take(await this.#sync({}));
    } catch {
      return;
    }
    if (this.ended) return;
    if (this.#polls === during) parallel = true;
    else if (performance.now() - begun > SLOW) countAsSerial();
  }

  /** @param {any} answer */
  #take(answer) {
    if (this.ended) return;
    const messages = answer.messages ?? [];
    const fresh = messages.slice(Math.max(0, messages.length - Math.max(0, answer.next - this.#after)));
    this.#after = Math.max(this.#after, answer.next);
    if (fresh.length > 0) touch();
    this.#owner.receive(answer, fresh);
  }

  /** Sends what waits, in order, until the host has it. */
  async #flush() {
    if (this.#sending) return;
    this.#sending = true;
    for (let failures = 0; !this.ended && this.#out.length > 0;) {
      const say = this.#out.slice(0, MAX_SAY);
      const begun = performance.now();
      try {
        this.#take(await this.#sync({ say }));
        this.#out.splice(0, say.length);
        failures = 0;
        if (performance.now() - begun > SLOW) countAsSerial();
      } catch (err) {
        const code = /** @type {any} */ (err)?.code;
        if (this.ended || code === LOST || code === CLOSED) break; // the poll learns of it too
        if (!code) await retryLater(failures++);
        else for (const { seq } of this.#out.splice(0, say.length)) this.#owner.echoed(seq, /** @type {Error} */ (err).message);
      }
    }
    this.#sending = false;
  }
}

function countAsSerial() {
  parallel = false;
  serialUntil = performance.now() + SERIAL_FOR;
}
