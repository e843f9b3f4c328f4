// @ts-check
// The link's secret. It arrives in the fragment, which no server sees, and is
// taken out of the address bar before anything else happens, so that it is not
// in a screenshot, a bookmark or a copied address.
//
// It is kept in sessionStorage: that is this tab's and this origin's alone (no
// canvas has this origin), it lives through a reload, which a person expects to
// work, and it ends with the tab. Kept in a variable alone, every reload would
// ask for the link again; localStorage and cookies would outlive the tab, and a
// cookie would be sent by itself. Where a person lets this site keep nothing, it
// is in the variable alone.

const TOKEN = "tkn";
const DEFAULT_SESSION = "ahp-session:/default";

/**
 * host is "" where the page comes from the host itself, and the host's name where
 * it comes from a relay. It is no secret and stays in the address, so that a
 * reload finds it.
 * @returns {{ token: string, session: string, host: string }} token is "" where no link was ever opened in this tab
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
    kept((tab) => tab.setItem(TOKEN, token));
  }
  return { token: token ?? kept((tab) => tab.getItem(TOKEN)) ?? "", session, host };
}

/** Forgets a token that the host does not take. */
export const dropKey = () => kept((tab) => tab.removeItem(TOKEN));

/** @template T @param {(tab: Storage) => T} use @returns {T | undefined} undefined where the browser refuses */
function kept(use) {
  try {
    return use(sessionStorage);
  } catch {
    return undefined;
  }
}
