// VS Code's web workbench in Chromium, driven like a person:
//   node workbench.mjs CHROMIUM PROFILE WORKBENCH-URL SCREENSHOT
// It opens "Default session" and prints a line for each step: "session", "frame" when a
// canvas is shown in the chat, "clicked" after a click on its first checkbox, and "shown"
// when the canvas has the text of a line of the standard input.
import { createInterface } from "node:readline";
import { command, page, press, run, shoot, targets, until } from "./browser.mjs";

const session = `[...document.querySelectorAll(".agent-session-item, .monaco-list-row")].find((r) => r.textContent.includes("Default session"))`;
await command("Show Agent Sessions Sidebar");
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
