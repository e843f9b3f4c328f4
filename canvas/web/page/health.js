// @ts-check
// Shows when the host cannot store changes, for example because its disk is full: what
// people do then is refused or lost, although the canvases look as usual.
import { BASE } from "./base.js";
import { byId, setText } from "./ui.js";

/** How long the page waits between two questions: while all is well, and while it is not. */
const CALM = 60_000;
const FAILING = 5_000;

/** Asks the host that serves this page whether it works, as long as the page is open. */
export async function watchHealth() {
  const why = document.hidden ? "" : await unhealthy();
  showHealth(why);
  setTimeout(watchHealth, why ? FAILING : CALM);
}

/** Shows why changes are not stored. @param {string} why "" if they are */
export function showHealth(why) {
  byId("unstored").hidden = !why;
  if (why) setText(byId("unstored-why"), why.slice(0, 200));
}

/** @returns {Promise<string>} why changes are not stored; "" if they are, or if the host does not answer: the banner of the connection says that */
async function unhealthy() {
  try {
    const r = await fetch(`${BASE}healthz`, { cache: "no-store", signal: AbortSignal.timeout(10_000) });
    return /changes are not stored: (.{1,200})/.exec(r.status === 503 ? await r.text() : "")?.[1] ?? "";
  } catch {
    return "";
  }
}
