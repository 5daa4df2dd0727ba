//! Nothing but its `Cargo.toml`, which asks for the features that the whole workspace has of what several
//! rooms use.
//!
//! Cargo builds a crate with the features that the selected packages ask for: without this, `cargo test -p
//! optc-ir` after `cargo test --workspace` builds the half of all crates anew, and so does each room's next
//! selection. It is a dependency of the rooms' tests only, so a program that uses the rooms never sees it.
