//! `optc lsp`: a language server for IR text.
//!
//! It knows the operations, types and passes of its [`Setup`], so that the tool of a crate with dialects of
//! its own serves these too:
//!
//! ```no_run
//! optc::lsp::run(&optc::opt::Setup { name: "my-opt", ..Default::default() })?;
//! # Ok::<(), optc::Failure>(())
//! ```
//!
//! A document is IR text, or a lit test: its first line is `// RUN: ...`, and lines `// -----` divide it into
//! programs. Once no further message waits, its errors are published: changed functions are parsed again, and
//! their callers are checked. The parser continues after an error, so all errors are reported, and names are
//! known in a text with errors; they are collected from the whole text when first needed.

mod completion;
mod document;
mod format;
mod hover;
mod names;
mod protocol;

use std::collections::BTreeMap;

use ir::Traits;
use lsp_server::{Connection, ErrorCode, ExtractError, Message, Notification, Request, Response};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use self::document::Document;
use self::names::Definitions;
use self::protocol::{
    AtPosition, DidChange, DidOpen, ExecuteCommand, InSpan, OfDocument, Span, TextEdit, TextPosition,
};
use crate::failure::Failure;
use crate::opt::{OptArgs, Setup, Source};

/// The command of the code lenses: shows a document after a pipeline.
const SHOW_AFTER: &str = "optc.showAfter";

/// The code lenses of a function: the pipeline, and the lens's title.
const LENSES: [(&str, &str); 3] =
    [("fuse", "show after fuse"), ("fuse,inplace", "inplace"), ("fuse,inplace,plan", "plan")];

/// Serves an editor on standard input and output, until it ends the session.
///
/// # Errors
/// If the editor violates the protocol, or disconnects.
pub fn run(setup: &Setup) -> Result<(), Failure> {
    let (connection, threads) = Connection::stdio();
    let done = serve(setup, &connection);
    drop(connection);
    let joined = threads.join().map_err(|error| Failure::input(format!("the editor went away: {error}")));
    done.and(joined)
}

/// Serves an editor on a connection, until it ends the session.
///
/// # Errors
/// As [`run`].
pub fn serve(setup: &Setup, connection: &Connection) -> Result<(), Failure> {
    let fault = |error: lsp_server::ProtocolError| Failure::input(error.to_string());
    connection.initialize(capabilities()).map_err(fault)?;
    let mut server = Server { setup, documents: BTreeMap::new(), stale: Vec::new() };
    loop {
        // Errors are published only when no message waits, so they belong to the last text, not to each
        // keystroke.
        let waiting = connection.receiver.try_recv();
        let message = match waiting {
            Ok(message) => message,
            Err(_) => {
                for told in server.tell_faults() {
                    send(connection, told)?;
                }
                match connection.receiver.recv() {
                    Ok(message) => message,
                    Err(_) => return Ok(()),
                }
            }
        };
        match message {
            Message::Request(request) => {
                if connection.handle_shutdown(&request).map_err(fault)? {
                    return Ok(());
                }
                send(connection, server.answer(request).into())?;
            }
            Message::Notification(notification) => {
                for told in server.take(notification) {
                    send(connection, told)?;
                }
            }
            Message::Response(_) => {}
        }
    }
}

fn send(connection: &Connection, message: Message) -> Result<(), Failure> {
    connection.sender.send(message).map_err(|_| Failure::input("the editor went away"))
}

/// The server's capabilities, as `ServerCapabilities`.
fn capabilities() -> Value {
    const INCREMENTAL: u8 = 2;
    json!({
        "textDocumentSync": { "openClose": true, "change": INCREMENTAL },
        "hoverProvider": true,
        "definitionProvider": true,
        "referencesProvider": true,
        "documentHighlightProvider": true,
        "renameProvider": true,
        "documentSymbolProvider": true,
        "documentFormattingProvider": true,
        "inlayHintProvider": true,
        "completionProvider": { "triggerCharacters": [".", "%", "@", "^", "#", "!", "{", ","] },
        "codeLensProvider": {},
        "executeCommandProvider": { "commands": [SHOW_AFTER] },
    })
}

/// The server, with its open documents.
struct Server<'s> {
    setup: &'s Setup,
    documents: BTreeMap<String, Document>,
    /// Documents whose errors are to be published.
    stale: Vec<String>,
}

/// An answer, or the reason why there is none.
type LspAnswer = Result<Value, (ErrorCode, String)>;

impl Server<'_> {
    fn take(&mut self, notification: Notification) -> Vec<Message> {
        match notification.method.as_str() {
            "textDocument/didOpen" => {
                let Ok(DidOpen { text_document }) = serde_json::from_value(notification.params) else {
                    return Vec::new();
                };
                self.stale.push(text_document.uri.clone());
                self.documents.insert(text_document.uri, Document::new(text_document.text));
            }
            "textDocument/didChange" => {
                let Ok(change) = serde_json::from_value::<DidChange>(notification.params) else {
                    return Vec::new();
                };
                if let Some(document) = self.documents.get_mut(&change.text_document.uri) {
                    change.content_changes.iter().for_each(|change| document.change(change));
                    self.stale.push(change.text_document.uri);
                }
            }
            "textDocument/didClose" => {
                let Ok(closed) = serde_json::from_value::<OfDocument>(notification.params) else {
                    return Vec::new();
                };
                self.documents.remove(&closed.text_document.uri);
                return vec![faults(&closed.text_document.uri, &[])];
            }
            _ => {}
        }
        Vec::new()
    }

    /// Messages with the errors of the documents that changed.
    fn tell_faults(&mut self) -> Vec<Message> {
        let mut stale = std::mem::take(&mut self.stale);
        stale.dedup();
        let mut told = Vec::new();
        for uri in stale {
            if let Some(document) = self.documents.get_mut(&uri) {
                told.push(faults(&uri, &document.diagnostics(self.setup)));
            }
        }
        told
    }

    fn answer(&mut self, request: Request) -> Response {
        let id = request.id.clone();
        match self.result(request) {
            Ok(result) => Response::new_ok(id, result),
            Err((code, message)) => Response::new_err(id, code as i32, message),
        }
    }

    fn result(&mut self, request: Request) -> LspAnswer {
        match request.method.as_str() {
            "textDocument/hover" => self.at(request, |setup, document, at| {
                let said = hover::hover(setup, document, at.offset);
                Ok(said.map_or(Value::Null, |(text, range)| {
                    let contents = json!({ "kind": "markdown", "value": text });
                    json!({ "contents": contents, "range": document.span(range) })
                }))
            }),
            "textDocument/definition" => self.at(request, |_, document, at| {
                let place = names::definition(document, at.offset);
                Ok(place.map_or(Value::Null, |range| json!({ "uri": at.uri, "range": document.span(range) })))
            }),
            "textDocument/references" => self.at(request, |_, document, at| {
                let places = names::references(document, at.offset, at.definitions).into_iter();
                let places = places.map(|range| json!({ "uri": at.uri, "range": document.span(range) }));
                Ok(places.collect())
            }),
            "textDocument/documentHighlight" => self.at(request, |_, document, at| {
                let places = names::references(document, at.offset, Definitions::Included).into_iter();
                Ok(places.map(|range| json!({ "range": document.span(range) })).collect())
            }),
            "textDocument/rename" => self.at(request, |_, document, at| {
                let edits = names::rename(document, at.offset, &at.new_name);
                let edits = edits.map_err(|fault| (ErrorCode::RequestFailed, fault))?;
                Ok(json!({ "changes": { at.uri.as_str(): edits } }))
            }),
            "textDocument/completion" => self.at(request, |setup, document, at| {
                let items = completion::completion(setup, document, at.offset);
                Ok(json!({ "isIncomplete": false, "items": items }))
            }),
            "textDocument/documentSymbol" => {
                self.of(request, |_, document, _| Ok(json!(names::outline(document))))
            }
            "textDocument/codeLens" => self.of(request, |_, document, uri| Ok(lenses(document, uri))),
            "textDocument/formatting" => self.of(request, |setup, document, _| {
                let new_text = format::formatted(setup, document);
                let new_text = new_text.map_err(|fault| (ErrorCode::RequestFailed, fault))?;
                let range = document.span(0..document.text.len());
                Ok(json!([TextEdit { range, new_text }]))
            }),
            "textDocument/inlayHint" => {
                let InSpan { text_document, range } = params(request)?;
                let document = self.document(&text_document.uri)?;
                Ok(names::type_hints(document, document.bytes(range)).into())
            }
            "workspace/executeCommand" => self.execute(params(request)?),
            method => Err((ErrorCode::MethodNotFound, format!("`{method}` is not served"))),
        }
    }

    /// Answers a request about a position of a document.
    fn at(
        &mut self,
        request: Request,
        answer: impl FnOnce(&Setup, &Document, &AskedPlace) -> LspAnswer,
    ) -> LspAnswer {
        let asked: AtPosition = params(request)?;
        let setup = self.setup;
        let document = self.document(&asked.text_document.uri)?;
        let includes = asked.context.is_none_or(|context| context.include_declaration);
        let place = AskedPlace {
            offset: document.offset(asked.position),
            uri: asked.text_document.uri,
            new_name: asked.new_name.unwrap_or_default(),
            definitions: if includes { Definitions::Included } else { Definitions::LeftOut },
        };
        answer(setup, document, &place)
    }

    /// Answers a request about a document.
    fn of(
        &mut self,
        request: Request,
        answer: impl FnOnce(&Setup, &Document, &str) -> LspAnswer,
    ) -> LspAnswer {
        let asked: OfDocument = params(request)?;
        let setup = self.setup;
        answer(setup, self.document(&asked.text_document.uri)?, &asked.text_document.uri)
    }

    /// A document, parsed.
    fn document(&mut self, uri: &str) -> Result<&Document, (ErrorCode, String)> {
        let found = self.documents.get_mut(uri);
        let document = found.ok_or_else(|| (ErrorCode::InvalidParams, format!("`{uri}` is not open")))?;
        document.read(self.setup);
        Ok(document)
    }

    /// The text of a part of a document after passes; the arguments are its name, the pipeline and the part's
    /// index.
    fn execute(&mut self, command: ExecuteCommand) -> LspAnswer {
        let invalid =
            || (ErrorCode::InvalidParams, format!("`{SHOW_AFTER}` takes a document and a pipeline"));
        if command.command != SHOW_AFTER {
            return Err((ErrorCode::InvalidParams, format!("there is no command `{}`", command.command)));
        }
        let text = |index: usize| command.arguments.get(index).and_then(Value::as_str).ok_or_else(invalid);
        let number = command.arguments.get(2).and_then(Value::as_u64).unwrap_or(0) as usize;
        let (uri, passes) = (text(0)?, text(1)?.to_owned());
        let setup = self.setup;
        let document = self.document(uri)?;
        let part = document.parts().get(number).ok_or_else(invalid)?;
        let source = Source::new(uri, &document.text[part.start..part.start + part.length]);
        let shown = setup.opt_text(&OptArgs { passes, ..OptArgs::default() }, source, &|_| {});
        shown.map(Value::from).map_err(|failure| (ErrorCode::RequestFailed, failure.to_string()))
    }
}

/// A position of a document, with the request's other parameters.
struct AskedPlace {
    uri: String,
    offset: usize,
    new_name: String,
    definitions: Definitions,
}

fn params<T: DeserializeOwned>(request: Request) -> Result<T, (ErrorCode, String)> {
    let method = request.method.clone();
    request.extract(&method).map(|(_, params)| params).map_err(|error| match error {
        ExtractError::MethodMismatch(_) => (ErrorCode::InternalError, method),
        ExtractError::JsonError { error, .. } => (ErrorCode::InvalidParams, error.to_string()),
    })
}

fn faults(uri: &str, diagnostics: &[Value]) -> Message {
    let params = json!({ "uri": uri, "diagnostics": diagnostics });
    Notification::new("textDocument/publishDiagnostics".to_owned(), params).into()
}

/// A line of lenses above each function.
fn lenses(document: &Document, uri: &str) -> Value {
    let mut lenses = Vec::new();
    for (number, part) in document.parts().iter().enumerate().filter(|(_, part)| part.module.is_some()) {
        for site in part.index.ops.values() {
            let def = site.op.as_ref().and_then(|op| part.ctx.def(op.name));
            if def.is_none_or(|def| !def.traits.contains(Traits::FUNCTION)) {
                continue;
            }
            let at: TextPosition = document.position(part.start + site.span.start);
            for (passes, title) in LENSES {
                let command =
                    json!({ "title": title, "command": SHOW_AFTER, "arguments": [uri, passes, number] });
                lenses.push(json!({ "range": Span { start: at, end: at }, "command": command }));
            }
        }
    }
    lenses.into()
}
