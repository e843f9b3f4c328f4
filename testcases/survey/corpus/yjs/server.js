// Serves what Vite built, and rooms of y-websocket.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { WebSocketServer } from "ws";

const { setupWSConnection } = createRequire(import.meta.url)("y-websocket/bin/utils");
const types = { js: "text/javascript", html: "text/html", css: "text/css" };
const server = createServer(async (req, res) => {
  const path = req.url === "/" ? "/index.html" : req.url;
  try {
    res.setHeader("Content-Type", types[path.split(".").at(-1)] ?? "text/plain").end(await readFile("dist" + path));
  } catch {
    res.writeHead(404).end();
  }
});
new WebSocketServer({ server }).on("connection", setupWSConnection);
server.listen(process.argv[2], "127.0.0.1");
