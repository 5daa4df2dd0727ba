//! That the examples of passes and operations, as shown by `optc passes NAME` and `optc ops NAME`, are true.

use optc::{LoadOptions, parse, run_pipeline};
use passes::manager::{Registry, RunOptions};
use tests::examples::program;

#[test]
fn every_pass_turns_its_example_into_what_it_says() {
    for def in Registry::new().iter() {
        assert!(!def.example.before.trim().is_empty(), "pass `{}` has no example", def.name);
        let mut module = parse(def.name, def.example.before.to_owned(), None, &LoadOptions::default())
            .unwrap_or_else(|failure| panic!("{}: {failure}", def.name));
        run_pipeline(&mut module, def.name, &RunOptions::new(codegen::Cpu::level(codegen::Isa::Avx2)))
            .unwrap_or_else(|failure| panic!("{}: {failure}", def.name));
        let found = ir::text::print(&module);
        assert_eq!(found.trim(), def.example.after.trim(), "pass `{}` prints\n{found}", def.name);
    }
}

#[test]
fn every_operations_example_is_read_and_verified() {
    let ctx = ir::Context::new();
    for def in ctx.dialects().flat_map(ir::Dialect::ops) {
        assert!(!def.example.is_empty(), "`{}` has no example", def.name);
        let text = program(def.example);
        let read = parse(def.name, text.clone(), None, &LoadOptions::default());
        read.unwrap_or_else(|failure| panic!("{}: {failure}\n{text}", def.name));
    }
}
