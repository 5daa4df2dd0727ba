//! Round trips: whether the text of a module is parsed to an equal module.

use std::sync::Arc;

use super::{Locations, ParseOptions, PrintForm, PrintOptions, Unregistered, parse_with, print_with};
use crate::context::Context;
use crate::module::Module;

/// Prints a module in each form, parses the text in a new context, and prints it again, in both forms.
///
/// Blobs that the text only refers to stay in the module's context.
///
/// # Errors
/// If a text can't be parsed, or is printed differently: the form, and the first line that differs.
pub fn check_round_trip(module: &Module) -> Result<(), String> {
    for form in [PrintForm::Pretty, PrintForm::Generic] {
        for locations in [Locations::Hidden, Locations::Shown] {
            let ctx = Arc::new(Context::new());
            module.ctx.dialects().for_each(|dialect| ctx.register(dialect));
            let text = print_with(module, &PrintOptions { form, locations, ..Default::default() });
            let options = ParseOptions { unregistered: Unregistered::Allow };
            let again = parse_with(&ctx, "printed", text, &options).map_err(|errors| {
                let errors: Vec<String> = errors.iter().map(|error| error.render(&ctx)).collect();
                format!("{form:?} text does not read back:\n{}", errors.join("\n"))
            })?;
            for other in [PrintForm::Pretty, PrintForm::Generic] {
                let options = PrintOptions { form: other, locations, ..Default::default() };
                same(&print_with(module, &options), &print_with(&again, &options))
                    .map_err(|line| format!("read from {form:?} text, {other:?} text differs: {line}"))?;
            }
        }
    }
    Ok(())
}

fn same(expected: &str, found: &str) -> Result<(), String> {
    if expected == found {
        return Ok(());
    }
    let mut lines = expected.lines().zip(found.lines()).enumerate();
    let (line, (expected, found)) =
        lines.find(|(_, (a, b))| a != b).unwrap_or((0, ("texts of different lengths", "")));
    Err(format!("line {}\n  expected {expected}\n  found    {found}", line + 1))
}
