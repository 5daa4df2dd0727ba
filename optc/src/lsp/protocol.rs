//! The structures of the Language Server Protocol that this server uses (version 3.17, with its names, except
//! that `Range` is `Span` here).

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A position in a document: line and UTF-16 code unit in it, both from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct TextPosition {
    pub line: u32,
    pub character: u32,
}

/// From one position up to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Span {
    pub start: TextPosition,
    pub end: TextPosition,
}

#[derive(Deserialize)]
pub(super) struct DocumentId {
    pub uri: String,
}

/// `textDocument/didOpen`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DidOpen {
    pub text_document: OpenedDocument,
}

#[derive(Deserialize)]
pub(super) struct OpenedDocument {
    pub uri: String,
    pub text: String,
}

/// `textDocument/didChange`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DidChange {
    pub text_document: DocumentId,
    pub content_changes: Vec<ContentChange>,
}

/// The new text of a span, or of the whole document.
#[derive(Deserialize)]
pub(super) struct ContentChange {
    pub range: Option<Span>,
    pub text: String,
}

/// Parameters that only name a document.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OfDocument {
    pub text_document: DocumentId,
}

/// Parameters of a request at a position, including `textDocument/rename` and `references`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AtPosition {
    pub text_document: DocumentId,
    pub position: TextPosition,
    pub new_name: Option<String>,
    pub context: Option<ReferenceContext>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReferenceContext {
    #[serde(default)]
    pub include_declaration: bool,
}

/// `textDocument/inlayHint`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InSpan {
    pub text_document: DocumentId,
    pub range: Span,
}

/// `workspace/executeCommand`.
#[derive(Deserialize)]
pub(super) struct ExecuteCommand {
    pub command: String,
    #[serde(default)]
    pub arguments: Vec<Value>,
}

/// A kind of thing in a completion (`CompletionItemKind`).
#[derive(Clone, Copy)]
pub(super) enum ItemKind {
    Operation = 3,
    Value = 6,
    Block = 18,
    Attribute = 10,
    Type = 22,
    Pass = 9,
    Alias = 21,
}

/// A text to put in (`CompletionItem`).
#[derive(Serialize)]
pub(super) struct Item {
    pub label: String,
    pub kind: u8,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub documentation: String,
}

/// The replacement of a span.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TextEdit {
    pub range: Span,
    pub new_text: String,
}

/// An operation in the outline (`DocumentSymbol`).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OutlineEntry {
    pub name: String,
    pub detail: String,
    pub kind: u8,
    pub range: Span,
    pub selection_range: Span,
    pub children: Vec<OutlineEntry>,
}
