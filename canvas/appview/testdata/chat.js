// A chat for tests: the official client and AppBridge. The test drives it by `chat`.
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const q = new URLSearchParams(location.search);
const settings = JSON.parse(q.get("settings") ?? "{}");
const log = { calls: [], errors: [], links: [], contexts: [], sizes: [], modes: [], violations: [], results: [] };
addEventListener("message", ({ data }) => { if (data?.violation) log.violations.push(data.violation); });
let client, tools, chain = Promise.resolve(), inFlight = 0;

async function connect() {
  client = new Client({ name: "chat", version: "1" }, { capabilities: settings.declare === false ? {} : { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } } } });
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", location.href)));
  tools = (await client.listTools()).tools;
}

/** Runs a tool for a View, as chats do: only those that Views may call, and one at a time where the test says so. */
async function callForView(params) {
  const tool = tools.find((t) => t.name === params.name);
  const record = { name: params.name, at: performance.now(), args: params.arguments };
  log.calls.push(record);
  if (!tool || !(tool._meta?.ui?.visibility ?? ["app"]).includes("app")) { record.refused = true; throw new Error("not for views"); }
  const run = async () => {
    inFlight++;
    try {
      const answer = await client.callTool({ name: params.name, arguments: params.arguments }).catch(async (err) => {
        if (settings.reconnect) await connect(); // the host was restarted: it knows no session
        throw err;
      });
      if (settings.lose && Math.random() < settings.lose) { record.lost = true; throw new Error("lost"); }
      if (settings.repeat && Math.random() < settings.repeat) { record.repeated = true; return await client.callTool({ name: params.name, arguments: params.arguments }); }
      return answer;
    } finally {
      inFlight--;
      record.took = performance.now() - record.at;
    }
  };
  if (!settings.serial) return run();
  const mine = chain.then(run, run);
  chain = mine.catch(() => {});
  return mine;
}

const views = [];
/** Mounts the View of a result. */
async function mount(uri, args, result) {
  const html = (await client.readResource({ uri })).contents[0].text;
  const box = document.createElement("div");
  const frame = document.createElement("iframe");
  frame.style.cssText = "width: 100%; border: 1px solid #8888; height: " + (settings.height ?? 300) + "px";
  if (settings.opaque) frame.sandbox = "allow-scripts allow-forms";
  box.append(frame);
  document.getElementById("views").append(box);
  const capabilities = { openLinks: {}, serverTools: {}, logging: {}, updateModelContext: { text: {}, structuredContent: {} } };
  for (const name of settings.without ?? []) delete capabilities[name];
  const context = { theme: "light", displayMode: "inline", availableDisplayModes: ["inline", "fullscreen"], containerDimensions: { maxHeight: 600, width: 800 }, locale: "de-CH", toolInfo: { tool: tools.find((t) => t.name === "open_canvas") }, ...settings.context };
  const bridge = new AppBridge(null, { name: "test chat", version: "1" }, capabilities, { hostContext: context });
  const view = { bridge, frame, box, initialized: false };
  views.push(view);
  bridge.oncalltool = (params) => callForView(params);
  bridge.onsizechange = ({ height }) => { log.sizes.push(height); if (height) frame.style.height = height + "px"; };
  bridge.onopenlink = async ({ url }) => { log.links.push(url); return {}; };
  bridge.onupdatemodelcontext = async (params) => { log.contexts.push({ ...params, at: performance.now() }); return {}; };
  bridge.onrequestdisplaymode = async ({ mode }) => { log.modes.push(mode); view.context = { displayMode: mode }; return { mode }; };
  bridge.onerror = (err) => log.errors.push(String(err));
  const ready = new Promise((resolve) => { bridge.onsandboxready = resolve; });
  const initialized = new Promise((resolve) => { bridge.oninitialized = resolve; });
  frame.src = settings.sandbox;
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  await ready;
  await bridge.sendSandboxResourceReady({ html });
  await initialized;
  view.initialized = true;
  await bridge.sendToolInput({ arguments: args });
  const shown = structuredClone(result);
  if (settings.dropMeta) delete shown._meta;
  log.results.push(Date.now());
  await bridge.sendToolResult(shown);
  return view;
}

globalThis.chat = {
  log, views, settings,
  tools: () => tools,
  capabilities: () => client.getServerCapabilities(),
  call: (name, args) => client.callTool({ name, arguments: args }),
  resources: async () => ({ resources: (await client.listResources()).resources, templates: (await client.listResourceTemplates()).resourceTemplates }),
  read: (uri) => client.readResource({ uri }),
  /** The agent opens a canvas, and the chat shows it. */
  async open(args) {
    const result = await client.callTool({ name: "open_canvas", arguments: args });
    const uri = tools.find((t) => t.name === "open_canvas")._meta?.ui?.resourceUri;
    await mount(uri, args, result);
    return result;
  },
  async cancel(n, reason) { await views[n].bridge.sendToolCancelled({ reason }); },
  async context(n, change) { await views[n].bridge.sendHostContextChange(change); },
  async teardown(n) { const answer = await views[n].bridge.teardownResource({}); views[n].box.remove(); return answer; },
};
connect().then(() => { document.title = "ready"; }, (err) => { document.title = "failed: " + err; });
