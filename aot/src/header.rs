//! The header file of a program: its sizes, its functions, and their contracts.

use std::fmt::Write;

use codegen::RelocatableProgram;
use runtime::{ElementKind, TensorDesc};

use crate::names::identifiers;
use crate::{Bundle, CTensor, SizeRange, WeightsPlace};

/// The header file.
pub(crate) fn text(bundle: &Bundle<'_>) -> String {
    let Bundle { program, name, .. } = bundle;
    let upper = name.to_ascii_uppercase();
    let mut out =
        format!("/* `{name}`: a program without a runtime, for {}. Made by optc.\n *\n", program.isa.name());
    out += INTRODUCTION;
    let _ = write!(out, "#ifndef {upper}_H\n#define {upper}_H\n\n#include <stdint.h>\n\n");
    out += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
    sizes(&mut out, bundle);
    let [inputs, outputs, states] = tensors(program);
    structure(&mut out, bundle, Side::Input, &inputs);
    structure(&mut out, bundle, Side::Output, &outputs);
    state_offsets(&mut out, bundle, &states);
    statuses(&mut out, bundle);
    if bundle.sizes.is_some() {
        named_sizes(&mut out, bundle);
    }
    functions(&mut out, bundle);
    out += "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
    out
}

const INTRODUCTION: &str = "\
\x20* The object file calls nothing but memory functions and functions of <math.h>: it allocates nothing,
 * starts no thread, and keeps nothing from run to run outside of the arena. Two runs may go on at the same
 * time if they have different arenas and outputs.
 */
";

/// The sizes of arena and weights.
fn sizes(out: &mut String, Bundle { program, name, place, sizes }: &Bundle<'_>) {
    let which = match sizes {
        Some(_) => format!("{name}_arena_bytes(sizes), at most {name}_ARENA_BYTES bytes"),
        None => format!("{name}_ARENA_BYTES bytes"),
    };
    let _ = write!(
        out,
        "/* Memory for intermediate values: {which}, aligned to {name}_ARENA_ALIGN.\n \
         * What is in it before a run does not matter{}. */\n\
         #define {name}_ARENA_BYTES {}\n#define {name}_ARENA_ALIGN 64\n\n",
        if program.states.is_empty() { "" } else { ", but for the states (see below)" },
        program.arena_bytes,
    );
    let bytes = program.weights.as_slice().len();
    match place {
        WeightsPlace::File => {
            let _ = write!(
                out,
                "/* The contents of the file, read or mapped to memory aligned to {name}_WEIGHTS_ALIGN. */\n\
                 #define {name}_WEIGHTS_FILE \"{name}_weights.bin\"\n\
                 #define {name}_WEIGHTS_BYTES {bytes}\n#define {name}_WEIGHTS_ALIGN 64\n\n"
            );
        }
        WeightsPlace::Embedded => {
            let _ = write!(out, "/* The {bytes} bytes of weights are in the object file. */\n\n");
        }
    }
    let _ = write!(
        out,
        "/* The most threads that the arena has room for. */\n#define {name}_MAX_THREADS {}\n\n",
        program.threads
    );
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Input,
    Output,
}

/// The inputs, outputs and states, with their C names and types.
pub(crate) fn tensors(program: &RelocatableProgram) -> [Vec<CTensor>; 3] {
    let states: Vec<&TensorDesc> = program.states.iter().map(|(state, _)| &state.tensor).collect();
    let sides = [program.inputs.iter().collect(), program.outputs.iter().collect(), states];
    sides.map(|descs: Vec<&TensorDesc>| {
        let names = identifiers(descs.iter().map(|desc| &*desc.name));
        let tensor = |(identifier, desc): (String, &&TensorDesc)| CTensor {
            identifier,
            element: c_type(desc.element),
        };
        names.into_iter().zip(&descs).map(tensor).collect()
    })
}

/// The C type of elements: an integer of the same bits if C has no such type.
fn c_type(element: ElementKind) -> &'static str {
    match element {
        ElementKind::Bool => "uint8_t",
        ElementKind::I8 => "int8_t",
        ElementKind::I16 => "int16_t",
        ElementKind::U16 | ElementKind::F16 | ElementKind::BF16 => "uint16_t",
        ElementKind::I32 => "int32_t",
        ElementKind::U32 => "uint32_t",
        ElementKind::I64 => "int64_t",
        ElementKind::U64 => "uint64_t",
        ElementKind::F32 => "float",
        ElementKind::F64 => "double",
        _ => "uint8_t",
    }
}

fn shape_text(desc: &TensorDesc, names: Option<&[String]>) -> String {
    let shape: String = match names {
        Some(names) => names.iter().map(|size| format!("[{}]", comment(size))).collect(),
        None => desc.shape.iter().map(|size| format!("[{size}]")).collect(),
    };
    format!("{}{shape}", format!("{:?}", desc.element).to_lowercase())
}

/// The structure of pointers to inputs or outputs.
fn structure(out: &mut String, bundle: &Bundle<'_>, side: Side, tensors: &[CTensor]) {
    let Bundle { program, name, sizes, .. } = bundle;
    let (word, descs, shapes) = match side {
        Side::Input => ("input", &program.inputs, 0),
        Side::Output => ("output", &program.outputs, 1),
    };
    let shape = |index: usize| sizes.map(|sizes| &*sizes.shapes[shapes][index]);
    let upper = word.to_ascii_uppercase();
    if sizes.is_some() && !tensors.is_empty() {
        let _ = writeln!(out, "/* The most bytes, at any sizes. */");
    }
    for (CTensor { identifier, .. }, desc) in tensors.iter().zip(descs) {
        let _ = writeln!(out, "#define {name}_{upper}_{identifier}_BYTES {}", desc.size_bytes);
    }
    let said = match side {
        Side::Input => "What a run reads.",
        Side::Output => "What a run writes. Outputs overlap neither each other nor inputs or the arena.",
    };
    let _ = write!(out, "\n/* {said} */\nstruct {name}_{word}s {{\n");
    for (index, (CTensor { identifier, element }, desc)) in tensors.iter().zip(descs).enumerate() {
        let mut remark = format!("`{}`: {}", comment(&desc.name), shape_text(desc, shape(index)));
        if desc.overwritten {
            remark += ", overwritten";
        }
        if side == Side::Output
            && let Some(open) = program.open.iter().find(|open| open.output == index)
        {
            let count = comment(&program.outputs[open.count].name);
            let _ =
                write!(remark, ", room for the most; output `{count}` says the size of axis {}", open.axis);
        }
        let constant = if side == Side::Input && !desc.overwritten { "const " } else { "" };
        let _ = writeln!(out, "    {constant}{element} *{identifier}; /* {remark} */");
    }
    if tensors.is_empty() {
        out.push_str("    const void *none; /* there are none */\n");
    }
    out.push_str("};\n\n");
}

/// Text that can't end a comment.
fn comment(text: &str) -> String {
    text.replace("*/", "* /")
}

/// The offsets of states in the arena.
fn state_offsets(out: &mut String, Bundle { program, name, .. }: &Bundle<'_>, states: &[CTensor]) {
    if states.is_empty() {
        return;
    }
    out.push_str(
        "/* States stay in the arena from run to run, at these offsets. Before the first run their first\n \
         * values must be there: zeros, if nothing else is known. */\n",
    );
    for (CTensor { identifier, element }, (state, offset)) in states.iter().zip(&program.states) {
        let _ = write!(
            out,
            "#define {name}_STATE_{identifier}_OFFSET {offset}\n\
             #define {name}_STATE_{identifier}_BYTES {} /* {element}: `{}`: {} */\n",
            state.tensor.size_bytes,
            comment(&state.tensor.name),
            shape_text(&state.tensor, None)
        );
    }
    out.push('\n');
}

/// The statuses of a run.
fn statuses(out: &mut String, Bundle { program, name, place, sizes }: &Bundle<'_>) {
    let _ = write!(out, "/* What a run returns. */\nenum {name}_status {{\n    {name}_OK = 0,\n");
    for (number, fault) in program.faults.iter().enumerate() {
        let number = number + 1;
        let _ = writeln!(out, "    {name}_FAULT_{number} = {number}, /* {} */", comment(fault));
    }
    let weights = match place {
        WeightsPlace::File => format!("    {name}_BAD_WEIGHTS = -2, /* null or not aligned */\n"),
        WeightsPlace::Embedded => String::new(),
    };
    let of_sizes = match sizes {
        Some(_) => format!(
            ",\n    {name}_BAD_SIZES = -6, /* the program can't have these sizes */\n    \
             {name}_BAD_FRAME = -7 /* null, not aligned to 8, or bound by no call of {name}_bind */\n"
        ),
        None => "\n".to_owned(),
    };
    let _ = write!(
        out,
        "    {name}_BAD_ARENA = -1, /* null or not aligned */\n{weights}    \
         {name}_BAD_INPUT = -3, /* an input is null or not aligned to 4 bytes */\n    \
         {name}_BAD_OUTPUT = -4, /* an output is null or not aligned to 4 bytes */\n    \
         /* no threads, or more than {name}_MAX_THREADS */\n    \
         {name}_BAD_THREADS = -5{of_sizes}}};\n\n"
    );
}

/// Named sizes: their structure, the frame, and the functions that query either.
fn named_sizes(out: &mut String, bundle: &Bundle<'_>) {
    let Bundle { name, sizes, .. } = bundle;
    let _ = write!(out, "/* The sizes that a run is for. */\nstruct {name}_sizes {{\n");
    for (identifier, range) in bundle.sizes() {
        let SizeRange { name, least, most } = range;
        let _ = writeln!(out, "    uint64_t {identifier}; /* `{}`: {least} to {most} */", comment(name));
    }
    let (frame_bytes, count) = sizes.map_or((0, (0, 0)), |sizes| (sizes.frame_bytes(), sizes.count()));
    if count.0 < count.1 {
        let _ =
            writeln!(out, "    /* The program can have {} of these {} combinations. */", count.0, count.1);
    }
    let _ = write!(
        out,
        "}};\n\n\
         /* What sizes decide of a run: {name}_FRAME_BYTES bytes, aligned to 8. Runs only read it, so many\n \
         * may share one. It is of this process: it has addresses in it. */\n\
         #define {name}_FRAME_BYTES {frame_bytes}\n\n\
         /* The bytes of arena, of an input or of an output (by its number from 0 on) at some sizes;\n \
         * UINT64_MAX if the program can't have them. */\n\
         uint64_t {name}_arena_bytes(const struct {name}_sizes *sizes);\n\
         uint64_t {name}_input_bytes(const struct {name}_sizes *sizes, uint32_t input);\n\
         uint64_t {name}_output_bytes(const struct {name}_sizes *sizes, uint32_t output);\n\n\
         /* Writes a frame: then runs that are given it have these sizes. It takes microseconds. Returns a\n \
         * status. */\n\
         int {name}_bind(const struct {name}_sizes *sizes, void *frame);\n\n"
    );
}

/// The functions.
fn functions(out: &mut String, Bundle { name, place, sizes, .. }: &Bundle<'_>) {
    let frame = if sizes.is_some() { "const void *frame, " } else { "" };
    let weights = match place {
        WeightsPlace::File => "const void *weights, ",
        WeightsPlace::Embedded => "",
    };
    let _ = write!(
        out,
        "/* 1 if this processor has the instructions that the program needs, else 0: then a run would end\n \
         * the process. It takes microseconds, so ask once. */\n\
         int {name}_supported(void);\n\n\
         /* Runs the program once, in the calling thread. Returns a status; unless it is 0, outputs are\n \
         * garbage. */\n\
         int {name}_run({frame}void *arena, {weights}const struct {name}_inputs *inputs,\n    const struct \
         {name}_outputs *outputs);\n\n"
    );
    let _ = write!(
        out,
        "/* Threads of the caller: `parallel_for` calls `task(job, index)` once for each index below\n \
         * `count`, at the same time if it can, and returns when all have returned. Results are the\n \
         * same bits as without. */\n\
         struct {name}_threads {{\n    \
         void (*parallel_for)(void *context, uint32_t count, \
         void (*task)(void *job, uint32_t index), void *job);\n    \
         void *context; /* what `parallel_for` is given first */\n    \
         uint32_t count; /* tasks at the same time: 1 to {name}_MAX_THREADS */\n}};\n\n\
         /* Runs the program once, on these threads. */\n\
         int {name}_run_threads({frame}void *arena, {weights}const struct {name}_inputs *inputs,\n    \
         const struct {name}_outputs *outputs, const struct {name}_threads *threads);\n\n\
         /* What a status means, in words. */\n\
         const char *{name}_message(int status);\n\n"
    );
}
