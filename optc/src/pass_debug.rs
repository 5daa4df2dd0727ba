//! Command-line options for watching passes: output, counters and checks.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use ir::{Context, Diagnostic};
use passes::manager::{ChangeLimit, PassDebug, Registry, Remark, Report, Selection, Verify};

/// Where these arguments stand in `--help`.
const PASSES: &str = "Passes";

/// Options for watching passes.
#[derive(Args, Clone, Debug, Default)]
pub struct PassDebugArgs {
    /// Print the program before these passes, to standard error.
    #[arg(long, value_name = "PASSES", value_delimiter = ',', help_heading = PASSES)]
    pub print_before: Vec<String>,
    /// Print the program after these passes, to standard error.
    #[arg(long, value_name = "PASSES", value_delimiter = ',', help_heading = PASSES)]
    pub print_after: Vec<String>,
    /// Print the program after every pass, to standard error.
    #[arg(long, help_heading = PASSES)]
    pub print_after_all: bool,
    /// Print the program after every pass that changed it, to standard error.
    #[arg(long, help_heading = PASSES)]
    pub print_after_change: bool,
    /// After every pass that changed the program, write it and the difference to files in this folder.
    #[arg(long, value_name = "FOLDER", help_heading = PASSES)]
    pub dump_dir: Option<PathBuf>,
    /// Let a pass make only its first K changes (a rule applied, a group, a tie, ...), as `optc bisect` does;
    /// may be repeated.
    #[arg(long, value_name = "PASS:K", value_parser = ChangeLimit::parse, help_heading = PASSES)]
    pub stop_after: Vec<ChangeLimit>,
    /// If a pass panics, write its input program here; `optc --replay` runs that pass on it again.
    #[arg(long, value_name = "FILE", help_heading = PASSES)]
    pub reproducer: Option<PathBuf>,
    /// Print times of the passes to standard error, as a tree of lines or as JSON.
    #[arg(
        long,
        value_name = "FORM",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "text",
        help_heading = PASSES
    )]
    pub timing: Option<TimingForm>,
    /// Print the counters of the passes to standard error.
    #[arg(long, help_heading = PASSES)]
    pub statistics: bool,
    /// Print remarks (what was optimized, what not, and why) to standard error: of these passes, or of all.
    #[arg(
        long,
        value_name = "PASSES",
        num_args = 0..=1,
        require_equals = true,
        value_delimiter = ',',
        default_missing_value = "",
        help_heading = PASSES
    )]
    pub remarks: Option<Vec<String>>,
    /// Do not verify the program after each pass.
    #[arg(long, help_heading = PASSES)]
    pub no_verify: bool,
}

/// The form of timings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TimingForm {
    /// A line for each element of the pipeline, indented as they are nested.
    Text,
    /// `{"name", "ms", "children"}`, in one line.
    Json,
}

impl PassDebugArgs {
    /// Checks and output for each pass.
    ///
    /// # Errors
    /// For each name that no pass of the registry has.
    pub fn debug(&self, registry: &Registry) -> Result<PassDebug, Vec<Diagnostic>> {
        let all = |yes: bool| if yes { Selection::All } else { Selection::None };
        let named = |names: &[String]| Selection::named(names, registry);
        named(&self.stop_after.iter().map(|limit| limit.pass.clone()).collect::<Vec<_>>())?;
        Ok(PassDebug {
            verify: if self.no_verify { Verify::Never } else { Verify::AfterEach },
            print_before: named(&self.print_before)?,
            print_after: if self.print_after_all { Selection::All } else { named(&self.print_after)? },
            print_after_change: all(self.print_after_change),
            dump_dir: self.dump_dir.clone(),
            limits: self.stop_after.clone(),
            reproducer: self.reproducer.clone(),
        })
    }

    /// The passes whose remarks are printed.
    ///
    /// # Errors
    /// For each name that no pass of the registry has.
    pub fn remarks(&self, registry: &Registry) -> Result<Selection, Vec<Diagnostic>> {
        match self.remarks.as_deref() {
            None => Ok(Selection::None),
            Some([name]) if name.is_empty() => Ok(Selection::All),
            Some(names) => Selection::named(names, registry),
        }
    }

    /// The requested counters and times of a run, in lines.
    pub fn told(&self, report: &Report) -> String {
        let mut text = String::new();
        if self.statistics {
            text += &report.statistics_text();
        }
        match self.timing {
            Some(TimingForm::Text) => text += &report.timing.to_text(),
            Some(TimingForm::Json) => text += &format!("{}\n", report.timing.to_json()),
            None => {}
        }
        text
    }
}

/// Those remarks that are selected, in lines with colours.
pub(crate) fn remarks_text(ctx: &Context, remarks: &[Remark], selected: &Selection) -> String {
    let selected = remarks.iter().filter(|remark| selected.contains(remark.pass));
    selected.map(|remark| remark.diagnostic.render_styled(ctx) + "\n").collect()
}
