//! What is changed in a file of Rust: the mutants of its expressions, statements and functions.
//!
//! Each mutant is a range of bytes with what is put before and after it, so that several of one file stand in
//! one build: `(if ::mutant::on(7) { a <= b } else { a < b })`. Tests, constants, patterns, types and macros
//! are left alone.

use std::ops::Range;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Block, Expr, ExprBinary, ExprMethodCall, Lit, ReturnType, Signature, Stmt, Type};

/// One change of one place.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// The changed bytes of the file; empty for a place where something is put in.
    pub range: Range<usize>,
    /// The line of the file, from 1.
    pub line: usize,
    /// What is done, for people.
    pub what: String,
    /// What becomes of the range.
    pub change: Change,
}

/// How a place is changed.
#[derive(Clone, Debug)]
pub enum Change {
    /// The expression is this text.
    Expression(String),
    /// The statement is left out.
    Leave,
    /// The function returns this at its beginning.
    Return(String),
}

/// Pairs of methods of which one stands for the other.
const METHODS: [(&str, &str); 9] = [
    ("min", "max"),
    ("any", "all"),
    ("is_some", "is_none"),
    ("first", "last"),
    ("is_some_and", "is_none_or"),
    ("min_by_key", "max_by_key"),
    ("position", "rposition"),
    ("saturating_sub", "saturating_add"),
    ("starts_with", "ends_with"),
];

/// Methods whose closure is a condition.
const FILTERS: [&str; 8] =
    ["filter", "any", "all", "take_while", "skip_while", "position", "find", "is_some_and"];

/// All mutants of a file, in the order of their places.
///
/// # Errors
/// If the text is not Rust.
pub fn mutants(text: &str) -> syn::Result<Vec<Mutant>> {
    let file = syn::parse_file(text)?;
    let mut finder = Finder { text, found: Vec::new() };
    finder.visit_file(&file);
    finder.found.sort_by_key(|mutant| (mutant.range.start, mutant.range.end));
    Ok(finder.found)
}

struct Finder<'t> {
    text: &'t str,
    found: Vec<Mutant>,
}

/// Whether attributes leave an item to tests, or to Miri.
fn is_test(attrs: &[syn::Attribute]) -> bool {
    attrs.iter().any(|attr| {
        attr.path().is_ident("test")
            || attr.path().is_ident("cfg")
                && attr
                    .parse_args::<syn::Path>()
                    .is_ok_and(|path| path.is_ident("test") || path.is_ident("miri"))
    })
}

/// Whether an expression holds a `let` that binds names for what comes after.
fn holds_let(expr: &Expr) -> bool {
    match expr {
        Expr::Let(_) => true,
        Expr::Binary(ExprBinary { left, right, op: BinOp::And(_), .. }) => {
            holds_let(left) || holds_let(right)
        }
        _ => false,
    }
}

impl Finder<'_> {
    fn slice(&self, node: &impl Spanned) -> &str {
        &self.text[node.span().byte_range()]
    }

    fn add(&mut self, node: &impl Spanned, what: String, change: Change) {
        let span = node.span();
        self.found.push(Mutant { range: span.byte_range(), line: span.start().line, what, change });
    }

    /// The expression as another text.
    fn replace(&mut self, node: &impl Spanned, text: String) {
        let short = |text: &str| {
            let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
            line.chars().take(70).collect::<String>()
        };
        let what = format!("`{}` -> `{}`", short(self.slice(node)), short(&text));
        self.add(node, what, Change::Expression(text));
    }

    fn binary(&mut self, node: &ExprBinary) {
        let [left, right] = [&node.left, &node.right].map(|side| self.slice(side).to_owned());
        let other = match node.op {
            BinOp::Lt(_) => "<=",
            BinOp::Le(_) => "<",
            BinOp::Gt(_) => ">=",
            BinOp::Ge(_) => ">",
            BinOp::Eq(_) => "!=",
            BinOp::Ne(_) => "==",
            BinOp::Add(_) => "-",
            BinOp::Sub(_) | BinOp::Mul(_) => "+",
            BinOp::Div(_) => "*",
            BinOp::Rem(_) => "/",
            BinOp::AddAssign(_) => "-=",
            BinOp::SubAssign(_) | BinOp::MulAssign(_) => "+=",
            BinOp::And(_) if !holds_let(&node.left) && !holds_let(&node.right) => {
                self.replace(node, left.clone());
                self.replace(node, right.clone());
                "||"
            }
            BinOp::Or(_) => {
                self.replace(node, left.clone());
                self.replace(node, right.clone());
                "&&"
            }
            _ => return,
        };
        self.replace(node, format!("{left} {other} {right}"));
        if matches!(node.op, BinOp::Sub(_)) {
            self.replace(node, format!("{right} - ({left})"));
        }
    }

    fn method(&mut self, node: &ExprMethodCall) {
        let name = node.method.to_string();
        let other =
            METHODS.iter().find_map(|(a, b)| if *a == name { Some(*b) } else { (*b == name).then_some(*a) });
        if let Some(other) = other {
            let start = node.span().byte_range().start;
            let method = node.method.span().byte_range();
            let end = node.span().byte_range().end;
            let text = format!("{}{other}{}", &self.text[start..method.start], &self.text[method.end..end]);
            self.replace(node, text);
        }
        if ["then", "then_some"].contains(&name.as_str()) {
            self.replace(&node.receiver, "true".into());
        }
        if FILTERS.contains(&name.as_str())
            && let Some(Expr::Closure(closure)) = node.args.first()
            && !matches!(*closure.body, Expr::Block(_))
        {
            self.replace(&closure.body, "true".into());
        }
    }

    /// A condition as one that always, and one that never holds.
    fn condition(&mut self, cond: &Expr) {
        if !holds_let(cond) {
            self.replace(cond, "true".into());
            self.replace(cond, "false".into());
        }
    }

    fn literal(&mut self, node: &syn::ExprLit) {
        match &node.lit {
            Lit::Int(int) if !self.slice(node).starts_with("0x") => {
                let Ok(value) = int.base10_parse::<u64>() else { return };
                let suffix = int.suffix();
                self.replace(node, format!("{}{suffix}", value + 1));
                if value > 0 {
                    self.replace(node, format!("{}{suffix}", value - 1));
                }
            }
            Lit::Float(float) => {
                let Ok(value) = float.base10_parse::<f64>() else { return };
                self.replace(node, format!("{:?}{}", value + 1.0, float.suffix()));
            }
            Lit::Bool(value) => self.replace(node, (!value.value).to_string()),
            _ => {}
        }
    }

    fn function(&mut self, sig: &Signature, block: &Block) {
        let ReturnType::Type(_, ty) = &sig.output else { return };
        let Type::Path(path) = &**ty else { return };
        let Some(last) = path.path.segments.last() else { return };
        let values: &[&str] = match last.ident.to_string().as_str() {
            "bool" => &["true", "false"],
            "Option" => &["None"],
            "Vec" => &["Vec::new()"],
            "u64" | "usize" | "i64" | "u32" | "i32" => &["0", "1"],
            _ => &[],
        };
        let start = block.brace_token.span.open().byte_range().end;
        let line = sig.ident.span().start().line;
        for value in values {
            let what = format!("`{}` returns {value}", sig.ident);
            let change = Change::Return((*value).into());
            self.found.push(Mutant { range: start..start, line, what, change });
        }
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_mod(&mut self, node: &'ast syn::ItemMod) {
        if !is_test(&node.attrs) {
            visit::visit_item_mod(self, node);
        }
    }

    fn visit_item_fn(&mut self, node: &'ast syn::ItemFn) {
        if !is_test(&node.attrs) && node.sig.constness.is_none() {
            self.function(&node.sig, &node.block);
            visit::visit_block(self, &node.block);
        }
    }

    fn visit_impl_item_fn(&mut self, node: &'ast syn::ImplItemFn) {
        if !is_test(&node.attrs) && node.sig.constness.is_none() {
            self.function(&node.sig, &node.block);
            visit::visit_block(self, &node.block);
        }
    }

    fn visit_item_impl(&mut self, node: &'ast syn::ItemImpl) {
        if !is_test(&node.attrs) {
            node.items.iter().for_each(|item| self.visit_impl_item(item));
        }
    }

    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}

    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}

    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}

    fn visit_item_enum(&mut self, _: &'ast syn::ItemEnum) {}

    fn visit_type(&mut self, _: &'ast Type) {}

    fn visit_pat(&mut self, _: &'ast syn::Pat) {}

    fn visit_path(&mut self, _: &'ast syn::Path) {}

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    fn visit_angle_bracketed_generic_arguments(&mut self, _: &'ast syn::AngleBracketedGenericArguments) {}

    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}

    fn visit_expr_repeat(&mut self, node: &'ast syn::ExprRepeat) {
        self.visit_expr(&node.expr);
    }

    fn visit_expr_binary(&mut self, node: &'ast ExprBinary) {
        self.binary(node);
        visit::visit_expr_binary(self, node);
    }

    fn visit_expr_unary(&mut self, node: &'ast syn::ExprUnary) {
        if matches!(node.op, syn::UnOp::Not(_)) {
            let inner = self.slice(&node.expr).to_owned();
            self.replace(node, inner);
        }
        visit::visit_expr_unary(self, node);
    }

    fn visit_expr_method_call(&mut self, node: &'ast ExprMethodCall) {
        self.method(node);
        visit::visit_expr_method_call(self, node);
    }

    fn visit_expr_if(&mut self, node: &'ast syn::ExprIf) {
        self.condition(&node.cond);
        visit::visit_expr_if(self, node);
    }

    fn visit_arm(&mut self, node: &'ast syn::Arm) {
        if let Some((_, guard)) = &node.guard {
            self.condition(guard);
        }
        visit::visit_arm(self, node);
    }

    fn visit_expr_lit(&mut self, node: &'ast syn::ExprLit) {
        self.literal(node);
    }

    fn visit_expr_field(&mut self, node: &'ast syn::ExprField) {
        let other = match self.slice(&node.member) {
            "start" => "end",
            "end" => "start",
            _ => return visit::visit_expr_field(self, node),
        };
        let base = self.slice(&node.base).to_owned();
        self.replace(node, format!("{base}.{other}"));
        visit::visit_expr_field(self, node);
    }

    fn visit_stmt(&mut self, node: &'ast Stmt) {
        if let Stmt::Expr(expr, Some(_)) = node {
            let is_left = match expr {
                Expr::MethodCall(_) | Expr::Assign(_) => true,
                Expr::Binary(binary) => matches!(
                    binary.op,
                    BinOp::AddAssign(_) | BinOp::SubAssign(_) | BinOp::MulAssign(_) | BinOp::BitOrAssign(_)
                ),
                _ => false,
            };
            if is_left {
                let text: String = self.slice(expr).split_whitespace().collect::<Vec<_>>().join(" ");
                let what = format!("without `{}`", text.chars().take(70).collect::<String>());
                self.add(node, what, Change::Leave);
            }
        }
        visit::visit_stmt(self, node);
    }
}
