//! `my-opt --passes=fuse,my-count FILE`: optc with the dialect `my` and its pass.

fn main() -> std::process::ExitCode {
    optc::cli::tool(&my_opt::setup(), std::env::args_os())
}
