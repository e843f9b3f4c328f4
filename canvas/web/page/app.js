// @ts-check
// The page: an AHP client that mirrors one session. Each open canvas has a card; those that
// a person sees are mounted.
import { addressed, followAddress, setAddress } from "./address.js";
import { Client } from "./ahp.js";
import { Attention } from "./attention.js";
import { attentionOf, drawBadges } from "./badges.js";
import { bridged } from "./bridged.js";
import { Card } from "./card.js";
import { cardMenu } from "./cardmenu.js";
import { entriesOf } from "./entries.js";
import { followFocus } from "./focus.js";
import { Gallery } from "./gallery.js";
import { Reader } from "./content.js";
import { BASE } from "./base.js";
import { keepPerson, LOOKING, openedLink, personAt, redeem, takeKey } from "./key.js";
import { showHealth, watchHealth } from "./health.js";
import { drawIcons } from "./icons.js";
import { keepOnly, onChanged } from "./kept.js";
import { closeLast } from "./layers.js";
import { Layout } from "./layout.js";
import { lookAt, startLook } from "./look.js";
import { openMenu } from "./menu.js";
import { Mounts } from "./mounts.js";
import { decodeKey } from "./noise.js";
import { prepareOffline } from "./offline.js";
import { Panel } from "./panel.js";
import { startPeople } from "./people.js";
import { Pictures } from "./pictures.js";
import { setPrivate } from "./privacy.js";
import { Problems, usedNotice } from "./problems.js";
import { reduceCanvas, reduceSession, statusText } from "./state.js";
import { Switcher } from "./switcher.js";
import { currentTheme, startTheme } from "./theme.js";
import { Timeline } from "./timeline.js";
import { byId, notice, skipLink, soon } from "./ui.js";
import { UndoBar } from "./undo.js";

const { token: kept, view, invitation, session, host, key } = takeKey();
let token = kept;
const contentOrigin = /** @type {HTMLMetaElement} */ (document.querySelector("meta[name=content-origin]")).content;
/** Whose canvases these are: those of two hosts or sessions share nothing in this browser. */
const home = JSON.stringify([host, key, session]);

/** @type {any} SessionState; undefined until the first snapshot */
let state;
/** The one instance that a page for pictures shows */ let looked = "";
/** @type {Map<string, Card>} by channel */
const cards = new Map();
/** Canvases that were opened and not seen yet. @type {Set<string>} by instance id */ const fresh = new Set();
const mounts = new Mounts();
const pictures = new Pictures();
const layout = new Layout(byId("canvases"), session, soon(arranged)); // the cards of one change are adopted first
const switcher = new Switcher({
  entries: () => entriesOf(layout, cardOf, fresh, (channel) => attention.reason(channel)), show, beside: (id) => layout.beside(id), menu: openMenuOf, split: (...to) => layout.splitAt(...to),
  picture: (id) => pictures.of(cardOf(id)), refresh: () => pictures.refresh(cards.values()),
});
const gallery = new Gallery((declaration) => openCanvas(declaration), showOpened);

const socket = new URL(host ? `ahp/${encodeURIComponent(host)}` : "ahp", BASE);
socket.protocol = socket.protocol.replace("http", "ws");
const sealed = host && key ? decodeKey(key) : undefined;
const client = new Client(socket, { status: (s) => problems.status(s), snapshot, action, missing, request, made: (token) => keepPerson(host, token) }, host && openedLink(), sealed && { key: sealed, host });
const reader = new Reader(client);
const timeline = new Timeline(session, client.clientId, (method, params) => client.request(method, params));
const attention = new Attention(showCard, () => retitled());
const undo = new UndoBar((method, params) => client.request(method, params), (c, a) => client.dispatch(c, a));
const problems = new Problems({
  host, key, view, session, token: () => token, state: () => state, cards, note: (text) => timeline.note(text), ready: () => { askPeople(); prepareOffline(); },
  retry: () => client.retryNow(), gallery: () => gallery.open(),
});
const askPeople = LOOKING ? () => {} : startPeople(session, (method, params) => client.request(method, params), host ? showHealth : () => {});

/** @param {string} channel @param {any} next */
function snapshot(channel, next) {
  if (channel === session) setSession(next);
  else cards.get(channel)?.update(next);
}

/** @param {import("./ahp.js").Envelope} e */
function action(e) {
  const own = e.origin?.clientId === client.clientId ? e.origin : undefined;
  const card = cards.get(e.channel);
  if (bridged(card, e, own !== undefined)) return;
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
  return lookAt(card, () => mounts.wake(card)).then((seen) => ({ ...seen, theme: currentTheme().mode }));
}

/** @param {string} channel @param {string} reason */
function missing(channel, reason) {
  if (channel === session) {
    setSession(undefined);
    problems.noSession();
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
  setOpen((state?.openCanvases ?? []).filter((/** @type {any} */ ref) => !LOOKING || ref.instanceId === looked), news);
  problems.ofSession();
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
  if (state && !LOOKING) keepOnly(home, refs.map((ref) => ref.channel));
  layout.prepare(refs.map((ref) => ref.instanceId));
  const first = cards.size === 0, added = /** @type {string[]} */ ([]);
  for (const ref of refs) {
    let card = cards.get(ref.channel);
    if (!card) {
      card = new Card(ref, { contentOrigin, home, theme: currentTheme, read: (...what) => reader.read(...what), dispatch: (c, a) => client.dispatch(c, a), subscribe: (c) => client.subscribe(c), setPrivate: (card, is) => setPrivate((method, params) => client.request(method, params), card, is), retitled, announced, loaded: (c) => pictures.loaded(c), request: (method, params) => client.request(method, params), ask: (c, run) => attention.ask(c, run), menu: (of, button) => openMenuOf(of.ref.instanceId, button), escape: closeLast, clientId: client.clientId, closing, kept: stays, panel: new Panel(layout), declaration: (of) => state?.canvases?.find((/** @type {any} */ d) => d.canvasId === of?.canvasId && d.extensionId === of?.extensionId) });
      pictures.watch(card);
      card.setTheme();
      card.connected(document.body.dataset.connection === "ready");
      cards.set(ref.channel, card);
      byId("canvases").append(card.element);
      if (news) fresh.add(ref.instanceId);
      layout.adopt(ref.instanceId, card.element);
      added.push(ref.instanceId);
    }
    card.ref = ref;
    card.render();
  }
  if (added.length) layout.apply();
  if (first && addressed()) layout.show(addressed());
  if (awaited && cardOf(awaited)) {
    show(awaited);
    awaited = "";
  }
  for (const { ref } of cardsOf(layout.seenFirst(added))) client.subscribe(ref.channel);
}

/** @param {string} id of an instance */
const cardOf = (id) => [...cards.values()].find((card) => card.ref.instanceId === id);
const cardsOf = (/** @type {string[]} */ ids) => ids.flatMap((id) => cardOf(id) ?? []);

/** Mounts what is visible now, and shows the change in the switcher. */
function arranged() {
  const { visible } = layout;
  mounts.see(cardsOf(visible));
  for (const card of cards.values()) card.arranged(layout.maximized === card.ref.instanceId);
  if (!document.hidden) visible.forEach((id) => fresh.delete(id));
  switcher.render();
}
document.addEventListener("visibilitychange", arranged);
followFocus(() => cards.values(), (id) => layout.use(id));

/** Shows a canvas because a person chose it. @param {string} id */
function show(id) {
  const card = cardOf(id);
  if (!card) return;
  layout.show(id);
  setAddress(id);
  byId("canvases").focus();
  card.element.scrollIntoView({ block: "nearest" });
  card.frame.focus();
}

/** @type {import("./share.js").Sharing} At a relay, a link has the relay's token, too. */
const sharing = { session, relay: host ? { tkn: token, host, ...(key && { key }) } : {}, request: (method, params) => client.request(method, params) };

/** @param {string} id of a canvas @param {HTMLElement} button */
function openMenuOf(id, button) {
  const card = cardOf(id);
  openMenu(button, card ? cardMenu(card, layout, show, sharing) : []);
}

/** Opens a canvas for the person. @param {any} declaration @returns {Promise<string>} its instance id */
const openCanvas = async ({ canvasId, extensionId }) => (await client.request("x-ahp-canvas/personOpen", { channel: session, canvasId, extensionId })).instanceId;

/** Shows a canvas that the person opened, now or when its card arrives. @param {string} id */
function showOpened(id) {
  if (cardOf(id)) show(id);
  else awaited = id;
}
/** An instance that the person opened, whose card has not arrived. */ let awaited = "";

/** @type {import("./card.js").Surroundings["closing"]} */
function closing(channel, title, seconds, focus) {
  undo.add(channel, title, seconds, focus);
  queueMicrotask(() => { layout.apply(); problems.show(); });
}

/** Handles the undo of a close. @param {string} channel */
function stays(channel) {
  undo.remove(channel);
  queueMicrotask(() => { layout.apply(); problems.show(); });
}

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
  pictures.forget(card);
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
  show(cards.get(channel)?.ref.instanceId ?? "");
}

/** Shows that a canvas waits for the person, or how far its work is. @param {Card} card */
function announced(card) {
  attention.set({ channel: card.ref.channel, title: card.title, element: card.element }, attentionOf(card.state) || card.asks);
  drawBadges(card.element, attention.reason(card.ref.channel), card.state);
}

const retitled = soon(() => {
  const names = [...cards.values()].map((c) => c.title);
  document.title = (attention.count ? `(${attention.count}) ` : "") + [names.length === 1 ? names[0] : "", state?.title || "Canvases"].filter(Boolean).join(" – ");
  switcher.render();
});

skipLink(byId("skip"), byId("canvases"));
followAddress(show);
drawIcons(document);
byId("insecure").hidden = isSecureContext; // false on plain http, except on this machine
if (LOOKING) startLook(contentOrigin, (id) => { looked = id; if (state) setSession(state); }, () => [...cards.values()][0], () => byId("empty").innerText);
startTheme(byId("theme"), () => { cards.forEach((card) => card.setTheme()); switcher.drawPictures(); pictures.themed(cards).then(() => switcher.drawPictures()); });
onChanged(() => cards.forEach((card) => card.frame.keptChanged()));
if (!host && !LOOKING) watchHealth(); // a relay does not know its hosts' stores: see startPeople
document.body.dataset.connection = "connecting"; // first.js: the page runs
// No top-level await: WebKit does not report the errors of a module that has one.
if (invitation && !host) redeem(invitation).then(begin);
else begin();

/** Connects, or says why it cannot. @param {Awaited<ReturnType<typeof redeem>>} [redeemed] of the link's invitation */
function begin(redeemed) {
  if (redeemed && "token" in redeemed) token = redeemed.token;
  const why = host && key && (!sealed ? "incomplete" : !crypto.subtle ? "insecure" : "");
  if (why) return problems.notSealed(why);
  if (!token) return problems.noToken(redeemed);
  client.start([session], token, host ? { token: invitation ? "" : view || personAt(host), invitation } : {});
  if (redeemed && "used" in redeemed) notice(usedNotice(redeemed.used));
}
