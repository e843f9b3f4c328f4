// VS Code's own chat, in which an agent opens a canvas by a tool of an MCP server:
//   node mcpchat.mjs CHROMIUM PROFILE WORKBENCH-URL SCREENSHOT
// It starts the server "canvas" of mcp.json and asks @agent of chatagent for a board. It
// prints a line for each step: "started", "frame" when the board is shown in the chat,
// "clicked" after a click on its first checkbox, and "shown" when the board has the text of
// a line of the standard input.
import { createInterface } from "node:readline";
import { command, key, run, shoot, targets, type, until } from "./browser.mjs";

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const rows = () => run(`[...document.querySelectorAll(".quick-input-list .monaco-list-row")].map((r) => r.textContent).join("\\n")`);
/** Filters the list of a quick pick and takes its first row. */
async function take(text, row) {
  await until(row, async () => (await rows()).includes(row));
  await type(text);
  await pause(700);
  await key("Enter", "Enter", 13);
}
await command("MCP: List Servers");
await take("canvas", "canvasStopped");
await take("Start", "Start Server");
await until("the tools", () => run(`[...document.querySelectorAll(".output-view-content, .part.panel")].some((e) => /Discovered \\d+ tools/.test(e.textContent.replaceAll("\\u00a0", " ")))`));
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
