//! The schemas in `docs/schemas` for the `--json` output of each verb.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use clap::CommandFactory;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};

use super::bench::report::BenchReport;
use super::bisect::BisectReport;
use super::build::BuildReport;
use super::diff::DiffReport;
use super::doctor::Findings;
use super::explain::{PeakJson, StepJson, ValueJson};
use super::list::report::{OpList, OperatorList, PassList};
use super::lit::LitReport;
use super::place::PlaceReport;
use super::reduce::ReduceReport;
use super::run::report::RunReport;
use super::symbolic::SymbolicReport;
use crate::plan_report::PlanReport;

/// The schema of a type's serialization.
fn schema<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>()
}

/// A schema for each kind of `--json` output, by the file's name: the verb, and the kind if it has several.
fn schemas() -> BTreeMap<&'static str, Schema> {
    BTreeMap::from([
        ("bench", schema::<BenchReport>()),
        ("bisect", schema::<BisectReport<'_>>()),
        ("build", schema::<BuildReport<'_>>()),
        ("diff", schema::<DiffReport<'_>>()),
        ("doctor", schema::<Findings>()),
        ("explain.peak", schema::<PeakJson<'_>>()),
        ("explain.step", schema::<StepJson<'_>>()),
        ("explain.value", schema::<ValueJson<'_>>()),
        ("lit", schema::<LitReport>()),
        ("ops", schema::<OpList>()),
        ("ops.onnx", schema::<OperatorList>()),
        ("passes", schema::<PassList>()),
        ("place", schema::<PlaceReport>()),
        ("plan", schema::<PlanReport>()),
        ("plan.named-sizes", schema::<SymbolicReport>()),
        ("reduce", schema::<ReduceReport>()),
        ("run", schema::<RunReport>()),
    ])
}

#[test]
fn the_checked_in_schemas_say_what_is_written() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/schemas"));
    let mut expected = BTreeSet::new();
    for (name, schema) in schemas() {
        let path = folder.join(format!("{name}.json"));
        let text = serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n";
        if std::env::var_os("OPTC_BLESS").is_some() {
            fs::create_dir_all(folder)
                .and_then(|()| fs::write(&path, &text))
                .expect("the file can be written");
        }
        let said = fs::read_to_string(&path).unwrap_or_default();
        assert!(said == text, "{} is not the schema: OPTC_BLESS=1 writes it", path.display());
        expected.insert(path.file_name().expect("the path ends in a name").to_owned());
    }
    let found: BTreeSet<_> =
        fs::read_dir(folder).expect("the folder is there").flatten().map(|file| file.file_name()).collect();
    assert_eq!(found, expected);
}

#[test]
fn every_verb_with_json_has_a_schema() {
    let known = schemas();
    let mut command = super::Cli::command();
    // Verbs have no descriptions before this.
    command.build();
    for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help") {
        let name = verb.get_name();
        let has_json = verb.get_arguments().any(|argument| argument.get_id() == "json");
        let has_schema = known.keys().any(|known| known.split('.').next() == Some(name));
        assert_eq!(has_json, has_schema, "{name}");
        let prints_data = !["new-dialect", "lsp", "completions", "man"].contains(&name);
        assert_eq!(has_json, prints_data, "{name}");
    }
}
