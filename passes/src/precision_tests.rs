//! The names of precisions.

use super::*;

#[test]
fn a_precision_has_a_name_by_which_it_is_found() {
    for (name, precision) in Precision::NAMES.iter().zip([Precision::F32, Precision::Bf16]) {
        assert_eq!((precision.name(), Precision::named(name)), (*name, Some(precision)));
    }
    assert_eq!(Precision::named("f16"), None);
}
