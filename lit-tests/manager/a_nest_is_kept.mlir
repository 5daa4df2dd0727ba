// RUN: optc --passes='func( cse , dce ) , simplify { nodes = 10 rounds=2 }' --print-pipeline

// ----- output
// func(cse,dce),simplify{rounds=2 nodes=10}
