// A web app for the evidence: it ticks, floods, and counts the requests that must come
// once. Its WebSocket /hot says which module is new, as servers with hot reload do, and
// echoes. Arguments: port, name.
import { createHash } from "node:crypto";
import { createServer } from "node:http";

const [port, name] = process.argv.slice(2);
const asked = new Map();
let flooded = 0;

const now = () => performance.timeOrigin + performance.now();

const page = `<!doctype html><html lang="en"><meta charset="utf-8"><title>${name}</title>
<style>body { font: 16px/1.5 system-ui, sans-serif; margin: 1.5rem } b { font-size: 3rem; font-variant-numeric: tabular-nums }</style>
<p>${name} ticks</p><b id="n">–</b>
<script>
  const now = () => performance.timeOrigin + performance.now();
  window.received = []; window.painted = []; window.numbers = []; window.opened = 0;
  window.source = new EventSource("/ticks");
  source.onopen = () => opened++;
  source.onmessage = ({ data }) => {
    const { n, t } = JSON.parse(data);
    received.push(now() - t); numbers.push(n);
    document.getElementById("n").textContent = n;
    requestAnimationFrame(() => painted.push(now() - t));
  };
</script>`;

// Numbers continue across streams, so a page sees which it has missed.
let n = 0;
const streams = new Set();
setInterval(() => {
  n++;
  for (const res of streams) res.write(`id: ${n}\ndata: ${JSON.stringify({ n, t: now() })}\n\n`);
}, 50);

const chunk = Buffer.alloc(32 << 10, "0123456789abcdef");
function flood(res) {
  const more = () => {
    while (!res.destroyed) {
      flooded += chunk.length;
      if (!res.write(chunk)) return res.once("drain", more);
    }
  };
  more();
}

let version = 0;
const watching = new Set(); // sockets of /hot

/** A frame of a WebSocket, without a mask. */
function framed(kind, bytes) {
  const head = bytes.length < 126 ? Buffer.from([0x80 | kind, bytes.length]) : Buffer.alloc(10, 0);
  if (bytes.length >= 126) {
    head[0] = 0x80 | kind;
    head[1] = 127;
    head.writeBigUInt64BE(BigInt(bytes.length), 2);
  }
  return Buffer.concat([head, bytes]);
}

/** Echoes the frames of a client, and a close frame, fragment by fragment. */
function echo(socket) {
  let rest = Buffer.alloc(0);
  socket.on("data", (more) => {
    rest = Buffer.concat([rest, more]);
    for (;;) {
      if (rest.length < 2) return;
      const short = rest[1] & 127, at = short === 127 ? 10 : short === 126 ? 4 : 2;
      if (rest.length < at + 4) return;
      const size = short === 127 ? Number(rest.readBigUInt64BE(2)) : short === 126 ? rest.readUInt16BE(2) : short;
      if (rest.length < at + 4 + size) return;
      const mask = rest.subarray(at, at + 4), bytes = Buffer.from(rest.subarray(at + 4, at + 4 + size)).map((b, i) => b ^ mask[i % 4]);
      const out = framed(rest[0] & 15, bytes);
      out[0] = rest[0]; // its end and its type
      socket.write(out);
      if ((rest[0] & 15) === 8) socket.end();
      rest = rest.subarray(at + 4 + size);
    }
  });
}

createServer((req, res) => {
  const url = new URL(req.url, "http://127.0.0.1");
  switch (`${req.method} ${url.pathname}`) {
    case "GET /": return res.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page);
    case "GET /ticks":
      res.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
      res.write("retry: 200\n\n");
      streams.add(res);
      return res.on("close", () => streams.delete(res));
    case "GET /flood":
      res.writeHead(200, { "content-type": "application/octet-stream" });
      return flood(res);
    case "GET /flooded": return res.end(String(flooded));
    case "POST /once": {
      const id = url.searchParams.get("id");
      asked.set(id, (asked.get(id) ?? 0) + 1);
      return res.end("ok");
    }
    case "POST /edit":
      version++;
      for (const socket of watching) socket.write(framed(1, Buffer.from(String(version))));
      return res.end("ok");
    case "GET /hot.js": return res.writeHead(200, { "content-type": "text/javascript" }).end(`export const version = ${version};`);
    case "GET /asked": return res.end(JSON.stringify(Object.fromEntries(asked)));
  }
  res.writeHead(404).end();
}).on("upgrade", (req, socket) => {
  const own = [`http://127.0.0.1:${port}`, `http://localhost:${port}`];
  if (req.url !== "/hot" || req.headers["sec-websocket-protocol"] !== "hot" || !own.includes(req.headers.origin)) return socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
  const accept = createHash("sha1").update(`${req.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
  socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Protocol: hot\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`);
  watching.add(socket);
  socket.on("close", () => watching.delete(socket)).on("error", () => {});
  echo(socket);
}).listen(Number(port), "127.0.0.1", () => console.log("listens"));
