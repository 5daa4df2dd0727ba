//! How Cranelift is set up: the only module with names of its crates, so that an upgrade edits one file.
//!
//! An [`ImageBuilder`] collects functions, referred to by name or number, and returns relocatable machine
//! code ([`CodeImage`]). The code depends only on the given instruction set, not on the machine that compiles
//! it, so another machine can load the image. If the builder is given an earlier image, it compiles nothing:
//! functions are looked up in the order of their definition.

use std::sync::Arc;

use cranelift_codegen::binemit::Reloc;
use cranelift_codegen::ir::{ExtFuncData, ExternalName, Function, LibCall, UserExternalName, UserFuncName};
use cranelift_codegen::isa::{self, TargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{Context, FinalizedMachReloc, FinalizedRelocTarget};
use cranelift_frontend::FunctionBuilderContext;
use kernels::Isa;
use runtime::{CodeImage, FUNCTION_ALIGNMENT, ImageFunction, Relocation, RelocationKind, RelocationTarget};

pub(crate) use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
pub(crate) use cranelift_codegen::ir::{
    AbiParam, Block, BlockArg, Endianness, FuncRef, Inst, InstBuilder, MemFlagsData, Signature,
    StackSlotData, StackSlotKind, Type as Clif, Value, types,
};
pub(crate) use cranelift_frontend::{FunctionBuilder, Variable};

/// An image under construction.
pub(crate) struct ImageBuilder {
    isa: Arc<dyn TargetIsa>,
    context: Context,
    builder: FunctionBuilderContext,
    image: CodeImage,
    signatures: Vec<Signature>,
    /// The image of an earlier compilation, if there is one.
    known: Option<Arc<CodeImage>>,
}

/// A function of the image, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FunctionNumber(u32);

/// The Cranelift flags for the features of an instruction set beyond its architecture's baseline.
fn features(isa: Isa) -> &'static [&'static str] {
    static FEATURES: [&str; 14] = [
        "has_sse3",
        "has_ssse3",
        "has_sse41",
        "has_sse42",
        "has_popcnt",
        "has_avx",
        "has_avx2",
        "has_fma",
        "has_bmi1",
        "has_bmi2",
        "has_lzcnt",
        "has_avx512f",
        "has_avx512vl",
        "has_avx512dq",
    ];
    match isa {
        Isa::Scalar | Isa::Aarch64 => &[],
        Isa::Avx2 => &FEATURES[..11],
        Isa::Avx512 => &FEATURES,
    }
}

/// Cranelift's back end for an instruction set.
fn target_isa(isa: Isa) -> Result<Arc<dyn TargetIsa>, String> {
    let mut flags = settings::builder();
    for (name, value) in [
        ("opt_level", "speed"),
        ("use_colocated_libcalls", "false"),
        ("is_pic", "false"),
        ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
    ] {
        flags.set(name, value).map_err(|error| error.to_string())?;
    }
    let architecture = isa.architecture();
    let mut builder = if architecture == std::env::consts::ARCH {
        cranelift_native::builder_with_options(false)?
    } else {
        let other = isa::lookup_by_name(&format!("{architecture}-unknown-linux-gnu"));
        other.map_err(|_| format!("this build of optc makes no machine code for {architecture}"))?
    };
    for feature in features(isa) {
        builder.enable(feature).map_err(|error| error.to_string())?;
    }
    builder.finish(settings::Flags::new(flags)).map_err(|error| error.to_string())
}

impl ImageBuilder {
    /// A builder of code for an instruction set, or of `known`, an earlier image of the same functions.
    ///
    /// # Errors
    /// If this build has no back end of Cranelift for it.
    pub(crate) fn new(isa: Isa, known: Option<Arc<CodeImage>>) -> Result<ImageBuilder, String> {
        Ok(ImageBuilder {
            isa: target_isa(isa)?,
            context: Context::new(),
            builder: FunctionBuilderContext::new(),
            image: CodeImage::default(),
            signatures: Vec::new(),
            known,
        })
    }

    /// The type of a pointer.
    pub(crate) fn pointer(&self) -> Clif {
        self.isa.pointer_type()
    }

    /// A signature in the machine's C calling convention.
    pub(crate) fn signature(&self, params: &[Clif], returns: &[Clif]) -> Signature {
        signature(&*self.isa, params, returns)
    }

    /// Compiles a function whose blocks are made by `build`. The builder is positioned in the entry block,
    /// whose block arguments are the parameters.
    pub(crate) fn define(
        &mut self,
        name: &str,
        signature: Signature,
        build: impl FnOnce(&mut Emitter<'_>),
    ) -> FunctionNumber {
        let number = self.signatures.len() as u32;
        self.signatures.push(signature.clone());
        if self.known.is_some() {
            self.image.functions.push(ImageFunction { name: name.to_owned(), start: 0, size: 0 });
            return FunctionNumber(number);
        }
        self.context.func = Function::with_name_signature(UserFuncName::user(DEFINED, number), signature);
        let mut builder = FunctionBuilder::new(&mut self.context.func, &mut self.builder);
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        let (isa, signatures, symbols) = (&*self.isa, &self.signatures[..], &mut self.image.symbols);
        let mut emitter = Emitter { ins: builder, entry, isa, signatures, symbols };
        build(&mut emitter);
        let Emitter { ins: mut builder, .. } = emitter;
        builder.seal_all_blocks();
        builder.finalize(self.isa.frontend_config());
        self.append(name);
        FunctionNumber(number)
    }

    /// Compiles the function that was built, and appends its code.
    fn append(&mut self, name: &str) {
        let compiled = self.context.compile(&*self.isa, &mut Default::default());
        compiled.expect("Cranelift compiles what the emitter verified");
        let compiled = self.context.compiled_code().expect("it was just compiled");
        let buffer = &compiled.buffer;
        let code = &mut self.image.code;
        assert!(buffer.alignment <= FUNCTION_ALIGNMENT, "Cranelift aligns constants to at most 64 bytes");
        code.resize(code.len().next_multiple_of(FUNCTION_ALIGNMENT as usize), 0);
        let start = code.len() as u32;
        code.extend_from_slice(buffer.data());
        let size = buffer.data().len() as u32;
        let number = self.image.functions.len() as u32;
        self.image.functions.push(ImageFunction { name: name.to_owned(), start, size });
        for found in buffer.relocs() {
            let kind = relocation_kind(found.kind);
            let (target, within) = target(found, &self.context.func, number, &mut self.image.symbols);
            let addend = found.addend + i64::from(within);
            let offset = start + found.offset;
            self.image.relocations.push(Relocation { offset, kind, target, addend });
        }
        self.context.clear();
    }

    /// The image of all defined functions.
    ///
    /// # Errors
    /// If the earlier image has other functions.
    pub(crate) fn finish(self) -> Result<Arc<CodeImage>, String> {
        let Some(known) = self.known else { return Ok(Arc::new(self.image)) };
        let names = |image: &CodeImage| -> Vec<String> {
            image.functions.iter().map(|function| function.name.clone()).collect()
        };
        let is_same = names(&known) == names(&self.image);
        is_same.then_some(known).ok_or_else(|| "the machine code is that of another program".to_owned())
    }
}

impl FunctionNumber {
    /// Its number among the functions of the image.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The namespaces of function names: functions of the image, and symbols.
const DEFINED: u32 = 0;
const IMPORTED: u32 = 1;

fn signature(isa: &dyn TargetIsa, params: &[Clif], returns: &[Clif]) -> Signature {
    let mut signature = Signature::new(isa.default_call_conv());
    signature.params.extend(params.iter().map(|ty| AbiParam::new(*ty)));
    signature.returns.extend(returns.iter().map(|ty| AbiParam::new(*ty)));
    signature
}

/// The number of a symbol, which is added if it is new.
fn symbol_number(symbols: &mut Vec<String>, name: &str) -> u32 {
    let known = symbols.iter().position(|known| known == name);
    let number = known.unwrap_or_else(|| {
        symbols.push(name.to_owned());
        symbols.len() - 1
    });
    number as u32
}

fn relocation_kind(kind: Reloc) -> RelocationKind {
    match kind {
        Reloc::Abs8 => RelocationKind::Absolute64,
        Reloc::X86PCRel4 | Reloc::X86CallPCRel4 => RelocationKind::Relative32,
        Reloc::Arm64Call => RelocationKind::Arm64Call,
        other => unreachable!("code that is not position independent has no relocation {other:?}"),
    }
}

/// The target of a relocation in function `number`, and the offset from the target's start.
fn target(
    relocation: &FinalizedMachReloc,
    function: &Function,
    number: u32,
    symbols: &mut Vec<String>,
) -> (RelocationTarget, u32) {
    let symbol = match &relocation.target {
        FinalizedRelocTarget::Func(offset) => return (RelocationTarget::Function(number), *offset),
        FinalizedRelocTarget::ExternalName(ExternalName::User(name)) => {
            let UserExternalName { namespace, index } = function.params.user_named_funcs()[*name];
            match namespace {
                DEFINED => return (RelocationTarget::Function(index), 0),
                _ => index,
            }
        }
        FinalizedRelocTarget::ExternalName(ExternalName::LibCall(call)) => {
            symbol_number(symbols, library_name(*call))
        }
        FinalizedRelocTarget::ExternalName(other) => unreachable!("nothing is called {other:?}"),
    };
    (RelocationTarget::Symbol(symbol), 0)
}

/// The C name of a library function by which Cranelift replaces a missing instruction.
fn library_name(call: LibCall) -> &'static str {
    match call {
        LibCall::CeilF32 => "ceilf",
        LibCall::CeilF64 => "ceil",
        LibCall::FloorF32 => "floorf",
        LibCall::FloorF64 => "floor",
        LibCall::TruncF32 => "truncf",
        LibCall::TruncF64 => "trunc",
        LibCall::NearestF32 => "nearbyintf",
        LibCall::NearestF64 => "nearbyint",
        LibCall::FmaF32 => "fmaf",
        LibCall::FmaF64 => "fma",
        other => unreachable!("generated code has no use for {other}"),
    }
}

/// A function under construction.
pub(crate) struct Emitter<'m> {
    /// Makes instructions and blocks.
    pub(crate) ins: FunctionBuilder<'m>,
    entry: Block,
    isa: &'m dyn TargetIsa,
    signatures: &'m [Signature],
    symbols: &'m mut Vec<String>,
}

/// Memory accesses of generated code: never trap, any alignment.
pub(crate) const PLAIN: MemFlagsData = MemFlagsData::new().with_notrap();

impl Emitter<'_> {
    /// The function's parameter `index`.
    pub(crate) fn param(&self, index: usize) -> Value {
        self.ins.block_params(self.entry)[index]
    }

    /// The reference by which instructions call `function`.
    pub(crate) fn callee(&mut self, function: FunctionNumber) -> FuncRef {
        let signature = self.signatures[function.index()].clone();
        self.declare(DEFINED, function.0, signature)
    }

    /// Declares a function that is defined elsewhere, for calls.
    pub(crate) fn import(&mut self, name: &str, params: &[Clif], returns: &[Clif]) -> FuncRef {
        let signature = signature(self.isa, params, returns);
        let symbol = symbol_number(self.symbols, name);
        self.declare(IMPORTED, symbol, signature)
    }

    fn declare(&mut self, namespace: u32, index: u32, signature: Signature) -> FuncRef {
        let function = &mut self.ins.func;
        let signature = function.import_signature(signature);
        let name = function.declare_imported_user_function(UserExternalName { namespace, index });
        let name = ExternalName::user(name);
        let colocated = namespace == DEFINED;
        function.import_function(ExtFuncData { name, signature, colocated, patchable: false })
    }

    /// `for (i = start; i + step <= end; i += step) body(i)`; returns the first `i` that was not run.
    pub(crate) fn count(
        &mut self,
        start: Value,
        end: Value,
        step: i64,
        body: impl FnOnce(&mut Self, Value),
    ) -> Value {
        let (header, inside, exit) =
            (self.ins.create_block(), self.ins.create_block(), self.ins.create_block());
        let i = self.ins.append_block_param(header, types::I64);
        self.ins.ins().jump(header, &[BlockArg::Value(start)]);
        self.ins.switch_to_block(header);
        let next = self.ins.ins().iadd_imm_s(i, step);
        let fits = self.ins.ins().icmp(IntCC::SignedLessThanOrEqual, next, end);
        self.ins.ins().brif(fits, inside, &[], exit, &[]);
        self.ins.switch_to_block(inside);
        body(self, i);
        self.ins.ins().jump(header, &[BlockArg::Value(next)]);
        self.ins.switch_to_block(exit);
        i
    }

    /// Four `f32` truncated to 32-bit integers; the values must be in their range.
    pub(crate) fn cut_to_words(&mut self, floats: Value) -> Value {
        match self.isa.name() {
            "x64" => self.ins.ins().x86_cvtt2dq(types::I32X4, floats),
            // On other machines the instruction saturates too.
            _ => self.ins.ins().fcvt_to_sint_sat(types::I32X4, floats),
        }
    }

    /// A 64-bit constant.
    pub(crate) fn int(&mut self, value: i64) -> Value {
        self.ins.ins().iconst(types::I64, value)
    }
}

#[cfg(test)]
mod tests {
    use super::PLAIN;

    /// Buffers overlap by plan: bytes written as one buffer are read as another.
    #[test]
    fn no_access_is_said_to_be_apart_from_others() {
        assert_eq!(PLAIN.alias_region(), None);
        assert!(!PLAIN.can_move());
    }
}
