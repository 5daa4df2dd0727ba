//! That the promises of `SECURITY.md` hold, and that each promise has a test.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ir::Context;
use optc::CompileOptions;
use tests::programs::{Program, array, execute, floats};
use tests::workspace::{files, root};

/// The lines of this process's memory map whose pages are writable and executable.
fn writable_code() -> Vec<String> {
    let maps = fs::read_to_string("/proc/self/maps").expect("Linux lists the pages of a process");
    assert!(maps.lines().any(|line| line.contains("r-xp")), "no code is mapped:\n{maps}");
    let is_both =
        |line: &&str| line.split_whitespace().nth(1).is_some_and(|access| access.starts_with("rwx"));
    maps.lines().filter(is_both).map(str::to_owned).collect()
}

#[test]
fn no_page_is_writable_and_executable() {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut found = Vec::new();
            while !done.load(Ordering::Relaxed) {
                found.extend(writable_code());
            }
            found
        });
        for size in [3, 8, 17] {
            let ctx = Arc::new(Context::new());
            let (mut program, args) = Program::new(ctx.clone(), &[ctx.tensor(&[size, size], ctx.f32())]);
            let product = program.op("nn.matmul", &[args[0], args[0]], &[]);
            let exp = program.op("nn.exp", &[product], &[]);
            let mut module = program.finish(&[exp]);
            let input = [array("arg0", &[size, size], &vec![0.0; (size * size) as usize])];
            let options = CompileOptions { threads: 2, ..CompileOptions::default() };
            let found = execute(&mut module, &input, &options).expect("a product compiles");
            assert!(floats(&found[0]).iter().all(|x| *x == 1.0));
        }
        done.store(true, Ordering::Relaxed);
        assert_eq!(watch.join().expect("the watch ends"), Vec::<String>::new());
    });
}

#[test]
fn each_promise_names_tests_that_exist() {
    let page = fs::read_to_string(root().join("SECURITY.md")).expect("the page is there");
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    assert!(rows.len() >= 8, "the table of promises is gone");
    let sources = files(&["rs", "mlir"]);
    for row in rows {
        let tests = row.trim_end_matches(" |").rsplit(" | ").next().expect("a row has columns");
        let names: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "no test holds: {row}");
        for name in names {
            let exists = sources.iter().any(|file| {
                file.path == name
                    || file.text.contains(&format!("#[test]\nfn {name}("))
                    || file.text.contains(&format!("#[test]\n    fn {name}("))
            });
            assert!(exists, "there is no test `{name}`");
        }
    }
}
