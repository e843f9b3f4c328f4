// @ts-check
// The page of canvas "a2ui": it draws what the host has accepted, and sends what the
// person does. The host owns the surfaces; a page that missed something requests all.
import { mayLoad, offerLink, onAction, onMessage, send } from "/.ahp/canvas.js";
import { catalogs } from "./catalogs.js";
import { addCatalog, kit, setUp } from "./renderer.js";
import { Surfaces } from "./surfaces.js";
import { announce, byId, make, toast, write } from "./ui.js";
import { announceCatalog, event, hello, said } from "./wire.js";

const HELLO_INTERVAL = 3000; // ms until a replay that did not come is requested again
const GESTURE = 2000; // ms after the person's act in which a link may be offered
const MAX_LINE = 4000; // code points
const MAX_NOTICES = 4;

const surfaces = new Surfaces(byId("surfaces"), (version, action) => deliver(event(version, { action }, surfaces.models())),
  (version, error) => deliver(event(version, { error }, surfaces.models())));

/** @type {number | undefined} of the newest message that is drawn */
let revision;
/** @type {any[] | undefined} the messages of a replay that has begun */
let replayed;
/** @type {string[]} origins whose pictures the host fetches */
let mediaOrigins = [];
let agent = "";

/** Sends a message with what is entered. @param {any} payload @returns {Promise<boolean>} whether the host took it */
async function deliver(payload) {
  try {
    await send(payload);
    if (payload.metadata.a2uiClientDataModel) surfaces.sent();
    return true;
  } catch (err) {
    toast(`This was not sent: ${/** @type {Error} */ (err).message}`);
    return false;
  }
}

const greet = () => send(hello()).catch((err) => {
  if (revision === undefined) write(byId("message"), `The host cannot be reached: ${err.message}`);
});

/** Receives a part with surfaces. @param {any} part */
function receive({ metadata, data }) {
  const rev = metadata["x-ahp-canvas/rev"], replay = metadata["x-ahp-canvas/replay"];
  if (replay === "begin") replayed = [];
  if (replayed) {
    replayed.push(...data);
    if (Array.isArray(metadata["x-ahp-canvas/media"])) mediaOrigins = metadata["x-ahp-canvas/media"];
    if (replay !== "end") return;
    surfaces.replace(replayed);
    replayed = undefined;
  } else if (revision === undefined || rev > revision + 1 || (data.length === 0 && rev !== revision)) {
    greet(); // something is missing
    return;
  } else if (data.length > 0 && rev > revision) {
    surfaces.apply(data);
  } else {
    return;
  }
  revision = rev;
  show();
}

/** Shows what depends on all surfaces. */
function show() {
  write(byId("message"), "The agent has not drawn anything yet.");
  byId("message").hidden = surfaces.size > 0;
  if (surfaces.owner) agent = surfaces.owner;
  const name = agent && agent !== "Agent" ? agent : "the agent";
  write(byId("hint"), `Goes to ${name}. To speak, use your device's dictation.`);
  byId("line").placeholder = `Write to ${name}`;
  document.body.setAttribute("aria-busy", "false");
}

/** What a remote agent's turn is doing, in words. @type {Record<string, (name: string) => string>} */
const STATES = {
  submitted: (name) => `${name} has the message…`,
  working: (name) => `${name} is working…`,
  "input-required": (name) => `${name} waits for you.`,
  failed: (name) => `${name} reports a failure.`,
  canceled: () => "The request was canceled.",
  rejected: (name) => `${name} declined the request.`,
  "auth-required": (name) => `${name} requires a sign-in, which is not possible here.`,
  interrupted: (name) => `The answer of ${name} broke off.`,
  silent: (name) => `${name} does not answer.`,
  unreached: (name) => `${name} has not been reached yet. The host keeps trying.`,
  unavailable: (name) => `${name} cannot be reached.`,
};

/** @param {any} m */
function showStatus({ agent: name, state, text }) {
  if (typeof name === "string" && name) agent = name;
  const words = (Object.hasOwn(STATES, state) && STATES[state](agent || "The agent")) || "";
  write(byId("status"), words);
  byId("status").hidden = !words;
  if (typeof text === "string" && text) {
    write(byId("said"), text);
    byId("said").hidden = false;
    announce(text);
  }
  show();
}

/** Adds a line that stays until others replace it. @param {string} text */
function notice(text) {
  const list = byId("notices");
  if (list.lastElementChild?.textContent === text) return;
  list.append(make("p", {}, text));
  while (list.childElementCount > MAX_NOTICES) list.firstElementChild.remove();
}

const time = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });

onMessage((/** @type {any} */ m) => {
  if (m?.kind === "data" && Array.isArray(m.data) && m.metadata) return receive(m);
  switch (m?.a2ui) {
    case "refused": return notice(`The host refused this: ${m.message}`);
    case "status": return showStatus(m);
    case "read": return notice(`${agent || "The agent"} read what is entered here at ${time.format(new Date())}.`);
  }
});

// The agent asks for what is entered now. The canvas does not declare this action.
onAction("a2ui.model", (input) => {
  const wanted = surfaces.models().filter((m) => !input?.surfaceId || m.surfaceId === input.surfaceId);
  return { surfaces: Object.fromEntries(wanted.map((m) => [m.surfaceId, m.model ?? null])) };
});

let acted = -GESTURE; // when the person last did something
for (const type of ["click", "keydown", "input", "change"]) addEventListener(type, () => { acted = performance.now(); }, { capture: true });

/** Offers a link to the person, after an act of theirs only. @param {string} url */
function offer(url) {
  if (performance.now() - acted > GESTURE) return;
  acted = -GESTURE; // one offer for each act
  offerLink(url).catch((err) => notice(`The link ${url.slice(0, 2048)} was not opened: ${err.message}`));
}

addEventListener("click", (e) => {
  const link = e.composedPath().find((n) => n instanceof HTMLAnchorElement && n.hasAttribute("href"));
  if (!(link instanceof HTMLAnchorElement) || link.id === "licenses") return;
  e.preventDefault();
  offer(link.href);
}, { capture: true });
addEventListener("auxclick", (e) => {
  if (e.composedPath().some((n) => n instanceof HTMLAnchorElement)) e.preventDefault();
}, { capture: true });

/** The address from which a medium is loaded, undefined if it is not. @param {unknown} url @param {string} what */
function mediaURL(url, what) {
  if (typeof url !== "string") return undefined;
  if (/^data:(?:image|audio|video)\//i.test(url) || mayLoad(url)) return url;
  const origin = what === "Picture" && URL.canParse(url) ? new URL(url).origin : "";
  if (!origin || !mediaOrigins.includes(origin)) return undefined;
  const bytes = String.fromCharCode(...new TextEncoder().encode(url));
  return `media/${btoa(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

for (const make of catalogs) {
  const catalog = make(kit);
  addCatalog(catalog);
  announceCatalog(catalog.id);
}
setUp({ offer, mediaURL, failed: (id, err) => surfaces.failed(id, err) });

async function speak() {
  const text = byId("line").value.trim();
  if (!text) return;
  if ([...text].length > MAX_LINE) return toast(`This is too long: at most ${MAX_LINE} characters can be sent.`);
  byId("send").disabled = true;
  if (await deliver(said(text, surfaces.models()))) {
    byId("line").value = "";
    announce("Sent.");
  }
  byId("send").disabled = false;
}

byId("send").addEventListener("click", speak);
byId("line").addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
  if (e.key !== "Enter" || e.shiftKey || e.isComposing) return;
  e.preventDefault();
  speak();
});

byId("licenses").addEventListener("click", async (/** @type {Event} */ e) => {
  e.preventDefault();
  try {
    write(byId("text"), await (await fetch("licences.txt")).text());
    byId("texts").showModal();
  } catch {
    notice("The licenses are in the file licences.txt of this canvas, and “ahp-canvas a2ui licences” prints them.");
  }
});
byId("close").addEventListener("click", () => byId("texts").close());

greet();
const retry = setInterval(() => (revision === undefined ? greet() : clearInterval(retry)), HELLO_INTERVAL);
document.addEventListener("visibilitychange", () => { if (!document.hidden) greet(); }); // it may have missed changes
