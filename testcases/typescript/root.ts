// The reducer of the root channel, ahp-root://.
import type { RootAction, RootState } from "../../schema/typescript/ahp.js";
import { changeConfig } from "./members.js";

export function reduceRoot(state: RootState, action: RootAction): RootState {
  switch (action.type) {
    case "root/agentsChanged":
      return { ...state, agents: action.agents };
    case "root/activeSessionsChanged":
      return { ...state, activeSessions: action.activeSessions };
    case "root/terminalsChanged":
      return { ...state, terminals: action.terminals };
    case "root/configChanged":
      return changeConfig(state, action.config, action.replace);
    default:
      return unknown(state, action);
  }
}

/** An action of a later protocol changes nothing. The compiler refuses the call where a known one was forgotten. */
function unknown(state: RootState, _: never): RootState {
  return state;
}
