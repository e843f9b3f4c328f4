// Takes files and gives them back, and answers with 2 MiB. Its package.json names
// its main module.
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { createCanvas, joinSession } from "@github/copilot-sdk/extension";

const servers = new Map();
const large = Buffer.alloc(2 << 20, "0123456789abcdef");

function start() {
  const kept = new Map();
  const server = createServer(async (req, res) => {
    const name = new URL(req.url, "http://127.0.0.1").pathname;
    if (name === "/") {
      res.writeHead(200, { "content-type": "text/html" });
      res.end(`<!doctype html><title>Files</title><input type="file" id="file"><p id="p"></p><script>
        document.getElementById("file").onchange = async (e) => {
          const file = e.target.files[0];
          const answer = await fetch("/files/" + encodeURIComponent(file.name), { method: "PUT", body: file });
          document.getElementById("p").textContent = (await answer.json()).sha256;
        };
      </script>`);
    } else if (name === "/large") {
      res.writeHead(200, { "content-type": "application/octet-stream", "content-length": large.length }).end(large);
    } else if (name.startsWith("/files/") && req.method === "PUT") {
      const chunks = [];
      for await (const chunk of req) chunks.push(chunk);
      const body = Buffer.concat(chunks);
      kept.set(name, body);
      res.writeHead(201, { "content-type": "application/json" });
      res.end(JSON.stringify({ size: body.length, sha256: createHash("sha256").update(body).digest("hex") }));
    } else if (kept.has(name)) {
      res.writeHead(200, { "content-type": "application/octet-stream" }).end(kept.get(name));
    } else {
      res.writeHead(404).end();
    }
  });
  return new Promise((done) => server.listen(0, "127.0.0.1", () => done(server)));
}

await joinSession({
  canvases: [createCanvas({
    id: "files",
    displayName: "Files",
    description: "Keeps files while it is open",
    open: async ({ instanceId }) => {
      if (!servers.has(instanceId)) servers.set(instanceId, await start());
      return { url: `http://localhost:${servers.get(instanceId).address().port}/` };
    },
    onClose: ({ instanceId }) => {
      servers.get(instanceId)?.close();
      servers.delete(instanceId);
    },
  })],
});
