// Swagger UI for an API with one path.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";

const api = { openapi: "3.0.0", info: { title: "Pets", version: "1" }, paths: { "/pets": { get: { responses: { 200: { description: "all pets" } } } } } };
const page = `<!doctype html><meta charset="utf-8"><title>Pets</title><link rel="stylesheet" href="/swagger-ui.css"><div id="ui"></div><script src="/swagger-ui-bundle.js"></script><script>SwaggerUIBundle({ url: "/api.json", dom_id: "#ui" })</script>`;
createServer(async (req, res) => {
  if (req.url === "/") return res.setHeader("Content-Type", "text/html").end(page);
  if (req.url === "/api.json") return res.setHeader("Content-Type", "application/json").end(JSON.stringify(api));
  if (req.url === "/pets") return res.setHeader("Content-Type", "application/json").end(`[{"name":"Rex"}]`);
  try {
    res.setHeader("Content-Type", req.url.endsWith("css") ? "text/css" : "text/javascript").end(await readFile("node_modules/swagger-ui-dist" + req.url));
  } catch {
    res.writeHead(404).end();
  }
}).listen(process.argv[2], "127.0.0.1");
