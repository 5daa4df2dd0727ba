//! What the command does, in one test program.

mod artifact;
mod bad_input;
mod bisect;
mod book;
mod dash;
mod debug_options;
mod diff;
mod embedding;
mod explain;
mod folders;
mod hostile_text;
mod list;
mod lit;
mod little_memory;
mod lsp;
mod numbers;
mod own_sizes;
mod reduce;
mod replay;
mod scratch;
mod shell;
mod sizes;
mod terminal;
