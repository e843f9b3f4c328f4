// VS Code's web workbench in Chromium, driven like a person:
//   node workbench.mjs CHROMIUM PROFILE WORKBENCH-URL SCREENSHOT
// It opens "Default session" and prints a line for each step: "session", "frame" when a
// canvas is shown in the chat, "clicked" after a click on its first checkbox, and "shown"
// when the canvas has the text of a line of the standard input.
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import WebSocket from "ws";

const [chromium, profile, url, screenshot] = process.argv.slice(2);
const browser = spawn(chromium, [
  "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--window-size=1400,1000",
  "--remote-debugging-port=0", `--user-data-dir=${profile}`, "about:blank",
], { stdio: ["ignore", "ignore", "pipe"] });
process.on("exit", () => browser.kill("SIGKILL"));
const endpoint = await new Promise((resolve, reject) => {
  browser.on("exit", () => reject(new Error("the browser ended")));
  createInterface({ input: browser.stderr }).on("line", (line) => {
    const at = line.match(/DevTools listening on (ws:\S+)/);
    if (at) resolve(at[1]);
  });
});

const socket = new WebSocket(endpoint, { maxPayload: 64 << 20 });
await new Promise((resolve) => socket.on("open", resolve));
const waiting = new Map();
const targets = new Map(); // sessionId to target
let next = 1;
const call = (method, params = {}, sessionId) => new Promise((resolve, reject) => {
  waiting.set(next, { resolve, reject });
  socket.send(JSON.stringify({ id: next++, method, params, sessionId }));
});
socket.on("message", (data) => {
  const m = JSON.parse(data);
  if (m.id) {
    const w = waiting.get(m.id);
    waiting.delete(m.id);
    m.error ? w.reject(new Error(m.error.message)) : w.resolve(m.result);
  } else if (m.method === "Target.attachedToTarget") {
    targets.set(m.params.sessionId, m.params.targetInfo);
    attach(m.params.sessionId);
  } else if (m.method === "Target.detachedFromTarget") {
    targets.delete(m.params.sessionId);
  } else if (m.method === "Target.targetInfoChanged") {
    for (const [id, t] of targets) if (t.targetId === m.params.targetInfo.targetId) targets.set(id, m.params.targetInfo);
  }
});
async function attach(sessionId) {
  await call("Target.setAutoAttach", { autoAttach: true, waitForDebuggerOnStart: false, flatten: true }, sessionId).catch(() => {});
}
await call("Target.setDiscoverTargets", { discover: true });
await attach();
const { targetId } = await call("Target.createTarget", { url });
const page = await until("the page", () => [...targets].find(([, t]) => t.targetId === targetId)?.[0]);

async function until(what, check) {
  const end = Date.now() + 120_000;
  for (;;) {
    const found = await Promise.resolve().then(check).catch(() => undefined);
    if (found) return found;
    if (Date.now() > end) {
      await shoot().catch(() => {});
      throw new Error(`waited for ${what}; frames: ${[...targets.values()].map((t) => t.url.slice(0, 90)).join(" ")}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
async function run(expression, session = page) {
  const r = await call("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true }, session);
  if (r.exceptionDetails) throw new Error(r.exceptionDetails.exception?.description ?? r.exceptionDetails.text);
  return r.result.value;
}
async function key(k, code, keyCode) {
  for (const type of ["keyDown", "keyUp"]) await call("Input.dispatchKeyEvent", { type, key: k, code, windowsVirtualKeyCode: keyCode }, page);
}
async function press(x, y, session) {
  for (const type of ["mouseMoved", "mousePressed", "mouseReleased"]) await call("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1 }, session);
}
async function shoot() {
  const { data } = await call("Page.captureScreenshot", { format: "png" }, page);
  writeFileSync(screenshot, Buffer.from(data, "base64"));
}

await until("the workbench", () => run(`!!document.querySelector(".monaco-workbench .part.statusbar")`));
// Commands are registered after the first paint.
const row = `[...document.querySelectorAll(".quick-input-list .monaco-list-row")].find((r) => r.textContent.includes("Show Agent Sessions Sidebar"))`;
const session = `[...document.querySelectorAll(".agent-session-item, .monaco-list-row")].find((r) => r.textContent.includes("Default session"))`;
await until("the list of sessions", async () => {
  if (await run(`!!${session}`)) return true;
  if (!(await run(`!!document.querySelector(".quick-input-widget:not([style*='display: none'])")`))) {
    await key("F1", "F1", 112);
    await until("the command palette", () => run(`!!document.querySelector(".quick-input-widget input")`));
    await call("Input.insertText", { text: "Show Agent Sessions Sidebar" }, page);
  }
  if (await run(`!!${row}`)) {
    await key("Enter", "Enter", 13);
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
  return false;
});
const at = await until("the session", () => run(`(() => { const r = ${session}.getBoundingClientRect(); return r.width && { x: r.x + 60, y: r.y + r.height / 2 }; })()`));
await press(at.x, at.y, page);
console.log("session");

const canvas = await until("the canvas", () => [...targets].find(([, t]) => /^http:\/\/g-[0-9a-f]{32}\.localhost:/.test(t.url))?.[0]);
await until("the board", () => run(`!!document.querySelector("input[type=checkbox]")`, canvas));
console.log("frame");
// The chat gets the whole window: three lists stand side by side.
const maximize = `document.querySelector('.part.auxiliarybar a[aria-label^="Maximize"]')`;
if (await run(`!!${maximize}`)) await run(`${maximize}.click()`);
await until("the click", () => run(`(() => { const b = document.querySelector("input[type=checkbox]"); b.scrollIntoView({ block: "center" }); b.click(); return b.checked; })()`, canvas));
console.log("clicked");
for await (const text of createInterface({ input: process.stdin })) {
  await until("the agent's change", () => run(`document.body.innerText.includes(${JSON.stringify(text)})`, canvas));
  await new Promise((resolve) => setTimeout(resolve, 3000)); // fonts and transitions, for the picture
  await shoot();
  console.log("shown");
  break;
}
process.exit(0);
