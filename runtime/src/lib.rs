//! What a compiled program needs to run: the arena, mapped files, the fork-join pool, the call into machine code.
