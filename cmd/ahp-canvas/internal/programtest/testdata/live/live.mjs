// A web app for the evidence: it ticks, floods, and counts the requests that must come
// once. Arguments: port, name.
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
    case "GET /asked": return res.end(JSON.stringify(Object.fromEntries(asked)));
  }
  res.writeHead(404).end();
}).listen(Number(port), "127.0.0.1", () => console.log("listens"));
