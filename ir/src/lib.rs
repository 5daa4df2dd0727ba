//! The language: entities, types, attributes, operations, dialects, text, verifier, diagnostics, interpreter.
