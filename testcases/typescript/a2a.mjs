// An A2UI agent made with the official A2A SDK, for the tests of package remote:
//
//     node a2a.mjs v0|v1 stream|whole [extension]
//
// It prints its base address, and on each request a line with what it received. It draws
// a booking form, confirms a submitted one, and reports errors in plain text.
import { createInterface } from "node:readline";
import express from "express";

const [version, mode, extension = "https://a2ui.org/a2a-extension/a2ui/v0.9"] = process.argv.slice(2);
const v1 = version === "v1";
const { InMemoryTaskStore, DefaultRequestHandler } = await import(v1 ? "a2a-v1/server" : "a2a-v0/server");
const { agentCardHandler, jsonRpcHandler, UserBuilder } = await import(v1 ? "a2a-v1/server/express" : "a2a-v0/server/express");
const { AgentEvent, TaskState } = v1 ? { ...(await import("a2a-v1/server")), ...(await import("a2a-v1")) } : {};

const CATALOG = "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json";
const form = [
  { version: "v0.9", deleteSurface: { surfaceId: "booking" } }, // of the last booking
  { version: "v0.9", createSurface: { surfaceId: "booking", catalogId: CATALOG, sendDataModel: true } },
  { version: "v0.9", updateComponents: { surfaceId: "booking", components: [
    { id: "root", component: "Column", children: ["name", "send"] },
    { id: "name", component: "TextField", label: "Name", value: { path: "/name" } },
    { id: "send", component: "Button", child: "label", action: { event: { name: "submit_booking", context: { name: { path: "/name" } } } } },
    { id: "label", component: "Text", text: "Book" },
  ] } },
  { version: "v0.9", updateDataModel: { surfaceId: "booking", path: "/", value: { name: "Ada" } } },
];
const confirmed = (name) => [{ version: "v0.9", updateComponents: { surfaceId: "booking", components: [{ id: "root", component: "Text", text: `Booked for ${name}` }] } }];

/** The parts of A2UI messages: data is an object in 0.3, and a list from 1.0 on. */
function dataParts(messages) {
  const metadata = { mimeType: "application/json+a2ui" };
  if (!v1) return messages.map((data) => ({ kind: "data", data, metadata }));
  return [{ content: { $case: "data", value: messages }, metadata, filename: "", mediaType: "application/json+a2ui" }];
}
const textPart = (text) => (v1 ? { content: { $case: "text", value: text }, metadata: undefined, filename: "", mediaType: "" } : { kind: "text", text });

/** What the agent received, as plain JSON. */
function plain(message) {
  const part = (p) => (v1 ? { [p.content?.$case]: p.content?.value, metadata: p.metadata } : p);
  return { parts: message.parts.map(part), metadata: message.metadata, contextId: message.contextId, taskId: message.taskId };
}

class Executor {
  async execute(request, bus) {
    const message = plain(request.userMessage);
    console.log(JSON.stringify({ received: message, task: request.taskId, known: Boolean(request.task) }));
    const actions = message.parts.flatMap((p) => p.data ?? []).map((m) => m.action).filter(Boolean);
    const text = message.parts.map((p) => p.text ?? "").join("");
    const ids = { taskId: request.taskId, contextId: request.contextId };
    if (text === "just talk") {
      this.message(bus, ids, [textPart("Hello.")]);
      return bus.finished();
    }
    if (!request.task) this.task(bus, ids);
    else if (v1) this.publish(bus, "task", request.task); // a 1.0 stream begins with the task
    this.status(bus, ids, "working", [textPart("Looking for tables")], false);
    if (actions.some((a) => a.name === "submit_booking")) {
      this.artifact(bus, ids, dataParts(confirmed(actions[0].context.name)));
      this.status(bus, ids, "completed", [textPart("Done.")], true);
    } else {
      this.status(bus, ids, "input-required", [textPart("Please fill this in."), ...dataParts(form)], true);
    }
    bus.finished();
  }

  async cancelTask() {}

  publish(bus, kind, value) {
    bus.publish(v1 ? AgentEvent[kind](value) : value);
  }
  state(name) {
    return v1 ? TaskState[`TASK_STATE_${name.toUpperCase().replaceAll("-", "_")}`] : name;
  }
  agentMessage({ taskId, contextId }, parts) {
    const base = { messageId: crypto.randomUUID(), taskId, contextId, parts };
    return v1 ? { ...base, role: 2, metadata: undefined, extensions: [], referenceTaskIds: [] } : { ...base, kind: "message", role: "agent" };
  }
  message(bus, { contextId }, parts) {
    this.publish(bus, "message", this.agentMessage({ contextId, taskId: v1 ? "" : undefined }, parts));
  }
  task(bus, { taskId, contextId }) {
    const status = { state: this.state("submitted"), message: undefined, timestamp: new Date().toISOString() };
    this.publish(bus, "task", { ...(v1 ? {} : { kind: "task" }), id: taskId, contextId, status, history: [], artifacts: [], metadata: v1 ? undefined : {} });
  }
  status(bus, ids, state, parts, final) {
    const status = { state: this.state(state), message: this.agentMessage(ids, parts), timestamp: new Date().toISOString() };
    this.publish(bus, "statusUpdate", { ...(v1 ? {} : { kind: "status-update", final }), ...ids, status, metadata: v1 ? undefined : {} });
  }
  artifact(bus, ids, parts) {
    const artifact = { artifactId: crypto.randomUUID(), name: "ui", description: "", parts, metadata: undefined, extensions: [] };
    this.publish(bus, "artifactUpdate", { ...(v1 ? {} : { kind: "artifact-update" }), ...ids, artifact, append: false, lastChunk: true, metadata: v1 ? undefined : {} });
  }
}

function cardOf(url) {
  const capabilities = { streaming: mode === "stream", pushNotifications: false, extensions: [{ uri: extension, required: false, description: "", params: undefined }] };
  const base = { name: "finder", description: "Finds restaurants.", version: "1.0.0", capabilities, defaultInputModes: ["text"], defaultOutputModes: ["text"], skills: [] };
  if (!v1) return { ...base, protocolVersion: "0.3.0", url, preferredTransport: "JSONRPC" };
  return { ...base, supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0", tenant: "" }], securitySchemes: {}, securityRequirements: [], signatures: [], provider: undefined, documentationUrl: undefined, iconUrl: undefined };
}

const app = express();
app.use((req, res, next) => {
  if (req.method === "POST") console.log(JSON.stringify({ headers: req.headers }));
  next();
});
const server = app.listen(0, "127.0.0.1", () => {
  const base = `http://127.0.0.1:${server.address().port}`;
  const requestHandler = new DefaultRequestHandler(cardOf(`${base}/a2a`), new InMemoryTaskStore(), new Executor());
  app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler }));
  app.use("/a2a", jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
  console.log(JSON.stringify({ base }));
});
createInterface({ input: process.stdin }).on("close", () => process.exit(0)); // ends with the test
