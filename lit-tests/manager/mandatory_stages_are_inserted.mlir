// RUN: optc --passes=fuse,inplace,plan --print-pipeline

// ----- output
// layout,fuse,select,inplace,plan
