// @ts-check
// The page: an AHP client that mirrors one session. Each open canvas has a card; those that
// a person sees are mounted.
import { addressed, followAddress, setAddress } from "./address.js";
import { Client, UNVERIFIED } from "./ahp.js";
import { Attention } from "./attention.js";
import { attentionOf, drawBadges, progressText } from "./badges.js";
import { Card } from "./card.js";
import { Gallery } from "./gallery.js";
import { Reader } from "./content.js";
import { BASE } from "./base.js";
import { DEFAULT_SESSION, dropKey, keepPerson, LOOKING, openedLink, personAt, redeem, takeKey } from "./key.js";
import { showHealth, watchHealth } from "./health.js";
import { drawIcons } from "./icons.js";
import { guardKeyboard } from "./keyboard.js";
import { closeLast } from "./layers.js";
import { Layout } from "./layout.js";
import { startLook } from "./look.js";
import { openMenu } from "./menu.js";
import { Mounts } from "./mounts.js";
import { decodeKey } from "./noise.js";
import { copyLink, copyOf, saveCopy } from "./share.js";
import { startPeople } from "./people.js";
import { reduceCanvas, reduceSession, statusText } from "./state.js";
import { BROKEN } from "./seal.js";
import { Switcher } from "./switcher.js";
import { currentTheme, startTheme } from "./theme.js";
import { Timeline } from "./timeline.js";
import { byId, notice, showBanner, showConnection, showEmpty, showNextStep } from "./ui.js";
import { UndoBar } from "./undo.js";

const { token: kept, invitation, session, host, key } = takeKey();
let token = kept;
const contentOrigin = /** @type {HTMLMetaElement} */ (document.querySelector("meta[name=content-origin]")).content;

const SUSPICION = "If that was not you, “ahp-canvas people revoke” locks that browser out.";
/** @param {string} [at] */
const clock = (at) => new Date(at ?? Date.now()).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });

/** @type {any} SessionState; undefined until the first snapshot */
let state;
/** @type {Map<string, Card>} by channel */
const cards = new Map();
let countdown = 0, cutOff = 0;
/** Canvases that were opened and not seen yet. @type {Set<string>} by instance id */
const fresh = new Set();
const mounts = new Mounts();
const layout = new Layout(byId("canvases"), session, () => queueMicrotask(arranged)); // the cards of one change are adopted first
const switcher = new Switcher({ entries, show, beside: (id) => layout.beside(id), menu: (id, button) => openMenu(button, menuOf(id)), split: (...to) => layout.splitAt(...to) });
const gallery = new Gallery(openCanvas, showOpened);
/** A problem that concerns the whole page. @type {import("./ui.js").Word | undefined} */
let problem;

const socket = new URL(host ? `ahp/${encodeURIComponent(host)}` : "ahp", BASE);
socket.protocol = socket.protocol.replace("http", "ws");
const sealed = host && key ? decodeKey(key) : undefined;
const client = new Client(socket, { status, snapshot, action, missing, request, made: (token) => keepPerson(host, token) }, host && openedLink(), sealed && { key: sealed, host });
const reader = new Reader(client);
const timeline = new Timeline(session, client.clientId, (method, params) => client.request(method, params));
const attention = new Attention(showCard, () => retitled());
const undo = new UndoBar((method, params) => client.request(method, params), (c, a) => client.dispatch(c, a));
const askPeople = LOOKING ? () => {} : startPeople(session, (method, params) => client.request(method, params), host ? showHealth : () => {});

/** @param {import("./ahp.js").Status} s */
function status(s) {
  clearInterval(countdown);
  document.body.dataset.connection = s.state;
  switch (s.state) {
    case "connecting":
      return showConnection("connecting", "Connecting…");
    case "ready":
      showConnection("ready", "Connected");
      if (document.body.dataset.lost === "true") timeline.note("is connected again");
      document.body.dataset.lost = "false";
      setProblem(state ? sessionProblem() : noSession());
      clearTimeout(cutOff);
      cutOff = 0;
      for (const card of cards.values()) card.connected(true);
      askPeople();
      return;
    case "waiting":
      for (const card of cards.values()) card.connected(false);
      cutOff ||= setTimeout(() => cards.forEach((card) => card.cutOff(true)), BLIP);
      if (document.body.dataset.lost !== "true") timeline.note("lost the connection to the host");
      document.body.dataset.lost = "true";
      showConnection("waiting", "Not connected");
      return showWaiting(s.retryAt, s.code);
    case "refused":
      showConnection("refused", "Refused");
      if (s.why === "token") dropKey(token);
      cards.forEach((card) => card.cutOff(true));
      if (s.why === "person" && host) keepPerson(host, "");
      if (s.why === "used") return personAt(host) ? location.reload() : sayUsed(s.at); // the address has no invitation any more
      if (s.why === "person") return sayInvalid();
      if (s.why in SEALING) return setProblem(SEALING[s.why]);
      return setProblem(s.why === "token"
        ? { title: "The link is not valid here.", text: "The host does not accept this link's token. Open the link that the host printed last, or ask for a new one: “ahp-canvas link” prints it." }
        : { title: "This page and the host use different protocol versions.", text: "Reload the page. If that does not help, the page and the host come from different releases.", action: ["Reload", () => location.reload()] });
  }
}

const IN_TERMINAL = "To see the canvases without this browser, run “ahp-canvas view LINK” with the whole link.";

/** Why there is no sealed connection. @type {Record<string, import("./ui.js").Word>} */
const SEALING = {
  seal: { title: "This relay is not passing on what the host sent.", text: "Or the host has another key now. Nothing was shown. Open the link that the host printed last.", action: ["Try again", () => location.reload()] },
  key: { title: "This link has no key.", text: "The host accepts only connections that the relay cannot read. Open the link that the host printed last." },
  unable: { title: "This browser cannot seal the connection.", text: `The link asks for a connection that the relay cannot read, and this browser has no X25519. Use a current Chrome, Firefox or Safari. ${IN_TERMINAL}` },
  insecure: { title: "This page cannot seal the connection.", text: `The link asks for a connection that the relay cannot read. Browsers encrypt only on pages that came over https, or from this machine. Open the link with https. ${IN_TERMINAL}` },
  incomplete: { title: "The link is not complete.", text: "The host's key in it is cut or changed. Open the whole link that the host printed." },
};

const BLIP = 2_000; // ms without a connection that disable nothing

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

/** @param {number} retryAt @param {number} code of the close */
function showWaiting(retryAt, code) {
  const abnormal = host && code === 1006; // no close frame, so the relay did not close it
  const known = CLOSE_TITLES[code] ?? (abnormal ? "The relay cannot be reached." : "The connection to the host is lost.");
  const tick = () => {
    const offline = !navigator.onLine && !onThisMachine;
    const s = Math.max(0, Math.ceil((retryAt - Date.now()) / 1000));
    const text = offline ? "" : cards.size ? "The canvases may be out of date." : "Is the host still running?";
    setProblem({
      title: offline ? "This device is offline." : known,
      text: `${text} The page reconnects automatically${offline ? " when it is online again" : ""}. Next try in ${s} s.`.trim(), action: ["Try now", () => client.retryNow()],
    });
  };
  countdown = setInterval(tick, 1000);
  tick();
}

/** Shows a problem above the canvases, or in their place if none is open. @param {import("./ui.js").Word | undefined} word */
function setProblem(word) {
  problem = word;
  showProblem();
}

function showProblem() {
  const any = [...cards.values()].some((card) => !card.undoable);
  const empty = any ? undefined : problem ?? (state && emptyText());
  showBanner(any ? problem : undefined);
  showEmpty(empty);
  showNextStep(empty !== undefined && !problem);
}

/** The session's own failure, if any. */
const sessionProblem = () => (state?.lifecycle === "creationFailed"
  ? { title: "This session could not be created.", text: state.creationError?.message ?? "" }
  : undefined);

/** @returns {import("./ui.js").Word} */
const noSession = () => ({
  title: "There is no such session.", text: `The host has no session “${session}”. It may have ended, or the link is not complete.`,
  action: session === DEFAULT_SESSION ? ["Reload", () => location.reload()] : ["Open the host's first session", () => { location.hash = host ? `${new URLSearchParams(key ? { host, key } : { host })}` : ""; }],
});

/** @param {string} channel @param {any} next */
function snapshot(channel, next) {
  if (channel === session) setSession(next);
  else cards.get(channel)?.update(next);
}

/** @param {import("./ahp.js").Envelope} e */
function action(e) {
  const own = e.origin?.clientId === client.clientId ? e.origin : undefined;
  const card = cards.get(e.channel);
  if (e.action.type === "canvas/message" && e.action.payload?.["x-ahp"] === "ws/1") {
    if (!own) return card?.socketConn.receive(e.action.payload);
    return e.rejectionReason === undefined ? undefined : card?.socketConn.refused(e.action.payload, e.rejectionReason);
  }
  if (e.action.type === "canvas/message" && e.action.payload?.["x-ahp"] === "http/1") {
    if (!own) return card?.httpConn.receive(e.action.payload);
    return e.rejectionReason === undefined ? undefined : card?.httpConn.refused(e.action.payload, e.rejectionReason);
  }
  if (own && card) {
    card.view.echoed(own.clientSeq, e.rejectionReason);
    if (e.rejectionReason && card.isClose(own.clientSeq)) {
      card.closeRefused();
      notice(`“${card.title}” was not closed: ${e.rejectionReason}`);
      timeline.note(`could not close “${card.title}”: ${e.rejectionReason}`);
    }
  }
  if (e.rejectionReason !== undefined) return; // a rejected action changes nothing
  if (e.channel === session) return setSession(reduceSession(state, e.action));
  if (!card?.state) return;
  if (e.action.type === "canvas/message") {
    const payload = e.action.payload;
    if (!own && payload?.["x-ahp"] === "view/1" && payload.type === "wanted") return mounts.wake(card);
    if (!own) card.view.receive(payload);
    timeline.changed();
    // A click in a frame also activates its ancestors, so this tells a person's message from the canvas's own. The provider of a bundled canvas says more.
    if (own && !payload?.["x-ahp"] && payload?.sample === undefined && navigator.userActivation?.isActive) timeline.you(`sent something in “${card.title}”`);
    return;
  }
  const next = reduceCanvas(card.state, e.action);
  if (next === card.state) return;
  timeline.changed();
  card.update(next);
}

/** Answers a request of the host. @param {string} method @param {any} params @returns {Promise<any> | undefined} undefined if there is no such method */
function request(method, params) {
  if (method !== "x-ahp-canvas/look") return undefined;
  const card = cards.get(params?.channel);
  if (!card) return Promise.reject(new Error("this page does not show the canvas"));
  timeline.changed();
  return seen(card).then((seen) => ({ ...seen, theme: currentTheme().mode }));
}

/** What people see of a canvas; one that is not mounted is mounted first. @param {Card} card */
async function seen(card) {
  mounts.wake(card);
  for (let i = 0; card.phase === "starting" && i < 7; i++) await new Promise((resolve) => setTimeout(resolve, 100)); // the host waits for two seconds
  return card.look();
}

/** @param {string} channel @param {string} reason */
function missing(channel, reason) {
  if (channel === session) {
    setSession(undefined);
    setProblem(noSession());
  } else if (state?.openCanvases?.some((/** @type {any} */ ref) => ref.channel === channel)) {
    cards.get(channel)?.refused(reason); // it is open, so its card stays
  } else {
    drop(channel);
  }
}

/** @param {any} next */
function setSession(next) {
  const news = state !== undefined; // and not what was open before the page
  state = next;
  timeline.changed();
  const title = state?.title || "Canvases";
  byId("title").textContent = title;
  byId("session-status").textContent = [statusText(state?.status ?? 0), state?.activity].filter(Boolean).join(" · ");
  document.title = title;
  gallery.update(state?.canvases ?? []);
  setOpen((state?.openCanvases ?? []).filter((/** @type {any} */ ref) => !LOOKING || ref.instanceId === LOOKING), news);
  problem = sessionProblem(); // a state arrived, so any connection problem is over
  showProblem();
}

/** Mounts new canvases and removes closed ones; the others are untouched. @param {any[]} refs @param {boolean} [news] whether new ones were opened just now */
function setOpen(refs, news = true) {
  for (const channel of [...cards.keys()]) {
    if (refs.some((r) => r.channel === channel)) continue;
    const { title, undoable } = /** @type {Card} */ (cards.get(channel));
    drop(channel);
    undo.remove(channel);
    if (!state) continue;
    if (!undoable) notice(`“${title}” was closed.`);
  }
  layout.prepare(refs.map((ref) => ref.instanceId));
  const first = cards.size === 0;
  for (const ref of refs) {
    let card = cards.get(ref.channel);
    if (!card) {
      card = new Card(ref, { contentOrigin, theme: currentTheme, read: (...what) => reader.read(...what), dispatch: (c, a) => client.dispatch(c, a), subscribe: (c) => client.subscribe(c), setPrivate, retitled, announced, request: (method, params) => client.request(method, params), ask: (c, run) => attention.ask(c, run), menu: (of, button) => openMenu(button, menuOf(of.ref.instanceId)), escape: closeLast, clientId: client.clientId, closing, kept: stays });
      card.setTheme();
      card.connected(document.body.dataset.connection === "ready");
      cards.set(ref.channel, card);
      byId("canvases").append(card.element);
      if (news) fresh.add(ref.instanceId);
      layout.adopt(ref.instanceId, card.element);
      client.subscribe(ref.channel);
    }
    card.ref = ref;
    card.render();
  }
  if (first && addressed()) layout.show(addressed());
  if (awaited && cardOf(awaited)) {
    show(awaited);
    awaited = "";
  }
}

/** @param {string} id of an instance */
const cardOf = (id) => [...cards.values()].find((card) => card.ref.instanceId === id);

/** Mounts what is visible now, and shows the change in the switcher. */
function arranged() {
  const { visible } = layout;
  mounts.see(visible.flatMap((id) => cardOf(id) ?? []));
  if (!document.hidden) visible.forEach((id) => fresh.delete(id));
  switcher.render();
}
document.addEventListener("visibilitychange", arranged);
const cardAround = (/** @type {Element} */ frame) => [...cards.values()].find((card) => card.element.contains(frame));
guardKeyboard((frame) => cardAround(frame)?.stop(), (shield) => cardAround(shield)?.focusFrame(), (frame) => cardAround(frame)?.refocus());

/** @returns {import("./switcher.js").Entry[]} */
function entries() {
  const { visible, current } = layout;
  return layout.all.flatMap((id) => {
    const card = cardOf(id);
    if (!card) return [];
    return { id, title: card.title, status: card.state?.status ?? "", kind: card.ref.canvasId ?? "", current: id === current, visible: visible.includes(id), pinned: layout.isPinned(id), stale: card.stale, fresh: fresh.has(id), badge: attention.reason(card.ref.channel) || progressText(card.state) };
  });
}

/** Shows a canvas because a person chose it. @param {string} id */
function show(id) {
  const card = cardOf(id);
  if (!card) return;
  layout.show(id);
  setAddress(id);
  byId("canvases").focus();
  card.element.scrollIntoView({ block: "nearest" });
  card.focusFrame();
}

/** The menu of a canvas. @param {string} id @returns {import("./menu.js").Item[]} */
function menuOf(id) {
  const card = cardOf(id);
  if (!card) return [];
  const { visible } = layout, at = visible.indexOf(id), maximized = layout.maximized === id;
  return [
    ...(at < 0 ? [{ text: "Show", icon: /** @type {const} */ ("app"), run: () => show(id) }] : []),
    { text: maximized ? "Show the others again" : "Maximize", icon: maximized ? "restore" : "maximize", run: () => layout.maximize(id) },
    { text: "Show beside the others", icon: "beside", run: () => layout.beside(id), disabled: layout.isPane(id) },
    { text: "Move earlier", icon: "earlier", run: () => layout.move(id, -1), disabled: at <= 0 },
    { text: "Move later", icon: "later", run: () => layout.move(id, 1), disabled: at < 0 || at === visible.length - 1 },
    { text: "Pin in its place", icon: "pin", run: () => layout.pin(id), pressed: layout.isPinned(id) },
    { text: "Put away", icon: "away", run: () => layout.putAway(id), disabled: !layout.isPane(id) || visible.length < 2 },
    { text: "Private: agents cannot look", icon: "hidden", run: () => card.togglePrivate(), pressed: card.private },
    ...shareItems(card),
    { text: "Close", icon: "close", run: () => card.requestClose() },
  ];
}

/** What a person takes from a canvas or gives to others. A relay does not know its hosts' invitations. @param {Card} card @returns {import("./menu.js").Item[]} */
function shareItems(card) {
  const copy = copyOf(card.state);
  const link = (/** @type {"view" | "read"} */ role) => copyLink((method, params) => client.request(method, params), session, card.ref.instanceId, role);
  return [
    ...(host ? [] : [
      { text: "Copy a link for someone", icon: /** @type {const} */ ("copy"), run: () => link("view") },
      { text: "Copy a link that only shows", icon: /** @type {const} */ ("copy"), run: () => link("read") },
    ]),
    ...(copy ? [{ text: "Save a copy…", run: () => saveCopy(copy.name, card.readCopy(copy.path)) }] : []),
    ...(card.printable ? [{ text: "Print", run: () => card.print() }] : []),
  ];
}

/** Opens a canvas for the person. @param {any} declaration @returns {Promise<string>} its instance id */
async function openCanvas({ canvasId, extensionId }) {
  const { instanceId } = await client.request("x-ahp-canvas/personOpen", { channel: session, canvasId, extensionId });
  return instanceId;
}

/** Shows a canvas that the person opened, now or when its card arrives. @param {string} id */
function showOpened(id) {
  if (cardOf(id)) show(id);
  else awaited = id;
}
/** An instance that the person opened, whose card has not arrived. */
let awaited = "";

/** Notes which canvas a person uses: the focus in a frame fires no event in this document but blur. */
function noteFocus() {
  const focused = document.activeElement?.closest(".card");
  const card = [...cards.values()].find((one) => one.element === focused);
  if (!card) return;
  if (document.activeElement?.localName === "iframe") card.focused();
  layout.use(card.ref.instanceId);
}
addEventListener("blur", noteFocus);
addEventListener("focusin", noteFocus);

/** @type {import("./card.js").Surroundings["closing"]} */
function closing(channel, title, seconds, focus) {
  undo.add(channel, title, seconds, focus);
  queueMicrotask(() => { layout.apply(); showProblem(); });
}

/** Handles the undo of a close. @param {string} channel */
function stays(channel) {
  undo.remove(channel);
  queueMicrotask(() => { layout.apply(); showProblem(); });
}

/** Hides a canvas from agents that look, or shows it again. @param {string} channel @param {boolean} isPrivate */
const setPrivate = (channel, isPrivate) => client.request("x-ahp-canvas/setPrivate", { channel, isPrivate }).catch((err) => {
  notice(`“${cards.get(channel)?.title}” was not made ${isPrivate ? "private" : "visible to agents"}: ${err.message}`);
  throw err;
});

const emptyText = () => ({
  title: "Nothing is open",
  text: state.canvases?.length ? "What an agent opens appears here at once. You can also open something yourself." : "What an agent opens appears here at once.",
  action: state.canvases?.length ? /** @type {[string, () => void]} */ (["Open a canvas", () => gallery.open()]) : undefined,
});

/** @param {string} channel */
function drop(channel) {
  const card = cards.get(channel);
  if (!card) return;
  const { activeElement } = document;
  const focused = card.element.contains(activeElement);
  client.unsubscribe(channel);
  cards.delete(channel);
  attention.forget({ channel, title: "", element: card.element });
  mounts.forget(card);
  fresh.delete(card.ref.instanceId);
  card.remove();
  layout.release(card.ref.instanceId);
  if (!focused) return;
  const [next] = [...cards.values()].filter((one) => !one.element.hidden);
  // The focus goes to another close button only from one: a person who was typing must not close a canvas by accident.
  if (next && activeElement?.matches(".close")) next.focusClose();
  else byId("canvases").focus();
}

/** Shows a canvas that waits for the person. @param {string} channel */
function showCard(channel) {
  const card = cards.get(channel);
  if (card) show(card.ref.instanceId);
}

/** Shows that a canvas waits for the person, or how far its work is. @param {Card} card */
function announced(card) {
  attention.set({ channel: card.ref.channel, title: card.title, element: card.element }, attentionOf(card.state) || card.asks);
  drawBadges(card.element, attention.reason(card.ref.channel), card.state);
}

function retitled() {
  const names = [...cards.values()].map((c) => c.title);
  document.title = (attention.count ? `(${attention.count}) ` : "") + [names.length === 1 ? names[0] : "", state?.title || "Canvases"].filter(Boolean).join(" – ");
  queueMicrotask(() => switcher.render());
}

byId("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the fragment holds host and session, and must not change
  byId("canvases").focus();
});
followAddress(show);
drawIcons(document);
byId("insecure").hidden = isSecureContext; // false on plain http, except on this machine
if (LOOKING) startLook(() => [...cards.values()][0], () => byId("empty").innerText);
startTheme(byId("theme"), () => cards.forEach((card) => card.setTheme()));
if (!host && !LOOKING) watchHealth(); // a relay does not know its hosts' stores: see startPeople
document.body.dataset.connection = "connecting"; // first.js: the page runs
// No top-level await: WebKit does not report the errors of a module that has one.
if (invitation && !host) redeem(invitation).then(begin);
else begin();

/** Connects, or says why it cannot. @param {Awaited<ReturnType<typeof redeem>>} [redeemed] of the link's invitation */
function begin(redeemed) {
  if (redeemed && "token" in redeemed) token = redeemed.token;
  const why = host && key && (!sealed ? "incomplete" : !crypto.subtle ? "insecure" : "");
  if (why) {
    showConnection("refused", "Not sealed");
    setProblem(SEALING[why]);
  } else if (token) {
    client.start([session], token, host ? { token: invitation ? "" : personAt(host), invitation } : {});
    if (redeemed && "used" in redeemed) notice(`This link was used already, at ${clock(redeemed.used)}. ${SUSPICION}`);
  } else if (redeemed && "used" in redeemed) {
    sayUsed(redeemed.used);
  } else if (redeemed) {
    sayInvalid();
  } else {
    showConnection("refused", "No link");
    setProblem({ title: "This page needs its link.", text: "Open the link that the host prints when it starts. It contains the token that this page needs." });
  }
}

/** @param {string} [at] when this link was used before */
function sayUsed(at) {
  showConnection("refused", "Used link");
  setProblem({ title: `This link was used already, at ${clock(at)}.`, text: `It is good once. ${SUSPICION}` });
}

function sayInvalid() {
  showConnection("refused", "No link");
  setProblem({ title: "This invitation is not valid any more.", text: "An invitation is good once, for ten minutes. Ask for a new link." });
}
