// The part of @github/copilot-sdk/extension that extension.mjs uses: JSON-RPC with
// Content-Length headers on standard input and output. To use the whole SDK, run
// "npm install @github/copilot-sdk" here and import from it instead.
export const createCanvas = (canvas) => canvas;

const write = (message) => {
  const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
  process.stdout.write(`Content-Length: ${body.length}\r\n\r\n`);
  process.stdout.write(body);
};

const waiting = new Map(); // by id: how a request of this program ends
let lastId = 0;
const request = (method, params) => new Promise((resolve, reject) => {
  waiting.set(++lastId, { resolve, reject });
  write({ id: lastId, method, params });
});

// declared is what the host learns of a canvas: everything but its functions.
const declared = ({ id, displayName, description, inputSchema, actions = [] }) => ({
  id, displayName, description, inputSchema,
  actions: actions.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
});

async function answer(canvases, { method, params }) {
  const canvas = canvases.find((c) => c.id === params.canvasId);
  switch (method) {
    case "canvas.open": return canvas.open(params);
    case "canvas.close": return (await canvas.onClose?.(params)) ?? null;
    case "canvas.action.invoke": return (await canvas.actions.find((a) => a.name === params.actionName).handler(params)) ?? null;
  }
  throw new Error(`this extension has no method ${method}`);
}

async function receive(canvases, message) {
  if (!message.method) {
    const { resolve, reject } = waiting.get(message.id);
    waiting.delete(message.id);
    return message.error ? reject(new Error(message.error.message)) : resolve(message.result);
  }
  if (message.id === undefined) return;
  try {
    write({ id: message.id, result: await answer(canvases, message) });
  } catch (error) {
    write({ id: message.id, error: { code: -32603, message: String(error?.message ?? error) } });
  }
}

function read(canvases) {
  let buffer = Buffer.alloc(0);
  process.stdin.on("data", (chunk) => {
    buffer = Buffer.concat([buffer, chunk]);
    for (;;) {
      const end = buffer.indexOf("\r\n\r\n");
      const length = Number(/Content-Length: *(\d+)/i.exec(buffer.subarray(0, Math.max(end, 0)))?.[1]);
      if (end < 0 || buffer.length < end + 4 + length) return;
      const message = JSON.parse(buffer.subarray(end + 4, end + 4 + length));
      buffer = buffer.subarray(end + 4 + length);
      void receive(canvases, message);
    }
  });
  process.stdin.on("end", () => process.exit());
}

export async function joinSession({ canvases }) {
  read(canvases);
  const sessionId = process.env.SESSION_ID;
  await request("connect", {});
  await request("session.resume", { sessionId, canvases: canvases.map(declared) });
  return {
    send: ({ prompt }) => request("session.send", { sessionId, prompt }),
    log: (message) => request("session.log", { sessionId, message }),
  };
}
