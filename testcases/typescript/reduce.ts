// Any channel kind by its name, as the fixtures have it.
import type { CanvasAction, CanvasState, RootAction, RootState, SessionAction, SessionState } from "../../schema/typescript/ahp.js";
import { reduceCanvas } from "./canvas.js";
import { reduceRoot } from "./root.js";
import { reduceSession } from "./session.js";

/** A reducer case: reducers/*.json have these members, and an expected state. */
export interface Case {
  reducer: string;
  initial: unknown;
  actions: unknown[];
}

/** The state after the actions. What a case holds is taken for what its reducer says: there is a schema for whoever wants to check. */
export function run({ reducer, initial, actions }: Case): unknown {
  switch (reducer) {
    case "root":
      return (actions as RootAction[]).reduce(reduceRoot, initial as RootState);
    case "session":
      return (actions as SessionAction[]).reduce(reduceSession, initial as SessionState);
    case "canvas":
      return (actions as CanvasAction[]).reduce(reduceCanvas, initial as CanvasState);
    default:
      throw new Error(`no reducer ${reducer}`);
  }
}
