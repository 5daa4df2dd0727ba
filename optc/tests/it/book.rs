//! Whether the commands of the book (`docs/book`) print what it says.
//!
//! Each chapter has a folder of its own. A block after `<!-- save: NAME -->` is written there as the file
//! NAME, and `<!-- copy: PATH -->` copies a file of the project. In a block `console`, a line `$ optc ...` is
//! run, and the lines after it are its output, errors last; a line `...` stands for one line or more.
//! `OPTC_BLESS=1` rewrites outputs without such a line.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use optc::lit::LitMode;
use optc::passes::manager::unified_diff;

use crate::scratch::path;

/// Stands in an output for lines that differ from run to run.
const LEFT_OUT: &str = "...";
/// What begins a command.
const PROMPT: &str = "$ optc ";
/// Fifteen pages of sixty lines.
const MOST_LINES: usize = 15 * 60;
/// Longer lines of programs and outputs are broken in print.
const COLUMNS: usize = 110;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The chapters' file names and texts, sorted.
fn chapters() -> Vec<(String, String)> {
    let folder = root().join("docs/book");
    let entries = fs::read_dir(folder).expect("the book is there");
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    let pages = paths.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let named = pages.map(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).expect("a plain name").to_owned();
        (name, fs::read_to_string(&path).expect("a chapter is text"))
    });
    let mut chapters: Vec<_> = named.filter(|(name, _)| name != "SUMMARY.md").collect();
    chapters.sort();
    chapters
}

/// The words of a command; single quotes keep spaces.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for (index, piece) in text.split('\'').enumerate() {
        let is_quoted = index % 2 == 1;
        let parts: Vec<&str> = if is_quoted { vec![piece] } else { piece.split(' ').collect() };
        let (first, others) = parts.split_first().expect("a split has a part");
        words.last_mut().expect("there is always a word").push_str(first);
        words.extend(others.iter().map(|part| (*part).to_owned()));
    }
    words.retain(|word| !word.is_empty());
    words
}

/// What a command prints in a folder, errors last.
fn printed(command: &str, folder: &Path) -> String {
    let mut process = Command::new(env!("CARGO_BIN_EXE_optc"));
    process.args(words(command)).current_dir(folder).stdin(Stdio::null());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("OPTC_") {
            process.env_remove(name);
        }
    }
    let output = process.output().expect("the command starts");
    let errors = String::from_utf8(output.stderr).expect("what is said is text");
    let is_whole = matches!(output.status.code(), Some(0..=2)) && !errors.contains("panicked at");
    assert!(is_whole, "{command}: {}\n{errors}", output.status);
    String::from_utf8(output.stdout).expect("what is printed is text") + &errors
}

/// Whether lines are those expected.
fn fits(expected: &[&str], found: &[&str]) -> bool {
    match expected {
        [] => found.is_empty(),
        [LEFT_OUT, rest @ ..] => (1..=found.len()).any(|skipped| fits(rest, &found[skipped..])),
        [first, rest @ ..] => found.first() == Some(first) && fits(rest, &found[1..]),
    }
}

/// A block of commands with what they print now.
fn session(block: &[&str], folder: &Path) -> String {
    let mut out = String::new();
    let mut rest = block;
    while let Some((line, after)) = rest.split_first() {
        let command = line.strip_prefix(PROMPT).unwrap_or_else(|| panic!("`{line}` is no command"));
        let count = after.iter().take_while(|line| !line.starts_with(PROMPT)).count();
        let (expected, next) = after.split_at(count);
        let found = printed(command, folder);
        let lines: Vec<&str> = found.lines().collect();
        let expected_text: String = expected.iter().map(|line| format!("{line}\n")).collect();
        let is_partial = expected.contains(&LEFT_OUT);
        assert!(
            !is_partial || fits(expected, &lines),
            "`optc {command}` prints something else:\n{}",
            unified_diff(&expected_text, &found)
        );
        let shown = if is_partial { expected_text } else { found };
        out += &format!("{line}\n{shown}");
        rest = next;
    }
    out
}

/// A chapter with what its commands print now, run in a folder of this name.
fn corrected(name: &str, text: &str) -> String {
    let folder = path(name);
    fs::create_dir(&folder).expect("the chapter has no folder yet");
    let mut out = String::new();
    let mut saved = None;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        out += &format!("{line}\n");
        let marked = line.strip_prefix("<!-- ").and_then(|line| line.strip_suffix(" -->"));
        if let Some(file) = marked.and_then(|marked| marked.strip_prefix("copy: ")) {
            let to = folder.join(Path::new(file).file_name().expect("the path of a file"));
            fs::copy(root().join(file), to).expect("the project has this file");
        }
        if let Some(file) = marked.and_then(|marked| marked.strip_prefix("save: ")) {
            saved = Some(folder.join(file));
        }
        let Some(language) = line.strip_prefix("```") else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let mut text: String = block.iter().map(|line| format!("{line}\n")).collect();
        if let Some(file) = saved.take() {
            fs::write(file, &text).expect("the chapter's file can be written");
        }
        if language == "console" {
            text = session(&block, &folder);
        }
        out += &format!("{text}```\n");
    }
    out
}

#[test]
fn the_commands_of_the_book_print_what_it_says() {
    let mode = LitMode::from_environment().unwrap_or_else(|fault| panic!("{fault}"));
    let mut faults = String::new();
    for (name, text) in chapters() {
        let corrected = corrected(&name, &text);
        match mode {
            _ if corrected == text => {}
            LitMode::Bless => {
                fs::write(root().join("docs/book").join(&name), corrected).expect("a chapter can be written");
            }
            LitMode::Check => faults += &format!("{name}:\n{}", unified_diff(&text, &corrected)),
        }
    }
    assert!(faults.is_empty(), "commands print something else (OPTC_BLESS=1 rewrites the book):\n{faults}");
}

#[test]
fn the_summary_lists_the_chapters_by_their_titles() {
    let summary = fs::read_to_string(root().join("docs/book/SUMMARY.md")).expect("the book has a summary");
    let mut listed: Vec<&str> = summary.lines().filter(|line| line.starts_with("- ")).collect();
    listed.sort_unstable();
    let chapters = chapters().into_iter().map(|(name, text)| {
        let title = text.lines().next().and_then(|line| line.strip_prefix("# "));
        format!("- [{}]({name})", title.expect("a chapter begins with its title"))
    });
    let mut expected: Vec<String> = chapters.collect();
    expected.sort_unstable();
    assert_eq!(listed, expected);
}

#[test]
fn every_chapter_runs_something_and_says_what_the_reader_will_have() {
    for (name, text) in chapters() {
        assert!(text.contains("\nAt the end of this chapter "), "{name} does not say what it is good for");
        assert!(text.contains("\n```console\n$ optc "), "{name} runs no command");
    }
}

#[test]
fn the_book_has_at_most_fifteen_pages() {
    let chapters = chapters();
    let texts = chapters.iter().flat_map(|(_, text)| text.lines());
    let lines: usize = texts.map(|line| line.chars().count().div_ceil(COLUMNS)).sum();
    assert!(lines <= MOST_LINES, "{lines} lines, at most {MOST_LINES} are allowed");
}

#[test]
fn lines_that_are_left_out_are_one_or_more() {
    assert!(fits(&["a", LEFT_OUT, "d"], &["a", "b", "c", "d"]));
    assert!(!fits(&["a", LEFT_OUT, "d"], &["a", "d"]));
    assert!(!fits(&["a", LEFT_OUT], &["b", "c"]));
    assert!(!fits(&["a"], &["a", "b"]));
    assert_eq!(words("plan f.mlir --dim 'N<=5 12' x"), ["plan", "f.mlir", "--dim", "N<=5 12", "x"]);
}
