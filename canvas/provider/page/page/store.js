// @ts-check
// The shared state of a page (state of /.ahp/canvas.js). The provider orders all changes;
// a page shows its own at once, and takes them back if they are refused.

/** @typedef {import("/.ahp/canvas.js").State} State */

/**
 * @param {(change: { values?: Record<string, any>, delete?: string[] }) => Promise<void>} request sends a change to the provider
 * @returns {State & { receive: (m: { values?: Record<string, any>, delete?: string[] }) => void, begun: () => void, restart: () => void }}
 */
export function makeStore(request) {
  /** @type {Map<string, any>} as the provider has it */ let confirmed = new Map();
  /** @type {Map<string, any>} as the page sees it */ let values = new Map();
  /** @type {Map<string, number>} own changes of a key that are not answered yet */ const pending = new Map();
  /** @type {Set<(keys: string[]) => void>} */ const listeners = new Set();
  /** @type {() => void} */ let begun;
  /** @type {Promise<void>} */ const ready = new Promise((resolve) => { begun = resolve; });
  let restarting = false;

  /** @param {string[]} keys */
  const notify = (keys) => listeners.forEach((fn) => fn(keys));

  /** Makes the value of a key the provider's. @param {string} key */
  function settle(key) {
    if (pending.has(key)) return;
    if (confirmed.has(key)) values.set(key, confirmed.get(key));
    else values.delete(key);
  }

  /** @param {string} key @param {any} value undefined deletes it */
  async function change(key, value) {
    if (typeof key !== "string" || key === "") throw new TypeError("state: a key is a text");
    const text = JSON.stringify(value);
    pending.set(key, (pending.get(key) ?? 0) + 1);
    if (text === undefined) values.delete(key);
    else values.set(key, JSON.parse(text));
    notify([key]);
    try {
      await request(text === undefined ? { delete: [key] } : { values: { [key]: JSON.parse(text) } });
    } finally {
      const left = (pending.get(key) ?? 1) - 1;
      if (left) pending.set(key, left);
      else pending.delete(key);
      const before = JSON.stringify(values.get(key));
      settle(key);
      if (JSON.stringify(values.get(key)) !== before) notify([key]);
    }
  }

  return {
    ready,
    get: (key) => values.get(key),
    all: () => Object.fromEntries(values),
    set: change,
    delete: (key) => change(key, undefined),
    onChange(fn) {
      listeners.add(fn);
      return () => { listeners.delete(fn); };
    },
    /** Takes a change, or a part of the whole after restart. */
    receive(m) {
      const keys = [...Object.keys(m.values ?? {}), ...(m.delete ?? [])];
      for (const key of m.delete ?? []) confirmed.delete(key);
      for (const [key, value] of Object.entries(m.values ?? {})) confirmed.set(key, value);
      const changed = keys.filter((key) => {
        const before = JSON.stringify(values.get(key));
        settle(key);
        return JSON.stringify(values.get(key)) !== before;
      });
      if (changed.length && !restarting) notify(changed);
    },
    /** The whole follows. */
    restart() {
      restarting = true;
      confirmed = new Map();
    },
    /** The whole has come. */
    begun() {
      restarting = false;
      const keys = [...new Set([...values.keys(), ...confirmed.keys()])];
      keys.forEach(settle);
      begun();
      if (keys.length) notify(keys);
    },
  };
}
