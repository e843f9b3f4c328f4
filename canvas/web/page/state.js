// @ts-check
// The reducers of the two channels that the page mirrors. They are pure; unknown
// members and actions pass unchanged.

/** @typedef {Record<string, any> & { type: string }} Action */

const READ = 32, ARCHIVED = 64;

/** @param {any} state @param {Action} a */
export function reduceSession(state, a) {
  switch (a.type) {
    case "session/ready": return { ...state, lifecycle: "ready" };
    case "session/creationFailed": return { ...state, lifecycle: "creationFailed", creationError: a.error };
    case "session/titleChanged": return { ...state, title: a.title };
    case "session/isReadChanged": return { ...state, status: bit(state.status, READ, a.isRead) };
    case "session/isArchivedChanged": return { ...state, status: bit(state.status, ARCHIVED, a.isArchived) };
    case "session/activityChanged": return merge(state, { activity: a.activity ?? null });
    case "session/canvasesChanged": return { ...state, canvases: a.canvases };
    case "session/openCanvasesChanged": return { ...state, openCanvases: a.openCanvases };
    default: return state;
  }
}

/** @param {any} state @param {Action} a */
export function reduceCanvas(state, a) {
  if (a.type !== "canvas/updated") return state;
  const { title, status, url, availability, input, isPrivate } = a;
  return mergeMeta(a._meta, merge(state, { title, status, url, availability: availability ?? undefined, input, isPrivate: isPrivate ?? undefined })); // these two cannot be cleared
}

/** Changes members of a state's _meta. @param {any} change @param {any} state */
function mergeMeta(change, state) {
  if (typeof change !== "object" || change === null || Array.isArray(change)) return state;
  const meta = Object.entries({ ...state._meta, ...change }).filter(([, value]) => value !== null);
  return merge(state, { _meta: meta.length ? Object.fromEntries(meta) : null });
}

/** Absent keeps, null clears, a value sets. @param {any} state @param {Record<string, any>} changes */
function merge(state, changes) {
  const next = { ...state };
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) delete next[name];
    else if (value !== undefined) next[name] = value;
  }
  return next;
}

/** @param {number} status @param {number} mask @param {boolean} on */
const bit = (status, mask, on) => (on ? status | mask : status & ~mask) >>> 0;

/** A session's status in words; "" if it is idle. @param {number} status a bitset */
export function statusText(status) {
  if (status & 2) return "Error";
  if ((status & 24) === 24) return "Needs you";
  return status & 8 ? "Working" : "";
}
