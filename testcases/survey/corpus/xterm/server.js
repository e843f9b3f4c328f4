// A terminal: xterm.js in the page, a shell without a pty behind a WebSocket.
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { WebSocketServer } from "ws";

const page = `<!doctype html><meta charset="utf-8"><title>Terminal</title><link rel="stylesheet" href="/css/xterm.css"><div id="t"></div><script src="/lib/xterm.js"></script>
<script>
  const t = new Terminal({ convertEol: true });
  t.open(document.querySelector("#t"));
  const ws = new WebSocket(location.origin.replace("http", "ws") + "/shell", "shell");
  ws.binaryType = "arraybuffer";
  ws.onmessage = (m) => t.write(new Uint8Array(m.data));
  t.onData((text) => { t.write(text.replace("\\r", "\\n")); ws.send(text.replace("\\r", "\\n")); });
</script>`;
const server = createServer(async (req, res) => {
  if (!/^\/(css|lib)\/xterm\.(css|js)$/.test(req.url)) return res.setHeader("Content-Type", "text/html").end(page);
  res.setHeader("Content-Type", req.url.endsWith("css") ? "text/css" : "text/javascript").end(await readFile("node_modules/@xterm/xterm" + req.url));
});
new WebSocketServer({ server }).on("connection", (ws) => {
  const shell = spawn("sh");
  ws.send(Buffer.from("ready\n"));
  for (const out of [shell.stdout, shell.stderr]) out.on("data", (data) => ws.send(data));
  ws.on("message", (data) => shell.stdin.write(data));
  ws.on("close", () => shell.kill());
});
server.listen(process.argv[2], "127.0.0.1");
