//! The project's own checks: lit runner, law tests, real models, tidy checks, generators.

pub mod arena;
pub mod builders;
pub mod damage;
pub mod examples;
pub mod families;
pub mod flows;
pub mod given;
pub mod graphs;
pub mod layouts;
pub mod messages;
pub mod modules;
pub mod names;
pub mod permuted;
pub mod plan_programs;
pub mod programs;
pub mod prose;
pub mod public_api;
pub mod random;
pub mod reference;
pub mod sized_graphs;
pub mod source;
pub mod tidy;
pub mod trials;
pub mod workspace;
