// The reducer of a session channel, ahp-session:/<id>.
import type { ChatSummary, SessionAction, SessionChatUpdatedAction, SessionState } from "../../schema/typescript/ahp.js";
import { editAnywhere, editTop, idOf, setMcpState } from "./customizations.js";
import { changeConfig, setOrClear, upsert, without, type Members } from "./members.js";

// Bits of a status. It has 32 of them, and those that are not known stay.
const isRead = 32;
const isArchived = 64;

export function reduceSession(state: SessionState, action: SessionAction): SessionState {
  switch (action.type) {
    case "session/ready":
      return { ...state, lifecycle: "ready" };
    case "session/creationFailed":
      return { ...state, lifecycle: "creationFailed", creationError: action.error };
    case "session/titleChanged":
      return { ...state, title: action.title };
    case "session/isReadChanged":
      return { ...state, status: setBit(state.status, isRead, action.isRead) };
    case "session/isArchivedChanged":
      return { ...state, status: setBit(state.status, isArchived, action.isArchived) };
    case "session/activityChanged":
      return setOrClear(state, "activity", action.activity);
    case "session/serverToolsChanged":
      return { ...state, serverTools: action.tools };
    case "session/activeClientSet":
      return { ...state, activeClients: upsert(state.activeClients, action.activeClient, (client) => client.clientId) };
    case "session/activeClientRemoved":
      return { ...state, activeClients: without(state.activeClients, action.clientId, (client) => client.clientId) };
    case "session/configChanged":
      return changeConfig(state, action.config, action.replace);
    case "session/metaChanged":
      return setOrClear(state, "_meta", action._meta);
    case "session/changesetsChanged":
      return setOrClear(state, "changesets", action.changesets);
    case "session/canvasesChanged":
      return { ...state, canvases: action.canvases };
    case "session/openCanvasesChanged":
      return { ...state, openCanvases: action.openCanvases };
    case "session/chatAdded":
      return { ...state, chats: upsert(state.chats, action.summary, chatKey) };
    case "session/chatRemoved":
      return removeChat(state, action.chat);
    case "session/chatUpdated":
      return { ...state, chats: updateChat(state.chats, action) };
    case "session/defaultChatChanged":
      return setOrClear(state, "defaultChat", action.defaultChat);
    case "session/customizationsChanged":
      return { ...state, customizations: action.customizations };
    case "session/customizationUpdated":
      return { ...state, customizations: upsert(state.customizations ?? [], action.customization, idOf) };
    case "session/customizationRemoved":
      return editCustomizations(state, (list) => editAnywhere(list, action.id, () => undefined));
    case "session/customizationToggled": // of the top level only
      return editCustomizations(state, (list) => editTop(list, action.id, (found) => ({ ...found, enabled: action.enabled })) ?? list);
    case "session/mcpServerStateChanged":
      return editCustomizations(state, (list) => editAnywhere(list, action.id, setMcpState(action)));
    default:
      return unknown(state, action);
  }
}

function setBit(status: number, bit: number, on: boolean): number {
  return (on ? status | bit : status & ~bit) >>> 0; // unsigned, as on the wire
}

const chatKey = (chat: ChatSummary): string => chat.resource;

function removeChat(state: SessionState, chat: string): SessionState {
  const left = { ...state, chats: without(state.chats, chat, chatKey) };
  return state.defaultChat === chat ? setOrClear(left, "defaultChat", undefined) : left;
}

/** Changes are merged member by member; null clears, and the resource never changes. */
function updateChat(chats: readonly ChatSummary[], action: SessionChatUpdatedAction): ChatSummary[] {
  let chat = chats.find(({ resource }) => resource === action.chat);
  if (chat === undefined) return [...chats];
  for (const [name, value] of Object.entries(action.changes)) {
    if (name !== "resource") chat = setOrClear(chat, name, value);
  }
  return upsert(chats, chat, chatKey);
}

/** Where there are no customizations there is nothing to edit, and none are made. */
function editCustomizations(state: SessionState, edit: (list: Members[]) => Members[]): SessionState {
  return state.customizations === undefined ? state : { ...state, customizations: edit(state.customizations) };
}

function unknown(state: SessionState, _: never): SessionState {
  return state;
}
