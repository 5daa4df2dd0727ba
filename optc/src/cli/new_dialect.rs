//! `optc new-dialect NAME`: write a crate with a dialect, a pass, a law, tests and a command of its own.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::failure::Failure;

/// Write a crate with a dialect, a pass, a law, tests, and a command of its own with a language server.
///
/// It is a copy of the example `my-opt` under another name: an operation, a type, a law and a pass, to be
/// changed.
#[derive(Args)]
pub(super) struct NewDialectArgs {
    /// The name of the dialect: lower-case letters, digits and `_`.
    #[arg(value_parser = dialect_name)]
    name: String,
    /// The folder to write, which must not exist yet [default: NAME-opt].
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// The folder of the crate `optc` [default: the sources that this command was built from].
    #[arg(long, value_name = "FOLDER", default_value = env!("CARGO_MANIFEST_DIR"), hide_default_value = true)]
    optc: PathBuf,
}

/// The files of the example, by their paths.
const FILES: [(&str, &str); 7] = [
    ("src/lib.rs", include_str!("../../../examples/my-opt/src/lib.rs")),
    ("src/main.rs", include_str!("../../../examples/my-opt/src/main.rs")),
    ("tests/lit.rs", include_str!("../../../examples/my-opt/tests/lit.rs")),
    (
        "lit-tests/our_law_is_applied_by_canonicalize.mlir",
        include_str!("../../../examples/my-opt/lit-tests/our_law_is_applied_by_canonicalize.mlir"),
    ),
    (
        "lit-tests/our_operation_is_fused_and_planned.mlir",
        include_str!("../../../examples/my-opt/lit-tests/our_operation_is_fused_and_planned.mlir"),
    ),
    (
        "lit-tests/our_operation_is_run.mlir",
        include_str!("../../../examples/my-opt/lit-tests/our_operation_is_run.mlir"),
    ),
    (
        "lit-tests/our_type_has_no_parameters.mlir",
        include_str!("../../../examples/my-opt/lit-tests/our_type_has_no_parameters.mlir"),
    ),
];

fn dialect_name(text: &str) -> Result<String, String> {
    let is_one = text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if is_one { Ok(text.to_owned()) } else { Err("lower-case letters, digits and `_`".to_owned()) }
}

pub(super) fn run(args: &NewDialectArgs) -> Result<(), Failure> {
    let name = &args.name;
    let folder = args.output.clone().unwrap_or_else(|| PathBuf::from(format!("{name}-opt")));
    let fault = |path: &Path, error: std::io::Error| Failure::input(format!("{}: {error}", path.display()));
    if folder.exists() {
        return Err(Failure::input(format!("`{}` is there already", folder.display())));
    }
    let optc = fs::canonicalize(&args.optc).map_err(|error| fault(&args.optc, error))?;
    let mut files = vec![("Cargo.toml", manifest(name, &optc))];
    files.extend(FILES.iter().map(|(path, text)| (*path, renamed(text, name))));
    for (path, text) in files {
        let path = folder.join(path);
        let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, text));
        written.map_err(|error| fault(&path, error))?;
    }
    let text = format!(
        "wrote {}: there, `cargo test` runs its tests, and `cargo run` its command\n",
        folder.display()
    );
    super::write_output(&text, None)
}

/// A text of the example, with another name of the dialect.
fn renamed(text: &str, name: &str) -> String {
    let capital = name.to_uppercase();
    text.replace("my-opt", &format!("{name}-opt"))
        .replace("my_opt", &format!("{name}_opt"))
        .replace("my-count", &format!("{name}-count"))
        .replace("my.", &format!("{name}."))
        .replace("\"my\"", &format!("\"{name}\""))
        .replace("`my`", &format!("`{name}`"))
        .replace("static MY:", &format!("static {capital}:"))
        .replace("&MY]", &format!("&{capital}]"))
}

fn manifest(name: &str, optc: &Path) -> String {
    format!(
        "[package]
name = \"{name}-opt\"
version = \"0.1.0\"
edition = \"2024\"
rust-version = \"{}\"
publish = false

[dependencies]
optc = {{ path = {:?} }}

# Of no other workspace.
[workspace]

[profile.dev]
opt-level = 1
",
        env!("CARGO_PKG_RUST_VERSION"),
        optc.display().to_string()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_example_keeps_its_name() {
        for (path, text) in FILES {
            let text = renamed(text, "dsp");
            for left in ["my.", "my-", "my_", "MY", "`my`", "\"my\""] {
                assert!(!text.contains(left), "{path} has `{left}`");
            }
        }
    }

    #[test]
    fn a_name_is_one_that_rust_and_the_text_take() {
        assert!(dialect_name("dsp2_x").is_ok());
        for name in ["", "2d", "Dsp", "a-b", "a.b"] {
            assert!(dialect_name(name).is_err(), "{name}");
        }
    }
}
