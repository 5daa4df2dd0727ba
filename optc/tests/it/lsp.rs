//! What `optc lsp` answers an editor, over a pipe.

use std::io::{BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use ir::plan::attrs::MEM_PLACE;
use lsp_server::{Message, Notification, Request, Response};
use serde_json::{Value, json};

const URI: &str = "file:///test.mlir";

/// An editor with one document.
struct Editor {
    server: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    requests: i32,
    text: String,
}

impl Editor {
    /// An editor that has opened this text.
    fn of(text: &str) -> Editor {
        let mut server = Command::new(env!("CARGO_BIN_EXE_optc"))
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let input = server.stdin.take();
        let output = BufReader::new(server.stdout.take().expect("a pipe"));
        let mut editor = Editor { server, input, output, requests: 0, text: String::new() };
        let able = editor.ask("initialize", json!({ "capabilities": {} })).expect("it is initialized");
        assert!(able["capabilities"]["hoverProvider"].as_bool().unwrap_or(false), "{able}");
        editor.tell("initialized", json!({}));
        editor.open(text);
        editor
    }

    fn write(&mut self, message: Message) {
        let input = self.input.as_mut().expect("the pipe is open");
        message.write(input).expect("the server reads");
        input.flush().expect("the server reads");
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.write(Notification::new(method.to_owned(), params).into());
    }

    fn open(&mut self, text: &str) {
        self.text = text.to_owned();
        self.tell("textDocument/didOpen", json!({ "textDocument": { "uri": URI, "text": text } }));
    }

    /// Puts a text in the place of the first `old`.
    fn replace(&mut self, old: &str, new: &str) {
        let range = json!({ "start": self.place(old), "end": self.end(old) });
        self.text = self.text.replacen(old, new, 1);
        let change = json!({
            "textDocument": { "uri": URI, "version": 2 },
            "contentChanges": [{ "range": range, "text": new }],
        });
        self.tell("textDocument/didChange", change);
    }

    fn read(&mut self) -> Message {
        Message::read(&mut self.output).expect("the protocol is kept").expect("the server lives")
    }

    fn ask(&mut self, method: &str, params: Value) -> Result<Value, String> {
        self.requests += 1;
        let id = self.requests;
        self.write(Request::new(id.into(), method.to_owned(), params).into());
        loop {
            if let Message::Response(Response { id: answered, response_result }) = self.read() {
                assert_eq!(answered, id.into());
                return response_result.map_err(|error| error.message);
            }
        }
    }

    /// What is answered at the first `mark` of the text.
    fn at(&mut self, what: &str, mark: &str) -> Value {
        let params = json!({ "textDocument": { "uri": URI }, "position": self.place(mark) });
        self.ask(&format!("textDocument/{what}"), params).expect("there is an answer")
    }

    fn of_document(&mut self, what: &str) -> Result<Value, String> {
        self.ask(&format!("textDocument/{what}"), json!({ "textDocument": { "uri": URI } }))
    }

    /// The faults that are told next, as `line:column message`, from 1.
    fn faults(&mut self) -> Vec<String> {
        loop {
            if let Message::Notification(told) = self.read() {
                assert_eq!(told.params["uri"], URI);
                let faults = told.params["diagnostics"].as_array().expect("a list").iter();
                return faults
                    .map(|fault| format!("{} {}", line_column(&fault["range"]["start"]), said(fault)))
                    .collect();
            }
        }
    }

    fn place(&self, mark: &str) -> Value {
        self.position(self.text.find(mark).unwrap_or_else(|| panic!("the text has `{mark}`")))
    }

    fn end(&self, mark: &str) -> Value {
        self.position(self.text.find(mark).expect("the text has it") + mark.len())
    }

    fn position(&self, at: usize) -> Value {
        let before = &self.text[..at];
        let line = before.matches('\n').count();
        let column: usize = before.rsplit('\n').next().unwrap_or_default().encode_utf16().count();
        json!({ "line": line, "character": column })
    }

    /// The text after edits of it.
    fn edited(&self, edits: &Value) -> String {
        let mut edits: Vec<(usize, usize, String)> = edits
            .as_array()
            .expect("a list")
            .iter()
            .map(|edit| {
                let text = edit["newText"].as_str().expect("a text").to_owned();
                (self.offset(&edit["range"]["start"]), self.offset(&edit["range"]["end"]), text)
            })
            .collect();
        edits.sort();
        let mut text = self.text.clone();
        for (start, end, new) in edits.into_iter().rev() {
            text.replace_range(start..end, &new);
        }
        text
    }

    fn offset(&self, place: &Value) -> usize {
        let found = (0..=self.text.len()).filter(|at| self.text.is_char_boundary(*at));
        found.into_iter().find(|at| self.position(*at) == *place).expect("a place of the text")
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _ = self.server.kill();
            return;
        }
        self.ask("shutdown", Value::Null).expect("it shuts down");
        self.tell("exit", Value::Null);
        self.input = None;
        assert!(self.server.wait().expect("it ends").success());
    }
}

fn line_column(position: &Value) -> String {
    let number = |key: &str| position[key].as_u64().expect("a number") + 1;
    format!("{}:{}", number("line"), number("character"))
}

fn said(fault: &Value) -> &str {
    fault["message"].as_str().expect("a text")
}

const NET: &str = "// RUN: optc --passes=fuse
// It has a 😀 in a comment. /* 😀 */

#note = \"n\"

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { // 😀
  %0 = nn.exp %x {tag = #note} : tensor<4xf32>
  // A group.
  %1 = optc.group(%a = %0) : (tensor<4xf32>) -> tensor<4xf32> {
    %2 = nn.relu %a : tensor<4xf32>
    optc.yield %2 : tensor<4xf32>
  }

  return %1 : tensor<4xf32>
}
";

#[test]
fn all_faults_are_told_and_told_again_after_an_edit() {
    let mut editor =
        Editor::of(&NET.replace("%a : tensor<4xf32>", "%a : tensor<4xf3>").replace("#note}", "}"));
    let faults = editor.faults();
    assert_eq!(faults.len(), 2, "{faults:?}");
    assert!(faults[0].starts_with("7:25 expected an attribute"), "{faults:?}");
    assert!(faults[1].starts_with("10:32 expected a type"), "{faults:?}");
    editor.replace("{tag = }", "{tag = 1}");
    assert_eq!(editor.faults(), faults[1..]);
    editor.replace("f3>", "f32>");
    assert_eq!(editor.faults(), Vec::<String>::new());
    editor.replace("=fuse", "=fues");
    assert_eq!(editor.faults(), ["1:23 there is no pass `fues`\nhelp: did you mean `fuse`?"]);
}

#[test]
fn laws_of_the_verifier_are_told_and_parts_have_their_own() {
    let text = "func.func @f(%x: tensor<4xf32>) -> tensor<5xf32> {\n  return %x : tensor<4xf32>\n}\n";
    let mut editor = Editor::of(&format!("{text}// -----\n{text}"));
    let faults = editor.faults();
    assert_eq!(faults.len(), 2, "{faults:?}");
    assert!(faults[0].starts_with("2:3 ") && faults[1].starts_with("6:3 "), "{faults:?}");
}

#[test]
fn a_name_leads_to_its_definition_and_its_readers() {
    let mut editor = Editor::of(NET);
    let start = |answer: &Value| line_column(&answer["range"]["start"]);
    assert_eq!(start(&editor.at("definition", "%a : tensor")), "9:19");
    assert_eq!(start(&editor.at("definition", "%1 : tensor")), "9:3");
    assert_eq!(start(&editor.at("definition", "#note}")), "4:1");
    let readers = editor.at("references", "%0 = nn.exp");
    let places: Vec<String> = readers.as_array().expect("a list").iter().map(start).collect();
    assert_eq!(places, ["7:3", "9:24"]);
    assert_eq!(editor.at("documentHighlight", "%2 : tensor").as_array().map(Vec::len), Some(2));
}

#[test]
fn a_name_is_changed_everywhere_or_refused() {
    let mut editor = Editor::of(NET);
    let mut rename = |mark: &str, name: &str| {
        let place = editor.place(mark);
        let params = json!({ "textDocument": { "uri": URI }, "position": place, "newName": name });
        let answer = editor.ask("textDocument/rename", params);
        answer.map(|answer| editor.edited(&answer["changes"][URI]))
    };
    let renamed = rename("%0 = nn", "%first").expect("the name is free");
    assert_eq!(renamed, NET.replace("%0", "%first"));
    assert_eq!(rename("#note}", "why"), Ok(NET.replace("#note", "#why")));
    assert_eq!(rename("%0 = nn", "x"), Err("something else is called `x` there".to_owned()));
    assert_eq!(rename("%0 = nn", "a b"), Err("`a b` is no name: letters, digits and `_` are".to_owned()));
    assert_eq!(rename("nn.exp", "y"), Err("there is no name".to_owned()));
}

#[test]
fn what_the_pointer_is_on_is_explained() {
    let mut editor = Editor::of(NET);
    let mut text = |mark: &str| {
        let answer = editor.at("hover", mark);
        answer["contents"]["value"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(text("%0 = nn"), "`%0` : `tensor<4xf32>`\n\nresult of `nn.exp` in line 7, read once");
    assert!(text("%a : tensor").contains("argument, in line 9, read once"));
    assert!(text("nn.exp").contains("e to the power of") || text("nn.exp").contains("nn.exp"));
    assert!(text("fuse\n").contains("max-ops"), "{}", text("fuse\n"));
    assert_eq!(text("xf32>) -> tensor"), "");
}

#[test]
fn a_planned_value_has_its_place_and_its_life() {
    let planned = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {optc.arena = 64 : i64, optc.stage = \"plan\", optc.target = \"x86-64-v3\", optc.threads = 1 : i64} {
  %0 = nn.exp %x {mem.kernel = \"pointwise\", mem.place = [[\"arena\", 0, 16]]} : tensor<4xf32>
  %1 = nn.relu %0 {mem.kernel = \"pointwise\", mem.place = [[\"out\", 0, 16]]} : tensor<4xf32>
  return %1 : tensor<4xf32>
}
";
    let mut editor = Editor::of(planned);
    let mut text =
        |mark: &str| editor.at("hover", mark)["contents"]["value"].as_str().unwrap_or_default().to_owned();
    let said = text("%0 = nn");
    assert!(said.ends_with("arena, bytes 0 to 16 (16 bytes), kept from line 3 to line 4"), "{said}");
    assert!(text("%1 = nn").contains("output 0, bytes 0 to 16"), "{}", text("%1 = nn"));
    assert!(text(MEM_PLACE).starts_with(&format!("`{MEM_PLACE}` on operations")), "{}", text(MEM_PLACE));
}

#[test]
fn what_can_stand_at_a_place_is_offered() {
    let text = NET.replace("  return %1", "  %9 = nn.re\n  nn.reduce_sum %1 {ax\n  return %");
    let mut editor = Editor::of(&text);
    let mut offered = |mark: &str| {
        let place = editor.end(mark);
        let params = json!({ "textDocument": { "uri": URI }, "position": place });
        let answer = editor.ask("textDocument/completion", params).expect("there is an answer");
        let items = answer["items"].as_array().expect("a list").iter();
        items.map(|item| item["label"].as_str().unwrap_or_default().to_owned()).collect::<Vec<String>>()
    };
    let has = |items: &[String], name: &str| items.iter().any(|item| item == name);
    let ops = offered("%9 = nn.re");
    assert!(has(&ops, "nn.relu") && has(&ops, "func.return") && !has(&ops, "axes"), "{ops:?}");
    let attributes = offered("{ax");
    assert!(has(&attributes, "axes") && has(&attributes, MEM_PLACE), "{attributes:?}");
    let values = offered("return %");
    assert!(["x", "0", "1", "9"].iter().all(|name| has(&values, name)), "{values:?}");
    assert!(has(&offered("%x: "), "tensor"));
    assert!(has(&offered("--passes=fu"), "fuse"));
    assert!(offered("It has a").is_empty());
}

#[test]
fn functions_are_listed_with_lenses_and_shown_after_passes() {
    let mut editor = Editor::of(NET);
    let outline = editor.of_document("documentSymbol").expect("there is an answer");
    assert_eq!(outline[0]["name"], "main");
    let lenses = editor.of_document("codeLens").expect("there is an answer");
    let titles: Vec<&str> = lenses
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|lens| lens["command"]["title"].as_str())
        .collect();
    assert_eq!(titles, ["show after fuse", "inplace", "plan"]);
    let command = lenses[2]["command"].clone();
    let shown = editor.ask("workspace/executeCommand", command).expect("the passes run");
    assert!(shown.as_str().is_some_and(|text| text.contains(MEM_PLACE)), "{shown}");
    let range = json!({ "start": editor.place("//"), "end": editor.end("return") });
    let hints =
        editor.ask("textDocument/inlayHint", json!({ "textDocument": { "uri": URI }, "range": range }));
    let hints = hints.expect("there is an answer");
    let labels: Vec<&str> =
        hints.as_array().expect("a list").iter().filter_map(|hint| hint["label"].as_str()).collect();
    assert_eq!(labels, [": tensor<4xf32>"]);
}

#[test]
fn a_text_is_formatted_with_its_names_and_comments() {
    let text = "// RUN: optc --passes=dce
// Why it is here.

func.func @f(%x:tensor<4xf32>)->tensor<4xf32>{ // a function
        // The first.
  %first = nn.exp %x:tensor<4xf32>   // e

  %second = \"nn.relu\"(%first) : (tensor<4xf32>) -> tensor<4xf32>
  cf.br ^end(%second: tensor<4xf32>)
  // A block.
  ^end(%last:tensor<4xf32>):
     return %last : tensor<4xf32>
  // Nothing more.
}
// ----- output
// module {
";
    let expected = "// RUN: optc --passes=dce
// Why it is here.

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {  // a function
  // The first.
  %first = nn.exp %x : tensor<4xf32>  // e

  %second = nn.relu %first : tensor<4xf32>
  cf.br ^end(%second : tensor<4xf32>)
  // A block.
^end(%last: tensor<4xf32>):
  return %last : tensor<4xf32>
  // Nothing more.
}
// ----- output
// module {
";
    let mut editor = Editor::of(text);
    let edits = editor.of_document("formatting").expect("it is formatted");
    assert_eq!(editor.edited(&edits), expected);
    editor.replace("tensor<4xf32>)->", "tensor<4xf3>)->");
    assert_eq!(editor.of_document("formatting"), Err("the text is at fault".to_owned()));
}

/// The comments of a text.
fn comments(text: &str) -> Vec<&str> {
    let mut found: Vec<&str> =
        text.lines().filter_map(|line| Some(line[line.find("//")?..].trim_end())).collect();
    found.sort_unstable();
    found
}

#[test]
fn every_test_of_the_project_formats_to_the_same_program_once() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lit-tests");
    let files = optc::lit::files(&folder).expect("the folder is read");
    let mut editor = Editor::of("");
    let mut formatted = 0;
    for path in files {
        let text = std::fs::read_to_string(&path).expect("it is read");
        editor.open(&text);
        let Ok(edits) = editor.of_document("formatting") else { continue };
        formatted += 1;
        let once = editor.edited(&edits);
        assert_eq!(comments(&once), comments(&text), "{}", path.display());
        editor.open(&once);
        let edits = editor.of_document("formatting").expect("it is formatted again");
        assert_eq!(editor.edited(&edits), once, "{}", path.display());
    }
    assert!(formatted > 250, "{formatted} files are formatted");
}

#[test]
fn no_place_of_any_text_ends_the_server() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lit-tests");
    let files = optc::lit::files(&folder).expect("the folder is read");
    let mut editor = Editor::of("");
    for (number, path) in files.iter().enumerate().filter(|(number, _)| number % 4 == 0) {
        let mut text = std::fs::read_to_string(path).expect("it is read");
        let cut = text.floor_char_boundary(number * 977 % text.len());
        if number % 8 == 0 {
            text.truncate(cut);
        }
        editor.open(&text);
        for at in (0..text.len()).step_by(61).filter(|at| text.is_char_boundary(*at)) {
            let position = editor.position(at);
            for what in ["hover", "definition", "references", "completion"] {
                let params = json!({ "textDocument": { "uri": URI }, "position": position });
                editor.ask(&format!("textDocument/{what}"), params).expect("there is an answer");
            }
        }
    }
}
