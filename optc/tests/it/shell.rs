//! Completions and man pages know every verb and option, and `doctor` says what was chosen.

use std::process::Command;

use serde_json::Value;

fn optc(arguments: &[&str]) -> String {
    let output =
        Command::new(env!("CARGO_BIN_EXE_optc")).args(arguments).output().expect("the command starts");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text is printed")
}

/// The verbs that `--help` lists.
fn verbs() -> Vec<String> {
    let help = optc(&["--help"]);
    let (_, rest) = help.split_once("Commands:\n").expect("there are verbs");
    let verbs = rest.lines().take_while(|line| !line.is_empty()).filter(|line| line.starts_with("  "));
    let names = verbs.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help" && name.chars().all(char::is_lowercase)).map(str::to_owned).collect()
}

/// The long options of a verb.
fn options(verb: &str) -> Vec<String> {
    let help = optc(&[verb, "--help"]);
    let words = help.split_whitespace().filter(|word| word.starts_with("--"));
    let names = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let names = names.map(|word| word.split(['=', '.', '`', ',', '[']).next().unwrap_or_default().to_owned());
    names.filter(|name| name != "version").collect()
}

#[test]
fn a_pipeline_is_printed_without_a_file() {
    let pipeline = optc(&["--passes=fuse,plan", "--print-pipeline"]);
    assert!(pipeline.starts_with("layout") && pipeline.contains(",plan"), "{pipeline}");
    let output = Command::new(env!("CARGO_BIN_EXE_optc")).arg("--passes=fuse").output().expect("it starts");
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("required arguments were not provided") && told.contains("FILE"), "{told}");
}

#[test]
fn every_verb_and_option_is_completed_and_described() {
    let verbs = verbs();
    assert!(verbs.len() >= 11 && verbs.contains(&"build".to_owned()), "{verbs:?}");
    let shells = ["bash", "zsh", "fish"].map(|shell| optc(&["completions", shell]));
    for verb in &verbs {
        assert!(shells.iter().all(|text| text.contains(verb.as_str())), "{verb}");
        let page = optc(&["man", verb]);
        assert!(page.contains(&format!("optc\\-{verb}")), "{page}");
    }
    assert!(optc(&["man"]).contains(".SH DESCRIPTION"));
    for option in options("build") {
        let page = optc(&["man", "build"]);
        assert!(page.contains(&option.replace('-', "\\-")), "{option}: {page}");
        assert!(shells.iter().all(|text| text.contains(&option)), "{option}");
    }
}

#[test]
fn a_verb_that_there_is_not_is_refused_with_a_hint() {
    let output = Command::new(env!("CARGO_BIN_EXE_optc")).args(["man", "biuld"]).output();
    let output = output.expect("the command starts");
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("there is no verb `biuld` (did you mean `build`?)"), "{said}");
}

#[test]
fn doctor_says_what_native_is() {
    let found: Value = serde_json::from_str(&optc(&["doctor", "--json", "-"])).expect("JSON is printed");
    assert_eq!(found["target_cpu"], codegen::Isa::detect().name());
    assert_eq!(found["available_threads"], runtime::available_threads());
    let text = optc(&["doctor"]);
    assert!(text.contains(&format!("--target-cpu  {}", codegen::Isa::detect().name())), "{text}");
    let object_files = found["object_files"].as_array().expect("a list");
    assert!(
        object_files.contains(&std::env::consts::ARCH.into()) && text.contains("--emit=obj    "),
        "{text}"
    );
    assert!(optc(&["--version"]).contains(found["build"].as_str().expect("a build")));
}
