// An agent for VS Code's chat that needs no account: for every message it calls the tool
// open_canvas of the MCP servers that the person configured. VS Code starts no participant
// without a language model, so it has one that says nothing.
const vscode = require("vscode");

const model = {
  provideLanguageModelChatInformation: async () => [{ id: "none", name: "None", family: "none", version: "1", maxInputTokens: 1000, maxOutputTokens: 1000, isUserSelectable: true, isDefault: true, capabilities: { toolCalling: true } }],
  provideLanguageModelChatResponse: async () => {},
  provideTokenCount: async () => 1,
};

async function answer(request, _context, stream, token) {
  const tool = vscode.lm.tools.find((t) => t.name.endsWith("open_canvas"));
  if (!tool) return void stream.markdown("There is no tool open_canvas.");
  await vscode.lm.invokeTool(tool.name, { input: { canvasId: "board", instanceId: "b" }, toolInvocationToken: request.toolInvocationToken }, token);
  stream.markdown("The board is open.");
}

exports.activate = ({ subscriptions }) => {
  subscriptions.push(vscode.lm.registerLanguageModelChatProvider("chatagent", model), vscode.chat.createChatParticipant("chatagent", answer));
};
