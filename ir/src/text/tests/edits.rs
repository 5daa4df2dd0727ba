//! Edited texts: they have the errors of a fresh parse.

use std::sync::Arc;

use crate::context::Context;
use crate::diag::{Diagnostic, marked_span};
use crate::text::{EditedText, ParseOptions, parse};
use crate::verify::verify;

/// Functions that call others, in the file and in a module, with aliases and text that resembles one.
const TEXT: &str = "#note = \"n\"
!t = tensor<4xf32>
func.func @first(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.exp %x {tag = #note} : tensor<4xf32>
  // A comment, with a { in it.
  %1 = nn.relu %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

func.func @second(%x: !t) -> !t {
  %0 = func.call @first(%x) : (!t) -> !t
  %1 = func.call @third(%0) : (!t) -> !t
  return %1 : !t
}
#later = 1 : i64
module @inner {
  func.func @first(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = optc.group(%a = %x) : (tensor<2xf32>) -> tensor<2xf32> {
      %1 = nn.relu %a : tensor<2xf32>
      optc.yield %1 : tensor<2xf32>
    }
    return %0 : tensor<2xf32>
  }
  func.func @fourth(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = func.call @first(%x) : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
func.func private @third(!t) -> !t
func.func @fifth(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tag = #later} {
  %0 = nn.add %x, %x : tensor<4xf32>
  cf.br ^end(%0 : tensor<4xf32>)
^end(%1: tensor<4xf32>):
  return %1 : tensor<4xf32>
}
";

/// Pieces of text that edits insert; most of them are errors somewhere.
const PIECES: [&str; 22] = [
    "",
    "",
    "",
    " ",
    "\n",
    "{",
    "}",
    "(",
    "\"",
    "//",
    "%0",
    "%x : ",
    "@first",
    "#note",
    "!t",
    "tensor<4xf32>",
    "loc(\"a\")",
    "func.func @second() {\n  return\n}\n",
    "#later = 2 : i64\n",
    "return",
    "é",
    "{-#",
];

/// An error, without the numbers of places in a context.
type Told = (Option<std::ops::Range<usize>>, String, Option<String>, Vec<String>);

fn told(ctx: &Context, faults: &[Diagnostic]) -> Vec<Told> {
    let told = |fault: &Diagnostic| {
        let place = marked_span(ctx, fault.location, fault.length);
        (place, fault.message.clone(), fault.help.clone(), fault.note_texts(ctx))
    };
    faults.iter().map(told).collect()
}

/// The errors of a text that is parsed for the first time.
fn afresh(text: &str) -> Vec<Told> {
    let ctx = Arc::new(Context::new());
    let read = parse(&ctx, "t", text.to_owned()).and_then(|module| verify(&module));
    told(&ctx, &read.err().unwrap_or_default())
}

fn begun() -> EditedText {
    EditedText::new(Arc::new(Context::new()), ParseOptions::default())
}

/// A pseudo-random number below `end`.
fn random(state: &mut u64, end: usize) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state % end as u64) as usize
}

/// A place in a text, more often than not at the start of a token.
fn place(state: &mut u64, text: &str) -> usize {
    let at = text.floor_char_boundary(random(state, text.len() + 1));
    let word = text[at..].find([' ', '\n']).map_or(at, |length| at + length);
    if random(state, 3) > 0 { word } else { at }
}

#[test]
fn edited_texts_have_the_faults_of_fresh_ones() {
    let (mut taken_over, mut at_fault, mut sound) = (0, 0, 0);
    for seed in 1_u64..60 {
        let mut state = 0x9e37_79b9_7f4a_7c15 ^ (seed << 7);
        let mut edited = begun();
        let mut text = TEXT.to_owned();
        let mut before = Vec::new();
        for _ in 0..40 {
            // An edit, or the text before one.
            match random(&mut state, 4) {
                0 if !before.is_empty() => text = before.swap_remove(random(&mut state, before.len())),
                _ => {
                    let start = place(&mut state, &text);
                    let length = random(&mut state, 12);
                    let end = text.ceil_char_boundary((start + length / 4).min(text.len()));
                    let piece = PIECES[random(&mut state, PIECES.len())];
                    before.push(text.clone());
                    text.replace_range(start..end, piece);
                }
            }
            if !edited.can_read(&text, &ParseOptions::default()) {
                edited = begun();
            }
            let faults = edited.read("t", &text);
            let expected = afresh(&text);
            assert_eq!(told(edited.ctx(), &faults), expected, "seed {seed}:\n{text}");
            taken_over += edited.taken_over();
            if expected.is_empty() { sound += 1 } else { at_fault += 1 }
        }
    }
    assert!(taken_over > 2000 && at_fault > 500 && sound > 100, "{taken_over} {at_fault} {sound}");
}

#[test]
fn only_the_function_that_changed_is_read_again() {
    let mut edited = begun();
    let mut check = |text: &str, taken_over: usize, expected: &[&str]| {
        let faults = edited.read("t", text);
        assert_eq!(faults.iter().map(|fault| fault.message.as_str()).collect::<Vec<_>>(), expected);
        assert_eq!(edited.taken_over(), taken_over, "{text}");
    };
    check(TEXT, 0, &[]);
    check(TEXT, 6, &[]);
    let changed = TEXT.replace("// A comment", "// Another");
    check(&changed, 5, &[]);
    // Callers are checked when their callee has changed, and stay faulty as long as it is.
    let other = changed.replace("private @third(!t)", "private @third()");
    let fault = "`@third` is a `() -> tensor<4xf32>`, called as a `(tensor<4xf32>) -> tensor<4xf32>`";
    check(&other, 5, &[fault]);
    check(&other.replace("nn.exp %x", "nn.relu %x"), 5, &[fault]);
    check(&changed, 1, &[]);
    // A function that violates a law by itself is reported again, though only another function is parsed.
    let broken = changed.replace("@fifth(%x: tensor<4xf32>) -> tensor<4xf32>", "@fifth(%x: tensor<4xf32>)");
    let fault = "`func.return`: the number of returned values is 0, found 1";
    check(&broken, 5, &[fault]);
    check(&broken.replace("nn.exp %x", "nn.relu %x"), 5, &[fault]);
    let repaired = changed.replace("nn.exp %x", "nn.relu %x");
    check(&repaired, 5, &[]);
    // A changed alias affects all functions after it.
    check(&repaired.replace("#later = 1", "#later = 2"), 2, &[]);
}

#[test]
fn what_breaks_a_law_is_told_until_it_is_repaired() {
    let returns_nothing =
        TEXT.replace("@fifth(%x: tensor<4xf32>) -> tensor<4xf32>", "@fifth(%x: tensor<4xf32>)");
    let unread = returns_nothing.replace("nn.exp %x {", "nn.exp %x, {");
    let steps = [
        &*returns_nothing,
        // If another function has a syntax error, the parser reports a violation, not the verifier.
        &unread,
        &unread.replace("nn.relu %0", "nn.exp %0"),
        &returns_nothing,
        &returns_nothing.replace("A comment", "Another"),
        TEXT,
        &unread,
        &returns_nothing,
    ];
    let mut edited = begun();
    for text in steps {
        let faults = edited.read("t", text);
        assert_eq!(told(edited.ctx(), &faults), afresh(text), "{text}");
    }
}
