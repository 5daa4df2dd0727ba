//! From planned IR to machine code through Cranelift; the CPU as a target.
