// @ts-check
// The link's token. It arrives in the fragment, which browsers do not send, and is
// removed from the address bar at once, so that it is not in a screenshot, a
// bookmark or a copied address.
//
// It is stored in sessionStorage, which belongs to this tab and this origin (no
// canvas has this origin) and survives a reload. A variable alone would make each
// reload ask for the link; localStorage and cookies would outlive the tab, and
// browsers send cookies automatically. If storage is not allowed, the token is in
// the variable only.

const TOKEN = "tkn";
const DEFAULT_SESSION = "ahp-session:/default";

/**
 * Reads the link of the page. host is the host's name at a relay, and "" if the host
 * itself serves the page; it stays in the address, so that a reload finds it.
 * @returns {{ token: string, session: string, host: string }} token is "" if no link was opened in this tab
 */
export function takeKey() {
  const given = new URLSearchParams(location.hash.slice(1));
  const token = given.get(TOKEN);
  const session = given.get("session") ?? DEFAULT_SESSION;
  const host = given.get("host") ?? "";
  if (token !== null) {
    const rest = new URLSearchParams();
    if (host) rest.set("host", host);
    if (session !== DEFAULT_SESSION) rest.set("session", session);
    history.replaceState(null, "", location.pathname + location.search + (rest.size ? `#${rest}` : ""));
    withStorage((tab) => tab.setItem(TOKEN, token));
  }
  return { token: token ?? withStorage((tab) => tab.getItem(TOKEN)) ?? "", session, host };
}

/** Forgets a token that the host did not accept. */
export const dropKey = () => withStorage((tab) => tab.removeItem(TOKEN));

/** @template T @param {(tab: Storage) => T} use @returns {T | undefined} undefined if the browser does not allow storage */
function withStorage(use) {
  try {
    return use(sessionStorage);
  } catch {
    return undefined;
  }
}
