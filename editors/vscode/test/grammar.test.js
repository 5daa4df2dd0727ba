// Whether the grammar gives each piece of a text its scope.

const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const test = require("node:test");
const oniguruma = require("vscode-oniguruma");
const { INITIAL, Registry, parseRawGrammar } = require("vscode-textmate");

const root = path.join(__dirname, "..");

async function grammar() {
  const wasm = fs.readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")).buffer;
  await oniguruma.loadWASM(wasm);
  const onigLib = {
    createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
    createOnigString: (text) => new oniguruma.OnigString(text),
  };
  const file = path.join(root, "syntaxes/mlir.tmLanguage.json");
  const loadGrammar = async () => parseRawGrammar(fs.readFileSync(file, "utf8"), file);
  return new Registry({ onigLib: Promise.resolve(onigLib), loadGrammar }).loadGrammar("source.mlir");
}

/** The tokens of a text as [text, innermost scope]. */
function tokens(rules, text) {
  let state = INITIAL;
  const found = [];
  for (const line of text.split("\n")) {
    const read = rules.tokenizeLine(line, state);
    state = read.ruleStack;
    for (const { startIndex, endIndex, scopes } of read.tokens) {
      found.push([line.slice(startIndex, endIndex).trim(), scopes.at(-1)]);
    }
  }
  return found.filter(([text]) => text !== "");
}

test("each piece has its scope", async () => {
  const rules = await grammar();
  const text = [
    "// RUN: optc --passes=fuse",
    '#a = "x" // why',
    "func.func @main(%x: tensor<4x8xf32>) -> !t {",
    '  %0:2 = nn.add %x, %1#1 {axis = 0, mem.tie = array<i64: -1>} : tensor<?xbf16>',
    '  "t.op"(%0)[^bb1] : (i32) -> ()',
    "  return %0 : index",
    "}",
  ].join("\n");
  const found = tokens(rules, text);
  const scope = (piece) => (found.find(([text]) => text === piece) ?? [, "nothing"])[1];
  const expected = {
    "RUN:": "keyword.other.run.mlir",
    "// why": "comment.line.double-slash.mlir",
    "#a": "constant.other.alias.mlir",
    "func.func": "entity.name.function.operation.mlir",
    "@main": "entity.name.function.symbol.mlir",
    "%x": "variable.other.mlir",
    tensor: "storage.type.shaped.mlir",
    f32: "storage.type.mlir",
    "->": "keyword.operator.arrow.mlir",
    "!t": "constant.other.alias.mlir",
    "nn.add": "entity.name.function.operation.mlir",
    "%1#1": "variable.other.mlir",
    axis: "entity.other.attribute-name.mlir",
    "mem.tie": "entity.other.attribute-name.mlir",
    array: "support.function.attribute.mlir",
    i64: "storage.type.mlir",
    "-1": "constant.numeric.mlir",
    bf16: "storage.type.mlir",
    '"t.op"': "entity.name.function.operation.mlir",
    "^bb1": "entity.name.section.block.mlir",
    return: "entity.name.function.operation.mlir",
    index: "storage.type.mlir",
  };
  for (const [piece, name] of Object.entries(expected)) {
    assert.equal(scope(piece), name, piece);
  }
});

test("every file that the package names is there", () => {
  const { main, contributes } = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8"));
  const configurations = contributes.languages.map((language) => language.configuration);
  const named = [main, ...configurations, ...contributes.grammars.map((grammar) => grammar.path)];
  for (const file of named) {
    assert.ok(fs.existsSync(path.join(root, file)), file);
  }
});
