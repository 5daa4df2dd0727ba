//! Text index: the places of names, and the entities that they denote.

use std::sync::Arc;

use cranelift_entity::SecondaryMap;

use crate::context::Context;
use crate::text::index::{NameKind, NameRole, TextIndex, ThingId};
use crate::text::{ParseOptions, parse_indexed};

const TEXT: &str = "#note = \"n\"
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = optc.group(%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %7 = nn.relu %a {tag = #note} : tensor<4xf32>
    optc.yield %7 : tensor<4xf32>
  }
  %1 = optc.group(%a = %0) : (tensor<4xf32>) -> tensor<4xf32> {
    %7 = nn.tanh %a : tensor<4xf32>
    optc.yield %7 : tensor<4xf32>
  }
  %2 = call @f(%1) : (tensor<4xf32>) -> tensor<4xf32>
  cf.br ^end(%2 : tensor<4xf32>)
^end(%r: tensor<4xf32>):
  return %r : tensor<4xf32>
}
";

/// The index of a text, and how often each name in it denotes each entity: `name*count`.
fn index(text: &str) -> (TextIndex, Vec<String>) {
    let ctx = Arc::new(Context::new());
    let indexed = parse_indexed(&ctx, "t", text.to_owned(), &ParseOptions::default());
    let index = indexed.index;
    let mut counts = SecondaryMap::<ThingId, (String, usize)>::new();
    for site in &index.names {
        counts[site.thing()] = (text[site.span.clone()].to_owned(), counts[site.thing()].1 + 1);
    }
    let mut said: Vec<String> = counts.values().map(|(name, count)| format!("{name}*{count}")).collect();
    said.sort();
    (index, said)
}

#[test]
fn each_name_stands_for_what_its_scope_says() {
    let (index, counts) = index(TEXT);
    assert_eq!(
        counts,
        ["#note*2", "%0*2", "%1*2", "%2*2", "%7*2", "%7*2", "%a*2", "%a*2", "%r*2", "%x*2", "@f*2", "^end*2"]
    );
    for (at, kind) in
        [("%a {tag", NameKind::Value), ("^end(%2", NameKind::Block), ("@f(%1", NameKind::Symbol)]
    {
        let at = TEXT.find(at).expect("the text has it");
        let site = index.name_at(at).expect("a name");
        assert_eq!(index.things[site.thing()].kind, kind);
        assert_eq!(site.role, NameRole::Mention);
        let definition = index.definition(site.thing()).expect("it is defined");
        assert_eq!(TEXT[definition.span.clone()], TEXT[site.span.clone()]);
        assert_ne!(definition.span, site.span);
    }
    // The type of a value is known at its uses.
    let read = index.name_at(TEXT.find("%1) : (").expect("the call")).expect("a name");
    assert!(read.ty.is_some());
}

#[test]
fn operations_are_found_by_their_places() {
    let (index, _) = index(TEXT);
    let name = |at: usize| {
        let op = index.op_at(at).expect("an operation");
        TEXT[index.ops[op].name_start..].split([' ', '(']).next().unwrap_or_default()
    };
    assert_eq!(name(TEXT.find("%a {tag").expect("relu's operand")), "nn.relu");
    assert_eq!(name(TEXT.find("%a = %0").expect("the second group's argument")), "optc.group");
    assert_eq!(name(TEXT.find("^end(%r").expect("the block")), "func.func");
    assert_eq!(index.op_at(3), None);
}

#[test]
fn handles_lead_to_the_operations_of_the_module() {
    let ctx = Arc::new(Context::new());
    for text in [
        TEXT.to_owned(),
        format!("module {{\n{}}}", TEXT.split_once('\n').expect("two lines").1.replace("#note", "1")),
    ] {
        let indexed = parse_indexed(&ctx, "t", text, &ParseOptions::default());
        let module = indexed.module.unwrap_or_else(|faults| panic!("{}", faults[0].render(&ctx)));
        for (number, site) in indexed.index.ops.iter() {
            let read = site.op.as_ref().expect("nothing is at fault");
            let body = indexed.index.body_around(&module, number).expect("the module is whole");
            assert_eq!(body.name(read.handle), read.name);
            assert_eq!(body.attrs(read.handle), read.attrs);
        }
    }
}

#[test]
fn names_are_known_in_a_text_at_fault() {
    let text = TEXT.replace("%1 = optc.group(%a = %0)", "%1 = optc.group(%a = )");
    let (index, counts) = index(&text);
    assert!(counts.contains(&"%1*2".to_owned()), "{counts:?}");
    let call = index.name_at(text.find("%1) : (").expect("the call")).expect("a name");
    assert!(index.definition(call.thing()).is_some());
}
