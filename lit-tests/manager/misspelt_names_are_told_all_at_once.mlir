// RUN: optc --passes='simplfy,dce{deep},fuse{max-op=3}'
// All mistakes of a pipeline are reported together, each with the nearest name, so one attempt is enough.

func.func @f() {
  return
}
// ----- output
// error: there is no pass `simplfy`
//  --> --passes:1:1
//   |
// 1 | simplfy,dce{deep},fuse{max-op=3}
//   | ^^^^^^^
//   |
//   = help: did you mean `simplify`?
// error: pass `dce` has no option `deep`
//  --> --passes:1:13
//   |
// 1 | simplfy,dce{deep},fuse{max-op=3}
//   |             ^^^^
//   |
//   = help: it has none
// error: pass `fuse` has no option `max-op`
//  --> --passes:1:24
//   |
// 1 | simplfy,dce{deep},fuse{max-op=3}
//   |                        ^^^^^^
//   |
//   = help: did you mean `max-ops`?
