// A page that only the first url opens: it carries a token, which the page's
// requests repeat as a header and a cookie.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { createCanvas, joinSession } from "@github/copilot-sdk/extension";

const servers = new Map();

function start() {
  const token = randomUUID();
  let secret = 0;
  const server = createServer((req, res) => {
    const url = new URL(req.url, "http://127.0.0.1");
    const known = url.searchParams.get("token") === token || req.headers["x-token"] === token;
    if (!known) {
      res.writeHead(403).end("no token");
    } else if (url.pathname === "/app/") {
      res.writeHead(200, { "content-type": "text/html", "set-cookie": `seen=${token}; HttpOnly; Path=/` });
      res.end(`<!doctype html><title>Token</title><p id="p">…</p><script>
        const token = new URL(location.href).searchParams.get("token");
        fetch("secret", { headers: { "x-token": token } }).then((r) => r.json()).then((v) => { document.getElementById("p").textContent = v.secret; });
      </script>`);
    } else if (url.pathname === "/app/secret") {
      const cookie = req.headers.cookie ?? "";
      res.writeHead(200, { "content-type": "application/json" });
      res.end(JSON.stringify({ secret: ++secret, cookie: cookie === `seen=${token}`, host: req.headers.host === `127.0.0.1:${server.address().port}` }));
    } else {
      res.writeHead(404).end();
    }
  });
  return new Promise((done) => server.listen(0, "127.0.0.1", () => {
    done({ server, url: `http://127.0.0.1:${server.address().port}/app/?token=${token}` });
  }));
}

await joinSession({
  canvases: [createCanvas({
    id: "token",
    displayName: "Token",
    description: "Opens with a token only",
    open: async ({ instanceId }) => {
      if (!servers.has(instanceId)) servers.set(instanceId, await start());
      return { url: servers.get(instanceId).url, title: "Token" };
    },
    onClose: ({ instanceId }) => {
      servers.get(instanceId)?.server.close();
      servers.delete(instanceId);
    },
  })],
});
