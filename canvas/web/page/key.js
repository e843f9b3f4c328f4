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
//
// A link can hold an invitation instead, which is good once. The page exchanges it for a
// token of this browser, which is stored in localStorage: it can be revoked alone, and
// the link cannot be opened again.
//
// At a relay the token of the link is the relay's, and opens only the way to the host. The
// link has the host's view token, too. The page proves to the host that it has it.

import { BASE } from "./base.js";

const TOKEN = "tkn";
const INVITATION = "invite";
const VIEW = "view";
const OPENED = "opened";
const PERSON = "person ";
export const DEFAULT_SESSION = "ahp-session:/default";

/** Whether the browser that makes pictures has this page, which then shows the one instance that this browser names. */
export const LOOKING = new URLSearchParams(location.hash.slice(1)).has("look");

/**
 * Reads the link of the page. host is the host's name at a relay, and "" if the host
 * itself serves the page; key is the host's public key, and "" if the link has none. Both
 * stay in the address, so that a reload finds them.
 * @returns {{ token: string, view: string, invitation: string, session: string, host: string, key: string }} token and invitation are "" if no link was opened in this browser; view is the host's view token at a relay, and "" if there is an invitation or none
 */
export function takeKey() {
  const given = new URLSearchParams(location.hash.slice(1));
  const token = given.get(TOKEN);
  const invitation = given.get(INVITATION) ?? "";
  const session = given.get("session") ?? DEFAULT_SESSION;
  const host = given.get("host") ?? "";
  const key = given.get("key") ?? "";
  const view = given.get(VIEW);
  const kept = `${VIEW} ${host}`;
  if (token !== null || invitation) {
    const rest = new URLSearchParams();
    if (host) rest.set("host", host);
    if (given.has("key")) rest.set("key", key);
    if (session !== DEFAULT_SESSION) rest.set("session", session);
    const canvas = given.get("canvas");
    if (canvas) rest.set("canvas", canvas);
    history.replaceState(null, "", location.pathname + location.search + (rest.size ? `#${rest}` : ""));
    if (token !== null) withStorage((tab) => tab.setItem(TOKEN, token));
    if (view !== null) withStorage((tab) => tab.setItem(kept, view));
  }
  return { token: token ?? withStorage((tab) => tab.getItem(TOKEN)) ?? withStorage((all) => all.getItem(TOKEN), "local") ?? "", view: invitation ? "" : view ?? withStorage((tab) => tab.getItem(kept)) ?? "", invitation, session, host, key };
}

/**
 * Returns a random id with which a relay tells this browser apart from others that opened the
 * same link: it is the same for all tabs, if storage is allowed. It opens nothing.
 */
export function openedLink() {
  const fresh = Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
  return withStorage((all) => {
    const kept = all.getItem(OPENED);
    if (kept === null) all.setItem(OPENED, fresh);
    return kept ?? fresh;
  }, "local") ?? fresh;
}

/** Returns the token of this browser at a relay's host, or undefined. @param {string} host */
export const personAt = (host) => withStorage((all) => all.getItem(`${PERSON}${host}`) ?? undefined, "local");

/** Forgets the host's view token of this tab. @param {string} host */
export const dropView = (host) => withStorage((tab) => tab.removeItem(`${VIEW} ${host}`));

/** Keeps it; "" forgets it. @param {string} host @param {string} token */
export const keepPerson = (host, token) => withStorage((all) => (token ? all.setItem(`${PERSON}${host}`, token) : all.removeItem(`${PERSON}${host}`)), "local");

/** Forgets a token that the host did not accept. @param {string} token */
export const dropKey = (token) => ["tab", "local"].forEach((which) => withStorage((s) => s.getItem(TOKEN) === token && s.removeItem(TOKEN), which));

/**
 * Exchanges an invitation for a token of this browser, and stores it.
 * @param {string} invitation
 * @returns {Promise<{ token: string } | { used: string } | { failed: true }>} used is when the invitation was used before
 */
export async function redeem(invitation) {
  try {
    const r = await fetch(`${BASE}access/redeem`, { method: "POST", body: JSON.stringify({ invitation }), cache: "no-store", signal: AbortSignal.timeout(10_000) });
    const answer = await r.json();
    if (answer.code === "invitation_used") return { used: answer.at };
    if (!r.ok || typeof answer.token !== "string") return { failed: true };
    withStorage((all) => all.setItem(TOKEN, answer.token), "local");
    return { token: answer.token };
  } catch {
    return { failed: true };
  }
}

/** @template T @param {(s: Storage) => T} use @param {string} [which] "local" for all tabs @returns {T | undefined} undefined if the browser does not allow storage */
function withStorage(use, which = "tab") {
  try {
    return use(which === "local" ? localStorage : sessionStorage);
  } catch {
    return undefined;
  }
}
