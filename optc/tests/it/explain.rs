//! What `optc explain` advises is true: each arena that it names is what the command then gives.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The JSON that a verb prints; none if the file is no program for it.
fn json(arguments: &[&str]) -> Option<Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_optc")).args(arguments).args(["--json", "-"]).output();
    let output = output.expect("the command starts");
    output.status.success().then(|| serde_json::from_slice(&output.stdout).expect("JSON is printed"))
}

/// The programs of the text tests of some folders.
fn programs() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lit-tests");
    let files = |folder: &str| {
        let entries = std::fs::read_dir(root.join(folder)).expect("it is there");
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be read").path()).collect();
        files.sort();
        files
    };
    ["explain", "lines", "recompute", "schedule", "plan"].into_iter().flat_map(files).collect()
}

/// A program whose names try to leave the page.
const HOSTILE: &str = r#"func.func @main(%x: tensor<64xf32> {optc.name = "</script><script>alert(1)</script>"}) -> tensor<64xf32> {
  %0 = nn.exp %x : tensor<64xf32> loc("</script><img src=x onerror=alert(2)>@SCRIPT@")
  %1 = nn.softmax %0 {axis = 0} : tensor<64xf32>
  return %1 : tensor<64xf32>
}
"#;

/// Each number of the page is that of `--json`, and a name stays a name.
#[test]
fn the_page_has_the_data_of_the_plan_and_no_name_is_markup() {
    let program = crate::scratch::file("<script>.mlir", HOSTILE.as_bytes()).display().to_string();
    let page = Command::new(env!("CARGO_BIN_EXE_optc")).args(["plan", &program, "--html", "-"]).output();
    let page = String::from_utf8(page.expect("the command starts").stdout).expect("a page is text");
    let (_, rest) = page.split_once(r#"type="application/json">"#).expect("the page has data");
    let (data, rest) = rest.split_once("</script>").expect("the data end");
    assert_eq!(rest.matches("</script>").count(), 1, "the page has one script beside its data");
    assert_eq!(page.matches("http").count(), 2, "`http-equiv`, and the name space of SVG");
    let data: Value = serde_json::from_str(data).expect("the data are JSON");
    let plan = json(&["plan", &program]).expect("it can be planned");
    for (key, value) in plan.as_object().expect("a plan is an object") {
        assert_eq!(&data[key], value, "{key}");
    }
    assert_eq!(data["live_bytes"], json(&["explain", &program]).expect("it can be explained")["live_bytes"]);
    assert!(data["steps"][0]["name"].as_str().is_some_and(|name| name.starts_with("</script><img")));
    assert!(data["text"].as_str().is_some_and(|text| text.contains("nn.softmax")));
}

#[test]
fn advice_is_what_the_command_gives() {
    let (mut tried, mut advised) = (0, 0);
    for program in programs() {
        if tried > 24 && advised > 24 {
            break;
        }
        let program = program.display().to_string();
        let Some(explained) = json(&["explain", &program]) else { continue };
        if explained.get("sizes").is_some() {
            continue;
        }
        let arena = |plan: &Value| {
            let ends = plan["pools"].as_array().expect("pools").iter();
            ends.map(|pool| pool["size_bytes"].as_u64().expect("bytes")).sum::<u64>()
        };
        let Some(plan) = json(&["plan", &program]) else { continue };
        assert_eq!(explained["arena_bytes"].as_u64(), Some(arena(&plan)), "{program}");
        let live = explained["live_bytes"].as_array().expect("live bytes");
        let most = live.iter().filter_map(Value::as_u64).max().unwrap_or(0);
        let bound = plan["pools"][0]["whole_tensor_bound_bytes"].as_u64().expect("a bound");
        assert!(most <= bound, "{program}: {most} of {bound}");
        for lever in explained["levers"].as_array().expect("levers") {
            let flags: Vec<&str> = lever["flags"].as_str().expect("flags").split(' ').collect();
            let plan = json(&[&["plan", &program][..], &flags].concat());
            let plan = plan.unwrap_or_else(|| panic!("{program}: {flags:?} is refused"));
            assert_eq!(lever["arena_bytes"].as_u64(), Some(arena(&plan)), "{program} {flags:?}");
            assert_eq!(lever["steps"].as_u64(), plan["steps"].as_array().map(|all| all.len() as u64));
            advised += 1;
        }
        tried += 1;
    }
    assert!(tried > 20 && advised > 20, "{tried} programs, {advised} pieces of advice");
}
