// @ts-check
// The page that a chat mounts for every canvas (MCP Apps). It is the View of the chat's
// protocol, and the renderer of a canvas: the canvas runs in a nested frame with an opaque
// origin, and nothing of it runs here. The ticket stays in this closure.
import { View } from "../../web/page/view.js";
import { Attachment, retryLater, sleep, touch } from "./attachment.js";
import { fromChat, notify, openLink, request } from "./chat.js";
import { report } from "./context.js";
import { byId, HOST_SILENT, setText, unveilHost, veil } from "./dom.js";
import { serveFile } from "./files.js";
import { ChatLinks } from "./links.js";
import { Height, theme } from "./looks.js";
import { watchSight } from "./seen.js";

const PROTOCOL = "2026-01-26";
const META = "ahp-canvas/view";
const BYE_WITHIN = 900; // ms

/** @type {any} */ let capabilities = {};
/** @type {any} */ let context = {};
/** @type {any} */ let shownTheme;
const height = new Height(() => context, () => byId("bar").offsetHeight + byId("offer").offsetHeight);

function applyContext() {
  const now = theme(context);
  if (JSON.stringify(now) !== JSON.stringify(shownTheme)) {
    shownTheme = now;
    view.update({ theme: now });
    inner?.contentWindow?.postMessage({ "x-ahp": "theme", theme: now }, "*");
  }
  const full = byId("full");
  full.hidden = !context.availableDisplayModes?.includes?.("fullscreen");
  full.setAttribute("aria-pressed", String(context.displayMode === "fullscreen"));
  height.update();
}

byId("full").addEventListener("click", async () => {
  const mode = context.displayMode === "fullscreen" ? "inline" : "fullscreen";
  const answer = await request("ui/request-display-mode", { mode }).catch(() => undefined);
  if (answer?.mode) context = { ...context, displayMode: answer.mode };
  applyContext();
});

// The canvas.

const links = new ChatLinks(() => capabilities, () => height.update());
/** @type {{ channel: string, ticket: string } | undefined} */ let canvas;
/** The link of a result, for a chat that drops the ticket. @type {string | undefined} */ let givenLink;
/** @type {HTMLIFrameElement | undefined} */ let inner;
let tag = "";
/** @type {Attachment | undefined} */ let at;
let seen = true, paused = false, closed = false, attaching = false;

const view = new View((action) => at?.say(action.payload), () => { tag = ""; show().catch(() => {}); }, links);

/** @param {any} result of open_canvas */
function begin(result) {
  const given = result?._meta?.[META];
  const link = result?.structuredContent?.link;
  givenLink = typeof link === "string" ? link : undefined;
  if (typeof given?.channel !== "string" || typeof given?.ticket !== "string") {
    const texts = (result?.content ?? []).filter((/** @type {any} */ c) => c?.type === "text").map((/** @type {any} */ c) => String(c.text));
    const words = texts[0] ?? "There is no canvas in this result.";
    return card(result?.isError ? words : words.replace(/\. .*/s, "."), givenLink !== undefined); // what follows is for the model
  }
  if (!capabilities.serverTools) return card("This chat does not let canvases talk to their host.", givenLink !== undefined);
  canvas = { channel: given.channel, ticket: given.ticket };
  closed = paused = false;
  at?.leave();
  at = undefined;
  tag = "";
  attach();
}

/** Attaches a new View, until it succeeds or the canvas is closed. */
async function attach() {
  if (attaching || closed || paused || !seen || !canvas) return;
  attaching = true;
  try {
    for (let n = 0; !closed && !paused && seen; n++) {
      drop();
      const mine = at = new Attachment(canvas, owner);
      try {
        const same = await show();
        if (at !== mine) continue;
        veil("");
        if (same) missed();
        mine.poll();
        return;
      } catch (err) {
        if (owner.failed(err)) return;
        await retryLater(n);
      }
    }
  } finally {
    attaching = false;
  }
}

/** @type {import("./attachment.js").Owner} */
const owner = {
  receive(answer, messages) {
    if (answer.lost) missed();
    for (const { seq, reason } of answer.echoes ?? []) view.echoed(seq, reason);
    for (const m of messages) receive(m);
    if (answer.gone) ended();
  },
  echoed: (seq, reason) => view.echoed(seq, reason),
  answered: unveilHost,
  failed(err) {
    if (err?.code === "canvas_instance_not_found") {
      ended();
      return true;
    }
    if (err?.code && err.code !== "canvas_view_lost") {
      drop();
      card(err.message);
      return true;
    }
    if (!err?.code) veil(HOST_SILENT);
    return false;
  },
  lost() {
    drop();
    attach();
  },
  idle() {
    pause("Paused.");
  },
};
links.flooded = () => pause("This canvas was stopped. It kept sending hundreds of messages a second.");

/** Ends the View until the person presses Continue. @param {string} words */
function pause(words) {
  paused = true;
  leave();
  card(words);
}

/** Handles messages to the canvas that may be lost. */
function missed() {
  view.reconnected();
  view.missed();
}

/** Forgets a View that the host does not have. */
function drop() {
  if (at) at.ended = true;
  at = undefined;
}

function ended() {
  closed = true;
  drop();
  card("This canvas was closed. Ask for it again.");
}

/** @param {any} m a state, a reload, events or a payload */
function receive(m) {
  if (m.state) {
    head(m.state);
    if (m.state.availability === "ready" && !inner) show().catch(() => {});
  } else if (m.reload) {
    show().catch(() => {});
  } else if (m.events) {
    if (capabilities.updateModelContext) report(m.events, () => byId("title").textContent);
  } else {
    view.receive(m.payload);
  }
}

/** Reads the document and shows it. @param {string} [path] @returns {Promise<boolean>} whether it is shown already */
async function show(path) {
  const mine = at;
  if (!mine) return false;
  /** @param {any} more */
  const read = (more) => mine.read({ ...(path ? { path } : {}), ...more });
  const first = await read(inner && tag ? { tag } : {});
  if (at !== mine) return false;
  head(first);
  if (first.kind === "same") return true;
  if (first.kind !== "document") {
    card(first.words ?? "This canvas cannot be shown here.", true);
    return false;
  }
  let text = first.text;
  for (let part = 1; part < first.parts; part++) text += (await read({ part })).text ?? "";
  if (at !== mine) return false;
  tag = first.tag;
  mount(text);
  return false;
}

/** @param {{ title: string, status?: string, availability: string, input?: any, links?: boolean }} state */
function head(state) {
  byId("bar").hidden = false;
  setText(byId("title"), state.title);
  document.title = state.title;
  setText(byId("status"), state.status ?? "");
  links.allowed = state.links === true;
  view.update({ input: state.input });
  veil(state.availability === "ready" ? "" : "Not up to date: the program that provides this canvas does not run now.");
}

/** @param {string} html */
function mount(html) {
  inner?.remove();
  view.disconnect();
  byId("card").hidden = true;
  inner = document.createElement("iframe");
  inner.setAttribute("sandbox", "allow-scripts");
  inner.setAttribute("allow", "");
  inner.title = byId("title").textContent;
  shownTheme = theme(context);
  view.update({ theme: shownTheme });
  inner.srcdoc = html.replace('"{ahp-theme}"', () => JSON.stringify(shownTheme).replaceAll("<", "\\u003c"));
  byId("stage").append(inner);
  byId("stage").setAttribute("aria-busy", "false");
  height.reset();
}

/** @param {string} words @param {boolean} [way] whether the page can show it */
function card(words, way = false) {
  inner?.remove();
  inner = undefined;
  tag = "";
  view.disconnect();
  veil("");
  setText(byId("words"), words);
  byId("open").hidden = !way;
  byId("again").hidden = !paused;
  byId("link").hidden = true;
  byId("card").hidden = false;
  byId("stage").setAttribute("aria-busy", "false");
  height.reset();
}

byId("open").addEventListener("click", async () => {
  const link = at ? (await at.read({ link: true }).catch(() => undefined))?.link : givenLink;
  if (!link) return setText(byId("words"), "The canvas page has no address that can be opened from here.");
  if (await openLink(link, capabilities)) return;
  setText(byId("link"), link);
  byId("link").hidden = false;
});

byId("again").addEventListener("click", () => {
  paused = false;
  touch();
  attach();
});

/** Ends the View, here and in the host. The document stays for the next attachment. */
async function leave() {
  const mine = at;
  at = undefined;
  await mine?.leave();
}

watchSight((now) => {
  seen = now;
  if (!now) return void leave();
  touch();
  attach();
});
addEventListener("pagehide", () => { leave(); });

// The chat.

/** @type {Record<string, (params: any) => void>} */
const notifications = {
  "ui/notifications/tool-result": (result) => begin(result),
  "ui/notifications/tool-cancelled": ({ reason }) => card(reason || "The call was canceled."),
  "ui/notifications/host-context-changed": (change) => { context = { ...context, ...change }; applyContext(); },
};

/** @type {Record<string, () => Promise<any>>} */
const requests = {
  "ui/resource-teardown": async () => { await Promise.race([leave(), sleep(BYE_WITHIN)]); return {}; },
  ping: async () => ({}),
};

addEventListener("message", ({ data, source, ports }) => {
  if (source === parent) return void fromChat(data, notifications, requests);
  if (!inner || source !== inner.contentWindow) return;
  const kind = data?.["x-ahp"];
  if (kind === "view" && ports[0]) view.connect(ports[0]);
  if (kind === "bye") view.disconnect();
  if (kind === "height") height.measured(data);
  if (kind === "fetch" && ports[0]) serveFile(data, ports[0], at && ((more) => at?.read(more) ?? Promise.reject()));
  if (kind === "go" && typeof data.path === "string" && data.path.startsWith("/")) show(data.path).catch(() => {});
  if (data?.type === "canvas/message") view.fromDocument(data.payload);
});

request("ui/initialize", {
  protocolVersion: PROTOCOL,
  appInfo: { name: "ahp-canvas", version: "1" },
  appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
}).then((answer) => {
  capabilities = answer?.hostCapabilities ?? {};
  context = answer?.hostContext ?? {};
  notify("ui/notifications/initialized"); // before a size
  applyContext();
  setTimeout(() => height.update());
});
