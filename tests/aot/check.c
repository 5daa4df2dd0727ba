/* Runs an object file as a careful caller would: the arena and each buffer lie between pages that can't be touched,
 * every allocation is counted, and the outputs are written to files.
 *
 * Compiled with -DNAME=m -DHEADER="m.h" -DFIELDS="fields.h", where FIELDS has the lines INPUT(x, 0), INPUT(y, 1), ... and
 * OUTPUT(z, 0) for each input and output; with -DSIZES=2 if there are two named sizes. Arguments: the named sizes, the
 * weights' file, then a file for each input, then one for each output. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include HEADER

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define M(end) JOIN(NAME, end)
#define RUNS 3

/* Every allocation of the process, the C library's own included, comes through here. */
static unsigned long allocations;
static _Alignas(16) unsigned char heap[1 << 20];
static size_t taken;
void *malloc(size_t size)
{
    void *found = heap + taken;
    allocations++;
    taken += (size + 15) / 16 * 16;
    return taken <= sizeof(heap) ? found : NULL;
}
void *calloc(size_t count, size_t size)
{
    void *found = malloc(count * size);
    return found ? memset(found, 0, count * size) : NULL;
}
void *realloc(void *old, size_t size)
{
    void *found = malloc(size);
    return found && old ? memcpy(found, old, size) : found;
}
void free(void *old)
{
    (void)old;
}

/* Memory that ends where a page begins that can't be touched, at a multiple of `align` as far as that goes. */
static void *guarded(size_t bytes, size_t align)
{
    size_t rounded = (bytes + align - 1) / align * align;
    size_t pages = (rounded + 4095) / 4096 * 4096;
    unsigned char *memory = mmap(NULL, pages + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory + 4096, pages, PROT_READ | PROT_WRITE)) {
        perror("mmap");
        exit(1);
    }
    return memory + 4096 + pages - rounded;
}

static void load(const char *path, void *bytes, size_t count)
{
    FILE *file = fopen(path, "rb");
    if (!file || fread(bytes, 1, count, file) != count || fgetc(file) != EOF) {
        fprintf(stderr, "%s has not the expected %zu bytes\n", path, count);
        exit(1);
    }
    fclose(file);
}

static void store(const char *path, const void *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, count, file) != count || fclose(file)) {
        perror(path);
        exit(1);
    }
}

/* Two threads by hand: what a caller with a pool of its own would do. */
struct call {
    void (*task)(void *job, uint32_t index);
    void *job;
    uint32_t index;
};
static void *run_call(void *argument)
{
    struct call *call = argument;
    call->task(call->job, call->index);
    return NULL;
}
static unsigned long parallel_calls;
static void parallel_for(void *context, uint32_t count, void (*task)(void *job, uint32_t index), void *job)
{
    pthread_t threads[64];
    struct call calls[64];
    parallel_calls++;
    if (context != &parallel_calls || count == 0 || count > 64)
        exit(1);
    for (uint32_t i = 1; i < count; i++) {
        calls[i] = (struct call){ task, job, i };
        if (pthread_create(&threads[i], NULL, run_call, &calls[i]))
            exit(1);
    }
    task(job, 0);
    for (uint32_t i = 1; i < count; i++)
        pthread_join(threads[i], NULL);
}

static struct M(_inputs) inputs;
static struct M(_outputs) outputs;

static void expect(int found, int expected, const char *what)
{
    if (found != expected) {
        fprintf(stderr, "%s: status %d (%s), expected %d\n", what, found, M(_message)(found), expected);
        exit(1);
    }
}

#ifdef EMBEDDED
#define WEIGHTS
#else
static void *weights;
#define WEIGHTS weights,
#endif

#ifdef SIZES
static union {
    struct M(_sizes) named;
    uint64_t numbers[SIZES];
} sizes;
static unsigned char *frame;
#define FRAME frame,
#define ARENA_BYTES M(_arena_bytes)(&sizes.named)
#define INPUT_BYTES(x, i) M(_input_bytes)(&sizes.named, i)
#define OUTPUT_BYTES(x, i) M(_output_bytes)(&sizes.named, i)
#else
#define FRAME
#define ARENA_BYTES M(_ARENA_BYTES)
#define INPUT_BYTES(x, i) JOIN(M(_INPUT_), JOIN(x, _BYTES))
#define OUTPUT_BYTES(x, i) JOIN(M(_OUTPUT_), JOIN(x, _BYTES))
#endif

#ifdef SIZES
/* The frame for the sizes, in memory that then can only be read. */
static void bind(void)
{
    size_t pages = (M(_FRAME_BYTES) + 4095) / 4096 * 4096;

    frame = guarded(M(_FRAME_BYTES), 8);
    expect(M(_run)(frame, NULL, WEIGHTS NULL, NULL), M(_BAD_FRAME), "a frame that was not bound");
    expect(M(_bind)(&sizes.named, frame + 4), M(_BAD_FRAME), "a frame that is not aligned");
    expect(M(_bind)(&sizes.named, NULL), M(_BAD_FRAME), "no frame");
    for (int i = 0; i < SIZES; i++) {
        uint64_t size = sizes.numbers[i];
        sizes.numbers[i] = 0;
        expect(M(_bind)(&sizes.named, frame), M(_BAD_SIZES), "a size of 0");
        sizes.numbers[i] = UINT64_MAX;
        expect(M(_bind)(&sizes.named, frame), M(_BAD_SIZES), "a size that is too large");
        if (ARENA_BYTES != UINT64_MAX || INPUT_BYTES(x, 0) != UINT64_MAX)
            exit(1);
        sizes.numbers[i] = size;
    }
    expect(M(_bind)(NULL, frame), M(_BAD_SIZES), "no sizes");
    expect(M(_run)(frame, NULL, WEIGHTS NULL, NULL), M(_BAD_FRAME), "a frame that was not bound in the end");
    expect(M(_bind)(&sizes.named, frame), M(_OK), "the sizes");
    if (INPUT_BYTES(x, 1000) != UINT64_MAX || OUTPUT_BYTES(x, 1000) != UINT64_MAX)
        exit(1);
    mprotect((void *)((size_t)frame / 4096 * 4096), pages, PROT_READ);
}
#endif

static void clear_outputs(void)
{
#define INPUT(x, i)
#define OUTPUT(x, i) memset((void *)outputs.x, 0x5a, OUTPUT_BYTES(x, i));
#include FIELDS
#undef INPUT
#undef OUTPUT
}

static void store_outputs(char **paths, const char *suffix)
{
    char path[4096];
#define INPUT(x, i)
#define OUTPUT(x, i)                                        \
    snprintf(path, sizeof(path), "%s%s", *paths++, suffix); \
    store(path, (const void *)outputs.x, OUTPUT_BYTES(x, i));
#include FIELDS
#undef INPUT
#undef OUTPUT
}

int main(int argc, char **argv)
{
    char **next = argv + 1;
    unsigned char *arena;
    unsigned long before;
    struct M(_threads) threads = { parallel_for, &parallel_calls, M(_MAX_THREADS) };

    (void)argc;
    if (!M(_supported)()) {
        fprintf(stderr, "this processor lacks instructions\n");
        return 2;
    }
#ifdef SIZES
    for (int i = 0; i < SIZES; i++)
        sizes.numbers[i] = strtoull(*next++, NULL, 10);
    bind();
#endif
    arena = guarded(ARENA_BYTES, M(_ARENA_ALIGN));
#ifndef EMBEDDED
    weights = guarded(M(_WEIGHTS_BYTES), M(_WEIGHTS_ALIGN));
    load(*next++, weights, M(_WEIGHTS_BYTES));
    if (M(_WEIGHTS_BYTES) > 0)
        mprotect((void *)((size_t)weights / 4096 * 4096), M(_WEIGHTS_BYTES), PROT_READ);
#endif
#define INPUT(x, i)                           \
    inputs.x = guarded(INPUT_BYTES(x, i), 4); \
    load(*next++, (void *)inputs.x, INPUT_BYTES(x, i));
#define OUTPUT(x, i) outputs.x = guarded(OUTPUT_BYTES(x, i), 4);
#include FIELDS
#undef INPUT
#undef OUTPUT

    before = allocations;
    for (int run = 0; run < RUNS; run++) {
        memset(arena, 0xff, ARENA_BYTES);
        clear_outputs();
        expect(M(_run)(FRAME arena, WEIGHTS & inputs, &outputs), M(_OK), "a run");
    }
    if (allocations != before) {
        fprintf(stderr, "%lu allocations in %d runs\n", allocations - before, RUNS);
        return 1;
    }
    store_outputs(next, "");

    memset(arena, 0xff, ARENA_BYTES);
    clear_outputs();
    expect(M(_run_threads)(FRAME arena, WEIGHTS & inputs, &outputs, &threads), M(_OK), "a run with threads");
    store_outputs(next, ".threads");

    expect(M(_run)(FRAME NULL, WEIGHTS & inputs, &outputs), M(_BAD_ARENA), "no arena");
    expect(M(_run)(FRAME arena + 4, WEIGHTS & inputs, &outputs), M(_BAD_ARENA), "an arena that is not aligned");
#ifndef EMBEDDED
    expect(M(_run)(FRAME arena, NULL, &inputs, &outputs), M(_BAD_WEIGHTS), "no weights");
#endif
    threads.count = M(_MAX_THREADS) + 1;
    expect(M(_run_threads)(FRAME arena, WEIGHTS & inputs, &outputs, &threads), M(_BAD_THREADS), "too many threads");
    threads.count = 0;
    expect(M(_run_threads)(FRAME arena, WEIGHTS & inputs, &outputs, &threads), M(_BAD_THREADS), "no threads");
#define INPUT(x, i)                                                                    \
    {                                                                                  \
        struct M(_inputs) none = inputs;                                               \
        none.x = NULL;                                                                 \
        expect(M(_run)(FRAME arena, WEIGHTS & none, &outputs), M(_BAD_INPUT), "no " #x);     \
    }
#define OUTPUT(x, i)                                                                   \
    {                                                                                  \
        struct M(_outputs) none = outputs;                                             \
        none.x = NULL;                                                                 \
        expect(M(_run)(FRAME arena, WEIGHTS & inputs, &none), M(_BAD_OUTPUT), "no " #x);     \
    }
#include FIELDS
    printf("%d bytes of arena, 0 allocations in %d runs, %lu calls of parallel_for\n", (int)ARENA_BYTES, RUNS,
           parallel_calls);
    return 0;
}
