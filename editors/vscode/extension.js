// Starts `optc lsp` for MLIR text, and shows what its code lenses ask for beside the text.

const { window, workspace, ViewColumn } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

/** The answer to a command; a text is shown in a document of its own. */
async function executeCommand(command, args, next) {
  const answer = await next(command, args);
  if (typeof answer === "string") {
    const document = await workspace.openTextDocument({ language: "mlir", content: answer });
    await window.showTextDocument(document, { viewColumn: ViewColumn.Beside, preview: true });
  }
  return answer;
}

async function activate() {
  const [command, ...args] = workspace.getConfiguration("optc").get("command");
  client = new LanguageClient(
    "optc",
    "optc",
    { command, args },
    { documentSelector: [{ language: "mlir" }], middleware: { executeCommand } },
  );
  await client.start();
}

async function deactivate() {
  await client?.stop();
}

module.exports = { activate, deactivate, executeCommand };
