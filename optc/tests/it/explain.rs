//! What `optc explain` advises is true: each arena that it names is what the command then gives.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The JSON that a verb prints; none if the file is no program for it.
fn json(arguments: &[&str]) -> Option<Value> {
    // Times are measured where a test asks for them.
    let is_unasked =
        arguments[0] == "explain" && !arguments.iter().any(|argument| argument.starts_with("--measure"));
    let measure = if is_unasked { &["--measure=0"][..] } else { &[] };
    json_of(&[arguments, measure].concat())
}

/// The same for these words alone.
fn json_of(arguments: &[&str]) -> Option<Value> {
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
    ["explain", "lines", "recompute", "schedule", "plan", "sizes"].into_iter().flat_map(files).collect()
}

/// A program whose names try to leave the page.
const HOSTILE: &str = r#"func.func @main(%x: tensor<64xf32> {optc.name = "</script><script>alert(1)</script>"}) -> tensor<64xf32> {
  %0 = nn.exp %x : tensor<64xf32> loc("</script><img src=x onerror=alert(2)>@SCRIPT@")
  %1 = nn.softmax %0 {axis = 0} : tensor<64xf32>
  return %1 : tensor<64xf32>
}
"#;

/// What `optc plan --html` writes.
fn page(arguments: &[&str]) -> String {
    let arguments = [&["plan"], arguments, &["--html", "-"]].concat();
    let output = Command::new(env!("CARGO_BIN_EXE_optc")).args(arguments).output();
    String::from_utf8(output.expect("the command starts").stdout).expect("a page is text")
}

/// The data of a page, its texts, and the page without them.
fn parts(page: &str) -> (Value, Value, String) {
    let parse = |text: &str| serde_json::from_str(text).expect("the data are JSON");
    let element = |page: &str| {
        let (before, rest) = page.split_once(r#"type="application/json">"#).expect("the page has data");
        let (data, rest) = rest.split_once("</script>").expect("the data end");
        (parse(data), before.to_owned(), rest.to_owned())
    };
    let (data, before, rest) = element(page);
    let (texts, between, after) = element(&rest);
    (data, texts, before + &between + &after)
}

/// What a row of a column of numbers or words says.
fn cell(table: &Value, column: &str, row: usize) -> Value {
    match &table[column] {
        Value::Object(words) => words["words"][words["at"][row].as_u64().expect("a number") as usize].clone(),
        plain => plain[row].clone(),
    }
}

/// The values that columns say, as `--json` has them.
fn values_of(table: &Value) -> Vec<Value> {
    let number = |column: &str, row: usize| table[column][row].as_i64().expect("a number");
    let count = table["name"].as_array().expect("names").len();
    let mut step = 0;
    let value = |row: usize| {
        step += number("step", row);
        let first = step + number("first", row);
        let root = usize::try_from(row as i64 + number("root", row)).expect("a row");
        let mut value =
            serde_json::json!({ "step": step, "first": first, "last": first + number("last", row) });
        value["root"] = table["name"][root].clone();
        for column in ["name", "pool", "offset", "size_bytes", "kind"] {
            value[column] = cell(table, column, row);
        }
        let ty = cell(table, "type", row);
        if ty != "" {
            value["type"] = ty;
        }
        value
    };
    (0..count).map(value).collect()
}

/// Each number of the page is that of `--json`, and a name stays a name.
#[test]
fn the_page_has_the_data_of_the_plan_and_no_name_is_markup() {
    let program = crate::scratch::file("<script>.mlir", HOSTILE.as_bytes()).display().to_string();
    let page = page(&[&program]);
    let (data, texts, rest) = parts(&page);
    assert_eq!(page.matches("</script>").count(), 3, "the page has one script beside its data and texts");
    assert_eq!(page.matches("http").count(), 2, "`http-equiv`, and the name space of SVG");
    let shown = &data["plans"][0];
    let plan = json(&["plan", &program]).expect("it can be planned");
    for key in ["pools", "naive_bytes", "weights_bytes", "overlaps"] {
        assert_eq!(shown[key], plan[key], "{key}");
    }
    assert_eq!(Value::Array(values_of(&shown["values"])), plan["values"]);
    assert_eq!(shown["live_bytes"], json(&["explain", &program]).expect("it can be explained")["live_bytes"]);
    assert_eq!(cell(&shown["steps"], "op", 0), plan["steps"][0]["op"]);
    assert!(shown["steps"]["name"][0].as_str().is_some_and(|name| name.starts_with("</script><img")));
    assert!(texts[0].as_str().is_some_and(|text| text.contains("nn.softmax")));
    assert!(rest.len() <= 40_000, "{} bytes without data", rest.len());
}

/// Its own style and script are all that a page may load, send or run, and the same plan gives the same page.
#[test]
fn the_page_allows_nothing_else_and_is_the_same_each_time() {
    let program = crate::scratch::file("twice.mlir", HOSTILE.as_bytes()).display().to_string();
    let page = page(&[&program]);
    let policy = page.split_once(r#"http-equiv="Content-Security-Policy" content=""#).expect("a policy").1;
    let policy = policy.split_once('"').expect("it ends").0;
    let rules: Vec<&str> = policy.split("; ").collect();
    let own = ["default-src 'none'", "base-uri 'none'", "form-action 'none'"];
    assert_eq!(rules[..3], own);
    assert_eq!(rules[3..], ["style-src 'nonce-optc'", "script-src 'nonce-optc'"]);
    for word in ["innerHTML", "insertAdjacentHTML", "document.write", "eval(", "import(", "fetch("] {
        assert!(!page.contains(word), "{word}");
    }
    assert_eq!(page, self::page(&[&program]));
}

const NAMED: &str = r#"func.func @main(%x: tensor<?x16xf32, #optc.dims<N>> {optc.name = "x"})
    -> (tensor<?x16xf32, #optc.dims<N>> {optc.name = "y"}) {
  %0 = nn.softmax %x {axis = 1} : tensor<?x16xf32, #optc.dims<N>>
  %1 = nn.cum_sum %0 {axis = 1} : tensor<?x16xf32, #optc.dims<N>>
  %2 = nn.cum_sum %1 {axis = 0} : tensor<?x16xf32, #optc.dims<N>>
  %3 = nn.add %2, %0 : tensor<?x16xf32, #optc.dims<N>>
  return %3 : tensor<?x16xf32, #optc.dims<N>>
}
"#;

/// A plan of the grid is the one that a run at these sizes has.
#[test]
fn each_point_of_a_slider_is_what_a_run_allocates() {
    let program = crate::scratch::file("named.mlir", NAMED.as_bytes()).display().to_string();
    let (data, ..) = parts(&page(&[&program, "--threads=1"]));
    let points = data["sizes"][0]["points"].as_array().expect("points");
    let plans = data["plans"].as_array().expect("plans");
    assert!(points.len() > 5 && points.len() == plans.len());
    let options = optc::CompileOptions { threads: 1, ..Default::default() };
    let module = optc::parse("named.mlir", NAMED.into(), None, &Default::default()).expect("it is a program");
    let mut arenas = std::collections::BTreeSet::new();
    for (point, plan) in points.iter().zip(plans) {
        let program = optc::compile(&mut module.clone(), &options).expect("it compiles");
        let prepared = program.at(&[point.as_u64().expect("a number")]).expect("it can have this size");
        assert_eq!(plan["pools"][0]["size_bytes"].as_u64(), Some(prepared.arena_bytes() as u64), "{point}");
        arenas.insert(prepared.arena_bytes());
    }
    assert_eq!(arenas.len(), points.len(), "the arena grows with the size");
    let refused =
        serde_json::json!(["%1", "result 0 does not overwrite operand 0: its bytes are read later"]);
    let says_why =
        |plan: &Value| plan["remarks"].as_array().is_some_and(|remarks| remarks.contains(&refused));
    assert!(plans.iter().all(says_why), "{}", plans[0]["remarks"]);
}

/// A refusal is of the operation that would have overwritten something, which makes the value or reads it.
#[test]
fn a_remark_says_of_which_operation_it_is() {
    let fixed = NAMED.replace("?x16xf32, #optc.dims<N>", "64x16xf32");
    for text in [NAMED, &fixed] {
        let program = crate::scratch::file("refused.mlir", text.as_bytes()).display().to_string();
        let said = json(&["explain", &program, "%1", "--threads=1"]).expect("it can be explained");
        let remark = &said["remarks"][0];
        assert_eq!([&remark["op"], &remark["makes"]], ["nn.cum_sum", "%1"], "{said}");
        let note = remark["notes"][0].as_str().expect("a note says where it is read");
        assert!(note.ends_with("refused.mlir:6:8: it is read here"), "{note}");
        assert_eq!(
            json(&["explain", &program, "%2"]).expect("it can be explained")["remarks"],
            Value::Array(vec![])
        );
    }
}

/// Inputs and outputs are not always made by a node of the same name.
#[test]
fn a_value_is_found_by_the_name_of_an_input_or_output() {
    let text = "func.func @f(%data: tensor<8xf32>, %0: tensor<8xf32> {optc.name = \"mask\"}) -> \
                (tensor<8xf32> {optc.name = \"sums\"}, tensor<8xf32>) {
  %a = nn.cum_sum %data {axis = 0} : tensor<8xf32>
  %b = nn.mul %a, %0 : tensor<8xf32>
  return %b, %a : tensor<8xf32>, tensor<8xf32>
}";
    let program = crate::scratch::file("named.mlir", text.as_bytes()).display().to_string();
    let found =
        |what: &str| json(&["explain", &program, what]).expect("it is found")["value"]["name"].clone();
    let asked = ["data", "%data", "mask", "arg1", "sums", "result1", "a", "%1"];
    assert_eq!(asked.map(found), ["%arg0", "%arg0", "%arg1", "%arg1", "%1", "%0", "%0", "%1"]);
}

/// The second program has an operation more, before the last reader of the first value.
#[test]
fn two_plans_are_matched_by_what_they_compute() {
    let fixed = NAMED.replace("?x16xf32, #optc.dims<N>", "64x16xf32");
    let late = "%late = nn.cum_sum %2 {axis = 1} : tensor<64x16xf32>\n  %3 = nn.add %late";
    let more = fixed.replace("%3 = nn.add %2", late);
    let [before, after] = [("fixed.mlir", fixed), ("more.mlir", more)]
        .map(|(name, text)| crate::scratch::file(name, text.as_bytes()).display().to_string());
    let (data, ..) = parts(&page(&[&before, &after, "--threads=1"]));
    let matches = data["matches"].as_array().expect("matches");
    let found = |name: &str| matches.iter().find(|found| found["before"] == name);
    assert_eq!(found("%0").map(|found| &found["changes"][0]), Some(&"longer".into()), "{matches:?}");
    assert_eq!(found("%3").map(|found| &found["after"]), Some(&"%4".into()), "{matches:?}");
    assert!(matches.iter().all(|found| found["after"] != "%3"), "the operation is new: {matches:?}");
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

/// With names for sizes, the arena is the one that is enough at all sizes, or that at the usual ones.
#[test]
fn advice_at_named_sizes_is_what_the_command_gives() {
    let arena = |plan: &Value| {
        let pools = plan["pools"].as_array().expect("pools").iter();
        let at_all: Option<u64> = pools.map(|pool| pool["size_bytes"].as_u64()).sum();
        at_all.or(plan["nominal"]["arena_bytes"].as_u64()).expect("bytes")
    };
    let named = crate::scratch::file("named.mlir", NAMED.as_bytes());
    let (mut advised, mut halved) = (0, 0);
    for program in programs().into_iter().chain([named]) {
        for bounds in [&["--threads=2"][..], &["--threads=2", "--dim=N<=64"]] {
            let program = program.display().to_string();
            let Some(explained) = json(&[&["explain", &program][..], bounds].concat()) else { continue };
            if explained.get("sizes").is_none() {
                continue;
            }
            for lever in explained["levers"].as_array().expect("levers") {
                let flags = lever["flags"].as_str().expect("flags").replace('\'', "");
                let flags: Vec<&str> = flags.split(' ').collect();
                halved += flags.iter().filter(|flag| flag.starts_with("--dim")).count();
                // An option that is given twice is refused, but for sizes: the advice stands in its place.
                let is_kept =
                    |flag: &&&str| flag.starts_with("--dim") || !flags.concat().contains("--threads");
                let kept: Vec<&str> = bounds.iter().filter(is_kept).copied().collect();
                let plan = json(&[&["plan", &program][..], &kept, &flags].concat());
                let plan = plan.unwrap_or_else(|| panic!("{program}: {flags:?} is refused"));
                assert_eq!(lever["arena_bytes"].as_u64(), Some(arena(&plan)), "{program} {flags:?}");
                advised += 1;
            }
        }
    }
    assert!(advised > 4 && halved > 2, "{advised} pieces of advice, {halved} of smaller sizes");
}

/// How long a run takes with a piece of advice is measured, unless none is to be timed.
#[test]
fn the_time_of_advice_is_measured() {
    let images = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lit-tests/lines");
    let mut programs: Vec<PathBuf> = std::fs::read_dir(images)
        .expect("it is there")
        .map(|entry| entry.expect("it can be read").path())
        .collect();
    programs.sort();
    programs.truncate(3);
    programs.push(crate::scratch::file("timed.mlir", NAMED.as_bytes()));
    let mut measured = 0;
    for program in &programs {
        let program = program.display().to_string();
        let arguments = ["explain", &program, "--threads=2", "--dim=N<=64"];
        let arguments = if program.ends_with("timed.mlir") { &arguments[..] } else { &arguments[..3] };
        let Some(plain) = json(arguments) else { continue };
        let asked: &[&str] = if measured == 0 { &[] } else { &["--measure=1"] };
        let timed = json_of(&[arguments, asked].concat()).expect("what is explained can be run");
        let levers = |explained: &Value| explained["levers"].as_array().expect("levers").clone();
        assert!(levers(&plain).iter().all(|lever| lever.get("run_ratio").is_none()), "{plain}");
        assert_eq!(levers(&plain).len(), levers(&timed).len(), "{program}");
        for lever in levers(&timed) {
            // A program of smaller sizes can't be run on the inputs of the larger ones.
            let is_smaller = lever["flags"].as_str().is_some_and(|flags| flags.starts_with("--dim"));
            let ratio = lever.get("run_ratio").and_then(Value::as_f64);
            assert!(is_smaller || ratio.is_some_and(|ratio| ratio > 0.0), "{program}: {lever}");
            measured += usize::from(!is_smaller);
        }
    }
    assert!(measured > 4, "{measured} pieces of advice");
}

/// What nobody asked to measure is not worth a failure: there are no kernels for this program.
#[test]
fn what_can_not_be_run_is_explained_without_times() {
    let text = "func.func @main(%x: tensor<64x64xf8E4M3FN>) -> tensor<64x64xf8E4M3FN> {
  %0 = nn.transpose %x {permutation = array<i64: 1, 0>} : tensor<64x64xf8E4M3FN>
  %1 = nn.tanh %0 : tensor<64x64xf8E4M3FN>
  return %1 : tensor<64x64xf8E4M3FN>
}
";
    let program = crate::scratch::file("f8.mlir", text.as_bytes()).display().to_string();
    let options = ["explain", &program, "--threads=2"];
    let found = json_of(&options).expect("it is explained");
    let levers = found["levers"].as_array().expect("levers");
    assert!(!levers.is_empty() && levers.iter().all(|lever| lever.get("run_ratio").is_none()), "{found}");
    assert!(json_of(&[&options[..], &["--measure"]].concat()).is_none(), "it can't be measured");
}

/// A batch that the model has a number for, and one that the command line gives, are tried in parts.
#[test]
fn a_batch_is_advised_in_parts() {
    use crate::own_sizes::{info, message};
    // The greatest of each row of `Softmax(x)`, which is kept until then.
    let softmax = message(&[(1, b"x"), (2, b"t"), (4, b"Softmax")]);
    let axes = [&message(&[(1, b"axes")])[..], &[8 << 3, 1, 0xA0, 0x01, 7]].concat();
    let reduce = message(&[(1, b"t"), (2, b"y"), (4, b"ReduceMax"), (5, &axes)]);
    let model = |sizes: &[&str]| {
        let input = info(b"x", 1, sizes);
        let fields = [(1, &softmax[..]), (1, &reduce), (11, &input), (12, &message(&[(1, b"y")]))];
        [&[1 << 3, 8][..], &message(&[(7, &message(&fields)), (8, &[2 << 3, 17])])].concat()
    };
    let arena = |plan: &Value| plan["pools"][0]["size_bytes"].as_u64().expect("bytes");
    let advice = |arguments: &[&str]| -> Vec<Value> {
        let explained = json(&[&["explain"], arguments].concat()).expect("it is explained");
        let levers = explained["levers"].as_array().expect("levers").clone();
        let is_smaller = |lever: &Value| lever["flags"].as_str().is_some_and(|flags| flags.contains("--dim"));
        levers.into_iter().filter(is_smaller).collect()
    };
    for (name, sizes, parts) in [("six", ["6", "40"], 2), ("nine", ["9", "40"], 3)] {
        let path = crate::scratch::file(&format!("{name}.onnx"), &model(&sizes)).display().to_string();
        let found = advice(&[&path]);
        assert_eq!(found.len(), 1, "{found:?}");
        let number: u64 = sizes[0].parse().expect("a number");
        let flags = format!("--symbolize=x:0=N --dim=N={}", number / parts);
        assert_eq!(found[0]["flags"], flags);
        assert_eq!((found[0]["runs"].as_u64(), found[0].get("replaces")), (Some(parts), None));
        let flags: Vec<&str> = flags.split(' ').collect();
        let plan = json(&[&["plan", &path][..], &flags].concat()).expect("it is planned");
        assert_eq!(found[0]["arena_bytes"].as_u64(), Some(arena(&plan)));

        let whole = format!("--dim=N={number}");
        let again = advice(&[&path, "--symbolize=x:0=N", &whole]);
        assert_eq!(again.len(), 1, "{again:?}");
        assert_eq!(again[0]["flags"], format!("--dim=N={}", number / parts));
        assert_eq!(again[0]["replaces"], whole);
        assert_eq!(again[0]["runs"].as_u64(), Some(parts));
        assert_eq!(again[0]["arena_bytes"], found[0]["arena_bytes"]);
    }
}

#[test]
fn a_node_means_what_it_computes_and_not_what_prepares_its_operands() {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/squeezenet1_1.onnx");
    let model = model.display().to_string();
    let found = json(&["explain", &model, "/features/features.0/Conv"]).expect("the model has the node");
    assert_eq!(found["op"], "nn.conv2d", "{found}");
}

#[test]
fn a_step_at_which_nothing_is_live_is_explained() {
    let text = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
";
    let path = crate::scratch::file("nothing_live.mlir", text.as_bytes()).display().to_string();
    let found = json(&["explain", &path, "0"]).expect("there is a step 0");
    assert_eq!((&found["live_bytes"], &found["step"]), (&0.into(), &0.into()), "{found}");
    assert!(json(&["explain", &path, "9"]).is_none());
}
