// RUN: optc --passes='func( cse , dce ) , simplify { nodes = 10 rounds=2 }' --print-pipeline
// The nesting of a pipeline says on what each pass runs, so it is printed as it was given, with normalized
// spaces.

// ----- output
// func(cse,dce),simplify{rounds=2 nodes=10}
