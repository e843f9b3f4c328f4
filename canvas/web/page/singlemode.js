// @ts-check
// Whether this browser allows canvases no service workers: they are shown as single documents then.
import { BASE } from "./base.js";

const PATIENCE = 5_000; // ms

/** Set once a mount found no service worker; later mounts use single-document mode at once. */
let single = false;

/** Whether canvases are shown in single-document mode. */
export const isSingle = () => single;

/** Decides why a browser registered no service worker. @param {() => boolean} connected whether the host is @returns {Promise<boolean>} false if the reason can be that the host did not answer */
export async function hasNoWorkers(connected) {
  single ||= connected() && (await answers()) && connected();
  return single;
}

/** Whether the host that served this page answers, at a relay the relay. @returns {Promise<boolean>} */
const answers = () => fetch(BASE, { method: "HEAD", cache: "no-store", signal: AbortSignal.timeout(PATIENCE) }).then(() => true, () => false);
