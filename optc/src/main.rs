//! The `optc` command.

use std::process::ExitCode;

use runtime::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::new();

fn main() -> ExitCode {
    optc::cli::main(std::env::args_os(), &ALLOCATOR)
}
