// @ts-check
// An agent that is not written in Go: it makes a small app with a bug as a canvas, finds
// and repairs the bug, waits for the person's click, and goes back. It prints each step as
// one line of JSON, with the size of the answer, and fails at the first wrong answer.
//
//     node agent.mjs stdio ahp-canvas mcp
//     node agent.mjs http http://127.0.0.1:1234/mcp TOKEN
//
// A person, or a test, has to click the button in the page when {"step":"click"} is printed.
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [way, address = "", ...rest] = process.argv.slice(2);
const transport = way === "stdio"
  ? new StdioClientTransport({ command: address, args: rest, env: /** @type {Record<string, string>} */ (process.env), stderr: "inherit" })
  : new StreamableHTTPClientTransport(new URL(address), { requestInit: { headers: { Authorization: `Bearer ${rest[0]}` } } });
const client = new Client({ name: "story", version: "1.0.0" });
await client.connect(transport);

/** @param {string} step @param {any} [more] */
const say = (step, more) => console.log(JSON.stringify({ step, ...more }));

/** Calls a tool; bytes is the size of the answer, tokens a quarter of it without pictures, about what a model reads. @param {string} step @param {string} name @param {Record<string, unknown>} args */
async function tool(step, name, args) {
  const began = performance.now();
  const result = /** @type {any} */ (await client.callTool({ name, arguments: args }));
  const bytes = JSON.stringify(result).length, pictures = result.content.reduce((/** @type {number} */ n, /** @type {any} */ c) => n + (c.data?.length ?? 0), 0);
  say(step, { tool: name, bytes, tokens: Math.ceil((bytes - pictures) / 4), ms: Math.round(performance.now() - began), error: result.isError ? result.structuredContent.code : undefined });
  return result;
}

/** @param {string} step @param {string} actionName @param {any} [input] */
const invoke = (step, actionName, input) => tool(step, "invoke_canvas_action", { instanceId: "story", actionName, input });

const { tools } = await client.listTools();
assert.ok(tools.some((t) => t.name === "open_canvas"));

const listed = await tool("capabilities", "list_canvas_capabilities", {});
assert.ok(listed.structuredContent.canvases.some((/** @type {any} */ c) => c.canvasId === "page" && c.actions.some((/** @type {any} */ a) => a.name === "edit_file")));
const described = await tool("describe", "list_canvas_capabilities", { describe: "page" });
assert.match(described.structuredContent.canvases[0].description, /onAction\(name, fn\)/);

const opened = await tool("open", "open_canvas", {
  canvasId: "page", instanceId: "story",
  input: {
    title: "Counter",
    files: {
      "index.html": `<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<link rel="stylesheet" href="style.css">\n<button id="more">0</button>\n<script type="module" src="app.js"></script>\n`,
      "style.css": "button { font: 3rem system-ui; padding: 1rem 3rem }\n",
      "app.js": `import { onAction, send } from "/.ahp/canvas.js";\nconst button = documnet.getElementById("more");\nlet count = 0;\nbutton.onclick = () => { button.textContent = ++count; send({ count }); };\nonAction("count", () => ({ count }));\n`,
    },
  },
});
const { cursor } = opened.structuredContent;
assert.equal(typeof cursor, "number");

const seen = await tool("look", "look_at_canvas", { instanceId: "story" });
const problem = seen.structuredContent.problems.find((/** @type {any} */ p) => p.kind === "error");
assert.match(problem.text, /documnet is not defined/);
assert.deepEqual([problem.file, problem.line], ["/app.js", 2]);
assert.match(seen.structuredContent.outline, /button "0"/);
assert.ok(seen.content.some((/** @type {any} */ c) => c.type === "image" && c.mimeType === "image/png") || seen.structuredContent.noPicture);

const broken = await invoke("call", "call", { name: "count" });
assert.equal(broken.structuredContent.code, "page_no_actions");
const wrong = await invoke("wrong action", "get_files");
assert.match(wrong.structuredContent.message, /it has write_files, edit_file, read_file, list_files/);
const read = await invoke("read", "read_file", { path: "app.js" });
assert.match(read.structuredContent.value.text, /documnet/);
const missed = await invoke("edit without a match", "edit_file", { path: "app.js", edits: [{ old: "const  button = documnet", new: "" }] });
assert.equal(missed.structuredContent.code, "edit_not_found");
const edited = await invoke("edit", "edit_file", { path: "app.js", edits: [{ old: "documnet", new: "document" }] });
assert.equal(edited.structuredContent.value.revision, 2);
const called = await invoke("call again", "call", { name: "count" });
assert.deepEqual(called.structuredContent.value, { count: 0 });
const repaired = await tool("look again", "look_at_canvas", { instanceId: "story", picture: false });
assert.deepEqual([repaired.structuredContent.problems, repaired.structuredContent.revision], [[], 2]);

say("click");
const waited = await tool("wait", "wait_for_canvas_events", { after: cursor, timeout: 30 });
assert.deepEqual(waited.structuredContent.events.map((/** @type {any} */ e) => e.event), [{ message: { count: 1 } }]);

await invoke("edit again", "edit_file", { path: "app.js", edits: [{ old: "count = 0", new: "count = 100" }] });
const back = await invoke("revert", "revert", { revision: 2 });
assert.equal(back.structuredContent.value.revision, 4);
say("click again");
const again = await tool("wait again", "wait_for_canvas_events", { after: waited.structuredContent.next, timeout: 30 });
assert.deepEqual(again.structuredContent.events.map((/** @type {any} */ e) => e.event), [{ message: { count: 1 } }]);
const list = await invoke("list", "list_files");
assert.deepEqual(list.structuredContent.value.revisions.map((/** @type {any} */ r) => r.what), ["Went back to revision 2", "Edited app.js", "Edited app.js", "Made the page"]);
await tool("close", "close_canvas", { instanceId: "story" });
await client.close();
say("done");
