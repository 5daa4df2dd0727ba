//! Parsing ends once more errors are found than will be reported, and only then.

use super::*;

/// The number of errors, and the last one.
fn faults(text: String) -> (usize, String) {
    let ctx = Arc::new(Context::new());
    let faults = match parse(&ctx, "t", text) {
        Ok(module) => crate::verify::verify(&module).err().unwrap_or_default(),
        Err(faults) => faults,
    };
    let last = faults.last().map(|fault| {
        format!("{}: {}", crate::diag::describe(&ctx, fault.location).unwrap_or_default(), fault.message)
    });
    (faults.len(), last.unwrap_or_default())
}

#[test]
fn a_thousand_faults_of_any_kind_end_the_reading() {
    let end = "1000 errors were found: the rest is not read";
    let check = |line: &str, first_unread: usize| {
        let place = format!("t:{first_unread}:1: {end}");
        assert_eq!(faults(format!("{line}\n").repeat(3000)), (1001, place), "{line}");
    };
    check("zz.zz", 1001);
    check("func.func @f() { \"nn.relu\"(%x) : (f32) -> f32 return }", 1001);
}

#[test]
fn a_thousand_faults_of_the_verifier_in_small_operations_end_the_reading() {
    let same = faults("func.func private @f()\n".repeat(3000));
    assert_eq!(same, (1001, "t:1002:1: 1000 errors were found: the rest is not read".to_owned()));
    let functions =
        |count: usize| (0..count).map(|i| format!("func.func @f{i}() {{}}\n")).collect::<String>();
    let (count, last) = faults(functions(3000));
    assert!(count == 1001 && last.ends_with("the rest is not read"), "{count}: {last}");
    // The verifier reports all errors if only parts of the text are faulty.
    let (count, last) = faults(functions(900) + &"func.func private @g()\n".repeat(900));
    assert_eq!((count, &*last), (1000, "t:1001:1: `@g` is defined twice"));
}
