//! A C program that runs a program: where memory comes from, how weights are read, what is called.

use std::fmt::Write;

use crate::header::tensors;
use crate::{Bundle, CTensor, WeightsPlace};

/// The C program.
pub(crate) fn text(bundle: &Bundle<'_>) -> String {
    let Bundle { program, name, place } = bundle;
    let [inputs, outputs, _] = tensors(program);
    let mut out = format!(
        "/* Runs `{name}` once:\n *\n \
         *     cc main.c {name}.o -lm -o {name} && ./{name} [INPUT.bin ... [OUTPUT.bin ...]]\n *\n \
         * Files are the bytes of inputs and outputs, in the order of `{name}.h`. Inputs without a\n \
         * file are zeros; the first numbers of each output are printed. */\n\n\
         #include <stdio.h>\n\n#include \"{name}.h\"\n\n\
         static _Alignas({name}_ARENA_ALIGN) unsigned char arena[{name}_ARENA_BYTES + 1];\n"
    );
    if *place == WeightsPlace::File {
        let _ = writeln!(
            out,
            "static _Alignas({name}_WEIGHTS_ALIGN) unsigned char weights[{name}_WEIGHTS_BYTES + 1];"
        );
    }
    for (side, list) in [("INPUT", &inputs), ("OUTPUT", &outputs)] {
        for CTensor { identifier, element } in list {
            let lower = side.to_ascii_lowercase();
            let _ = writeln!(
                out,
                "static {element} \
                 {lower}_{identifier}[{name}_{side}_{identifier}_BYTES / sizeof({element}) + 1];"
            );
        }
    }
    out += READ;
    if !outputs.is_empty() {
        out += WRITE;
    }
    main_text(&mut out, bundle, &inputs, &outputs);
    out
}

const READ: &str = r#"
static int read_file(const char *path, void *bytes, size_t count)
{
    FILE *file = fopen(path, "rb");
    size_t found = file ? fread(bytes, 1, count, file) : 0;
    if (file)
        fclose(file);
    if (found != count)
        fprintf(stderr, "%s: %zu bytes can be read, expected %zu\n", path, found, count);
    return found == count;
}
"#;

const WRITE: &str = r#"
static int write_file(const char *path, const void *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    size_t written = file ? fwrite(bytes, 1, count, file) : 0;
    if (!file || fclose(file) || written != count) {
        fprintf(stderr, "%s can't be written\n", path);
        return 0;
    }
    return 1;
}
"#;

fn main_text(out: &mut String, bundle: &Bundle<'_>, inputs: &[CTensor], outputs: &[CTensor]) {
    let Bundle { name, place, .. } = bundle;
    let has_files = !inputs.is_empty() || !outputs.is_empty();
    let argument = if has_files { "int argc, char **argv" } else { "void" };
    let _ = write!(out, "\nint main({argument})\n{{\n");
    for (side, list) in [("input", inputs), ("output", outputs)] {
        let members = list.iter().map(|CTensor { identifier, .. }| format!("{side}_{identifier}"));
        let members = members.collect::<Vec<_>>().join(", ");
        let members = if list.is_empty() { "0".to_owned() } else { members };
        let _ = writeln!(out, "    struct {name}_{side}s {side}s = {{ {members} }};");
    }
    let weights = match place {
        WeightsPlace::File => "weights, ",
        WeightsPlace::Embedded => "",
    };
    let _ = write!(
        out,
        "    int status;\n\n    if (!{name}_supported()) {{\n        fprintf(stderr, \"this processor lacks \
         instructions that the program needs\\n\");\n        return 1;\n    }}\n"
    );
    if *place == WeightsPlace::File {
        let _ = write!(
            out,
            "    if (!read_file({name}_WEIGHTS_FILE, weights, {name}_WEIGHTS_BYTES))\n        return 1;\n"
        );
    }
    for (index, CTensor { identifier, .. }) in inputs.iter().enumerate() {
        let number = index + 1;
        let _ = write!(
            out,
            "    if (argc > {number} && !read_file(argv[{number}], input_{identifier}, \
             {name}_INPUT_{identifier}_BYTES))\n        return 1;\n"
        );
    }
    let _ = write!(
        out,
        "    status = {name}_run(arena, {weights}&inputs, &outputs);\n    \
         if (status != {name}_OK) {{\n        \
         fprintf(stderr, \"%s\\n\", {name}_message(status));\n        return 1;\n    }}\n"
    );
    for (index, CTensor { identifier, element }) in outputs.iter().enumerate() {
        let number = inputs.len() + index + 1;
        let _ = write!(
            out,
            "    printf(\"{identifier}:\");\n    \
             for (size_t i = 0; i < 4 && i < {name}_OUTPUT_{identifier}_BYTES / sizeof({element}); \
             i++)\n        \
             printf(\" %g\", (double)output_{identifier}[i]);\n    \
             printf(\"\\n\");\n    if (argc > {number} && !write_file(argv[{number}], output_{identifier}, \
             {name}_OUTPUT_{identifier}_BYTES))\n        return 1;\n"
        );
    }
    out.push_str("    return 0;\n}\n");
}
