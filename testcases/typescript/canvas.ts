// The reducer of a canvas channel, ahp-canvas:/<id>.
import type { CanvasAction, CanvasState, CanvasUpdatedAction } from "../../schema/typescript/ahp.js";
import { setOrClear } from "./members.js";

export function reduceCanvas(state: CanvasState, action: CanvasAction): CanvasState {
  switch (action.type) {
    case "canvas/updated":
      return update(state, action);
    case "canvas/closeRequested": // signals: somebody acts on them, the state does not change
    case "canvas/message":
      return state;
    default:
      return unknown(state, action);
  }
}

/** The members that can be updated; who an instance is cannot. */
const updatable = ["title", "status", "url", "availability", "input", "isPrivate"] as const;

/** Absent keeps, null clears, a value sets. Availability and isPrivate cannot be cleared: null is absence. */
function update(state: CanvasState, action: CanvasUpdatedAction): CanvasState {
  for (const name of updatable) {
    if (name in action && !((name === "availability" || name === "isPrivate") && action[name] === null)) state = setOrClear(state, name, action[name]);
  }
  return isObject(action._meta) ? mergeMeta(state, action._meta) : state;
}

/** Changes members of _meta: null removes one, another value sets it. An empty _meta is absent. */
function mergeMeta(state: CanvasState, change: Record<string, unknown>): CanvasState {
  let meta: Record<string, unknown> = isObject(state._meta) ? state._meta : {};
  for (const [name, value] of Object.entries(change)) meta = setOrClear(meta, name, value);
  return setOrClear(state, "_meta", Object.keys(meta).length ? meta : null);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function unknown(state: CanvasState, _: never): CanvasState {
  return state;
}
