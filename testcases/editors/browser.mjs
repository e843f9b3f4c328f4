// VS Code's web workbench in Chromium, which a script drives like a person. Its arguments
// are those of the script: CHROMIUM PROFILE WORKBENCH-URL SCREENSHOT
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
process.on("SIGTERM", () => process.exit(1));
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
export const targets = new Map(); // sessionId to target
let next = 1;
export const call = (method, params = {}, sessionId) => new Promise((resolve, reject) => {
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
export const page = await until("the page", () => [...targets].find(([, t]) => t.targetId === targetId)?.[0]);

export async function until(what, check, within = 120_000) {
  const end = Date.now() + within;
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
export async function run(expression, session = page) {
  const r = await call("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true }, session);
  if (r.exceptionDetails) throw new Error(r.exceptionDetails.exception?.description ?? r.exceptionDetails.text);
  return r.result.value;
}
export async function key(k, code, keyCode) {
  for (const type of ["keyDown", "keyUp"]) await call("Input.dispatchKeyEvent", { type, key: k, code, windowsVirtualKeyCode: keyCode }, page);
}
export async function press(x, y, session) {
  for (const type of ["mouseMoved", "mousePressed", "mouseReleased"]) await call("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1 }, session);
}
export async function shoot() {
  const { data } = await call("Page.captureScreenshot", { format: "png" }, page);
  writeFileSync(screenshot, Buffer.from(data, "base64"));
}

/** Starts a command of the palette. The workbench registers commands after the first paint. */
export async function command(title) {
  const row = `[...document.querySelectorAll(".quick-input-list .monaco-list-row")].find((r) => r.textContent.includes(${JSON.stringify(title)}))`;
  await until(`the command ${title}`, async () => {
    await key("F1", "F1", 112);
    await until("the command palette", () => run(`!!document.querySelector(".quick-input-widget:not([style*='display: none']) input")`));
    await type(title);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    if (await run(`!!${row}`)) return true;
    await key("Escape", "Escape", 27);
    return false;
  });
  await key("Enter", "Enter", 13);
}
export const type = (text) => call("Input.insertText", { text }, page);

await until("the workbench", () => run(`!!document.querySelector(".monaco-workbench .part.statusbar")`));
