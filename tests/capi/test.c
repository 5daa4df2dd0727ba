/* Does everything that optc.h declares once, and takes every way out of it that is an error. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "optc.h"

#define CHECK(condition)                                                          \
    do {                                                                          \
        if (!(condition)) {                                                       \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                              \
        }                                                                         \
    } while (0)

static const char RELU[] =
    "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
    "  %0 = nn.relu %x : tensor<4xf32>\n"
    "  return %0 : tensor<4xf32>\n"
    "}\n";

static const char ROWS[] =
    "func.func @main(%x: tensor<?x256xf32, #optc.dims<N>>) -> tensor<?x256xf32, #optc.dims<N>> {\n"
    "  %0 = nn.softmax %x {axis = 1} : tensor<?x256xf32, #optc.dims<N>>\n"
    "  %1 = nn.cum_sum %0 {axis = 1} : tensor<?x256xf32, #optc.dims<N>>\n"
    "  %2 = nn.softmax %1 {axis = 0} : tensor<?x256xf32, #optc.dims<N>>\n"
    "  return %2 : tensor<?x256xf32, #optc.dims<N>>\n"
    "}\n";

/* Succeeds. */
static void well(optc_status status, optc_diagnostics **errors) {
    optc_diagnostic first;
    if (status != OPTC_OK) {
        CHECK(optc_diagnostics_get(*errors, 0, &first) == OPTC_OK);
        fprintf(stderr, "%s\n", first.text);
        exit(1);
    }
    CHECK(*errors == NULL);
}

/* Fails with this status, and a message with these words. */
static void fails(optc_status status, optc_status expected, optc_diagnostics **errors, const char *words) {
    optc_diagnostic first;
    CHECK(status == expected);
    CHECK(optc_diagnostics_count(*errors) >= 1);
    CHECK(optc_diagnostics_get(*errors, 0, &first) == OPTC_OK);
    if (strstr(first.text, words) == NULL) {
        fprintf(stderr, "no `%s` in: %s\n", words, first.text);
        exit(1);
    }
    CHECK(first.severity == 0 && first.message != NULL && first.notes != NULL && first.help != NULL);
    optc_diagnostics_free(*errors);
    *errors = NULL;
}

static optc_module *parsed(const char *text) {
    optc_diagnostics *errors = NULL;
    optc_module *module = NULL;
    well(optc_module_parse(text, strlen(text), "test.mlir", NULL, &module, &errors), &errors);
    return module;
}

static optc_program *compiled(const char *text, const optc_options *options) {
    optc_diagnostics *errors = NULL;
    optc_program *program = NULL;
    optc_module *module = parsed(text);
    well(optc_compile(module, options, &program, &errors), &errors);
    optc_module_free(module);
    return program;
}

static void versions(void) {
    CHECK(optc_abi_version_1() == 1);
    CHECK(strlen(optc_version()) >= 5);
}

static void modules(void) {
    optc_diagnostics *errors = NULL, *remarks = NULL;
    optc_module *module = NULL;
    optc_text *text = NULL, *before = NULL;
    optc_diagnostic fault;
    const char wrong[] = "func.func @main(%x: tensor<4xf32>) {\n  %0 = nn.rleu %x : tensor<4xf32>\n  return\n}\n";
    CHECK(optc_module_parse(wrong, strlen(wrong), "net.mlir", NULL, &module, &errors) == OPTC_INPUT);
    CHECK(module == NULL && optc_diagnostics_count(errors) == 1);
    CHECK(optc_diagnostics_get(errors, 1, &fault) == OPTC_USAGE);
    CHECK(optc_diagnostics_get(errors, 0, NULL) == OPTC_USAGE);
    CHECK(optc_diagnostics_get(NULL, 0, &fault) == OPTC_USAGE && optc_diagnostics_count(NULL) == 0);
    CHECK(optc_diagnostics_get(errors, 0, &fault) == OPTC_OK);
    CHECK(strcmp(fault.file, "net.mlir") == 0 && fault.line == 2 && fault.column == 8 && fault.name == NULL);
    CHECK(strstr(fault.help, "nn.relu") != NULL && strstr(fault.message, "nn.rleu") != NULL);
    optc_diagnostics_free(errors);
    errors = NULL;
    CHECK(optc_module_parse(wrong, strlen(wrong), "net.mlir", NULL, &module, NULL) == OPTC_INPUT);
    fails(optc_module_parse(NULL, 3, "n", NULL, &module, &errors), OPTC_USAGE, &errors, "`source` is NULL");
    fails(optc_module_parse("\xff", 1, "n", NULL, &module, &errors), OPTC_USAGE, &errors, "not UTF-8");
    fails(optc_module_parse(RELU, strlen(RELU), NULL, NULL, &module, &errors), OPTC_USAGE, &errors,
          "`name` is NULL");
    fails(optc_module_parse(RELU, strlen(RELU), "n", NULL, NULL, &errors), OPTC_USAGE, &errors,
          "result is NULL");
    fails(optc_module_load("no_such.onnx", NULL, &module, &errors), OPTC_INPUT, &errors, "No such file");
    fails(optc_module_load(NULL, NULL, &module, &errors), OPTC_USAGE, &errors, "`path` is NULL");
    fails(optc_module_import((const uint8_t *)"\x08\xff", 2, NULL, &module, &errors), OPTC_INPUT, &errors, "bytes");
    fails(optc_module_import(NULL, 2, NULL, &module, &errors), OPTC_USAGE, &errors, "`model` is NULL");

    module = parsed(ROWS);
    well(optc_module_print(module, 0, &before, &errors), &errors);
    CHECK(strstr(optc_text_get(before), "nn.softmax") != NULL);
    fails(optc_module_run_pipeline(module, "fues", NULL, &remarks, &errors), OPTC_INPUT, &errors, "fuse");
    fails(optc_module_run_pipeline(module, NULL, NULL, NULL, &errors), OPTC_USAGE, &errors, "`pipeline` is NULL");
    fails(optc_module_run_pipeline(NULL, "fuse", NULL, NULL, &errors), OPTC_USAGE, &errors, "`module` is NULL");
    CHECK(remarks == NULL);
    well(optc_module_run_pipeline(module, "canonicalize", NULL, NULL, &errors), &errors);
    well(optc_module_run_pipeline(module, "fuse,inplace", NULL, &remarks, &errors), &errors);
    CHECK(remarks != NULL);
    optc_diagnostics_free(remarks);
    well(optc_module_print(module, 1, &text, &errors), &errors);
    CHECK(strstr(optc_text_get(text), "\"nn.softmax\"(") != NULL);
    fails(optc_module_print(NULL, 0, &text, &errors), OPTC_USAGE, &errors, "`module` is NULL");
    CHECK(optc_text_get(NULL) == NULL);
    optc_text_free(text);
    optc_text_free(before);
    optc_text_free(NULL);
    optc_module_free(module);
    optc_module_free(NULL);
    optc_diagnostics_free(NULL);
}

static void options_of_all_kinds(void) {
    optc_diagnostics *errors = NULL;
    optc_options *options = NULL;
    static const char *const right[][2] = {
        {"threads", "2"}, {"optimize", "memory"}, {"budget", "4MB"}, {"target-cpu", "x86-64-v3"},
        {"donate", "x"}, {"pool", "tcm:align=128"}, {"entry", "main"}, {"dim", "N<=64"}, {"dim", "M=2"},
        {"symbolize", "x:0=K"}, {"synthesize-weights", "true"}, {"synthesize-weights", "false"},
        {"poison", "true"}, {"poison", "false"},
    };
    static const char *const wrong[][3] = {
        {"threads", "0", "1 to 256"}, {"optimize", "fast", "fast"}, {"budget", "4 parsecs", "unit"},
        {"target-cpu", "natve", "native"}, {"pool", "tcm:align=3", "3"}, {"dim", "N", "expected"},
        {"symbolize", "x", "expected"}, {"poison", "maybe", "maybe"}, {"synthesize-weights", "1", "true"},
        {"therads", "1", "threads"},
    };
    well(optc_options_new(&options, &errors), &errors);
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        well(optc_options_set(options, right[i][0], right[i][1], &errors), &errors);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        fails(optc_options_set(options, wrong[i][0], wrong[i][1], &errors), OPTC_INPUT, &errors, wrong[i][2]);
    fails(optc_options_set(NULL, "threads", "1", &errors), OPTC_USAGE, &errors, "`options` is NULL");
    fails(optc_options_set(options, NULL, "1", &errors), OPTC_USAGE, &errors, "`name` is NULL");
    fails(optc_options_set(options, "threads", NULL, &errors), OPTC_USAGE, &errors, "`value` is NULL");
    fails(optc_options_new(NULL, &errors), OPTC_USAGE, &errors, "result is NULL");
    optc_options_free(options);
    optc_options_free(NULL);
}

static void fixed_sizes(void) {
    optc_diagnostics *errors = NULL;
    optc_program *program = compiled(RELU, NULL);
    optc_context *context = NULL;
    optc_tensor tensor;
    float x[4] = {-1, 0, 1, 2}, y[4] = {9, 9, 9, 9};
    const void *in[1] = {x};
    void *out[1] = {y};
    size_t bytes[1] = {sizeof x}, size = 1, few[1] = {8};
    uint64_t shape[1] = {0};
    CHECK(optc_program_count(program, 0) == 1 && optc_program_count(program, 1) == 1);
    CHECK(optc_program_count(NULL, 0) == 0 && optc_program_size_count(program) == 0);
    CHECK(optc_program_tensor(program, 0, 0, &tensor) == OPTC_OK);
    CHECK(strcmp(tensor.name, "x") == 0 && strcmp(tensor.element, "f32") == 0 && tensor.rank == 1);
    CHECK(tensor.is_count == 0 && strcmp(optc_program_dim(program, 0, 0, 0), "4") == 0);
    CHECK(optc_program_dim(program, 0, 0, 1) == NULL && optc_program_dim(NULL, 0, 0, 0) == NULL);
    CHECK(optc_program_tensor(program, 1, 1, &tensor) == OPTC_USAGE);
    CHECK(optc_program_tensor(program, 1, 0, NULL) == OPTC_USAGE);
    CHECK(optc_program_arena_bytes(program) == 0 && optc_program_arena_bytes(NULL) == SIZE_MAX);
    CHECK(optc_program_threads(program) >= 1 && optc_program_threads(NULL) == 0);
    CHECK(optc_program_weights_bytes(NULL) == 0);
    fails(optc_compile(NULL, NULL, &program, &errors), OPTC_USAGE, &errors, "`module` is NULL");
    fails(optc_context_new(NULL, NULL, NULL, 0, &context, &errors), OPTC_USAGE, &errors, "`program` is NULL");
    well(optc_context_new(program, NULL, NULL, 0, &context, &errors), &errors);
    optc_program_free(program);
    optc_program_free(NULL);
    well(optc_context_run(context, in, bytes, 1, out, bytes, 1, &errors), &errors);
    CHECK(y[0] == 0 && y[1] == 0 && y[2] == 1 && y[3] == 2);
    well(optc_context_bytes(context, 1, 0, &size, &errors), &errors);
    CHECK(size == sizeof y);
    well(optc_context_output_shape(context, 0, shape, 1, &errors), &errors);
    CHECK(shape[0] == 4);
    fails(optc_context_output_shape(context, 0, shape, 0, &errors), OPTC_USAGE, &errors, "room for 0");
    fails(optc_context_output_shape(context, 1, shape, 1, &errors), OPTC_USAGE, &errors, "number 1 of 1");
    fails(optc_context_output_shape(context, 0, NULL, 1, &errors), OPTC_USAGE, &errors, "`sizes` is NULL");
    fails(optc_context_bytes(context, 0, 7, &size, &errors), OPTC_USAGE, &errors, "number 7 of 1");
    fails(optc_context_bytes(context, 0, 0, NULL, &errors), OPTC_USAGE, &errors, "`bytes` is NULL");
    fails(optc_context_bytes(NULL, 0, 0, &size, &errors), OPTC_USAGE, &errors, "`context` is NULL");
    fails(optc_context_run(NULL, in, bytes, 1, out, bytes, 1, &errors), OPTC_USAGE, &errors, "`context` is NULL");
    fails(optc_context_run(context, in, few, 1, out, bytes, 1, &errors), OPTC_INPUT, &errors, "8");
    fails(optc_context_run(context, in, bytes, 0, out, bytes, 1, &errors), OPTC_INPUT, &errors, "0 input");
    fails(optc_context_run(context, NULL, bytes, 1, out, bytes, 1, &errors), OPTC_USAGE, &errors, "`inputs` is NULL");
    out[0] = x;
    fails(optc_context_run(context, in, bytes, 1, out, bytes, 1, &errors), OPTC_INPUT, &errors, "shares");
    out[0] = NULL;
    fails(optc_context_run(context, in, bytes, 1, out, bytes, 1, &errors), OPTC_USAGE, &errors, "buffer is NULL");
    out[0] = y;
    few[0] = SIZE_MAX;
    fails(optc_context_run(context, in, few, 1, out, bytes, 1, &errors), OPTC_USAGE, &errors, "more than memory");
    fails(optc_context_set_shape(context, "z", shape, 1, &errors), OPTC_INPUT, &errors, "no input `z`");
    fails(optc_context_set_shape(context, NULL, shape, 1, &errors), OPTC_USAGE, &errors, "`input` is NULL");
    fails(optc_context_state(context, "z", NULL, NULL, &errors), OPTC_INPUT, &errors, "no state `z`");
    well(optc_context_run(context, in, bytes, 1, out, bytes, 1, &errors), &errors);
    optc_context_free(context);
    optc_context_free(NULL);
}

/* Runs the parts one after the other, and counts them. */
static void one_by_one(void *data, uint32_t parts, optc_work run, void *work) {
    for (uint32_t part = 0; part < parts; part++)
        run(work, part % 2, part);
    *(uint32_t *)data += parts;
}

static void named_sizes(void) {
    optc_diagnostics *errors = NULL;
    optc_options *options = NULL;
    optc_threads *threads = NULL, *callers = NULL;
    optc_context *own = NULL, *given = NULL, *none = NULL;
    optc_size range;
    uint32_t parts = 0;
    well(optc_options_new(&options, &errors), &errors);
    well(optc_options_set(options, "threads", "2", &errors), &errors);
    well(optc_options_set(options, "dim", "N<=512", &errors), &errors);
    optc_module *module = parsed(ROWS);
    optc_program *program = NULL;
    fails(optc_compile(module, options, NULL, &errors), OPTC_USAGE, &errors, "result is NULL");
    well(optc_compile(module, options, &program, &errors), &errors);
    optc_module_free(module);
    CHECK(optc_program_size_count(program) == 1 && optc_program_size_count(NULL) == 0);
    CHECK(optc_program_size(program, 0, &range) == OPTC_OK && strcmp(range.name, "N") == 0 && range.least <= 1);
    CHECK(range.most == UINT64_MAX || range.most == 512);
    CHECK(optc_program_size(program, 1, &range) == OPTC_USAGE && optc_program_size(program, 0, NULL) == OPTC_USAGE);
    CHECK(strcmp(optc_program_dim(program, 0, 0, 0), "N") == 0);

    well(optc_threads_new(2, &threads, &errors), &errors);
    fails(optc_threads_new(0, &threads, &errors), OPTC_USAGE, &errors, "0 threads");
    fails(optc_threads_of(2, NULL, NULL, &callers, &errors), OPTC_USAGE, &errors, "`parallel_for` is NULL");
    fails(optc_threads_of(999, one_by_one, &parts, &callers, &errors), OPTC_USAGE, &errors, "999 threads");
    well(optc_threads_of(2, one_by_one, &parts, &callers, &errors), &errors);
    well(optc_context_new(program, threads, NULL, 0, &own, &errors), &errors);

    size_t arena_bytes = 0;
    uint64_t shape[2] = {512, 256}, wrong[2] = {512, 255};
    well(optc_context_set_shape(own, "x", shape, 2, &errors), &errors);
    fails(optc_context_set_shape(own, "x", wrong, 2, &errors), OPTC_INPUT, &errors, "expected 256");
    fails(optc_context_set_shape(own, "x", shape, 1, &errors), OPTC_INPUT, &errors, "dimensions");
    well(optc_context_prepare(own, &arena_bytes, &errors), &errors);
    well(optc_context_prepare(own, NULL, &errors), &errors);
    fails(optc_context_prepare(NULL, NULL, &errors), OPTC_USAGE, &errors, "`context` is NULL");
    CHECK(arena_bytes <= optc_program_arena_bytes(program));

    size_t size = 512 * 256 * sizeof(float), sizes[1] = {size}, room = (arena_bytes + 127) / 64 * 64;
    char *arena = aligned_alloc(64, room);
    float *x = malloc(size), *y = malloc(size), *z = malloc(size);
    CHECK(arena && x && y && z);
    for (size_t i = 0; i < size / sizeof(float); i++)
        x[i] = sinf((float)i);
    fails(optc_context_new(program, threads, arena + 1, room - 1, &none, &errors), OPTC_OK + 1, &errors, "64");
    well(optc_context_new(program, callers, arena, room, &given, &errors), &errors);
    well(optc_context_set_shape(given, "x", shape, 2, &errors), &errors);
    const void *in[1] = {x};
    void *first[1] = {y}, *second[1] = {z};
    well(optc_context_run(own, in, sizes, 1, first, sizes, 1, &errors), &errors);
    well(optc_context_run(given, in, sizes, 1, second, sizes, 1, &errors), &errors);
    CHECK(parts > 2 && memcmp(y, z, size) == 0);
    double sum = 0;
    for (size_t row = 0; row < 512; row++)
        sum += y[row * 256];
    CHECK(fabs(sum - 1) < 1e-4);

    uint64_t shape_after[2] = {0, 0};
    well(optc_context_output_shape(given, 0, shape_after, 2, &errors), &errors);
    CHECK(shape_after[0] == 512 && shape_after[1] == 256);
    optc_context_free(own);
    optc_context_free(given);
    optc_threads_free(threads);
    optc_threads_free(callers);
    optc_threads_free(NULL);
    optc_program_free(program);
    optc_options_free(options);
    free(arena);
    free(x);
    free(y);
    free(z);
}

static void plans(void) {
    optc_diagnostics *errors = NULL;
    optc_program *program = compiled(ROWS, NULL);
    optc_plan *plan = NULL;
    optc_text *text = NULL;
    optc_buffer buffer;
    const char *names[1] = {"N"}, *unknown[1] = {"M"};
    uint64_t sizes[1] = {100};
    fails(optc_program_plan(program, unknown, sizes, 1, &plan, &errors), OPTC_INPUT, &errors, "`M`");
    fails(optc_program_plan(program, NULL, sizes, 1, &plan, &errors), OPTC_USAGE, &errors, "`names` is NULL");
    fails(optc_program_plan(NULL, NULL, NULL, 0, &plan, &errors), OPTC_USAGE, &errors, "`program` is NULL");
    well(optc_program_plan(program, names, sizes, 1, &plan, &errors), &errors);
    CHECK(optc_plan_arena_bytes(plan) > 0 && optc_plan_arena_bytes(NULL) == 0);
    CHECK(optc_plan_lower_bound_bytes(plan) <= optc_plan_arena_bytes(plan) && optc_plan_lower_bound_bytes(NULL) == 0);
    CHECK(optc_plan_peak(plan) < 100 && optc_plan_peak(NULL) == 0 && optc_plan_count(NULL) == 0);
    CHECK(optc_plan_count(plan) >= 4);
    size_t in_arena = 0;
    for (size_t i = 0; i < optc_plan_count(plan); i++) {
        CHECK(optc_plan_buffer(plan, i, &buffer) == OPTC_OK);
        CHECK(buffer.first <= buffer.last && buffer.name && buffer.op && buffer.node && buffer.kind && buffer.buffer);
        if (strcmp(buffer.pool, "arena") == 0) {
            in_arena++;
            CHECK(buffer.offset + buffer.bytes <= optc_plan_arena_bytes(plan));
        }
        if (strcmp(buffer.kind, "input") == 0)
            CHECK(strstr(buffer.type_name, "100x256xf32") != NULL && buffer.bytes == 100 * 256 * 4);
    }
    CHECK(in_arena >= 1);
    CHECK(optc_plan_buffer(plan, optc_plan_count(plan), &buffer) == OPTC_USAGE);
    CHECK(optc_plan_buffer(plan, 0, NULL) == OPTC_USAGE);
    well(optc_plan_json(plan, &text, &errors), &errors);
    CHECK(strstr(optc_text_get(text), "\"pools\"") != NULL);
    optc_text_free(text);
    well(optc_plan_html(plan, "rows", &text, &errors), &errors);
    CHECK(strncmp(optc_text_get(text), "<!", 2) == 0);
    optc_text_free(text);
    fails(optc_plan_json(NULL, &text, &errors), OPTC_USAGE, &errors, "`plan` is NULL");
    fails(optc_plan_html(plan, NULL, &text, &errors), OPTC_USAGE, &errors, "`title` is NULL");
    optc_plan_free(plan);
    optc_plan_free(NULL);
    optc_program_free(program);
}

/* A model whose weights are made by rule, from its file and from memory; and one whose results are compared with
 * those of onnxruntime by the tests of the project. */
static void model(const char *path) {
    optc_diagnostics *errors = NULL;
    optc_options *options = NULL;
    optc_module *module = NULL, *again = NULL;
    optc_program *program = NULL, *other = NULL;
    optc_context *context = NULL;
    fails(optc_module_load(path, NULL, &module, &errors), OPTC_INPUT, &errors, "stripped");
    well(optc_options_new(&options, &errors), &errors);
    well(optc_options_set(options, "synthesize-weights", "true", &errors), &errors);
    well(optc_module_load(path, options, &module, &errors), &errors);
    FILE *file = fopen(path, "rb");
    CHECK(file && fseek(file, 0, SEEK_END) == 0);
    size_t length = (size_t)ftell(file);
    uint8_t *bytes = malloc(length);
    rewind(file);
    CHECK(bytes && fread(bytes, 1, length, file) == length);
    fclose(file);
    well(optc_module_import(bytes, length, options, &again, &errors), &errors);
    free(bytes);
    well(optc_compile(module, options, &program, &errors), &errors);
    well(optc_compile(again, options, &other, &errors), &errors);
    optc_module_free(module);
    optc_module_free(again);
    CHECK(optc_program_arena_bytes(program) == optc_program_arena_bytes(other));
    CHECK(optc_program_weights_bytes(program) > 4000000);
    well(optc_options_set(options, "budget", "1000", &errors), &errors);
    well(optc_module_load(path, options, &module, &errors), &errors);
    fails(optc_compile(module, options, &other, &errors), OPTC_INPUT, &errors, "budget of 1000 bytes");
    optc_module_free(module);

    size_t in_bytes[1], out_bytes[1];
    well(optc_context_new(program, NULL, NULL, 0, &context, &errors), &errors);
    well(optc_context_bytes(context, 0, 0, in_bytes, &errors), &errors);
    well(optc_context_bytes(context, 1, 0, out_bytes, &errors), &errors);
    float *x = malloc(in_bytes[0]), *y = malloc(out_bytes[0]);
    CHECK(x && y);
    for (size_t i = 0; i < in_bytes[0] / sizeof(float); i++)
        x[i] = (float)(i % 256) / 256;
    const void *in[1] = {x};
    void *out[1] = {y};
    well(optc_context_run(context, in, in_bytes, 1, out, out_bytes, 1, &errors), &errors);
    double most = 0;
    for (size_t i = 0; i < out_bytes[0] / sizeof(float); i++)
        most = fmax(most, y[i]);
    CHECK(out_bytes[0] == 4000 && isfinite(most) && most > 0);
    optc_context_free(context);
    optc_program_free(program);
    optc_program_free(other);
    optc_options_free(options);
    free(x);
    free(y);
}

/* Inputs that are overwritten, outputs whose size data decide, states. */
static void memory_of_the_caller(void) {
    optc_diagnostics *errors = NULL;
    optc_options *options = NULL;
    optc_context *context = NULL;
    float x[64], y[64], before[64];
    size_t bytes[1] = {sizeof x};
    static const char chain[] =
        "func.func @main(%x: tensor<8x8xf32>) -> tensor<8xf32> {\n"
        "  %0 = nn.exp %x : tensor<8x8xf32>\n"
        "  %1 = nn.softmax %0 {axis = 0} : tensor<8x8xf32>\n"
        "  %2 = nn.cum_sum %1 {axis = 0} : tensor<8x8xf32>\n"
        "  %3 = nn.reduce_sum %2 {axes = array<i64: 0>} : (tensor<8x8xf32>) -> tensor<8xf32>\n"
        "  return %3 : tensor<8xf32>\n"
        "}\n";
    well(optc_options_new(&options, &errors), &errors);
    well(optc_options_set(options, "donate", "x", &errors), &errors);
    optc_program *program = compiled(chain, options);
    optc_options_free(options);
    well(optc_context_new(program, NULL, NULL, 0, &context, &errors), &errors);
    for (size_t i = 0; i < 64; i++)
        before[i] = x[i] = (float)i / 64;
    const void *in[1] = {x};
    void *out[1] = {y};
    size_t out_bytes[1] = {8 * sizeof(float)};
    well(optc_context_run(context, in, bytes, 1, out, out_bytes, 1, &errors), &errors);
    CHECK(memcmp(x, before, sizeof x) != 0);
    optc_context_free(context);
    optc_program_free(program);
}

/* What a compilation tells. */
struct steps {
    int seen;    /* How many steps. */
    int ends_at; /* The number of the step before which it ends; -1: none. */
    int answer;  /* What ends it. */
    char last[80];
};

static int told(void *user, const char *step) {
    struct steps *steps = user;
    snprintf(steps->last, sizeof steps->last, "%s", step);
    return steps->seen++ == steps->ends_at ? steps->answer : 0;
}

/* A compilation ends before each of its steps if it is told to, and is as good as ever after that. */
static void progress_and_cancellation(void) {
    optc_diagnostics *errors = NULL, *remarks = NULL;
    optc_options *options = NULL;
    optc_program *program = NULL;
    optc_context *context = NULL;
    optc_plan *plan = NULL;
    optc_module *module = parsed(ROWS);
    struct steps all = {0, -1, 1, ""};
    well(optc_options_new(&options, &errors), &errors);
    well(optc_options_set_progress(options, told, &all, &errors), &errors);
    well(optc_compile(module, options, &program, &errors), &errors);
    CHECK(all.seen > 5 && strcmp(all.last, "machine code") == 0);
    for (int step = 0; step < all.seen; step++) {
        struct steps some = {0, step, step % 2 ? 1 : -7, ""};
        optc_program *none = NULL;
        well(optc_options_set_progress(options, told, &some, &errors), &errors);
        fails(optc_compile(module, options, &none, &errors), OPTC_CANCELLED, &errors,
              "the caller ended it, before ");
        CHECK(none == NULL && some.seen == step + 1);
#ifdef PANICS
        /* A panic there is an error like others: nothing unwinds into this function, and the library goes
           on. */
        struct steps panics = {0, step, INT_MIN, ""};
        well(optc_options_set_progress(options, told, &panics, &errors), &errors);
        fails(optc_compile(module, options, &none, &errors), OPTC_INTERNAL, &errors, "a panic was asked for");
        CHECK(none == NULL && panics.seen == step + 1);
        CHECK(optc_compile(module, options, &none, NULL) == OPTC_OK);
        optc_program_free(none);
#endif
    }

    /* Nothing is told after the call: not by the plan, and not by a run at sizes that are planned then. */
    int seen = all.seen;
    const char *names[1] = {"N"};
    uint64_t sizes[1] = {7}, shape[2] = {33, 256};
    well(optc_program_plan(program, names, sizes, 1, &plan, &errors), &errors);
    well(optc_context_new(program, NULL, NULL, 0, &context, &errors), &errors);
    well(optc_context_set_shape(context, "x", shape, 2, &errors), &errors);
    well(optc_context_prepare(context, NULL, &errors), &errors);
    CHECK(all.seen == seen);
    optc_plan_free(plan);
    optc_context_free(context);
    optc_program_free(program);

    /* Passes that a module is taken through. */
    struct steps two = {0, 1, 1, ""};
    optc_text *before = NULL, *after = NULL;
    well(optc_module_print(module, 0, &before, &errors), &errors);
    well(optc_options_set_progress(options, told, &two, &errors), &errors);
    fails(optc_module_run_pipeline(module, "fuse{max-ops=8},inplace", options, &remarks, &errors),
          OPTC_CANCELLED,
          &errors, "before the pass");
    CHECK(remarks == NULL && two.seen == 2);
    well(optc_module_print(module, 0, &after, &errors), &errors);
    CHECK(strcmp(optc_text_get(before), optc_text_get(after)) == 0);
    well(optc_options_set_progress(options, NULL, NULL, &errors), &errors);
    well(optc_module_run_pipeline(module, "fuse,inplace", options, NULL, &errors), &errors);
    CHECK(two.seen == 2);
    fails(optc_options_set_progress(NULL, told, &two, &errors), OPTC_USAGE, &errors, "`options` is NULL");
    optc_text_free(before);
    optc_text_free(after);
    optc_options_free(options);
    optc_module_free(module);
}

/* How many steps a run may begin. */
struct allowance {
    uint64_t most, last;
};

static int watched(void *user, uint64_t step) {
    struct allowance *allowance = user;
    allowance->last = step;
    return step >= allowance->most;
}

static void runs_that_end(void) {
    optc_diagnostics *errors = NULL;
    optc_context *context = NULL;
    struct allowance allowance = {UINT64_MAX, 0};
    uint64_t shape[2] = {4, 256};
    float x[4 * 256], y[4 * 256], z[4 * 256];
    const void *in[1] = {x};
    void *out[1] = {y};
    size_t bytes[1] = {sizeof x};
    for (size_t i = 0; i < 4 * 256; i++)
        x[i] = (float)(i % 7);
    optc_program *program = compiled(ROWS, NULL);
    well(optc_context_new(program, NULL, NULL, 0, &context, &errors), &errors);
    well(optc_context_set_shape(context, "x", shape, 2, &errors), &errors);
    well(optc_context_watch(context, watched, &allowance, &errors), &errors);
    well(optc_context_run(context, in, bytes, 1, out, bytes, 1, &errors), &errors);
    CHECK(allowance.last >= 2);
    uint64_t last = allowance.last;
    for (allowance.most = 0; allowance.most <= last; allowance.most++) {
        fails(optc_context_run(context, in, bytes, 1, out, bytes, 1, &errors), OPTC_CANCELLED, &errors,
              "cancelled");
        CHECK(allowance.last == allowance.most);
    }
    well(optc_context_watch(context, NULL, NULL, &errors), &errors);
    out[0] = z;
    well(optc_context_run(context, in, bytes, 1, out, bytes, 1, &errors), &errors);
    double sum = 0;
    for (size_t row = 0; row < 4; row++)
        sum += z[row * 256];
    CHECK(fabs(sum - 1) < 1e-4);
    fails(optc_context_watch(NULL, watched, &allowance, &errors), OPTC_USAGE, &errors, "`context` is NULL");
    optc_context_free(context);
    optc_program_free(program);
}

static const char FILTERED[] =
    "func.func @main(%x: tensor<?x50xf32, #optc.dims<N>>) -> (tensor<?x50xf32, #optc.dims<N>>, tensor<2xi64>) {\n"
    "  %0 = nn.constant dense<[0.5, 0.25, -0.125]> : tensor<3xf32>\n"
    "  %1 = nn.tanh %x : tensor<?x50xf32, #optc.dims<N>>\n"
    "  %2 = dsp.fir %1, %0 : (tensor<?x50xf32, #optc.dims<N>>, tensor<3xf32>) -> tensor<?x50xf32, #optc.dims<N>>\n"
    "  %3, %4 = dsp.shape %2 : (tensor<?x50xf32, #optc.dims<N>>) -> (tensor<2xi64>, tensor<i32>)\n"
    "  %5 = nn.neg %2 : tensor<?x50xf32, #optc.dims<N>>\n"
    "  return %5, %3 : tensor<?x50xf32, #optc.dims<N>>, tensor<2xi64>\n"
    "}\n";

/* What the operations below are called with; their counters are for calls in one thread. */
struct calls {
    uint32_t described, run;
    int refuses;
};

/* A row of x for each part, and a copy of it as scratch. */
static int describe_fir(void *user, const optc_value_type *types, size_t threads, optc_kernel_needs *needs) {
    struct calls *calls = user;
    const optc_value_type *x = &types[1], *taps = &types[2];
    CHECK(threads >= 1 && needs->parts == 1 && needs->scratch_bytes == 0);
    if (x->rank != 2 || taps->rank != 1 || strcmp(x->element, "f32") != 0 ||
        strcmp(taps->element, "f32") != 0)
        return 7;
    calls->described++;
    needs->parts = (uint32_t)x->sizes[0];
    needs->scratch_bytes = x->sizes[1] * sizeof(float);
    return 0;
}

/* y[i] = taps[0] * x[i] + taps[1] * x[i - 1] + ..., in each row; y may be x. */
static void filter(const float *x, size_t size, const float *taps, size_t count, float *kept, float *y) {
    memcpy(kept, x, size * sizeof(float));
    for (size_t i = 0; i < size; i++) {
        float sum = 0;
        for (size_t tap = 0; tap < count && tap <= i; tap++)
            sum += taps[tap] * kept[i - tap];
        y[i] = sum;
    }
}

static void fir(void *user, const optc_value_type *types, void *const *values, uint32_t part, void *scratch) {
    size_t size = types[1].sizes[1];
    (void)user;
    CHECK((size_t)scratch % 64 == 0 && part < types[1].sizes[0]);
    const float *from = (const float *)values[1] + part * size;
    filter(from, size, values[2], types[2].sizes[0], scratch, (float *)values[0] + part * size);
}

/* Two results, whose types are as the text says; no `describe`. */
static void shape_of(void *user, const optc_value_type *types, void *const *values, uint32_t part,
                     void *scratch) {
    struct calls *calls = user;
    (void)scratch;
    CHECK(part == 0 && types[0].rank == 1 && types[1].rank == 0 && types[2].rank == 2);
    for (size_t i = 0; i < 2; i++)
        ((int64_t *)values[0])[i] = (int64_t)types[2].sizes[i];
    *(int32_t *)values[1] = 2;
    calls->run++;
}

static int refused(void *user, const optc_value_type *types, size_t threads, optc_kernel_needs *needs) {
    (void)user, (void)types, (void)threads, (void)needs;
    return 3;
}

/* Operations of the caller's own: their kernels run in the plan, on its threads, at sizes that come up
   later. */
static void operations_of_the_caller(void) {
    optc_diagnostics *errors = NULL;
    optc_dialect *dialect = NULL, *none = NULL;
    optc_options *options = NULL;
    optc_module *module = NULL;
    optc_program *program = NULL;
    optc_plan *plan = NULL;
    optc_context *context = NULL;
    static struct calls calls;
    const optc_operation operations[3] = {
        {"fir", 2, 1, 0, 0, describe_fir, fir, &calls},
        {"shape", 1, 2, -1, -1, NULL, shape_of, &calls},
        {"refused", 1, 1, 0, -1, refused, shape_of, &calls},
    };
    const optc_operation wrong[7] = {
        {"a b", 1, 1, 0, -1, NULL, fir, NULL}, {NULL, 1, 1, 0, -1, NULL, fir, NULL},
        {"f", 1, 0, -1, -1, NULL, fir, NULL},  {"f", 1, 2, 0, -1, NULL, fir, NULL},
        {"f", 1, 1, 1, -1, NULL, fir, NULL},   {"f", 1, 1, 0, -2, NULL, fir, NULL},
        {"f", 1, 1, 0, -1, NULL, NULL, NULL},
    };
    static const char *const said[7] = {
        "`a b` is no name", "is NULL", "0 results", "can't have an operand's type", "operand 1 of 1",
        "operand -2 of 1", "is NULL",
    };
    for (size_t i = 0; i < 7; i++)
        fails(optc_dialect_new("dsp", &wrong[i], 1, &none, &errors), OPTC_USAGE, &errors, said[i]);
    const optc_operation twice[2] = {operations[0], operations[0]};
    fails(optc_dialect_new("dsp", twice, 2, &none, &errors), OPTC_USAGE, &errors, "`dsp.fir` is named twice");
    fails(optc_dialect_new("nn", operations, 1, &none, &errors), OPTC_USAGE, &errors,
          "a dialect `nn` already");
    fails(optc_dialect_new(NULL, operations, 1, &none, &errors), OPTC_USAGE, &errors, "`name` is NULL");
    fails(optc_dialect_new("dsp", NULL, 1, &none, &errors), OPTC_USAGE, &errors, "`operations` is NULL");
    fails(optc_dialect_new("dsp", operations, 1, NULL, &errors), OPTC_USAGE, &errors, "result is NULL");
    CHECK(none == NULL);

    well(optc_dialect_new("dsp", operations, 3, &dialect, &errors), &errors);
    well(optc_options_new(&options, &errors), &errors);
    well(optc_options_add_dialect(options, dialect, &errors), &errors);
    fails(optc_options_add_dialect(options, dialect, &errors), OPTC_USAGE, &errors,
          "a dialect `dsp` already");
    fails(optc_options_add_dialect(NULL, dialect, &errors), OPTC_USAGE, &errors, "`options` is NULL");
    fails(optc_options_add_dialect(options, NULL, &errors), OPTC_USAGE, &errors, "`dialect` is NULL");
    optc_dialect_free(dialect);
    optc_dialect_free(NULL);

    /* Neither text nor code without them. */
    fails(optc_module_parse(FILTERED, strlen(FILTERED), "f", NULL, &module, &errors), OPTC_INPUT, &errors,
          "dsp.fir");
    well(optc_options_set(options, "threads", "2", &errors), &errors);
    well(optc_options_set(options, "target-cpu", "native", &errors), &errors);
    well(optc_module_parse(FILTERED, strlen(FILTERED), "f", options, &module, &errors), &errors);
    fails(optc_compile(module, NULL, &program, &errors), OPTC_INPUT, &errors, "`dsp.fir` does not exist");
    well(optc_compile(module, options, &program, &errors), &errors);
    CHECK(calls.described >= 1);

    /* Its scratch is in the plan, and it overwrites what dies in it. */
    const char *names[1] = {"N"};
    uint64_t sizes[1] = {6};
    size_t scratch = 0, overwritten = 0;
    optc_buffer buffer;
    well(optc_program_plan(program, names, sizes, 1, &plan, &errors), &errors);
    for (size_t i = 0; i < optc_plan_count(plan); i++) {
        CHECK(optc_plan_buffer(plan, i, &buffer) == OPTC_OK);
        if (strcmp(buffer.op, "dsp.fir") != 0)
            continue;
        if (strcmp(buffer.kind, "scratch") == 0)
            scratch = buffer.bytes;
        else
            overwritten = strcmp(buffer.buffer, buffer.name) != 0;
    }
    CHECK(scratch == 2 * 256 && overwritten);
    optc_plan_free(plan);

    well(optc_context_new(program, NULL, NULL, 0, &context, &errors), &errors);
    for (uint64_t rows = 1; rows <= 9; rows += 4) {
        uint64_t shape[2] = {rows, 50};
        float x[9 * 50], y[9 * 50], kept[50], expected[50];
        const float taps[3] = {0.5f, 0.25f, -0.125f};
        int64_t found[2] = {0, 0};
        size_t in_bytes[1] = {rows * 50 * sizeof(float)};
        size_t out_bytes[2] = {rows * 50 * sizeof(float), sizeof found};
        const void *in[1] = {x};
        void *out[2] = {y, found};
        for (size_t i = 0; i < rows * 50; i++)
            x[i] = sinf((float)i);
        uint32_t run = calls.run;
        well(optc_context_set_shape(context, "x", shape, 2, &errors), &errors);
        well(optc_context_run(context, in, in_bytes, 1, out, out_bytes, 2, &errors), &errors);
        CHECK(found[0] == (int64_t)rows && found[1] == 50 && calls.run == run + 1);
        for (size_t row = 0; row < rows; row++) {
            for (size_t i = 0; i < 50; i++)
                expected[i] = tanhf(x[row * 50 + i]);
            filter(expected, 50, taps, 3, kept, expected);
            for (size_t i = 0; i < 50; i++)
                CHECK(fabsf(y[row * 50 + i] + expected[i]) < 1e-5f);
        }
    }
    optc_context_free(context);
    optc_program_free(program);
    optc_module_free(module);

    /* One whose operands are constants is computed once, while weights are packed or before. */
    static const char constant[] =
        "func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
        "  %0 = nn.constant dense<[[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]]> : tensor<2x3xf32>\n"
        "  %1 = nn.constant dense<[1.0, -1.0]> : tensor<2xf32>\n"
        "  %2 = dsp.fir %0, %1 : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>\n"
        "  %3 = nn.add %x, %2 : tensor<2x3xf32>\n"
        "  return %3 : tensor<2x3xf32>\n"
        "}\n";
    float zeros[6] = {0}, y[6];
    static const float right[6] = {1, 1, 2, 8, 8, 16};
    const void *in[1] = {zeros};
    void *out[1] = {y};
    size_t bytes[1] = {sizeof y};
    well(optc_module_parse(constant, strlen(constant), "c", options, &module, &errors), &errors);
    well(optc_compile(module, options, &program, &errors), &errors);
    well(optc_context_new(program, NULL, NULL, 0, &context, &errors), &errors);
    well(optc_context_run(context, in, bytes, 1, out, bytes, 1, &errors), &errors);
    CHECK(memcmp(y, right, sizeof y) == 0);
    optc_context_free(context);
    optc_program_free(program);
    optc_module_free(module);

    /* What `describe` refuses is a fault of the program. */
    static const char no[] =
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  %0 = dsp.refused %x : tensor<4xf32>\n"
        "  return %0 : tensor<4xf32>\n"
        "}\n";
    well(optc_module_parse(no, strlen(no), "no", options, &module, &errors), &errors);
    fails(optc_compile(module, options, &program, &errors), OPTC_INPUT, &errors,
          "the caller's function refuses it (3)");
    optc_module_free(module);
    optc_options_free(options);
}

int main(int count, char **arguments) {
    CHECK(count == 2);
    versions();
    modules();
    options_of_all_kinds();
    fixed_sizes();
    named_sizes();
    plans();
    memory_of_the_caller();
    progress_and_cancellation();
    runs_that_end();
    operations_of_the_caller();
    model(arguments[1]);
    puts("all of optc.h does what it says");
    return 0;
}
