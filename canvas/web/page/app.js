// @ts-check
// The page: an AHP client that mirrors one session and keeps every open canvas
// of it mounted.
import { Client, STRANGER } from "./ahp.js";
import { Card } from "./card.js";
import { Reader } from "./content.js";
import { dropKey, takeKey } from "./key.js";
import { Layout } from "./layout.js";
import { reduceCanvas, reduceSession, statusWord } from "./state.js";
import { currentTheme, startTheme } from "./theme.js";
import { Timeline } from "./timeline.js";
import { byId, notice, showBanner, showConnection, showEmpty, showRegistry } from "./ui.js";

const { token, session, host } = takeKey();
const contentOrigin = /** @type {HTMLMetaElement} */ (document.querySelector("meta[name=content-origin]")).content;

/** @type {any} undefined until the snapshot came */
let state;
/** @type {Map<string, Card>} by channel */
const cards = new Map();
let countdown = 0;
const layout = new Layout(byId("canvases"), session);
const timeline = new Timeline(byId("happened"), byId("happened-count"));
/** What is wrong with all of it. @type {import("./ui.js").Word | undefined} */
let trouble;

const socket = new URL(host ? `/ahp/${encodeURIComponent(host)}` : "/ahp", location.href);
socket.protocol = socket.protocol.replace("http", "ws");
const client = new Client(socket, token, { status, snapshot, action, missing });
const reader = new Reader(client);

/** @param {import("./ahp.js").Status} s */
function status(s) {
  clearInterval(countdown);
  document.body.dataset.connection = s.state;
  switch (s.state) {
    case "connecting":
      return showConnection("connecting", "Connecting…");
    case "ready":
      showConnection("ready", "Connected");
      if (document.body.dataset.lost === "true") timeline.add("host", "came back");
      document.body.dataset.lost = "false";
      setTrouble(state ? standing() : noSession());
      for (const card of cards.values()) card.connected(true);
      return;
    case "waiting":
      for (const card of cards.values()) card.connected(false);
      if (document.body.dataset.lost !== "true") timeline.add("host", "went away");
      document.body.dataset.lost = "true";
      showConnection("waiting", "Not connected");
      return showWaiting(s.retryAt, s.code);
    case "refused":
      showConnection("refused", "Refused");
      if (s.why === "token") dropKey();
      return setTrouble(s.why === "token"
        ? { title: "The link is not valid here.", text: "The host does not take the token of this link. Open the link that the host printed last." }
        : { title: "This page and the host do not speak the same protocol version.", text: "Load the page again; if this stays, host and page are of different releases." });
  }
}

/** What close codes mean to a person (ahp/relay/code.go; 1013 is a host that is full). @type {Record<number, string>} */
const RELAY_WORDS = {
  1013: "There are too many connections to the host just now.",
  4003: "The relay is there, but the host is offline.",
  4006: "There are too many connections to the host just now.",
  [STRANGER]: "What answers here now is not the host of this link.",
  4007: "This link was withdrawn or has run out.",
};

/** @param {number} retryAt @param {number} code of the close */
function showWaiting(retryAt, code) {
  const silent = host && code === 1006; // no close was said: it was not the host that ended it
  const title = RELAY_WORDS[code] ?? (silent ? "The relay cannot be reached." : "The host is gone.");
  const text = cards.size ? "What the canvases show may be out of date." : "Is it still running?";
  const tick = () => {
    const s = Math.max(0, Math.ceil((retryAt - Date.now()) / 1000));
    setTrouble({ title, text: `${text} Next try in ${s} s.`, action: ["Try now", () => client.retryNow()] });
  };
  countdown = setInterval(tick, 1000);
  tick();
}

/** Says it above the canvases, which stay, or in their place where there are none. @param {import("./ui.js").Word | undefined} word */
function setTrouble(word) {
  trouble = word;
  tell();
}

function tell() {
  showBanner(cards.size ? trouble : undefined);
  showEmpty(cards.size ? undefined : trouble ?? (state && emptyWord()));
}

/** What a session itself says is wrong. */
const standing = () => (state?.lifecycle === "creationFailed"
  ? { title: "This session could not be created.", text: state.creationError?.message ?? "" }
  : undefined);

const noSession = () => ({ title: "There is no such session.", text: `The host does not know “${session}”. It may have ended.` });

/** @param {string} channel @param {any} next */
function snapshot(channel, next) {
  if (channel === session) setSession(next);
  else cards.get(channel)?.update(next);
}

/** @param {import("./ahp.js").Envelope} e */
function action(e) {
  const own = e.origin?.clientId === client.clientId ? e.origin : undefined;
  const card = cards.get(e.channel);
  if (e.action.type === "canvas/message" && e.action.payload?.["x-ahp"] === "http/1") {
    if (!own) return card?.lane.receive(e.action.payload);
    return e.rejectionReason === undefined ? undefined : card?.lane.refused(e.action.payload, e.rejectionReason);
  }
  if (own && card) {
    card.view.echoed(own.clientSeq, e.rejectionReason);
    if (e.rejectionReason && card.isClose(own.clientSeq)) {
      card.closeRefused();
      notice(`“${card.title}” was not closed: ${e.rejectionReason}`);
      timeline.add("host", `did not close “${card.title}”: ${e.rejectionReason}`);
    }
  }
  if (e.rejectionReason !== undefined) return; // refused: it changed nothing
  if (e.channel === session) return setSession(reduceSession(state, e.action));
  if (!card?.state) return;
  if (e.action.type === "canvas/message") {
    const payload = e.action.payload;
    if (!own) card.view.receive(payload);
    if (!own && payload?.["x-ahp"] === "view/1" && payload.type === "invoke") timeline.add("agent", `used “${payload.action}” in “${card.title}”`);
    if (own && !payload?.["x-ahp"]) {
      // A press in a frame counts for the pages around it too: it was the person, or the canvas by itself.
      if (navigator.userActivation?.isActive) timeline.add("you", `sent something in “${card.title}”`);
      else timeline.add("canvas", `“${card.title}” sent something`);
    }
    return;
  }
  const next = reduceCanvas(card.state, e.action);
  if (next === card.state) return;
  timeline.changed(card.title, card.state, next);
  card.update(next);
}

/** @param {string} channel */
function missing(channel) {
  if (channel === session) {
    setSession(undefined);
    setTrouble(noSession());
  } else {
    drop(channel);
  }
}

/** @param {any} next */
function setSession(next) {
  const opened = state ? "opened" : "had opened";
  state = next;
  const title = state?.title || "Canvases";
  byId("title").textContent = title;
  byId("session-status").textContent = [statusWord(state?.status ?? 0), state?.activity].filter(Boolean).join(" · ");
  document.title = title;
  byId("registry").hidden = !state;
  showRegistry(state?.canvases ?? []);
  setOpen(state?.openCanvases ?? [], opened);
  trouble = standing(); // a state came: there is a host, and it knows the session
  tell();
}

/** Mounts what was opened and drops what was closed; what stays is not touched. @param {any[]} refs @param {string} [opened] in words */
function setOpen(refs, opened = "opened") {
  for (const channel of [...cards.keys()]) {
    if (refs.some((r) => r.channel === channel)) continue;
    const { title, closing } = /** @type {Card} */ (cards.get(channel));
    drop(channel);
    if (!state) continue;
    notice(`“${title}” was closed.`);
    timeline.add(closing ? "you" : "agent", `closed “${title}”`);
  }
  for (const ref of refs) {
    let card = cards.get(ref.channel);
    if (!card) {
      card = new Card(ref, { contentOrigin, theme: currentTheme, read: (...what) => reader.read(...what), dispatch: (c, a) => client.dispatch(c, a), retitled });
      card.setTheme();
      card.connected(document.body.dataset.connection === "ready");
      cards.set(ref.channel, card);
      byId("canvases").append(card.element);
      layout.adopt(ref.instanceId, card.element);
      timeline.add("agent", `${opened} “${card.title}”`);
      client.subscribe(ref.channel);
    }
    card.ref = ref;
    card.render();
  }
}

const emptyWord = () => ({
  title: "Nothing is open",
  text: state.canvases?.length ? "When an agent opens a canvas, it appears here." : "This session has no canvases yet. When an agent can open some, they are listed below.",
});

/** @param {string} channel */
function drop(channel) {
  const card = cards.get(channel);
  if (!card) return;
  const { activeElement } = document;
  const focused = card.element.contains(activeElement);
  client.unsubscribe(channel);
  cards.delete(channel);
  card.remove();
  layout.release(card.ref.instanceId);
  if (!focused) return;
  const [next] = cards.values();
  // Who typed in the canvas that went away must not press what closes another one.
  if (next && activeElement?.matches(".close")) next.focusClose();
  else byId("canvases").focus();
}

function retitled() {
  const names = [...cards.values()].map((c) => c.title);
  document.title = [names.length === 1 ? names[0] : "", state?.title || "Canvases"].filter(Boolean).join(" – ");
}

byId("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address keeps its fragment: host and session are there
  byId("canvases").focus();
});
addEventListener("hashchange", () => location.reload()); // another link, with a key of its own
startTheme(byId("theme"), () => cards.forEach((card) => card.setTheme()));
if (token) {
  client.start([session]);
} else {
  showConnection("refused", "No link");
  setTrouble({ title: "This page needs its link.", text: "Open the link that the host prints when it starts: it carries the token that lets this page in." });
}
