/* liboptc: compile a model, see its plan, run it in memory and on threads of the caller.
 *
 * Made by cbindgen from capi/src; tests/capi/run checks that it is.
 *
 * Handles. Functions that make a handle write it through their last argument but one, and nothing if they
 * fail; each kind has a function that frees it, which takes NULL too. Text is UTF-8 that ends with 0; text
 * that a function returns lives as long as the handle that it is of, unless it says otherwise.
 *
 * Errors. Functions that may fail return an `optc_status`. If it is not OPTC_OK and the argument `errors` is
 * not NULL, `*errors` is a list of diagnostics, which the caller frees. No function unwinds, aborts or exits,
 * but for a fault in machine code or in the caller's own functions.
 *
 * Threads. A handle that is only read (`const` in a signature) may be used by several threads at one time:
 * programs and plans are. Any other use of a handle is for one thread at a time. Modules and options are
 * copied by `optc_compile`, and a program lives until its last context is freed, whatever is freed first.
 */

#ifndef OPTC_H
#define OPTC_H

#include <stddef.h>
#include <stdint.h>

// The most dimensions of a value that a kernel of the caller takes.
#define OPTC_MOST_DIMENSIONS 8

// How a call ended.
typedef enum optc_status {
  // Well.
  OPTC_OK = 0,
  // The input is at fault: a model, a text, an option, shapes, or buffers.
  OPTC_INPUT = 1,
  // The call is at fault: NULL where a value is expected, text that is not UTF-8, a number out of range.
  OPTC_USAGE = 2,
  // The library is at fault. The handles of the call may be freed, and nothing else.
  OPTC_INTERNAL = 3,
  // A function of the caller ended the work.
  OPTC_CANCELLED = 4,
} optc_status;

// Operations of the caller's own, which options may have.
typedef struct optc_dialect optc_dialect;

// What runs a program: memory, threads, the shapes of inputs. One thread may use it at a time.
typedef struct optc_context optc_context;

// A list of what is at fault, or of remarks.
typedef struct optc_diagnostics optc_diagnostics;

// A program in the IR.
typedef struct optc_module optc_module;

// How a model is read and compiled: as the command does it without options, until others are set.
typedef struct optc_options optc_options;

// Text that the caller frees.
typedef struct optc_text optc_text;

// A plan, which several threads may read at one time.
typedef struct optc_plan optc_plan;

// A compiled program, which several threads may use at one time.
typedef struct optc_program optc_program;

// Threads that contexts run on. Several contexts may have them: they serve one at a time, and another one
// meanwhile works in its caller's thread.
typedef struct optc_threads optc_threads;

// A part of a kernel's work: `worker` is below the number of threads and of parts, and no two calls that run
// at one time have the same; each part is done once.
typedef void (*optc_work)(void *work, size_t worker, uint32_t part);

// Does all parts below `parts` of `work` by `run`, in any order and on any threads, and returns when all are
// done; `data` is what was given with it.
typedef void (*optc_parallel_for)(void *data, uint32_t parts, optc_work run, void *work);

// The type of a value at a call of a kernel. Its elements are without gaps, rows first.
typedef struct optc_value_type {
  // Its elements, as in `optc_tensor`.
  const char *element;
  // How many dimensions it has.
  size_t rank;
  // Their sizes.
  uint64_t sizes[OPTC_MOST_DIMENSIONS];
} optc_value_type;

// How the work of an operation is shared, and what it needs.
typedef struct optc_kernel_needs {
  // Parts that may run at one time; 0 if there is nothing to do.
  uint32_t parts;
  // Bytes of scratch for each thread.
  size_t scratch_bytes;
} optc_kernel_needs;

// Says of an operation whose results, then operands, have these types how its work is shared among
// `threads`: writes it to `*needs`, where there is one part without scratch. If it returns something else
// than 0, the operation is refused. It is called by any thread that compiles, plans or prepares, and does
// not unwind.
typedef int (*optc_describe)(void *user,
                             const struct optc_value_type *types,
                             size_t threads,
                             struct optc_kernel_needs *needs);

// Does part `part` of an operation's work. `types` and `values` have the results, then the operands; each
// value begins at a multiple of 4. `scratch` begins at a multiple of 64, is for this call alone, and holds
// garbage. It is called by any thread that runs a program, or computes a constant, for several parts at one
// time, and does not unwind.
typedef void (*optc_kernel)(void *user,
                            const struct optc_value_type *types,
                            void *const *values,
                            uint32_t part,
                            void *scratch);

// An operation on tensors, without effects but its results.
typedef struct optc_operation {
  // Its name after that of the dialect and a dot: `fir` for `dsp.fir`.
  const char *name;
  // How many operands it has.
  size_t operands;
  // How many results it has.
  size_t results;
  // The operand whose type its only result has; -1 if types of results are as the text says.
  int32_t same_type_as;
  // The operand whose memory result 0 may have; -1 if there is none. The kernel then reads a row of it (of
  // the last dimension) whole before it writes the same row of the result, and reads it nowhere else.
  int32_t overwrites;
  // How its work is shared; NULL: it is not.
  optc_describe describe;
  // What does the work.
  optc_kernel kernel;
  // What both functions are called with.
  void *user;
} optc_operation;

// A value with its place. All text lives as long as the plan.
typedef struct optc_buffer {
  // As in the printed text.
  const char *name;
  // The value whose bytes it shares, or itself.
  const char *buffer;
  // What makes it.
  const char *op;
  // The model's name for that; may be empty.
  const char *node;
  // Its type; empty for scratch.
  const char *type_name;
  // Where it lies: `arena` or another pool; `input` or `output`: a buffer of the caller, whose number is
  // `offset`.
  const char *pool;
  // `input`, `result`, `scratch` or `output`.
  const char *kind;
  // Its bytes.
  uint64_t bytes;
  // Where in the pool it begins.
  uint64_t offset;
  // The first step at which its bytes must be kept.
  size_t first;
  // The last one.
  size_t last;
} optc_buffer;

// An input or output. All text lives as long as the program.
typedef struct optc_tensor {
  // Its name in the model.
  const char *name;
  // Its elements: `f32`, `f64`, `f16`, `bf16`, `i8` to `i64`, `u8` to `u64`, `bool`, or a smaller type.
  const char *element;
  // How many dimensions it has.
  size_t rank;
  // Not 0 if only the size of another output: see `optc_context_output_shape`.
  int32_t is_count;
} optc_tensor;

// A named size.
typedef struct optc_size {
  // Its name. Lives as long as the program.
  const char *name;
  // The least number.
  uint64_t least;
  // The greatest number; UINT64_MAX where there is none.
  uint64_t most;
} optc_size;

// Is told each step of a compilation before it begins: a pass with its options, or `machine code`. The text
// lives until it returns. If it returns something else than 0, the work ends there. It does not unwind.
typedef int (*optc_progress)(void *user, const char *step);

// Is told each step of a run before it begins: how many others have begun. If it returns something else than
// 0, the run ends there. It does not unwind.
typedef int (*optc_watch)(void *user, uint64_t step);

// A fault of the input, or a remark. All text lives as long as the list.
typedef struct optc_diagnostic {
  // 0: an error; 1: a warning; 2: a remark.
  uint32_t severity;
  // What was found, and what was expected.
  const char *message;
  // The text that is at fault; NULL if it is none.
  const char *file;
  // The line in that text, from 1; 0 if it is none.
  uint32_t line;
  // The column in characters, from 1; 0 if it is none.
  uint32_t column;
  // What is at fault in a model: a node, a tensor, the file; NULL if that is not known.
  const char *name;
  // What else there is to know, a line for each; may be empty.
  const char *notes;
  // What to do about it, a line for each; may be empty.
  const char *help;
  // All of it as the command prints it, with a line of the source.
  const char *text;
} optc_diagnostic;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of this interface; another one has this function under another name, so that a program that
// was made for it does not link.
uint32_t optc_abi_version_1(void);

// The version of the library.
const char *optc_version(void);

// Threads of the library: `count` with the caller's, which is one of them.
//
// # Safety
// `threads` and `errors` are NULL or places.
enum optc_status optc_threads_new(size_t count,
                                  struct optc_threads **threads,
                                  struct optc_diagnostics **errors);

// Threads of the caller: `count` of them, which `parallel_for` uses. It may be called by any thread that
// runs a context, by several at one time, until the last context and the handle are freed.
//
// # Safety
// `parallel_for` does what its type says, for `data`; `threads` and `errors` are NULL or places.
enum optc_status optc_threads_of(size_t count,
                                 optc_parallel_for parallel_for,
                                 void *data,
                                 struct optc_threads **threads,
                                 struct optc_diagnostics **errors);

// Frees threads; those of contexts stay.
//
// # Safety
// `threads` is NULL or a handle, which is not used again.
void optc_threads_free(struct optc_threads *threads);

// What runs a program on `threads` (NULL: its own) in an arena of `arena_bytes` at a multiple of 64 (NULL:
// its own). The arena is used until the context is freed, and holds garbage then.
//
// # Safety
// `program` is NULL or a handle, and so is `threads`; `arena` is NULL or has `arena_bytes` that nobody else
// uses until the context is freed; `context` and `errors` are NULL or places.
enum optc_status optc_context_new(const struct optc_program *program,
                                  const struct optc_threads *threads,
                                  void *arena,
                                  size_t arena_bytes,
                                  struct optc_context **context,
                                  struct optc_diagnostics **errors);

// Sets the shape of an input, from which named sizes follow, for the runs that follow.
//
// # Safety
// `context` is NULL or a handle; `input` is NULL or ends with 0; `sizes` has `rank` elements; `errors` is
// NULL or a place.
enum optc_status optc_context_set_shape(struct optc_context *context,
                                        const char *input,
                                        const uint64_t *sizes,
                                        size_t rank,
                                        struct optc_diagnostics **errors);

// Makes all ready for runs with the shapes as they are set, which a run else does. Unless `arena_bytes` is
// NULL, `*arena_bytes` is then what a run takes.
//
// # Safety
// `context` is NULL or a handle; `arena_bytes` and `errors` are NULL or places.
enum optc_status optc_context_prepare(struct optc_context *context,
                                      size_t *arena_bytes,
                                      struct optc_diagnostics **errors);

// Writes to `*bytes` what the buffer of an input (`is_output` 0) or output has, with the shapes as they are
// set.
//
// # Safety
// `context` is NULL or a handle; `bytes` and `errors` are NULL or places.
enum optc_status optc_context_bytes(struct optc_context *context,
                                    int32_t is_output,
                                    size_t index,
                                    size_t *bytes,
                                    struct optc_diagnostics **errors);

// Runs the program on buffers in the order of its inputs and outputs, each of exactly the bytes that
// `optc_context_bytes` says, rows first and without gaps, at a multiple of 4. Inputs that were donated when
// the program was compiled are overwritten; else an output that shares bytes with another buffer is refused.
// A truth value (`bool`) is a byte 0 or 1, which is not checked: what is computed from another byte is
// arbitrary.
//
// # Safety
// `context` is NULL or a handle; `inputs` and `input_bytes` have `input_count` elements, and outputs
// likewise; each buffer has its bytes; `errors` is NULL or a place.
enum optc_status optc_context_run(struct optc_context *context,
                                  const void *const *inputs,
                                  const size_t *input_bytes,
                                  size_t input_count,
                                  void *const *outputs,
                                  const size_t *output_bytes,
                                  size_t output_count,
                                  struct optc_diagnostics **errors);

// Writes the shape of an output to `sizes`, which has room for its rank: where data decide a size, that of
// the last run, whose elements come first in the buffer, and else the shape that follows from those of
// inputs.
//
// # Safety
// `context` is NULL or a handle; `sizes` has room for `room` numbers; `errors` is NULL or a place.
enum optc_status optc_context_output_shape(struct optc_context *context,
                                           size_t index,
                                           uint64_t *sizes,
                                           size_t room,
                                           struct optc_diagnostics **errors);

// Writes to `*bytes` and `*length` where the state of this name lies, which runs keep and change; zeros at
// first. It may be written before the next use of the context, which moves it.
//
// # Safety
// `context` is NULL or a handle; `name` is NULL or ends with 0; `bytes`, `length` and `errors` are NULL or
// places.
enum optc_status optc_context_state(struct optc_context *context,
                                    const char *name,
                                    void **bytes,
                                    size_t *length,
                                    struct optc_diagnostics **errors);

// Frees a context.
//
// # Safety
// `context` is NULL or a handle, which is not used again.
void optc_context_free(struct optc_context *context);

// The text. NULL for NULL.
//
// # Safety
// `text` is NULL or a handle.
const char *optc_text_get(const struct optc_text *text);

// Frees a text.
//
// # Safety
// `text` is NULL or a handle, which is not used again.
void optc_text_free(struct optc_text *text);

// The program that a text of `length` bytes says; messages call it `name`. `options` may be NULL.
//
// # Safety
// `source` has `length` bytes; `name` is NULL or ends with 0; `options` is NULL or a handle; `module` and
// `errors` are NULL or places.
enum optc_status optc_module_parse(const char *source,
                                   size_t length,
                                   const char *name,
                                   const struct optc_options *options,
                                   struct optc_module **module,
                                   struct optc_diagnostics **errors);

// The program in a file: an ONNX model (`.onnx`), or text. `options` may be NULL.
//
// # Safety
// `path` is NULL or ends with 0; `options` is NULL or a handle; `module` and `errors` are NULL or places.
enum optc_status optc_module_load(const char *path,
                                  const struct optc_options *options,
                                  struct optc_module **module,
                                  struct optc_diagnostics **errors);

// The program of an ONNX model in memory, which is copied. `options` may be NULL.
//
// # Safety
// `model` has `length` bytes; `options` is NULL or a handle; `module` and `errors` are NULL or places.
enum optc_status optc_module_import(const uint8_t *model,
                                    size_t length,
                                    const struct optc_options *options,
                                    struct optc_module **module,
                                    struct optc_diagnostics **errors);

// Runs passes (`fuse,inplace,plan`) for the threads and processor of `options`, which may be NULL. Unless
// `remarks` is NULL, `*remarks` is then a list of what the passes remarked. If a pass finds a fault, or
// the caller ends the work, the module stays as it was.
//
// # Safety
// `module` is NULL or a handle, and so is `options`; `pipeline` is NULL or ends with 0; `remarks` and
// `errors` are NULL or places.
enum optc_status optc_module_run_pipeline(struct optc_module *module,
                                          const char *pipeline,
                                          const struct optc_options *options,
                                          struct optc_diagnostics **remarks,
                                          struct optc_diagnostics **errors);

// The program's text: MLIR's generic form if `generic` is not 0. The caller frees it.
//
// # Safety
// `module` is NULL or a handle; `printed` and `errors` are NULL or places.
enum optc_status optc_module_print(const struct optc_module *module,
                                   int32_t generic,
                                   struct optc_text **printed,
                                   struct optc_diagnostics **errors);

// Frees a module.
//
// # Safety
// `module` is NULL or a handle, which is not used again.
void optc_module_free(struct optc_module *module);

// Makes a dialect of `count` operations, which are copied. They stay until the process ends, since programs
// go back to them, and their functions are called until then.
//
// # Safety
// `name` is NULL or ends with 0; `operations` has `count` elements, whose names are NULL or end with 0;
// their functions do what their types say, with `user`, until the process ends: a kernel reads operands and
// writes results within their bytes, uses no more scratch than was asked for, and parts that run at one time
// write disjoint bytes; `dialect` and `errors` are NULL or places.
enum optc_status optc_dialect_new(const char *name,
                                  const struct optc_operation *operations,
                                  size_t count,
                                  struct optc_dialect **dialect,
                                  struct optc_diagnostics **errors);

// Has modules that are made with these options know the operations, and programs that are compiled with them
// run their kernels.
//
// # Safety
// `options` is NULL or a handle, and so is `dialect`; `errors` is NULL or a place.
enum optc_status optc_options_add_dialect(struct optc_options *options,
                                          const struct optc_dialect *dialect,
                                          struct optc_diagnostics **errors);

// Frees a dialect; its operations stay.
//
// # Safety
// `dialect` is NULL or a handle, which is not used again.
void optc_dialect_free(struct optc_dialect *dialect);

// Options without any set.
//
// # Safety
// `options` is NULL or a place, and so is `errors`.
enum optc_status optc_options_new(struct optc_options **options, struct optc_diagnostics **errors);

// Sets an option by its name on the command line, without `--`:
//
// `threads` (a number), `optimize` (`memory`, `balanced`, `speed`), `precision` (`f32`, `bf16`), `budget`
// (`4MB`), `target-cpu`, `donate` (an input's name), `pool` (`name:align=..,pitch=..,capacity=..`), `entry`,
// `dim` (`N=4`, `N<=512`), `symbolize` (`input:0=N,2=H`), `synthesize-weights` and `poison` (`true` or
// `false`). `donate`, `pool`, `dim` and `symbolize` add to what was set before.
//
// # Safety
// `options` is NULL or a handle; the texts are NULL or end with 0; `errors` is NULL or a place.
enum optc_status optc_options_set(struct optc_options *options,
                                  const char *name,
                                  const char *value,
                                  struct optc_diagnostics **errors);

// Frees options.
//
// # Safety
// `options` is NULL or a handle, which is not used again.
void optc_options_free(struct optc_options *options);

// The plan of a program; at `count` sizes of these names, where sizes have names, the others being the
// greatest.
//
// # Safety
// `program` is NULL or a handle; `names` and `sizes` have `count` elements; `plan` and `errors` are NULL or
// places.
enum optc_status optc_program_plan(const struct optc_program *program,
                                   const char *const *names,
                                   const uint64_t *sizes,
                                   size_t count,
                                   struct optc_plan **plan,
                                   struct optc_diagnostics **errors);

// Bytes of arena at the plan's sizes. 0 for NULL.
//
// # Safety
// `plan` is NULL or a handle.
uint64_t optc_plan_arena_bytes(const struct optc_plan *plan);

// Bytes that no placement goes below, for this order and these kernels. 0 for NULL.
//
// # Safety
// `plan` is NULL or a handle.
uint64_t optc_plan_lower_bound_bytes(const struct optc_plan *plan);

// The step that the arena is as large as it is for. 0 for NULL.
//
// # Safety
// `plan` is NULL or a handle.
size_t optc_plan_peak(const struct optc_plan *plan);

// How many values have a place. 0 for NULL.
//
// # Safety
// `plan` is NULL or a handle.
size_t optc_plan_count(const struct optc_plan *plan);

// Writes where a value lies to `*buffer`. OPTC_USAGE if there is no such one.
//
// # Safety
// `plan` is NULL or a handle; `buffer` is NULL or a place.
enum optc_status optc_plan_buffer(const struct optc_plan *plan, size_t index, struct optc_buffer *buffer);

// All of the plan, as `optc plan --json` says it. The caller frees the text.
//
// # Safety
// `plan` is NULL or a handle; `written` and `errors` are NULL or places.
enum optc_status optc_plan_json(const struct optc_plan *plan,
                                struct optc_text **written,
                                struct optc_diagnostics **errors);

// A picture of the plan, as a page for a browser. The caller frees the text.
//
// # Safety
// `plan` is NULL or a handle; `title` is NULL or ends with 0; `written` and `errors` are NULL or places.
enum optc_status optc_plan_html(const struct optc_plan *plan,
                                const char *title,
                                struct optc_text **written,
                                struct optc_diagnostics **errors);

// Frees a plan.
//
// # Safety
// `plan` is NULL or a handle, which is not used again.
void optc_plan_free(struct optc_plan *plan);

// Compiles a module, which stays as it is. `options` may be NULL.
//
// # Safety
// `module` is NULL or a handle, and so is `options`; `program` and `errors` are NULL or places.
enum optc_status optc_compile(const struct optc_module *module,
                              const struct optc_options *options,
                              struct optc_program **program,
                              struct optc_diagnostics **errors);

// How many inputs (`is_output` 0) or outputs it has. 0 for NULL.
//
// # Safety
// `program` is NULL or a handle.
size_t optc_program_count(const struct optc_program *program, int32_t is_output);

// Writes what an input (`is_output` 0) or output is to `*tensor`. OPTC_USAGE if there is no such one.
//
// # Safety
// `program` is NULL or a handle; `tensor` is NULL or a place.
enum optc_status optc_program_tensor(const struct optc_program *program,
                                     int32_t is_output,
                                     size_t index,
                                     struct optc_tensor *tensor);

// The size of a dimension of an input (`is_output` 0) or output, as text: `4`, `N`, `2 * N`. NULL if there
// is none. Lives as long as the program.
//
// # Safety
// `program` is NULL or a handle.
const char *optc_program_dim(const struct optc_program *program,
                             int32_t is_output,
                             size_t index,
                             size_t axis);

// How many named sizes it has. 0 for NULL.
//
// # Safety
// `program` is NULL or a handle.
size_t optc_program_size_count(const struct optc_program *program);

// Writes what a named size may be to `*size`. OPTC_USAGE if there is no such one.
//
// # Safety
// `program` is NULL or a handle; `size` is NULL or a place.
enum optc_status optc_program_size(const struct optc_program *program, size_t index, struct optc_size *size);

// Bytes of arena that are enough at all sizes; SIZE_MAX where they grow with sizes without end, and for
// NULL.
//
// # Safety
// `program` is NULL or a handle.
size_t optc_program_arena_bytes(const struct optc_program *program);

// Bytes of constants, as they are packed for kernels. 0 for NULL.
//
// # Safety
// `program` is NULL or a handle.
size_t optc_program_weights_bytes(const struct optc_program *program);

// The most threads that may run it. 0 for NULL.
//
// # Safety
// `program` is NULL or a handle.
size_t optc_program_threads(const struct optc_program *program);

// Frees a program. Its contexts stay.
//
// # Safety
// `program` is NULL or a handle, which is not used again.
void optc_program_free(struct optc_program *program);

// Has `progress` called with `user` before each step of what these options are for, by the thread that
// called `optc_compile` or `optc_module_run_pipeline`, and not after these have returned. If it ends the
// work, they return OPTC_CANCELLED. NULL: nobody follows.
//
// # Safety
// `options` is NULL or a handle; `progress` is NULL, or does what its type says, for `user`, as long as
// calls with these options last; `errors` is NULL or a place.
enum optc_status optc_options_set_progress(struct optc_options *options,
                                           optc_progress progress,
                                           void *user,
                                           struct optc_diagnostics **errors);

// Has `watch` called with `user` before each step of the runs that follow, by the thread that called
// `optc_context_run`. If it ends a run, that returns OPTC_CANCELLED: its outputs then hold garbage, and the
// context is as usable as before. NULL: nobody watches.
//
// # Safety
// `context` is NULL or a handle; `watch` is NULL, or does what its type says, for `user`, until another one
// is set or the context is freed; `errors` is NULL or a place.
enum optc_status optc_context_watch(struct optc_context *context,
                                    optc_watch watch,
                                    void *user,
                                    struct optc_diagnostics **errors);

// How many there are. 0 for NULL.
//
// # Safety
// `list` is NULL or a handle.
size_t optc_diagnostics_count(const struct optc_diagnostics *list);

// Writes one of them to `*diagnostic`. OPTC_USAGE if there is no such one.
//
// # Safety
// `list` is NULL or a handle, and `diagnostic` NULL or a place.
enum optc_status optc_diagnostics_get(const struct optc_diagnostics *list,
                                      size_t index,
                                      struct optc_diagnostic *diagnostic);

// Frees a list.
//
// # Safety
// `list` is NULL or a handle, which is not used again.
void optc_diagnostics_free(struct optc_diagnostics *list);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* OPTC_H */
