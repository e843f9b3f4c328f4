// VS Code's own client of agent hosts, unmodified, against a host:
//   node --import ./register.mjs vscode.mjs WS-URL TOKEN
// It prints one JSON object: what the client saw at each step.
import WebSocket from "ws";

const load = (path) => import("@codingame/monaco-vscode-api/vscode/vs/" + path);
const { AgentHostProtocolClient } = await load("platform/agentHost/browser/agentHostProtocolClient");
const { sessionReducer } = await load("platform/agentHost/common/state/protocol/channels-session/reducer");
const { chatReducer } = await load("platform/agentHost/common/state/protocol/channels-chat/reducer");
const { Emitter, Event } = await load("base/common/event");
const { URI } = await load("base/common/uri");
const [url, token] = process.argv.slice(2);

class Transport {
  #message = new Emitter();
  #closed = new Emitter();
  onMessage = this.#message.event;
  onClose = this.#closed.event;
  connect() {
    return new Promise((resolve, reject) => {
      this.socket = new WebSocket(url, { headers: { Authorization: `Bearer ${token}` } });
      this.socket.on("open", resolve);
      this.socket.on("error", reject);
      this.socket.on("message", (data) => this.#message.fire(JSON.parse(data)));
      this.socket.on("close", () => this.#closed.fire());
    });
  }
  send(message) { this.socket.send(JSON.stringify(message)); }
  dispose() { this.socket?.close(); }
}

const warnings = [];
const log = new Proxy({}, { get: (_, level) => (level === "warn" || level === "error" ? (text) => warnings.push(String(text)) : () => {}) });
const configuration = { getValue: () => undefined, inspect: () => ({}), onDidChangeConfiguration: Event.None };
const trust = { onDidChangeTrustedFolders: Event.None, onDidChangeTrust: Event.None, isWorkspaceTrusted: () => true, getTrustedUris: () => [], isWorkspaceTrustEnabled: () => true };

let transport;
const client = new AgentHostProtocolClient("test", () => (transport = new Transport()), { clientInfo: { name: "vscode-test" } }, log, {}, configuration, { telemetryLevel: 0 }, trust, trust, trust);
const names = async () => (await client.listSessions()).map((s) => s.session.toString()).sort();

const seen = {};
await client.connect();
seen.version = client.initializeResult.get()?.protocolVersion;
seen.sessions = await names();
seen.snapshot = await client.subscribe(URI.parse("canvas:/default"));
const chat = URI.parse(seen.snapshot.state.defaultChat);
seen.chat = await client.subscribe(chat);
await client.createSession({ provider: "canvas", workingDirectory: URI.file("/home/ann"), session: URI.parse("canvas:/made") });
seen.created = await names();

const turn = [];
const complete = new Promise((resolve) => client.onDidAction((e) => {
  if (e.channel !== chat.toString()) return;
  turn.push(e.action.type);
  if (e.action.type === "chat/turnComplete") resolve();
}));
client.dispatchAction(chat.toString(), { type: "chat/turnStarted", turnId: "t", startedAt: new Date().toISOString(), message: { text: "show the board", origin: { kind: "user" } } }, client.clientId, 100);
await complete;
seen.turn = [...turn];

// What VS Code's reducers make of the entries is what a new snapshot has.
const session = URI.parse("canvas:/made");
const { state: made } = await client.subscribe(session);
const talk = URI.parse(made.defaultChat);
const held = { [session.toString()]: made, [talk.toString()]: (await client.subscribe(talk)).state };
const reducers = { session: sessionReducer, chat: chatReducer };
const entries = [];
const settled = new Promise((resolve) => client.onDidAction((e) => {
  const reduce = reducers[e.action.type.split("/")[0]];
  if (!held[e.channel] || !reduce) return;
  if (e.rejectionReason) warnings.push(`${e.action.type}: ${e.rejectionReason}`);
  entries.push(e.action.type);
  held[e.channel] = reduce(held[e.channel], e.action, (text) => warnings.push(text));
  if (entries.filter((type) => type === "chat/turnComplete").length === 2 && entries.at(-1) === "session/chatUpdated") resolve();
}));
let sequence = 200;
const say = (to, action) => client.dispatchAction(to.toString(), action, client.clientId, sequence++);
const start = (turnId) => say(talk, { type: "chat/turnStarted", turnId, startedAt: new Date().toISOString(), message: { text: "more", origin: { kind: "user" } } });
say(talk, { type: "chat/draftChanged", draft: { text: "mo", origin: { kind: "user" } } });
start("u");
say(session, { type: "session/titleChanged", title: "Renamed" });
say(session, { type: "session/isReadChanged", isRead: true });
start("v");
await settled;
seen.entries = entries;
// JSON leaves out members that are undefined, in the order of the names.
const plain = (v) => JSON.stringify(v, (_, o) => (o && typeof o === "object" && !Array.isArray(o) ? Object.fromEntries(Object.entries(o).sort(([a], [b]) => (a < b ? -1 : 1))) : o));
for (const uri of [session, talk]) {
  const { state } = await client.subscribe(uri);
  if (uri === talk) held[uri.toString()].title = state.title; // no action changes it
  if (plain(held[uri.toString()]) !== plain(state)) warnings.push(`reduced: ${plain(held[uri.toString()])}\nsnapshot: ${plain(state)}`);
}

const back = new Promise((resolve) => client.onDidChangeConnectionState((state) => state === "connected" && resolve()));
transport.socket.terminate();
await back;
seen.reconnected = await names();
seen.warnings = warnings;
console.log(JSON.stringify(seen));
process.exit(0);
