//! The facade library that an embedder depends on, and the optc binary.
