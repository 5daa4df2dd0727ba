//! The generated function for a loop nest, also if no sample had its exact form.
//!
//! A form determines the code of a step (see [`crate::pointwise`] and [`crate::fold`]). It depends on sizes,
//! since neighbouring axes without a gap are collapsed. Code for all sizes is compiled only once, so each
//! expression gets several variants: the forms of the samples, the same forms with one loop for each axis,
//! and a general form with arbitrary strides:
//!
//! ```text
//! x[1,7,7,64] * s[1,1,1,64]  =>  49 rows, both operands contiguous: compiled
//! x[4,7,7,64] * s[4,1,1,64]  =>  4 x 49 rows: the same with three outer loops, of which the first runs once
//! x[4,7,7,1] * s[4,1,1,1]    =>  4 rows, `s` broadcast: the general form, one more loop
//! ```
//! Loops that run once change no element and no order, so the results are the same bits. The descriptor is
//! widened to match.

use crate::call::KernelCode;
use crate::cranelift::{FunctionNumber, ImageBuilder};
use crate::elem::ElemType;
use crate::fold;
use crate::pointwise::expr::{Expr, ExprNode};
use crate::pointwise::nest::Inner;
use crate::pointwise::rows::{DescriptorLayout, widen};
use crate::pointwise::stages::PointwiseForm;
use crate::pointwise::{self, copy_form};

/// The generated functions of one program, by form. `F` identifies a function: a number before linking, an
/// address after.
pub(crate) struct Forms<F> {
    families: Vec<ExprForms<F>>,
    reductions: Vec<(fold::FoldForm, F)>,
}

/// All forms of one expression.
struct ExprForms<F> {
    expr: Expr,
    outputs: Vec<ExprNode>,
    inputs: Vec<ElemType>,
    variants: Vec<LoopVariant<F>>,
}

/// A loop nest.
struct LoopVariant<F> {
    outer: usize,
    inner: Vec<Inner>,
    function: F,
}

impl<F> ExprForms<F> {
    fn is_of(&self, form: &PointwiseForm) -> bool {
        self.inputs == form.inputs && self.outputs == form.outputs && self.expr == form.expr
    }

    /// The variant for a form: the one with the fewest loops, preferably with the form's own innermost
    /// strides.
    fn variant(&self, form: &PointwiseForm) -> Option<&LoopVariant<F>> {
        let wide = self.variants.iter().filter(|variant| variant.outer >= form.outer);
        let fits = |variant: &&LoopVariant<F>| variant.inner == form.inner || is_general(&variant.inner);
        wide.filter(fits).min_by_key(|variant| (variant.inner != form.inner, variant.outer))
    }
}

fn is_general(inner: &[Inner]) -> bool {
    inner.iter().all(|inner| *inner == Inner::Strided)
}

impl Forms<FunctionNumber> {
    /// Compiles the forms of the samples' calls, and with `copied` also the variants for all other sizes.
    /// `copied` has the element types, each with the most axes, that another size may need to copy although
    /// no sample does.
    pub(crate) fn compile<'s>(
        image: &mut ImageBuilder,
        codes: impl Iterator<Item = &'s KernelCode>,
        copied: Option<&[(ElemType, usize)]>,
    ) -> Forms<FunctionNumber> {
        let has_others = copied.is_some();
        let copied = copied.unwrap_or_default().iter();
        let mut wanted: Vec<(PointwiseForm, usize)> =
            copied.map(|(elem, axes)| (copy_form(*elem), *axes)).collect();
        let mut folds: Vec<fold::FoldForm> = Vec::new();
        for code in codes {
            match code {
                KernelCode::Kernel(_) => {}
                KernelCode::Pointwise { form, axes } => {
                    match wanted.iter_mut().find(|known| known.0 == **form) {
                        Some(known) => known.1 = known.1.max(*axes),
                        None => wanted.push(((**form).clone(), *axes)),
                    }
                }
                KernelCode::Reduce { form, axes } => {
                    folds.push(*form);
                    folds.extend(has_others.then(|| form.general(*axes)).into_iter().flatten());
                }
            }
        }
        let mut forms = Forms { families: Vec::new(), reductions: Vec::new() };
        for (form, axes) in &wanted {
            forms.add(image, form);
            if has_others {
                forms.add_general(image, form, *axes);
            }
        }
        for form in folds {
            if !forms.reductions.iter().any(|known| known.0 == form) {
                let name = format!("optc_reduce_{}", forms.reductions.len());
                forms.reductions.push((form, fold::emit(image, &name, form)));
            }
        }
        forms
    }

    /// Adds the variant of a form with a loop for each axis, and the general one.
    fn add_general(&mut self, image: &mut ImageBuilder, form: &PointwiseForm, axes: usize) {
        let outer = axes.max(1) - 1;
        self.add(image, &PointwiseForm { outer, ..form.clone() });
        self.add(
            image,
            &PointwiseForm { outer, inner: vec![Inner::Strided; form.inner.len()], ..form.clone() },
        );
    }

    fn add(&mut self, image: &mut ImageBuilder, form: &PointwiseForm) {
        let number: usize = self.families.iter().map(|family| family.variants.len()).sum();
        let family = self.families.iter().position(|family| family.is_of(form)).unwrap_or_else(|| {
            let PointwiseForm { expr, outputs, inputs, .. } = form.clone();
            self.families.push(ExprForms { expr, outputs, inputs, variants: Vec::new() });
            self.families.len() - 1
        });
        let variants = &mut self.families[family].variants;
        if !variants.iter().any(|known| known.outer == form.outer && known.inner == form.inner) {
            let function = pointwise::emit::emit(image, &format!("optc_pointwise_{number}"), form);
            variants.push(LoopVariant { outer: form.outer, inner: form.inner.clone(), function });
        }
    }

    /// The same forms with the addresses of the image's functions.
    pub(crate) fn located(self, addresses: &[u64]) -> Forms<u64> {
        let address = |function: FunctionNumber| addresses[function.index()];
        let variant = |LoopVariant { outer, inner, function }: LoopVariant<FunctionNumber>| LoopVariant {
            outer,
            inner,
            function: address(function),
        };
        let mut families = Vec::new();
        for ExprForms { expr, outputs, inputs, variants } in self.families {
            let variants = variants.into_iter().map(&variant).collect();
            families.push(ExprForms { expr, outputs, inputs, variants });
        }
        let reductions =
            self.reductions.into_iter().map(|(form, function)| (form, address(function))).collect();
        Forms { families, reductions }
    }
}

impl Forms<u64> {
    /// The address of the function for some code, with a widened descriptor if `own` does not fit it; none if
    /// there is no such function.
    pub(crate) fn function(&self, code: &KernelCode, own: &[u8]) -> Option<(u64, Option<Vec<u8>>)> {
        match code {
            KernelCode::Kernel(entry) => Some((*entry as usize as u64, None)),
            KernelCode::Pointwise { form, .. } => {
                let family = self.families.iter().find(|family| family.is_of(form))?;
                let variant = family.variant(form)?;
                let [from, to] = [form.outer, variant.outer].map(|outer| DescriptorLayout { outer });
                let is_same = form.outer == variant.outer;
                let wide = (!is_same).then(|| widen(own, form.inner.len(), from, to));
                Some((variant.function, wide))
            }
            KernelCode::Reduce { form, .. } => {
                let serving = self.reductions.iter().filter(|known| known.0.serves(*form));
                let (wide, function) = serving.min_by_key(|known| known.0.loops())?;
                let descriptor = (wide != form).then(|| form.widen(own, *wide));
                Some((*function, descriptor))
            }
        }
    }
}
