// @ts-check
// The chat that shows this page: JSON-RPC with the parent window (MCP Apps, SEP-1865).

/** @type {Map<number, { resolve: (v: any) => void, reject: (e: Error) => void }>} */
const asked = new Map();
let lastId = 0;

/** @param {any} m */
const post = (m) => parent.postMessage({ jsonrpc: "2.0", ...m }, "*");

/** @param {string} method @param {any} [params] */
export const notify = (method, params = {}) => post({ method, params });

/** @param {string} method @param {any} [params] @returns {Promise<any>} */
export function request(method, params = {}) {
  const id = ++lastId;
  return new Promise((resolve, reject) => {
    asked.set(id, { resolve, reject });
    post({ id, method, params });
  });
}

/** The error of a tool, or of a chat that did not run it: then it has no code. */
export class CallError extends Error {
  /** @param {string} message @param {string} [code] */
  constructor(message, code) {
    super(message);
    this.code = code;
  }
}

/** Calls a tool of the canvas host. @param {string} name @param {any} args @returns {Promise<any>} */
export async function call(name, args) {
  const result = await request("tools/call", { name, arguments: args });
  const value = result?.structuredContent;
  if (result?.isError || typeof value !== "object" || value === null) throw new CallError(value?.message ?? "no answer", value?.code);
  return value;
}

/** Asks the chat to open a link. @param {string} url @param {any} capabilities of the chat @returns {Promise<boolean>} whether it did */
export async function openLink(url, capabilities) {
  if (!capabilities.openLinks) return false;
  const answer = await request("ui/open-link", { url }).catch(() => ({ isError: true }));
  return !answer?.isError;
}

/**
 * Handles a message of the chat.
 * @param {any} m
 * @param {Record<string, (params: any) => void>} notifications by method
 * @param {Record<string, () => Promise<any>>} requests by method
 */
export async function fromChat(m, notifications, requests) {
  if (m?.jsonrpc !== "2.0") return;
  if (m.method === undefined) {
    const waiting = asked.get(m.id);
    asked.delete(m.id);
    if (m.error) waiting?.reject(new CallError(String(m.error.message ?? "refused")));
    else waiting?.resolve(m.result);
    return;
  }
  if (m.id === undefined) return void (Object.hasOwn(notifications, m.method) && notifications[m.method](m.params ?? {}));
  if (!Object.hasOwn(requests, m.method)) return post({ id: m.id, error: { code: -32601, message: "method not found" } });
  post({ id: m.id, result: await requests[m.method]() });
}
