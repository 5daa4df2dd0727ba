//! The example: a C program that runs a compiled program, with its memory, weights and calls.

use std::fmt::Write;

use crate::header::tensors;
use crate::{Bundle, CTensor, SizeRange, WeightsPlace};

/// The C program.
pub(crate) fn text(bundle: &Bundle<'_>) -> String {
    let Bundle { program, name, place, .. } = bundle;
    let [inputs, outputs, _] = tensors(program);
    let sizes = bundle.sizes();
    let numbers: String = sizes.iter().map(|(identifier, _)| format!("{identifier} ")).collect();
    let header = if sizes.is_empty() { "" } else { "#include <stdlib.h>\n" };
    let mut out = format!(
        "/* Runs `{name}` once:\n *\n \
         *     cc main.c {name}.o -lm -o {name} && ./{name} {numbers}[INPUT.bin ... [OUTPUT.bin ...]]\n *\n \
         * Files are the bytes of inputs and outputs, in the order of `{name}.h`. Inputs without a\n \
         * file are zeros; the first numbers of each output are printed. */\n\n\
         #include <stdio.h>\n{header}\n#include \"{name}.h\"\n\n\
         static _Alignas({name}_ARENA_ALIGN) unsigned char arena[{name}_ARENA_BYTES + 1];\n"
    );
    if *place == WeightsPlace::File {
        let _ = writeln!(
            out,
            "static _Alignas({name}_WEIGHTS_ALIGN) unsigned char weights[{name}_WEIGHTS_BYTES + 1];"
        );
    }
    if !sizes.is_empty() {
        let _ = writeln!(out, "static uint64_t frame[{name}_FRAME_BYTES / 8];");
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
    let main = ExampleMain { bundle, sizes: &sizes, inputs: &inputs, outputs: &outputs };
    main.write(&mut out);
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

/// The function `main` of the example.
struct ExampleMain<'a> {
    bundle: &'a Bundle<'a>,
    sizes: &'a [(String, &'a SizeRange)],
    inputs: &'a [CTensor],
    outputs: &'a [CTensor],
}

impl ExampleMain<'_> {
    fn write(&self, out: &mut String) {
        let ExampleMain { bundle: Bundle { name, place, .. }, sizes, inputs, outputs } = self;
        let has_arguments = !sizes.is_empty() || !inputs.is_empty() || !outputs.is_empty();
        let argument = if has_arguments { "int argc, char **argv" } else { "void" };
        let _ = write!(out, "\nint main({argument})\n{{\n");
        for (side, list) in [("input", inputs), ("output", outputs)] {
            let members = list.iter().map(|CTensor { identifier, .. }| format!("{side}_{identifier}"));
            let members = members.collect::<Vec<_>>().join(", ");
            let members = if list.is_empty() { "0".to_owned() } else { members };
            let _ = writeln!(out, "    struct {name}_{side}s {side}s = {{ {members} }};");
        }
        let (frame, weights) = (
            if sizes.is_empty() { "" } else { "frame, " },
            match place {
                WeightsPlace::File => "weights, ",
                WeightsPlace::Embedded => "",
            },
        );
        if !sizes.is_empty() {
            let _ = writeln!(out, "    struct {name}_sizes sizes;");
        }
        let _ = write!(
            out,
            "    int status;\n\n    if (!{name}_supported()) {{\n        fprintf(stderr, \"this processor \
             lacks instructions that the program needs\\n\");\n        return 1;\n    }}\n"
        );
        self.bind(out);
        if *place == WeightsPlace::File {
            let _ = write!(
                out,
                "    if (!read_file({name}_WEIGHTS_FILE, weights, {name}_WEIGHTS_BYTES))\n        \
                 return 1;\n"
            );
        }
        for (index, CTensor { identifier, .. }) in inputs.iter().enumerate() {
            let (number, bytes) = (self.argument(index), self.bytes("input", index, identifier));
            let _ = write!(
                out,
                "    if (argc > {number} && !read_file(argv[{number}], input_{identifier}, \
                 {bytes}))\n        return 1;\n"
            );
        }
        let _ = write!(
            out,
            "    status = {name}_run({frame}arena, {weights}&inputs, &outputs);\n    \
             if (status != {name}_OK) {{\n        \
             fprintf(stderr, \"%s\\n\", {name}_message(status));\n        return 1;\n    }}\n"
        );
        self.show(out);
        out.push_str("    return 0;\n}\n");
    }

    /// Prints the first elements of the outputs, and writes the outputs to files.
    fn show(&self, out: &mut String) {
        let ExampleMain { inputs, outputs, .. } = self;
        for (index, CTensor { identifier, element }) in outputs.iter().enumerate() {
            let number = self.argument(inputs.len() + index);
            let bytes = self.bytes("output", index, identifier);
            let _ = write!(
                out,
                "    printf(\"{identifier}:\");\n    \
                 for (size_t i = 0; i < 4 && i < {bytes} / sizeof({element}); i++)\n        \
                 printf(\" %g\", (double)output_{identifier}[i]);\n    printf(\"\\n\");\n    \
                 if (argc > {number} && !write_file(argv[{number}], output_{identifier}, {bytes}))\n        \
                 return 1;\n"
            );
        }
    }

    /// Reads sizes, and binds them.
    fn bind(&self, out: &mut String) {
        let ExampleMain { bundle: Bundle { name, .. }, sizes, .. } = self;
        if sizes.is_empty() {
            return;
        }
        let names = sizes.iter().map(|(identifier, _)| &**identifier).collect::<Vec<_>>().join(" ");
        let _ = write!(
            out,
            "    if (argc <= {}) {{\n        \
             fprintf(stderr, \"expected sizes: {names}\\n\");\n        return 1;\n    }}\n",
            sizes.len()
        );
        for (index, (identifier, _)) in sizes.iter().enumerate() {
            let _ = writeln!(out, "    sizes.{identifier} = strtoull(argv[{}], NULL, 10);", index + 1);
        }
        let _ = write!(
            out,
            "    status = {name}_bind(&sizes, frame);\n    if (status != {name}_OK) {{\n        \
             fprintf(stderr, \"%s\\n\", {name}_message(status));\n        return 1;\n    }}\n"
        );
    }

    /// The index of the command line argument with the file of this input, or of the output after all inputs.
    fn argument(&self, file: usize) -> usize {
        1 + self.sizes.len() + file
    }

    /// The bytes of an input or output, in C.
    fn bytes(&self, side: &str, index: usize, identifier: &str) -> String {
        let name = &self.bundle.name;
        match self.sizes {
            [] => format!("{name}_{}_{identifier}_BYTES", side.to_ascii_uppercase()),
            _ => format!("{name}_{side}_bytes(&sizes, {index})"),
        }
    }
}
