/* Does everything that optc.h declares once, and takes every way out of it that is an error. */
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
    well(optc_module_parse(text, strlen(text), "test.mlir", &module, &errors), &errors);
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
    CHECK(optc_module_parse(wrong, strlen(wrong), "net.mlir", &module, &errors) == OPTC_INPUT);
    CHECK(module == NULL && optc_diagnostics_count(errors) == 1);
    CHECK(optc_diagnostics_get(errors, 1, &fault) == OPTC_USAGE);
    CHECK(optc_diagnostics_get(errors, 0, NULL) == OPTC_USAGE);
    CHECK(optc_diagnostics_get(NULL, 0, &fault) == OPTC_USAGE && optc_diagnostics_count(NULL) == 0);
    CHECK(optc_diagnostics_get(errors, 0, &fault) == OPTC_OK);
    CHECK(strcmp(fault.file, "net.mlir") == 0 && fault.line == 2 && fault.column == 8 && fault.name == NULL);
    CHECK(strstr(fault.help, "nn.relu") != NULL && strstr(fault.message, "nn.rleu") != NULL);
    optc_diagnostics_free(errors);
    errors = NULL;
    CHECK(optc_module_parse(wrong, strlen(wrong), "net.mlir", &module, NULL) == OPTC_INPUT);
    fails(optc_module_parse(NULL, 3, "n", &module, &errors), OPTC_USAGE, &errors, "`source` is NULL");
    fails(optc_module_parse("\xff", 1, "n", &module, &errors), OPTC_USAGE, &errors, "not UTF-8");
    fails(optc_module_parse(RELU, strlen(RELU), NULL, &module, &errors), OPTC_USAGE, &errors, "`name` is NULL");
    fails(optc_module_parse(RELU, strlen(RELU), "n", NULL, &errors), OPTC_USAGE, &errors, "result is NULL");
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
        {"donate", "arg0"}, {"pool", "tcm:align=128"}, {"entry", "main"}, {"dim", "N<=64"}, {"dim", "M=2"},
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
    CHECK(strcmp(tensor.name, "arg0") == 0 && strcmp(tensor.element, "f32") == 0 && tensor.rank == 1);
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
    well(optc_context_set_shape(own, "arg0", shape, 2, &errors), &errors);
    fails(optc_context_set_shape(own, "arg0", wrong, 2, &errors), OPTC_INPUT, &errors, "expected 256");
    fails(optc_context_set_shape(own, "arg0", shape, 1, &errors), OPTC_INPUT, &errors, "dimensions");
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
    well(optc_context_set_shape(given, "arg0", shape, 2, &errors), &errors);
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
    well(optc_options_set(options, "donate", "arg0", &errors), &errors);
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

int main(int count, char **arguments) {
    CHECK(count == 2);
    versions();
    modules();
    options_of_all_kinds();
    fixed_sizes();
    named_sizes();
    plans();
    memory_of_the_caller();
    model(arguments[1]);
    puts("all of optc.h does what it says");
    return 0;
}
