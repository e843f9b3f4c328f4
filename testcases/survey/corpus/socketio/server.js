// A chat whose clients connect with WebSockets alone.
import { createServer } from "node:http";
import { Server } from "socket.io";

const page = `<!doctype html><meta charset="utf-8"><title>Chat</title><p id="how"></p><form><input aria-label="Message"><button>Send</button></form><ul></ul>
<script src="/socket.io/socket.io.js"></script>
<script>
  const socket = io({ transports: ["websocket"] });
  socket.on("connect", () => { how.textContent = "connected by " + socket.io.engine.transport.name; });
  socket.on("said", (text) => { document.querySelector("ul").append(Object.assign(document.createElement("li"), { textContent: "everybody: " + text })); });
  document.forms[0].onsubmit = (e) => { e.preventDefault(); socket.emit("say", document.querySelector("input").value); };
</script>`;
const server = createServer((req, res) => res.setHeader("Content-Type", "text/html").end(page));
const io = new Server(server, { transports: ["websocket"] });
io.on("connection", (socket) => socket.on("say", (text) => io.emit("said", text)));
server.listen(process.argv[2], "127.0.0.1");
