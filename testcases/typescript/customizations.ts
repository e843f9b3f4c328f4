// Edits of a session's customizations: plugins, directories, skills, MCP servers
// and types that nobody here has heard of. Only id, type and children are read.
import type { SessionMcpServerStateChangedAction } from "../../schema/typescript/ahp.js";
import { setOrClear, type Members } from "./members.js";

/** The id, or "" where there is none. */
export function idOf(customization: Members): string {
  return typeof customization.id === "string" ? customization.id : "";
}

/** An edit returns the customization as it is to be, or undefined to remove it. */
type Edit = (customization: Members) => Members | undefined;

/** The list with an edit made to the top-level customization of an id, or undefined where there is none. */
export function editTop(list: readonly Members[], id: string, edit: Edit): Members[] | undefined {
  const i = list.findIndex((customization) => idOf(customization) === id);
  const found = list[i];
  if (found === undefined) return undefined;
  const edited = edit(found);
  return edited === undefined ? list.toSpliced(i, 1) : list.with(i, edited);
}

/** The same, and where nothing at the top has the id, among the children. Containers are one level deep, and an MCP server is none. */
export function editAnywhere(list: readonly Members[], id: string, edit: Edit): Members[] {
  return (
    editTop(list, id, edit) ??
    list.map((container) => {
      if (container.type === "mcpServer" || !Array.isArray(container.children)) return container;
      const children = editTop(container.children, id, edit);
      return children === undefined ? container : { ...container, children };
    })
  );
}

/** Sets state and channel of an MCP server; any other customization stays. */
export function setMcpState(action: SessionMcpServerStateChangedAction): Edit {
  return (customization) =>
    customization.type === "mcpServer" ? setOrClear({ ...customization, state: action.state }, "channel", action.channel) : customization;
}
