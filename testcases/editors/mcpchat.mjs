// VS Code's own chat, in which an agent opens a canvas by a tool of an MCP server:
//   node mcpchat.mjs CHROMIUM PROFILE WORKBENCH-URL SCREENSHOT
// It starts the server "canvas" of mcp.json and asks @agent of chatagent for a board. It
// prints a line for each step: "started", "frame" when the board is shown in the chat,
// "clicked" after a click on its first checkbox, and "shown" when the board has the text of
// a line of the standard input.
import { createInterface } from "node:readline";
import { command, key, run, shoot, targets, type, until } from "./browser.mjs";

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
/** Filters the list of a quick pick until Enter takes the row, and takes it. It reports whether it did. */
async function take(text, row) {
  const rows = `[...document.querySelectorAll(".quick-input-widget:not([style*='display: none']) .quick-input-list .monaco-list-row")]`;
  const wait = (which) => until(row, () => run(`${rows}${which}.some((r) => r.textContent.includes(${JSON.stringify(row)}))`), 10_000).then(() => true, () => false);
  const found = await wait("") && (await type(text), await wait(`.filter((r) => r.classList.contains("focused"))`));
  await (found ? key("Enter", "Enter", 13) : key("Escape", "Escape", 27));
  return found;
}
let asked = 0;
await until("the tools", async () => {
  if (Date.now() - asked > 20_000) { // VS Code starts no server before its extension host is up
    await command("MCP: List Servers");
    await take("canvas", "canvasStopped") && await take("Start", "Start Server");
    asked = Date.now();
  }
  return run(`[...document.querySelectorAll(".output-view-content, .part.panel")].some((e) => /Discovered \\d+ tools/.test(e.textContent.replaceAll("\\u00a0", " ")))`);
}, 300_000);
console.log("started");

await command("Chat: Open Chat");
/** The frame of the board: the shell's page is in the same process as the workbench, its canvas is not. */
async function board() {
  for (const [id, t] of targets) if (t.url === "about:srcdoc" && await run(`!!document.querySelector(".list")`, id).catch(() => false)) return id;
}
const allow = `[...document.querySelectorAll(".part.auxiliarybar .chat-confirmation-widget-container .monaco-button, .part.auxiliarybar .monaco-button")].find((b) => /^(Allow|Continue)/.test(b.textContent.trim()))`;
let sent = 0;
const canvas = await until("the board", async () => {
  if (Date.now() - sent > 15_000) { // the model may be registered after the first message
    await type("@agent Open a board");
    await pause(1500);
    await key("Enter", "Enter", 13);
    sent = Date.now();
  }
  await run(`${allow}?.click()`);
  return board();
});
console.log("frame");
// The chat gets the whole window: three lists stand side by side.
const maximize = `document.querySelector('.part.auxiliarybar a[aria-label^="Maximize"]')`;
if (await run(`!!${maximize}`)) await run(`${maximize}.click()`);
await until("the click", () => run(`(() => { const b = document.querySelector("input[type=checkbox]"); b.click(); return b.checked; })()`, canvas));
console.log("clicked");
for await (const text of createInterface({ input: process.stdin })) {
  await until("the agent's change", () => run(`document.body.innerText.includes(${JSON.stringify(text)})`, canvas));
  await pause(3000); // fonts and transitions, for the picture
  await shoot();
  console.log("shown");
  break;
}
process.exit(0);
