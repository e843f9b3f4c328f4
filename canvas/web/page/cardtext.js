// @ts-check
// The markup of a card, and its longer texts.
import { FILE_BAR } from "./fileoffer.js";
import { OFFER_BAR } from "./offer.js";

/** The markup of a card. @param {string} id unique in the document */
export const CARD = (id) => `<article class="card" aria-labelledby="${id}">
  <header><div class="names"><h2 id="${id}" dir="auto"></h2><p class="status" dir="auto"></p></div>
  <span class="badge stale" hidden>Stale</span>
  <span class="badge secret" hidden>Private</span>
  <div class="tools" role="group" aria-label="Controls" aria-labelledby="${id}">
  <button class="tool private" id="${id}-private" data-icon="visible" aria-label="Hide from agents that look" aria-labelledby="${id}-private ${id}" title="Private: agents cannot look at this canvas" aria-pressed="false" type="button"></button>
  <button class="tool earlier" id="${id}-earlier" data-icon="earlier" aria-label="Move earlier" aria-labelledby="${id}-earlier ${id}" title="Move earlier" type="button"></button>
  <button class="tool later" id="${id}-later" data-icon="later" aria-label="Move later" aria-labelledby="${id}-later ${id}" title="Move later" type="button"></button>
  <button class="tool maximize" id="${id}-maximize" data-icon="maximize" aria-label="Maximize" aria-labelledby="${id}-maximize ${id}" title="Maximize" aria-pressed="false" type="button"></button>
  <button class="tool more" id="${id}-more" data-icon="more" aria-label="Menu" aria-labelledby="${id}-more ${id}" title="Menu" aria-haspopup="menu" aria-expanded="false" type="button"></button>
  <button class="tool close" data-icon="close" type="button"></button></div></header>
  <p class="note" role="note" hidden></p>
  <div class="offer" role="status" hidden>${OFFER_BAR(id)}</div>
  <div class="offer save" role="status" hidden>${FILE_BAR(id)}</div>
  <div class="stage"><div class="shield" aria-hidden="true"></div><div class="words" role="status" hidden><div><h3></h3><p></p><button class="retry" type="button">Reload</button></div></div></div>
  <div class="grip" role="separator" tabindex="0" id="${id}-grip" aria-label="Resize with the arrow keys:" aria-labelledby="${id}-grip ${id}" aria-valuemin="3" aria-valuemax="12" aria-valuenow="12"></div>
</article>`;

/** Playwright's default flags switch off what service workers in frames need. */
const PARTITIONS = "A program drives this browser: Playwright and the like switch storage partitions off; leave ThirdPartyStoragePartitioning out of --disable-features, in Playwright with ignoreDefaultArgs. ";

/** States that a canvas is shown in single-document mode, why, and what is missing. @param {string[]} missing @param {string} contentOrigin "" if there is none */
export function singleText(missing, contentOrigin) {
  let why = "the host has no content origins for this address (start it with --content-origin, or use “ahp-canvas view”)";
  if (contentOrigin) why = "this browser does not allow service workers here";
  if (!isSecureContext) why = "without https, browsers allow no service workers";
  return `Single-document mode: ${why}. ${contentOrigin && isSecureContext && navigator.webdriver ? PARTITIONS : ""}The canvas cannot store data${missing.length ? `. Not available: ${missing.join(", ")}` : ""}.`;
}

/** What the card says about what the canvas stored (cardorigin.js). @type {Record<string, string>} */
export const STORED = {
  full: "What this canvas stored in this browser was cleared, because it was more than 64 MB.",
  total: "What this canvas stored in this browser was cleared, because all canvases together stored too much.",
  leftover: "What this canvas stored in this browser is not available this time, because something that it left behind was in the way. Clear it in the menu if this stays.",
};

/** What the card says of a canvas that lost its app and was not mounted again (cardframe.js). */
export const CUT = "This canvas does not reach its app any more. It was not loaded again, because you may have typed something in it. Copy what you need, then reload this page.";

/** Shown over the frame; veil: the frame stays visible. @typedef {{ title: string, text: string, retry?: boolean, veil?: boolean }} Message */

/**
 * The message over the frame, if any. seen: the frame shows the canvas as it was; cutOff: there is no connection to the host.
 * @param {{ stale: boolean, closing?: boolean, state: any, refusal: string | undefined, failure: Message | undefined, starting: boolean, cutOff?: boolean, seen?: boolean }} card
 * @returns {Message | undefined}
 */
export function messageText({ stale, closing, state, refusal, failure, starting, cutOff = false, seen = true }) {
  if (refusal !== undefined) {
    return { title: "This canvas cannot be shown", text: `The host did not let this page see the canvas: ${refusal}.`, retry: true };
  }
  if (closing) return { title: "Closing", text: "Someone closed this canvas a moment ago. It stays if they undo that.", veil: true };
  if (cutOff && !seen) return { title: "Not connected", text: "The page reconnects automatically, and the canvas appears then." };
  if (cutOff) return { title: "Not connected", text: "You see what was there last. The page reconnects automatically, and you can continue then.", veil: true };
  if (stale && (state?.url === undefined || !seen)) {
    return { title: "Waiting for the provider", text: "This canvas's provider is not running. The canvas appears when the provider is back." };
  }
  if (failure) return failure;
  if (stale) return { title: "Not up to date", text: "This canvas's provider is not running. The canvas resumes when the provider is back.", veil: true };
  if (!state || starting) return { title: "Opening…", text: "" };
  if (state.url === undefined) return { title: "Nothing to show", text: "This canvas is open, but its provider has not given it an address. It appears once there is one." };
  return undefined;
}
