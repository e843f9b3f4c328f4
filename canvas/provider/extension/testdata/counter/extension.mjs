// A board of counters: the page hears of changes over Server-Sent Events and
// makes them with POST; the agent makes them with actions.
import { createServer } from "node:http";
import { CanvasError, createCanvas, joinSession } from "@github/copilot-sdk/extension";

const boards = new Map(); // by instanceId: what open may be called for again

const page = `<!doctype html>
<meta charset="utf-8"><title>Counters</title>
<h1 id="title"></h1><ul id="list"></ul>
<form id="add"><input name="name" required><button>Add</button></form>
<script>
  const list = document.getElementById("list");
  const post = (path, body) => fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  function draw(state) {
    document.getElementById("title").textContent = state.title;
    list.replaceChildren(...Object.entries(state.counters).map(([name, n]) => {
      const item = document.createElement("li");
      const button = document.createElement("button");
      button.textContent = name + ": " + n;
      button.onclick = () => post("/api/count", { name });
      item.append(button);
      return item;
    }));
  }
  const events = new EventSource("/events");
  events.onmessage = (e) => draw(JSON.parse(e.data));
  document.getElementById("add").onsubmit = (e) => {
    e.preventDefault();
    post("api/count", { name: new FormData(e.target).get("name") });
    e.target.reset();
  };
</script>`;

class Board {
  constructor(title) {
    this.state = { title, counters: {} };
    this.clients = new Set();
  }

  async listen() {
    this.server = createServer((req, res) => this.serve(req, res));
    await new Promise((done) => this.server.listen(0, "127.0.0.1", done));
    this.url = `http://127.0.0.1:${this.server.address().port}/`;
  }

  count(name, by = 1) {
    this.state.counters[name] = (this.state.counters[name] ?? 0) + by;
    for (const res of this.clients) res.write(`data: ${JSON.stringify(this.state)}\n\n`);
    return this.state.counters[name];
  }

  async serve(req, res) {
    if (req.method === "GET" && req.url === "/") {
      res.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page);
    } else if (req.url === "/events") {
      res.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
      res.write(`data: ${JSON.stringify(this.state)}\n\n`);
      this.clients.add(res);
      req.on("close", () => this.clients.delete(res));
    } else if (req.method === "POST" && req.url === "/api/count") {
      let body = "";
      for await (const chunk of req) body += chunk;
      const { name } = JSON.parse(body);
      const n = this.count(name);
      session.send({ prompt: `The user set ${name} to ${n}.` }).catch(() => {});
      res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ name, n }));
    } else {
      res.writeHead(404).end();
    }
  }

  close() {
    for (const res of this.clients) res.end();
    this.server.close();
  }
}

const board = (instanceId) => {
  const found = boards.get(instanceId);
  if (!found) throw new CanvasError("not_found", `there is no board ${instanceId}`);
  return found;
};

const session = await joinSession({
  canvases: [createCanvas({
    id: "counters",
    displayName: "Counters",
    description: "Counts things, together with the user",
    inputSchema: { type: "object", properties: { title: { type: "string" } } },
    actions: [
      {
        name: "count",
        description: "Count one up",
        inputSchema: { type: "object", properties: { name: { type: "string" }, by: { type: "integer" } }, required: ["name"] },
        handler: ({ instanceId, input }) => ({ n: board(instanceId).count(input.name, input.by) }),
      },
      {
        name: "reset",
        description: "Refuses: nothing is ever forgotten",
        handler: () => { throw new CanvasError("workspace_unavailable", "nothing is ever forgotten"); },
      },
      { name: "break", description: "Throws", handler: () => { throw new Error("it broke"); } },
      { name: "unset", description: "Has no handler" },
      { name: "crash", description: "Ends the process", handler: () => { console.error("crashing as asked"); process.exit(5); } },
      { name: "where", description: "Says where it runs", handler: ({ session: s }) => ({ workspace: session.workspacePath, workingDirectory: s?.workingDirectory, ui: session.capabilities.ui }) },
      {
        name: "read",
        description: "Asks the host for what it does not have",
        handler: async () => {
          try {
            await session.getEvents();
          } catch (error) {
            return { code: error.code, message: error.message };
          }
        },
      },
    ],
    open: async ({ instanceId, input }) => {
      let b = boards.get(instanceId);
      if (!b) {
        b = new Board(input?.title ?? "Counters");
        boards.set(instanceId, b);
        await b.listen();
      }
      return { url: b.url, title: b.state.title, status: "counting" };
    },
    onClose: ({ instanceId }) => {
      boards.get(instanceId)?.close();
      boards.delete(instanceId);
    },
  })],
});
await session.log("counters are ready");
