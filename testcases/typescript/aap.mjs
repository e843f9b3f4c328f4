// @ts-check
// An agent that is not written in Go, with the fixed tools and no others: it writes an AAP
// page, shows it, and waits for a click. It prints each step as one line of JSON, and fails
// at the first wrong answer.
//
//     node aap.mjs http://127.0.0.1:1234/mcp TOKEN
//
// A person, or a test, has to click the button when {"step":"click"} is printed.
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [address = "", token = ""] = process.argv.slice(2);
const client = new Client({ name: "aap", version: "1.0.0" });
await client.connect(new StreamableHTTPClientTransport(new URL(address), { requestInit: { headers: { Authorization: `Bearer ${token}` } } }));

/** @param {string} step */
const say = (step) => console.log(JSON.stringify({ step }));

/** @param {string} name @param {Record<string, unknown>} args */
async function tool(name, args) {
  const result = /** @type {any} */ (await client.callTool({ name, arguments: args }));
  assert.ok(!result.isError, JSON.stringify(result.structuredContent));
  return result.structuredContent;
}

const described = await tool("list_canvas_capabilities", { describe: "aap-page" });
assert.match(described.canvases[0].description, /maestro\.send\(/);
await tool("open_canvas", { canvasId: "aap-pages", instanceId: "pages" });
const html = `<!doctype html><title>Ship it?</title><button onclick="maestro.send('click', 'approve', { id: 'pr-42' })">Approve</button>`;
const written = await tool("invoke_canvas_action", { instanceId: "pages", actionName: "write_page", input: { file: "ship.html", html } });
assert.equal(written.value.created, true);
const opened = await tool("open_canvas", { canvasId: "aap-page", instanceId: "ship", input: { file: "ship.html" } });
assert.equal(opened.title, "Ship it?");
say("click");
const { events } = await tool("wait_for_canvas_events", { after: opened.cursor, timeout: 40 });
assert.equal(events.length, 1);
const { type, line, interaction } = events[0].event;
assert.deepEqual([type, line, interaction.data], ["aap.interaction", `[CANVAS] ship.html: User click 'approve' on ship.html with data: {"id":"pr-42"}`, { id: "pr-42" }]);
const { value } = await tool("invoke_canvas_action", { instanceId: "ship", actionName: "get_interaction", input: { id: interaction.id } });
assert.deepEqual(value, interaction);
await client.close();
say("done");
