//! How Cranelift is set up: the one module that names its crates, so that an upgrade is an edit of one file.
//!
//! A [`Jit`] collects functions, all referred to by symbol, and becomes executable code in
//! [`Jit::finish`].

use std::collections::BTreeMap;

use cranelift_codegen::Context;
use cranelift_codegen::ir::UserFuncName;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, default_libcall_names};

pub(crate) use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
pub(crate) use cranelift_codegen::ir::{
    AbiParam, Block, BlockArg, Endianness, FuncRef, Inst, InstBuilder, MemFlagsData, Signature,
    StackSlotData, StackSlotKind, Type as Clif, Value, types,
};
pub(crate) use cranelift_frontend::{FunctionBuilder, Variable};

/// Functions on their way to machine code.
pub(crate) struct Jit {
    module: JITModule,
    context: Context,
    builder: FunctionBuilderContext,
}

/// A function of the module, as the code of another sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ModuleFunction(FuncId);

impl Jit {
    /// A module for this machine that may refer to `symbols`.
    ///
    /// # Errors
    /// If Cranelift does not support the machine.
    pub(crate) fn new(symbols: &BTreeMap<String, *const u8>) -> Result<Jit, String> {
        let mut flags = settings::builder();
        for (name, value) in [
            ("opt_level", "speed"),
            ("use_colocated_libcalls", "false"),
            ("is_pic", "false"),
            ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
        ] {
            flags.set(name, value).map_err(|error| error.to_string())?;
        }
        let isa = cranelift_native::builder().map_err(str::to_owned)?;
        let isa = isa.finish(settings::Flags::new(flags)).map_err(|error| error.to_string())?;
        let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
        builder.symbols(symbols.iter().map(|(name, address)| (name.clone(), *address)));
        let module = JITModule::new(builder);
        let context = module.make_context();
        Ok(Jit { module, context, builder: FunctionBuilderContext::new() })
    }

    /// The type of a pointer.
    pub(crate) fn pointer(&self) -> Clif {
        self.module.isa().pointer_type()
    }

    /// A signature in the machine's C calling convention.
    pub(crate) fn signature(&self, params: &[Clif], returns: &[Clif]) -> Signature {
        let mut signature = self.module.make_signature();
        signature.params.extend(params.iter().map(|ty| AbiParam::new(*ty)));
        signature.returns.extend(returns.iter().map(|ty| AbiParam::new(*ty)));
        signature
    }

    /// Compiles a function whose blocks `build` makes; the builder stands in the entry block, which has the
    /// parameters.
    pub(crate) fn define(
        &mut self,
        name: &str,
        signature: Signature,
        build: impl FnOnce(&mut Emitter<'_>),
    ) -> ModuleFunction {
        let id = self.module.declare_function(name, Linkage::Local, &signature);
        let id = id.expect("a function is declared once");
        self.context.func.signature = signature;
        self.context.func.name = UserFuncName::user(0, id.as_u32());
        let mut builder = FunctionBuilder::new(&mut self.context.func, &mut self.builder);
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        let mut emitter = Emitter { ins: builder, entry, module: &mut self.module };
        build(&mut emitter);
        let Emitter { ins: mut builder, module, .. } = emitter;
        builder.seal_all_blocks();
        builder.finalize(module.target_config());
        let compiled = self.module.define_function(id, &mut self.context);
        compiled.expect("Cranelift compiles what the emitter verified");
        self.module.clear_context(&mut self.context);
        ModuleFunction(id)
    }

    /// The executable code, entered at `entry`, with the addresses of `functions`, which are defined here.
    pub(crate) fn finish(
        mut self,
        entry: ModuleFunction,
        functions: &[ModuleFunction],
    ) -> (Finished, Vec<u64>) {
        self.module.finalize_definitions().expect("all symbols were given to `new`");
        let address =
            |function: &ModuleFunction| self.module.get_finalized_function(function.0) as usize as u64;
        let addresses = functions.iter().map(address).collect();
        (Finished { module: self.module, entry: entry.0 }, addresses)
    }
}

/// Executable code that nobody has vouched for yet.
pub(crate) struct Finished {
    /// The module, whose functions are all defined.
    pub(crate) module: JITModule,
    /// Where it is entered.
    pub(crate) entry: FuncId,
}

/// A function while its blocks are made.
pub(crate) struct Emitter<'m> {
    /// Makes instructions and blocks.
    pub(crate) ins: FunctionBuilder<'m>,
    entry: Block,
    module: &'m mut JITModule,
}

/// Memory accesses of generated code: never trap, any alignment.
pub(crate) const PLAIN: MemFlagsData = MemFlagsData::new().with_notrap();

impl Emitter<'_> {
    /// The function's parameter `index`.
    pub(crate) fn param(&self, index: usize) -> Value {
        self.ins.block_params(self.entry)[index]
    }

    /// What instructions call `function` by.
    pub(crate) fn callee(&mut self, function: ModuleFunction) -> FuncRef {
        self.module.declare_func_in_func(function.0, self.ins.func)
    }

    /// A function that is defined elsewhere, for calls from here.
    pub(crate) fn import(&mut self, name: &str, params: &[Clif], returns: &[Clif]) -> FuncRef {
        let mut signature = self.module.make_signature();
        signature.params.extend(params.iter().map(|ty| AbiParam::new(*ty)));
        signature.returns.extend(returns.iter().map(|ty| AbiParam::new(*ty)));
        let id = self.module.declare_function(name, Linkage::Import, &signature);
        self.callee(ModuleFunction(id.expect("a symbol has one signature")))
    }

    /// `for (i = start; i + step <= end; i += step) body(i)`; gives the first `i` that was not done.
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

    /// A 64-bit constant.
    pub(crate) fn int(&mut self, value: i64) -> Value {
        self.ins.ins().iconst(types::I64, value)
    }
}

#[cfg(test)]
mod tests {
    use super::PLAIN;

    /// Buffers overlap by plan: what is written under one name is read under another.
    #[test]
    fn no_access_is_said_to_be_apart_from_others() {
        assert_eq!(PLAIN.alias_region(), None);
        assert!(!PLAIN.can_move());
    }
}
