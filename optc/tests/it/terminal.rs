//! What `optc` does on a terminal, and what it leaves when it is told to end.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output};

use crate::scratch;

const OPTC: &str = env!("CARGO_BIN_EXE_optc");

const PROGRAM: &str = "func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = nn.softmax %x {axis = 1} : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
";

/// Takes the line of progress off, or begins it.
const NEW_LINE: &str = "\r\u{1b}[2K";

/// What a command shows on a terminal of its own, which `script` makes: a part of util-linux, which every
/// Linux has.
fn on_terminal(command: &str) -> String {
    let run = Command::new("script").args(["-qc", command, "/dev/null"]).env_remove("NO_COLOR").output();
    let Output { stdout, .. } = run.expect("`script` makes a terminal");
    String::from_utf8_lossy(&stdout).into_owned()
}

#[test]
fn work_is_shown_on_a_terminal_and_nowhere_else() {
    let path = scratch::file("shown.mlir", PROGRAM.as_bytes());
    let path = path.display();
    let shown = on_terminal(&format!("'{OPTC}' plan '{path}'"));
    for step in ["loading", "compiling: fuse", "compiling: plan"] {
        assert!(shown.contains(&format!("{NEW_LINE}{step}")), "{shown}");
    }
    let (_, last) = shown.rsplit_once(NEW_LINE).expect("the line was cleared");
    assert!(last.starts_with("arena "), "{shown}");
    let reduced = on_terminal(&format!("'{OPTC}' reduce '{path}' -- grep -c nn.softmax"));
    assert!(reduced.contains("1 of 1 operations left after 1 programs; trying "), "{reduced}");
    let piped = Command::new(OPTC).args(["plan", &path.to_string()]).output().expect("the command starts");
    assert!(piped.status.success() && piped.stderr.is_empty(), "{}", String::from_utf8_lossy(&piped.stderr));
}

#[test]
fn colours_are_for_terminals_unless_they_are_asked_for() {
    const COLOUR: &str = "\u{1b}[1m";
    let plan = |environment: &str, option: &str| {
        on_terminal(&format!("{environment} '{OPTC}' plan /no/such/program {option}"))
    };
    let shown = plan("", "");
    assert!(shown.contains(COLOUR) && shown.contains("No such file"), "{shown}");
    for (environment, option) in [("NO_COLOR=1", ""), ("", "--color=never"), ("NO_COLOR=1", "--color=auto")] {
        let shown = plan(environment, option);
        assert!(!shown.contains(COLOUR) && shown.contains("No such file"), "{environment} {option}: {shown}");
    }
    let shown = plan("NO_COLOR=1", "--color=always");
    assert!(shown.contains(COLOUR), "{shown}");
}

const SIGTERM: i32 = 15;

/// The names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let names = entries.map(|entry| entry.expect("it can be read").file_name());
    names.map(|name| name.to_string_lossy().into_owned()).collect()
}

/// `optc reduce`, started by a shell, with this script as its command.
fn reduced(folder: &Path, shell: &str, script: &str) -> Output {
    let program = scratch::file("ended.mlir", PROGRAM.as_bytes());
    let mut command = Command::new("sh");
    command.args(["-c", shell, OPTC, "reduce"]).arg(program).arg("-o").arg(folder.join("small.mlir"));
    command.args(["--stderr=", "--", "sh", "-c", script]).env("TMPDIR", folder);
    command.output().expect("the command starts")
}

/// One whose command tells it to end each time, and notes what it saw the first time: the next program may
/// be tried before the signal has its effect. It ends as many seconds later.
fn ended(folder: &Path, shell: &str, seconds: u32) -> Output {
    let seen = folder.join("seen");
    let script = format!(
        "test -s '{seen}' || ls -d '{folder}'/optc_* > '{seen}'; kill -TERM $PPID; sleep {seconds}; exit 3",
        seen = seen.display(),
        folder = folder.display(),
    );
    reduced(folder, shell, &script)
}

#[test]
fn who_is_told_to_end_takes_away_what_is_not_finished() {
    let folder = scratch::path("ended");
    fs::create_dir(&folder).expect("a folder can be made");
    let output = ended(&folder, "exec \"$0\" \"$@\"", 2);
    assert_eq!(output.status.signal(), Some(SIGTERM), "{}", String::from_utf8_lossy(&output.stderr));
    let seen = fs::read_to_string(folder.join("seen")).expect("the command was run");
    assert!(seen.contains("/optc_"), "a folder was there: {seen}");
    assert_eq!(names(&folder), ["seen"]);
}

#[test]
fn a_signal_that_is_ignored_ends_nothing() {
    let folder = scratch::path("ignored");
    fs::create_dir(&folder).expect("a folder can be made");
    let output = ended(&folder, "trap '' TERM; exec \"$0\" \"$@\"", 0);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut names = names(&folder);
    names.sort();
    assert_eq!(names, ["seen", "small.mlir"]);
}

#[test]
fn a_reduction_that_is_told_to_end_writes_the_smallest_program_so_far() {
    let folder = scratch::path("interrupted");
    fs::create_dir(&folder).expect("a folder can be made");
    let smaller = folder.join("smaller");
    let smaller = smaller.display();
    // The first program without `nn.softmax` still fails; it is told to end at the next one.
    let script = format!(
        "grep -q @main {{}} || exit 4
         if test -e '{smaller}'; then kill -TERM $PPID; sleep 1; fi
         grep -q nn.softmax {{}} || touch '{smaller}'
         exit 3"
    );
    let output = reduced(&folder, "exec \"$0\" \"$@\"", &script);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(SIGTERM), "{said}");
    assert!(said.contains("; stopped early"), "{said}");
    let small = fs::read_to_string(folder.join("small.mlir")).expect("it was written");
    assert!(small.contains("func.func @main") && !small.contains("nn.softmax"), "{small}");
    let mut names = names(&folder);
    names.sort();
    assert_eq!(names, ["small.mlir", "smaller"]);
}

#[test]
fn long_searches_show_how_far_they_are() {
    let problem = "id,lower,upper,size\n0,0,6,3\n1,0,2,5\n2,3,8,4\n3,1,4,2\n4,5,9,6\n5,2,7,1\n6,6,9,3\n";
    let path = scratch::file("searched.csv", problem.as_bytes());
    let placed = on_terminal(&format!("'{OPTC}' place '{}'", path.display()));
    assert!(placed.contains(&format!("{NEW_LINE}placing: ")) && placed.contains(" %"), "{placed}");
    let path = scratch::file("searched.mlir", PROGRAM.as_bytes());
    let path = path.display();
    let bisected = on_terminal(&format!("'{OPTC}' bisect '{path}' --random"));
    for step in ["loading", "interpreting", "interpreting after plan", "running after plan"] {
        assert!(bisected.contains(&format!("{NEW_LINE}{step}")), "{bisected}");
    }
    let built = on_terminal(&format!("'{OPTC}' build '{path}' -o /dev/null"));
    for step in ["loading", "compiling: machine code", "writing"] {
        assert!(built.contains(&format!("{NEW_LINE}{step}")), "{built}");
    }
}
