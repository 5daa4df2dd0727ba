// RUN: optc --passes=fuse,inplace,plan --print-pipeline
// Stages that later passes depend on are inserted, and `--print-pipeline` shows where. A short pipeline then
// runs as it stands.

// ----- output
// layout,fuse,select,inplace,plan
