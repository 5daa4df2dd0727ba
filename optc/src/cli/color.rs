//! Colours of the output for people.

use anstream::ColorChoice;
use clap::{Args, ValueEnum};

/// Whether to use colours.
#[derive(Args)]
pub(super) struct ColorArgs {
    /// When to color errors and remarks.
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = ColorWhen::Auto, global = true)]
    color: ColorWhen,
}

/// When to use colours.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ColorWhen {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl ColorArgs {
    /// Applies these arguments to all later output.
    pub(super) fn choose(&self) {
        let choice = match self.color {
            ColorWhen::Auto => ColorChoice::Auto,
            ColorWhen::Always => ColorChoice::Always,
            ColorWhen::Never => ColorChoice::Never,
        };
        choice.write_global();
    }
}
