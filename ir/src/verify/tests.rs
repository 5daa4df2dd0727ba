//! The verifier reports every law's violation, and nothing else.

use std::sync::Arc;

use super::*;
use crate::diag::describe;
use crate::text::{ParseOptions, Unregistered, parse_with};

/// Checks the verifier's reports on a module, each violation with its line.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let ctx = Arc::new(Context::new());
    let options = ParseOptions { unregistered: Unregistered::Allow };
    let module = parse_with(&ctx, "t", text.to_owned(), &options).expect("the text has no faults of grammar");
    let errors = verify(&module).err().unwrap_or_default();
    let found = errors.iter().map(|error| {
        let place = describe(&ctx, error.location).unwrap_or_default();
        let line = place.split(':').nth(1).unwrap_or("?").to_owned();
        let help = error.help.iter().map(|help| format!(" ({help})")).collect::<String>();
        format!("{line}: {}{help}", error.message)
    });
    assert_eq!(found.collect::<Vec<_>>(), expected);
}

/// Like `check`, for the operations of a function `@f(%a: tensor<4xf32>, %i: tensor<4xi32>)`; its lines begin
/// at 2.
#[track_caller]
fn check_in_function(text: &str, expected: &[&str]) {
    check(&format!("func.func @f(%a: tensor<4xf32>, %i: tensor<4xi32>) {{\n{text}\n}}\n"), expected);
}

#[test]
fn operands_are_as_many_as_the_row_says() {
    check_in_function(
        "%0 = \"nn.add\"(%a) : (tensor<4xf32>) -> tensor<4xf32>\nreturn",
        &["2: `nn.add` has 2 operands, found 1"],
    );
}

#[test]
fn operands_have_the_types_that_the_row_takes() {
    check_in_function(
        "%0 = nn.exp %i : tensor<4xi32>\nreturn",
        &["2: operand 0 (`x`) of `nn.exp` is a tensor of floats, found `tensor<4xi32>`"],
    );
}

#[test]
fn result_types_are_those_that_follow() {
    check_in_function(
        "%0 = nn.relu %a : (tensor<4xf32>) -> tensor<5xf32>\nreturn",
        &["2: result 0 of `nn.relu` must be `tensor<4xf32>`, is `tensor<5xf32>`"],
    );
}

#[test]
fn an_unknown_size_agrees_with_any() {
    check_in_function("%0 = nn.relu %a : (tensor<4xf32>) -> tensor<?xf32>\nreturn", &[]);
}

#[test]
fn required_attributes_are_there_and_of_their_kind() {
    check_in_function(
        "%0 = nn.reshape %a {shap = array<i64: 2, 2>} : (tensor<4xf32>) -> tensor<2x2xf32>\n\
         %1 = nn.reshape %a {shape = 4 : i64} : (tensor<4xf32>) -> tensor<4xf32>\nreturn",
        &[
            "2: `nn.reshape` lacks its attribute `shape`, an `array<i64: ...>` or `#optc.dims<...>` of sizes (did you mean `shape` by `shap`?)",
            "3: attribute `shape` of `nn.reshape` is an `array<i64: ...>` or `#optc.dims<...>` of sizes, found `4 : i64`",
        ],
    );
}

#[test]
fn a_misspelt_attribute_is_told() {
    check_in_function(
        "%0 = nn.leaky_relu %a {alhpa = 1.0 : f32} : tensor<4xf32>\nreturn",
        &["2: `nn.leaky_relu` has no attribute `alhpa` (did you mean `alpha`?)"],
    );
}

#[test]
fn a_block_ends_with_its_terminator() {
    check_in_function(
        "return\nreturn\n%0 = nn.relu %a : tensor<4xf32>",
        &[
            "2: `func.return` ends a block, but stands before its end",
            "3: `func.return` ends a block, but stands before its end",
            "4: a block of `func.func` ends with a terminator, found `nn.relu`",
        ],
    );
}

#[test]
fn a_function_returns_what_it_declares() {
    check(
        "func.func @f(%a: f32) -> f64 {\n return %a : f32\n}\nfunc.func @g(%a: f32) -> f32 {\n return\n}\n",
        &[
            "2: returned value 0 must be `f64`, is `f32`",
            "5: `func.return`: the number of returned values is 1, found 0",
        ],
    );
}

#[test]
fn a_value_is_read_after_its_definition() {
    check_in_function(
        "%0 = nn.relu %1 : tensor<4xf32>\n%1 = nn.relu %a : tensor<4xf32>\nreturn",
        &["2: operand 0 of `nn.relu` does not dominate this use"],
    );
}

#[test]
fn a_value_of_one_branch_is_not_read_where_branches_meet() {
    check(
        "func.func @f(%c: i1, %a: tensor<4xf32>) {\n\
         \"t.br\"(%c)[^bb1, ^bb2] : (i1) -> ()\n\
         ^bb1:\n%0 = nn.relu %a : tensor<4xf32>\n\"t.go\"()[^bb3] : () -> ()\n\
         ^bb2:\n\"t.go\"()[^bb3] : () -> ()\n\
         ^bb3:\n%1 = nn.relu %0 : tensor<4xf32>\nreturn\n}\n",
        &["9: operand 0 of `nn.relu` does not dominate this use"],
    );
}

#[test]
fn a_value_of_a_dominating_block_is_read_in_loops_and_regions() {
    check(
        "func.func @f(%c: i1, %a: tensor<4xf32>) {\n\
         %0 = nn.relu %a : tensor<4xf32>\n\"t.go\"()[^bb1] : () -> ()\n\
         ^bb1:\n%1 = nn.relu %0 : tensor<4xf32>\n\
         \"t.region\"() ({\n %2 = nn.relu %1 : tensor<4xf32>\n}) : () -> ()\n\
         \"t.br\"(%c)[^bb1, ^bb2] : (i1) -> ()\n\
         ^bb2:\n%3 = nn.relu %1 : tensor<4xf32>\nreturn\n}\n",
        &[],
    );
}

#[test]
fn a_value_is_not_read_outside_of_its_region() {
    check_in_function(
        "\"t.region\"() ({\n \"t.use\"(%1) : (tensor<4xf32>) -> ()\n}, {\n %1 = nn.relu %a : tensor<4xf32>\n}) : () -> ()\nreturn",
        &["3: operand 0 of `t.use` is defined in a region that does not surround it"],
    );
}

#[test]
fn a_group_reads_its_arguments_only_and_yields_its_results() {
    check_in_function(
        "%0 = optc.group(%x = %a) : (tensor<4xf32>) -> tensor<4xf32> {\n\
         %1 = nn.add %x, %a : tensor<4xf32>\noptc.yield %i : tensor<4xi32>\n}\nreturn",
        &[
            "3: operand 1 of `nn.add` comes from outside of the group (pass it as an operand of the group)",
            "4: operand 0 of `optc.yield` comes from outside of the group (pass it as an operand of the group)",
            "4: yielded value 0 must be `tensor<4xf32>`, is `tensor<4xi32>`",
        ],
    );
}

#[test]
fn a_symbol_is_defined_once_and_calls_find_it() {
    check(
        "func.func @f() {\n return\n}\nfunc.func @f() {\n call @ff() : () -> ()\n call @g() : () -> ()\n return\n}\n\
         func.func private @g(f32)\n",
        &[
            "4: `@f` is defined twice",
            "5: nothing is called `@ff` (did you mean `@f`?)",
            "6: `@g` is a `(f32) -> ()`, called as a `() -> ()`",
        ],
    );
}

#[test]
fn the_entry_block_takes_what_the_function_declares() {
    check(
        "\"func.func\"() <{function_type = (f32) -> (), sym_name = \"f\"}> ({\n^bb0(%a: f64):\n\"func.return\"() : () -> ()\n}) : () -> ()\n",
        &["1: the function's type and its arguments (f64) differ"],
    );
}

#[test]
fn the_first_block_is_entered_from_outside_only() {
    check(
        "func.func @f(%c: i1) {\n\"t.region\"() ({\n^bb0:\n\"t.go\"()[^bb0] : () -> ()\n}) : () -> ()\nreturn\n}\n",
        &["4: `t.go` goes to the first block of its region"],
    );
}

#[test]
fn a_function_without_operations_lacks_its_end() {
    check(
        "\n\"func.func\"() <{function_type = () -> (), sym_name = \"f\"}> ({\n^bb0:\n}) : () -> ()\n",
        &["2: a block of `func.func` ends with a terminator, found nothing"],
    );
}

#[test]
fn each_block_is_given_the_arguments_that_it_takes() {
    check(
        "func.func @f(%c: i1, %x: f32, %i: i32) {\n\
         \"cf.cond_br\"(%c, %x, %i)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (i1, f32, i32) -> ()\n\
         ^bb1(%a: f32):\n\
         \"cf.br\"(%i)[^bb2] : (i32) -> ()\n\
         ^bb2(%b: f32):\n\
         \"cf.cond_br\"(%c, %x)[^bb1, ^bb3] <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (i1, f32) -> ()\n\
         ^bb3:\nreturn\n}\n",
        &[
            "2: block argument 0 must be `f32`, is `i32`",
            "4: block argument 0 must be `f32`, is `i32`",
            "6: `operandSegmentSizes` of `cf.cond_br` is an `array<i32: ...>` that divides its 2 operands among condition, true arguments, false arguments",
            "6: `cf.cond_br` does not say which operands it passes to each block",
        ],
    );
}

#[test]
fn a_switch_has_a_number_for_each_case() {
    check(
        "func.func @f(%i: i32) {\n\
         \"cf.switch\"(%i)[^bb1, ^bb1] <{case_operand_segments = array<i32: 0>, case_values = dense<[1, 2]> : vector<2xi32>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (i32) -> ()\n\
         ^bb1:\n\
         \"cf.switch\"(%i)[^bb1, ^bb1] <{case_operand_segments = array<i32: 0>, case_values = dense<1> : vector<1xi64>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (i32) -> ()\n\
         }\n",
        &[
            "2: `cf.switch`: 2 `case_values` for 1 blocks of cases",
            "4: `cf.switch`: `case_values` are not of the flag's type",
        ],
    );
}

/// A module of two functions, `@f` and `@g`, which calls it; verified.
fn verified_module() -> Module {
    let text = "func.func @f(%x: f32) -> f32 { return %x : f32 }
        func.func @g(%x: f32) -> f32 {
          %0 = call @f(%x) : (f32) -> f32
          return %0 : f32
        }";
    let mut module = crate::text::parse(&Arc::new(Context::new()), "t", text.to_owned()).unwrap();
    assert_eq!(verify_touched(&mut module).unwrap(), 4);
    assert_eq!(verify_touched(&mut module).unwrap(), 0);
    module
}

/// The body of function `index` of a module, and the context.
fn function(module: &mut Module, index: usize) -> (Arc<Context>, &mut Body) {
    let ctx = module.ctx.clone();
    (ctx, module.body_mut().children_mut().nth(index).unwrap().1)
}

#[test]
fn a_changed_body_alone_is_verified_again() {
    let mut module = verified_module();
    let (ctx, f) = function(&mut module, 0);
    let block = f.entry(f.root()).unwrap();
    let op = f.make_op(ctx.op_name("nn.nothing"), &[], &[], Location::UNKNOWN);
    f.insert_before(op, f.first_op(block).unwrap());
    assert_eq!(verify_touched(&mut module).unwrap(), 1);
    let (_, f) = function(&mut module, 0);
    [f.last_op(block), f.first_op(block)].into_iter().flatten().for_each(|op| f.erase(op));
    let breaches = verify_touched(&mut module).unwrap_err();
    assert_eq!(breaches[0].message, "a block of `func.func` ends with a terminator, found nothing");
}

#[test]
fn a_changed_signature_breaks_the_calls_in_bodies_that_were_not_changed() {
    let mut module = verified_module();
    let (ctx, f) = function(&mut module, 0);
    f.properties = ctx.dict_set(f.properties, ctx.ident("sym_name"), ctx.str_attr("h"));
    let breaches = verify_touched(&mut module).unwrap_err();
    assert_eq!(breaches[0].message, "nothing is called `@f`");
}

#[test]
fn parts_are_checked_side_by_side_with_the_same_outcome() {
    let mut module = verified_module();
    for index in 0..2 {
        let (_, body) = function(&mut module, index);
        body.erase(body.last_op(body.entry(body.root()).unwrap()).unwrap());
    }
    let work = Verification::of(&module, VerifyScope::Everything);
    let apart: Vec<Diagnostic> = (0..work.len()).flat_map(|part| work.check(part..part + 1)).collect();
    assert_eq!(apart.len(), 2);
    assert_eq!(apart, work.check(0..work.len()));
}

#[test]
fn functions_are_checked_however_deep_they_stand() {
    let function = "\"func.func\"() <{function_type = () -> (), sym_name = \"f\"}> ({\n\"nn.add\"() : () -> ()\n\"func.return\"() : () -> ()\n}) : () -> ()";
    check(
        &format!("\"x.module\"() ({{\n\"x.inner\"() ({{\n{function}\n}}) : () -> ()\n}}) : () -> ()"),
        &["4: `nn.add` has 2 operands, found 0", "4: `nn.add` has 1 result, found 0"],
    );
}

/// A dialect with its own type.
static COUNTERS: crate::Dialect = crate::Dialect {
    name: "my",
    doc: "Counters.",
    tables: &[&[crate::OpDef {
        name: "my.count",
        doc: "One more.",
        example: "%1 = my.count %0 : !my.counter<4>",
        operands: &[crate::OperandDef::one("x", crate::opdef::TypeClass::Own(&COUNTER))],
        results: &[crate::OperandDef::one("result", crate::opdef::TypeClass::Own(&COUNTER))],
        infer: crate::Infer::SameAs(0),
        ..crate::OpDef::BLANK
    }]],
};

/// A dialect with operands and attributes unlike those of built-in rows, and a faulty inference.
static PARTS: crate::Dialect = crate::Dialect {
    name: "part",
    doc: "Parts.",
    tables: &[&[
        crate::OpDef {
            name: "part.take",
            operands: &[crate::OperandDef::one("place", crate::opdef::TypeClass::Index)],
            attrs: &[
                part_attr("whole", crate::opdef::AttrKind::Bool),
                part_attr("shares", crate::opdef::AttrKind::Floats),
                part_attr("names", crate::opdef::AttrKind::Dict),
            ],
            ..crate::OpDef::BLANK
        },
        crate::OpDef {
            name: "part.all",
            results: &[crate::OperandDef::variadic("parts", crate::opdef::TypeClass::Any)],
            infer: crate::Infer::Rule(|input| Ok(vec![input.ctx.f32(); 2])),
            ..crate::OpDef::BLANK
        },
    ]],
};

const fn part_attr(name: &'static str, kind: crate::opdef::AttrKind) -> crate::opdef::AttrDef {
    crate::opdef::AttrDef { name, kind, presence: crate::opdef::Presence::Optional, doc: "" }
}

#[test]
fn rows_of_other_dialects_are_kept() {
    let ctx = Arc::new(Context::new());
    ctx.register(&PARTS);
    let text = "func.func @f(%x: f32) {\n\
        \"part.take\"(%x) <{whole = 1 : i32, shares = [1.0], names = []}> : (f32) -> ()\n\
        %0 = \"part.all\"() : () -> f32\n\
        return\n}\n";
    let module = crate::text::parse(&ctx, "t", text.to_owned()).expect("the text has no faults");
    let errors = verify(&module).err().unwrap_or_default();
    assert_eq!(
        errors.iter().map(|error| &*error.message).collect::<Vec<_>>(),
        [
            "operand 0 (`place`) of `part.take` is an `index`, found `f32`",
            "attribute `whole` of `part.take` is `true` or `false`, found `1 : i32`",
            "attribute `shares` of `part.take` is an `array` of `f32` or `f64`, found `[1.000000e+00]`",
            "attribute `names` of `part.take` is a dictionary, found `[]`",
            "`part.all` has 2 results, found 1",
        ]
    );
}

#[test]
fn blocks_are_gone_to_within_their_region() {
    let text = "func.func @f(%c: i1) {\n  scf.if %c {\n  }\n  cf.br ^bb1\n^bb1:\n  return\n}\n";
    let mut module = crate::text::parse(&Arc::new(Context::new()), "t", text.to_owned()).unwrap();
    let (_, body) = function(&mut module, 0);
    let blocks = body.blocks(body.root()).to_vec();
    let condition = body.first_op(blocks[0]).unwrap();
    let jump = body.last_op(blocks[0]).unwrap();
    let mut successors = body.successors(jump).to_vec();
    successors[0].block = body.entry(body.regions(condition)[0]).unwrap();
    successors[0].operand_count = 1;
    body.set_successors(jump, successors);
    let errors = verify(&module).unwrap_err();
    assert_eq!(
        errors.iter().map(|error| &*error.message).collect::<Vec<_>>(),
        [
            "`cf.br` goes to a block of another region",
            "`cf.br`: successors and attributes divide the operands differently",
        ]
    );
}

#[test]
fn hints_and_notes_say_more() {
    let text = "func.func private @f()\nfunc.func private @f()\n";
    let module = crate::text::parse(&Arc::new(Context::new()), "t", text.to_owned()).unwrap();
    assert_eq!(verify(&module).unwrap_err()[0].notes[0].1, "first defined here");
    check(
        "\"func.func\"() <{function_type = () -> (), sym_name = \"f\"}> ({\n}) : () -> ()",
        &["1: a `func.func` without a body is not public (declare it as `private`)"],
    );
}

static COUNTER: crate::TypeDef = crate::TypeDef {
    name: "my.counter",
    doc: "Counts up to a number.",
    check: |most| match most.parse::<u32>() {
        Ok(1..) => Ok(()),
        _ => Err(format!("expected the largest number, found `{most}`")),
    },
};

#[test]
fn a_dialects_own_types_are_checked() {
    let ctx = Arc::new(Context::new());
    ctx.register(&COUNTERS);
    let text = "func.func @f(%a: !my.counter<4>, %b: !my.counter<none>, %c: !my.counters, %d: i32) {\n\
        %0 = my.count %a : !my.counter<4>\n\
        %1 = my.count %b : !my.counter<none>\n\
        %2 = my.count %c : !my.counters\n\
        %3 = my.count %d : i32\n\
        return\n}\n";
    let module = crate::text::parse(&ctx, "t", text.to_owned()).expect("the text has no faults");
    let errors = verify(&module).err().unwrap_or_default();
    let operands = errors.iter().map(|error| &*error.message).filter(|error| error.starts_with("operand"));
    assert_eq!(
        operands.collect::<Vec<_>>(),
        [
            "operand 0 (`x`) of `my.count` is a `!my.counter`: expected the largest number, found `none`",
            "operand 0 (`x`) of `my.count` is a `!my.counter`: found `!my.counters`",
            "operand 0 (`x`) of `my.count` is a `!my.counter`: found `i32`",
        ]
    );
}

/// Rules that rely on earlier checks do so after the thousandth violation, too.
#[test]
fn of_many_breaches_the_first_thousand_are_told() {
    let op = "  %0 = \"nn.add\"() : () -> tensor<4xf32>\n".replace("%0 = ", "");
    let text = format!("func.func @f() {{\n{}  return\n}}\n", op.repeat(1500));
    let ctx = Arc::new(Context::new());
    let module = crate::text::parse(&ctx, "t", text).expect("the text has no faults of grammar");
    let errors = verify(&module).expect_err("nothing is added");
    assert_eq!(errors.len(), 1000);
    assert_eq!(describe(&ctx, errors[999].location).as_deref(), Some("t:1001:3"));
}

/// Violations of a row that the verifier finds before inference; a builder of the operation gets them from
/// inference.
#[test]
fn who_builds_an_operation_is_told_what_it_lacks() {
    let ctx = Context::new();
    let check = |name: &str, operands: usize, attrs: &[(&str, crate::Attr)], expected: &str| {
        let mut body = Body::new(1);
        let block = body.add_block(body.root());
        let values: Vec<_> =
            (0..operands).map(|_| body.add_arg(block, ctx.tensor(&[4], ctx.f32()))).collect();
        let built = crate::Builder::at_end(&ctx, &mut body, block).value(name, &values, attrs);
        assert_eq!(built.err().map(|error| error.0).as_deref(), Some(expected), "{name}");
    };
    let text = ctx.str_attr("x");
    check("arith.cmpi", 0, &[("predicate", ctx.int_attr(0))], "operand 0 is missing");
    check("nn.matmul", 1, &[], "operand 1 is missing");
    check("arith.constant", 0, &[], "`value` is missing");
    check("arith.constant", 0, &[("value", ctx.unit_attr())], "`value` has no type");
    check("nn.constant", 0, &[("value", text)], "`value` holds no elements");
    check("nn.cast", 1, &[], "`to` is missing");
    check("nn.cast", 1, &[("to", text)], "`to` is not a type");
    check("nn.concat", 1, &[], "`axis` is missing");
    check("nn.reduce_sum", 1, &[("axes", text)], "`axes` is not an `array<i64>`");
}
