// A canvas extension: this program declares a canvas, and serves a page for each open one.
// Node runs it; "ahp-canvas extension logs" prints what it writes to standard error.
import { createServer } from "node:http";
import { createCanvas, joinSession } from "./session.mjs";

const open = new Map(); // by instanceId: the lines of the list and its server

const escape = (text) => text.replace(/[&<]/g, (c) => (c === "&" ? "&amp;" : "&lt;"));

const page = (lines) => `<!doctype html>
<meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>List</title>
<h1>List</h1>
<ul>${lines.map((line) => `<li>${escape(line)}`).join("")}</ul>
<form method="post"><input name="line" required autofocus> <button>Add</button></form>`;

async function serve(list, req, res) {
  if (req.method === "POST") {
    let body = "";
    for await (const chunk of req) body += chunk;
    const line = new URLSearchParams(body).get("line") ?? "";
    list.lines.push(line);
    await session.send({ prompt: `The user added ${JSON.stringify(line)} to the list.` });
    res.writeHead(303, { location: "/" }).end();
    return;
  }
  res.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page(list.lines));
}

const session = await joinSession({
  canvases: [createCanvas({
    id: "list",
    displayName: "List",
    description: "A list that the agent and the user write together",
    actions: [{
      name: "add",
      description: "Adds a line",
      inputSchema: { type: "object", properties: { line: { type: "string" } }, required: ["line"] },
      handler: ({ instanceId, input }) => ({ lines: open.get(instanceId).lines.push(input.line) }),
    }],
    open: async ({ instanceId }) => {
      if (!open.has(instanceId)) {
        const list = { lines: [] };
        list.server = createServer((req, res) => serve(list, req, res).catch((error) => res.writeHead(500).end(String(error))));
        await new Promise((done) => list.server.listen(0, "127.0.0.1", done));
        open.set(instanceId, list);
      }
      return { url: `http://127.0.0.1:${open.get(instanceId).server.address().port}/`, title: "List" };
    },
    onClose: ({ instanceId }) => {
      open.get(instanceId)?.server.close();
      open.delete(instanceId);
    },
  })],
});
