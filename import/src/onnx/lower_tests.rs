//! That the last binding of a name counts.

use std::path::Path;
use std::sync::Arc;

use ir::Context;

use super::super::declared::DeclaredSizes;
use super::super::external::{ExternalFiles, read_file};
use super::super::facts::SizeFacts;
use super::super::model::GraphProto;
use super::super::rows::OperatorSets;
use super::super::sequences::NamedItem;
use super::super::tensor::{Dimension, TypeProto, ValueInfoProto};
use super::super::weights::{Keys, WeightFiles};
use super::{GraphLowering, ModelSource};

#[test]
fn a_name_stands_for_what_it_was_bound_to_last() {
    let ty = TypeProto::Tensor { element: 1, shape: Some(vec![Dimension::Value(2)]) };
    let inputs = vec![ValueInfoProto { name: "x", ty }];
    let graph = GraphProto { inputs, ..GraphProto::default() };
    let sets = OperatorSets { own: 17, learned: None, preview: None };
    let sizes = DeclaredSizes::default();
    let weights = WeightFiles {
        model_bytes: Arc::new(Vec::new()),
        external: ExternalFiles::beside(Path::new("m.onnx"), &read_file),
        stripped: Default::default(),
        keys: Keys::default(),
    };
    let ctx = Context::new();
    let facts = SizeFacts::given(&ctx, &sizes, &graph);
    let source = ModelSource { graph: &graph, sets, sizes: &sizes, weights };
    let mut lowering = GraphLowering::new(&ctx, facts, source);
    lowering.arguments();
    let x = lowering.value("x").expect("an input is an argument");
    lowering.bind("a", NamedItem::Sequence(vec![x, x]));
    assert!(matches!(lowering.item("a"), Some(NamedItem::Sequence(all)) if all == [x, x]));
    lowering.bind("a", NamedItem::Tensor(x));
    assert!(matches!(lowering.item("a"), Some(NamedItem::Tensor(value)) if value == x));
    lowering.bind("a", NamedItem::Nothing);
    assert!(matches!(lowering.item("a"), Some(NamedItem::Nothing)));
    assert!(lowering.named("a").is_none(), "an optional that is empty is no tensor");
    lowering.bind("a", NamedItem::Tensor(x));
    assert_eq!(lowering.named("a"), Some(x));
    assert!(lowering.items.is_empty());
}
