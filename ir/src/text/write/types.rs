//! Printer of types.

use super::TextWriter;
use super::aliases::AliasSubject;
use crate::entities::Type;
use crate::types::{Dim, OpaquePiece, Signedness, TypeData};

impl TextWriter<'_> {
    /// A type.
    pub(in crate::text) fn ty(&mut self, ty: Type) {
        if self.buffer.len() > self.limit {
            return;
        }
        if !self.alias(AliasSubject::Type(ty)) {
            self.type_itself(ty);
        }
    }

    /// A type, in full even if it has a name.
    pub(super) fn type_itself(&mut self, ty: Type) {
        match self.ctx.type_data(ty) {
            TypeData::Integer { width, signedness } => {
                let prefix = match signedness {
                    Signedness::Signless => "i",
                    Signedness::Signed => "si",
                    Signedness::Unsigned => "ui",
                };
                self.put(format_args!("{prefix}{width}"));
            }
            TypeData::Float(kind) => self.buffer.push_str(kind.keyword()),
            TypeData::Index => self.buffer.push_str("index"),
            TypeData::None => self.buffer.push_str("none"),
            TypeData::Complex(part) => self.angled("complex", |writer| writer.ty(*part)),
            TypeData::Tuple(types) => {
                self.angled("tuple", |writer| writer.list(types, |writer, ty| writer.ty(*ty)));
            }
            TypeData::Function { inputs, results } => {
                self.buffer.push('(');
                self.list(inputs, |writer, ty| writer.ty(*ty));
                self.buffer.push_str(") -> ");
                self.result_types(results.iter().copied());
            }
            TypeData::Opaque { dialect, body } => self.opaque('!', self.ctx.str(*dialect), body),
            shaped => self.shaped(shaped),
        }
    }

    fn angled(&mut self, word: &str, inside: impl FnOnce(&mut Self)) {
        self.buffer.push_str(word);
        self.buffer.push('<');
        inside(self);
        self.buffer.push('>');
    }

    fn shaped(&mut self, ty: &TypeData) {
        match ty {
            TypeData::Vector { shape, elem } => self.angled("vector", |writer| {
                for dim in shape {
                    if dim.scalable {
                        writer.put(format_args!("[{}]x", dim.size))
                    } else {
                        writer.put(format_args!("{}x", dim.size))
                    }
                }
                writer.ty(*elem);
            }),
            TypeData::Tensor { shape, elem, encoding } => self.angled("tensor", |writer| {
                writer.dims(shape);
                writer.ty(*elem);
                match encoding {
                    Some(encoding) => {
                        writer.buffer.push_str(", ");
                        writer.attr(*encoding);
                    }
                    None => writer.names_of_sizes(shape),
                }
            }),
            TypeData::UnrankedTensor { elem } => self.angled("tensor", |writer| {
                writer.buffer.push_str("*x");
                writer.ty(*elem);
            }),
            TypeData::MemRef { shape, elem, layout, space } => self.angled("memref", |writer| {
                writer.dims(shape);
                writer.ty(*elem);
                for attr in [layout, space].into_iter().flatten() {
                    writer.buffer.push_str(", ");
                    writer.attr_in_list(*attr);
                }
            }),
            TypeData::UnrankedMemRef { elem, space } => self.angled("memref", |writer| {
                writer.buffer.push_str("*x");
                writer.ty(*elem);
                if let Some(space) = space {
                    writer.buffer.push_str(", ");
                    writer.attr_in_list(*space);
                }
            }),
            other => unreachable!("not a shaped type: {other:?}"),
        }
    }

    fn dims(&mut self, shape: &[Dim]) {
        for dim in shape {
            match dim {
                Dim::Known(size) => self.put(format_args!("{size}x")),
                Dim::Symbolic(_) | Dim::Unknown => self.buffer.push_str("?x"),
            }
        }
    }

    /// `, #optc.dims<N, _>`: an entry for each `?`; nothing if all are unknown.
    fn names_of_sizes(&mut self, shape: &[Dim]) {
        if shape.iter().any(|dim| matches!(dim, Dim::Symbolic(_))) {
            self.buffer.push_str(", ");
            let open: Vec<Dim> = shape.iter().copied().filter(|dim| dim.known().is_none()).collect();
            self.sizes(&open);
        }
    }

    /// `#optc.dims<N, 3, H floordiv 2, _>`.
    pub(super) fn sizes(&mut self, dims: &[Dim]) {
        self.buffer.push_str("#optc.dims<");
        self.list(dims, |writer, dim| match dim {
            Dim::Known(size) => writer.put(format_args!("{size}")),
            Dim::Symbolic(expr) => writer.buffer.push_str(&crate::dims::print(writer.ctx, *expr)),
            Dim::Unknown => writer.buffer.push('_'),
        });
        self.buffer.push('>');
    }

    /// Result types of a signature: a single one is written without parentheses, unless it is a function
    /// type.
    pub(super) fn result_types(&mut self, types: impl ExactSizeIterator<Item = Type> + Clone) {
        let is_function = |ty| matches!(self.ctx.type_data(ty), TypeData::Function { .. });
        match types.clone().next() {
            Some(one) if types.len() == 1 && !is_function(one) => self.ty(one),
            _ => {
                self.buffer.push('(');
                self.list(types, |writer, ty| writer.ty(ty));
                self.buffer.push(')');
            }
        }
    }

    /// `!dialect.body`, or `!dialect<body>` if the body does not begin with a word.
    pub(super) fn opaque(&mut self, sigil: char, dialect: &str, body: &[OpaquePiece]) {
        self.buffer.push(sigil);
        self.buffer.push_str(dialect);
        let is_simple = is_simple(body);
        self.buffer.push(if is_simple { '.' } else { '<' });
        for piece in body {
            match piece {
                OpaquePiece::Text(text) => self.buffer.push_str(text),
                OpaquePiece::Attr(attr) => self.attr(*attr),
                OpaquePiece::Type(ty) => self.ty(*ty),
            }
        }
        if !is_simple {
            self.buffer.push('>');
        }
    }
}

/// Whether a body is a word, or a word followed by one pair of angle brackets.
fn is_simple(body: &[OpaquePiece]) -> bool {
    let Some(OpaquePiece::Text(first)) = body.first() else { return false };
    let is_word_byte = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'_';
    let word = first.bytes().take_while(|byte| is_word_byte(*byte)).count();
    if !first.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return false;
    }
    if word == first.len() && body.len() == 1 {
        return true;
    }
    let ends_with_bracket = matches!(body.last(), Some(OpaquePiece::Text(last)) if last.ends_with('>'));
    first.as_bytes().get(word) == Some(&b'<') && ends_with_bracket && closes_at_end(body, word)
}

/// Whether the bracket at byte `at` of the first piece is closed by the body's last byte.
fn closes_at_end(body: &[OpaquePiece], at: usize) -> bool {
    let mut depth = 0u32;
    for (index, piece) in body.iter().enumerate() {
        let OpaquePiece::Text(text) = piece else { continue };
        let bytes = text.as_bytes();
        let mut i = if index == 0 { at } else { 0 };
        while i < bytes.len() {
            match bytes[i] {
                b'"' => {
                    i = crate::text::lexer::string_end(bytes, i).unwrap_or(bytes.len());
                    continue;
                }
                b'-' if bytes.get(i + 1) == Some(&b'>') => i += 1,
                b'<' | b'(' | b'[' | b'{' => depth += 1,
                b'>' | b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            i += 1;
            if depth == 0 {
                return index + 1 == body.len() && i == bytes.len();
            }
        }
    }
    false
}
