// Whether the extension, started as VS Code starts it, reaches the server: with a stand-in for VS Code's own
// module, and its protocol library. OPTC names the command.

const assert = require("node:assert");
const { spawn } = require("node:child_process");
const Module = require("node:module");
const test = require("node:test");
const rpc = require("vscode-languageserver-protocol/node");

const optc = process.env.OPTC ?? "optc";
const uri = "file:///net.mlir";
const text = `func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.relu %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
`;

/** A connection to the server that has opened a text, and the faults that it tells. */
async function connect(opened) {
  const child = spawn(optc, ["lsp"]);
  const connection = rpc.createProtocolConnection(
    new rpc.StreamMessageReader(child.stdout),
    new rpc.StreamMessageWriter(child.stdin),
  );
  const told = [];
  // Faults are told when nothing else is asked for, so an answer may come before them.
  const firstTold = async () => {
    for (let waited = 0; told.length === 0 && waited < 10000; waited += 10) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return told[0];
  };
  const { type } = rpc.PublishDiagnosticsNotification;
  connection.onNotification(type, ({ diagnostics }) => told.push(diagnostics));
  connection.listen();
  const params = { processId: process.pid, rootUri: null, capabilities: {} };
  const { capabilities } = await connection.sendRequest(rpc.InitializeRequest.type, params);
  await connection.sendNotification(rpc.InitializedNotification.type, {});
  const textDocument = { uri, languageId: "mlir", version: 1, text: opened };
  await connection.sendNotification(rpc.DidOpenTextDocumentNotification.type, { textDocument });
  const end = async () => {
    await connection.sendRequest(rpc.ShutdownRequest.type);
    await connection.sendNotification(rpc.ExitNotification.type);
    const code = await new Promise((resolve) => child.on("exit", resolve));
    assert.equal(code, 0);
  };
  return { connection, capabilities, firstTold, end };
}

test("the server answers VS Code's protocol library", async () => {
  const { connection, capabilities, firstTold, end } = await connect(text.replace("f32> {", "f3> {"));
  assert.deepEqual(capabilities.executeCommandProvider.commands, ["optc.showAfter"]);
  await connection.sendRequest(rpc.DocumentSymbolRequest.type, { textDocument: { uri } });
  const faults = (await firstTold()) ?? [];
  assert.equal(faults.length, 1);
  assert.match(faults[0].message, /expected a type/);
  const contentChanges = [{ text }];
  await connection.sendNotification(rpc.DidChangeTextDocumentNotification.type, {
    textDocument: { uri, version: 2 },
    contentChanges,
  });
  const position = { line: 1, character: 3 };
  const hover = await connection.sendRequest(rpc.HoverRequest.type, { textDocument: { uri }, position });
  assert.match(hover.contents.value, /tensor<4xf32>/);
  const lenses = await connection.sendRequest(rpc.CodeLensRequest.type, { textDocument: { uri } });
  const shown = await connection.sendRequest(rpc.ExecuteCommandRequest.type, lenses[2].command);
  assert.match(shown, /mem\.place/);
  await end();
});

test("what a lens shows is opened beside the text", async () => {
  const opened = [];
  const vscode = {
    ViewColumn: { Beside: -2 },
    window: { showTextDocument: async ({ content }, { viewColumn }) => opened.push([content, viewColumn]) },
    workspace: { openTextDocument: async (document) => document },
  };
  const load = Module._load;
  Module._load = (name, ...rest) =>
    name === "vscode" ? vscode : name === "vscode-languageclient/node" ? {} : load(name, ...rest);
  const { executeCommand } = require("../extension.js");
  Module._load = load;
  assert.equal(await executeCommand("optc.showAfter", [], async () => "module {}"), "module {}");
  assert.deepEqual(opened, [["module {}", -2]]);
});
