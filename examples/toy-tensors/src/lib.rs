//! A small language with optc as its back end: it parses a text, builds a function, and compiles it.
//!
//! ```text
//! input x [2, 3]                  # an input from the caller
//! let w = [[1, 0], [0, 1], [1, 1]]
//! let h = relu(x @ w - 0.5)       # sizes broadcast, as in numpy
//! output softmax(h, 1)
//! output sum(h * h, 0)
//! ```
//!
//! Operators are `+ - * /`, and `@` for the product of matrices; functions are `exp`, `log`, `relu`, `tanh`,
//! `sigmoid`, `sqrt`, and with an axis `sum`, `max`, `mean`, `softmax`. All numbers are f32.

use std::collections::HashMap;
use std::iter::Peekable;
use std::sync::Arc;
use std::vec::IntoIter;

use optc::prelude::*;

/// Compiles a program.
///
/// # Errors
/// The fault of the program, with its line.
pub fn compile(text: &str, options: &CompileOptions) -> Result<Model, Box<dyn std::error::Error>> {
    let mut module = build(text)?;
    Ok(Model::compile(&mut module, options)?)
}

/// The module of a program: its function is `main`.
///
/// # Errors
/// The fault of the program, with its line.
pub fn build(text: &str) -> Result<Module, String> {
    let ctx = Arc::new(Context::new());
    let lines = text.lines().map(tokens).enumerate().filter(|(_, line)| !line.is_empty());
    let lines: Vec<(usize, Vec<Token>)> = lines.collect();
    let (inputs, rest): (Vec<_>, Vec<_>) = lines.into_iter().partition(|(_, line)| line[0] == word("input"));
    let mut named = Vec::new();
    for (number, line) in &inputs {
        let shape: Option<Vec<u64>> = line.get(2..).and_then(shape);
        let (Some(Token::Word(name)), Some(shape)) = (line.get(1), shape) else {
            return Err(format!("line {}: expected `input NAME [SIZE, ...]`", number + 1));
        };
        named.push((name.as_str(), ctx.tensor(&shape, ctx.f32())));
    }
    let mut module = Module::new(ctx);
    let builder = FunctionBuilder::new(&mut module, "main", &named);
    let names = named.iter().enumerate().map(|(index, (name, _))| ((*name).to_owned(), builder.input(index)));
    let mut program = Compiler { names: names.collect(), builder, outputs: Vec::new() };
    for (number, line) in rest {
        program.statement(line).map_err(|fault| format!("line {}: {fault}", number + 1))?;
    }
    let Compiler { builder, outputs, .. } = program;
    let outputs: Vec<(&str, Value)> = outputs.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    builder.finish(&outputs).map_err(|error| error.to_string())?;
    Ok(module)
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Number(f32),
    Mark(char),
}

fn word(text: &str) -> Token {
    Token::Word(text.to_owned())
}

/// The tokens of a line, up to its comment.
fn tokens(line: &str) -> Vec<Token> {
    let mut rest = line.split('#').next().unwrap_or_default().trim_start();
    let mut found = Vec::new();
    while let Some(first) = rest.chars().next() {
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len()).max(first.len_utf8());
        let (token, after) = rest.split_at(length);
        found.push(match token.parse() {
            Ok(number) if first.is_ascii_digit() => Token::Number(number),
            _ if is_part(first) => word(token),
            _ => Token::Mark(first),
        });
        rest = after.trim_start();
    }
    found
}

/// `[2, 3]`.
fn shape(tokens: &[Token]) -> Option<Vec<u64>> {
    let (Token::Mark('['), inside) = tokens.split_first()? else { return None };
    let (Token::Mark(']'), inside) = inside.split_last()? else { return None };
    let size = |tokens: &[Token]| match tokens {
        [Token::Number(size)] => Some(*size as u64),
        _ => None,
    };
    inside.split(|token| *token == Token::Mark(',')).map(size).collect()
}

type Line = Peekable<IntoIter<Token>>;

struct Compiler<'m> {
    builder: FunctionBuilder<'m>,
    names: HashMap<String, Value>,
    outputs: Vec<(String, Value)>,
}

impl Compiler<'_> {
    fn statement(&mut self, line: Vec<Token>) -> Result<(), String> {
        let mut line = line.into_iter().peekable();
        match line.next() {
            Some(Token::Word(verb)) if verb == "let" => {
                let (Some(Token::Word(name)), Some(Token::Mark('='))) = (line.next(), line.next()) else {
                    return Err("expected `let NAME = ...`".to_owned());
                };
                let value = self.sum(&mut line)?;
                self.names.insert(name, value);
            }
            Some(Token::Word(verb)) if verb == "output" => {
                let value = self.sum(&mut line)?;
                self.outputs.push((format!("output{}", self.outputs.len()), value));
            }
            other => return Err(format!("expected `input`, `let` or `output`, found {other:?}")),
        }
        line.next().map_or(Ok(()), |rest| Err(format!("{rest:?} follows the end")))
    }

    fn sum(&mut self, line: &mut Line) -> Result<Value, String> {
        let mut value = self.product(line)?;
        while let Some(op) = operator(line, &[('+', "nn.add"), ('-', "nn.sub")]) {
            let other = self.product(line)?;
            value = self.op(op, &[value, other])?;
        }
        Ok(value)
    }

    fn product(&mut self, line: &mut Line) -> Result<Value, String> {
        let mut value = self.factor(line)?;
        while let Some(op) = operator(line, &[('*', "nn.mul"), ('/', "nn.div"), ('@', "nn.matmul")]) {
            let other = self.factor(line)?;
            value = self.op(op, &[value, other])?;
        }
        Ok(value)
    }

    fn factor(&mut self, line: &mut Line) -> Result<Value, String> {
        match line.next() {
            Some(Token::Number(number)) => Ok(self.builder.splat(&[], number)),
            Some(Token::Mark('[')) => {
                let (mut shape, mut numbers) = (Vec::new(), Vec::new());
                array(line, 0, &mut shape, &mut numbers)?;
                self.builder.constant(&shape, &numbers).map_err(|error| error.to_string())
            }
            Some(Token::Mark('(')) => {
                let value = self.sum(line)?;
                expect(line, ')')?;
                Ok(value)
            }
            Some(Token::Word(name)) if line.next_if_eq(&Token::Mark('(')).is_some() => {
                let value = self.sum(line)?;
                let axis = match line.next_if_eq(&Token::Mark(',')).and_then(|_| line.next()) {
                    Some(Token::Number(axis)) => Some(axis as i64),
                    _ => None,
                };
                expect(line, ')')?;
                self.call(&name, value, axis)
            }
            Some(Token::Word(name)) => {
                self.names.get(&name).copied().ok_or_else(|| format!("nothing is called `{name}`"))
            }
            other => Err(format!("expected a value, found {other:?}")),
        }
    }

    fn call(&mut self, name: &str, value: Value, axis: Option<i64>) -> Result<Value, String> {
        let op = match (name, axis) {
            ("exp" | "log" | "relu" | "tanh" | "sigmoid" | "sqrt", None) => {
                return self.op(&format!("nn.{name}"), &[value]);
            }
            ("softmax", Some(axis)) => self.builder.op("nn.softmax").operands(&[value]).int("axis", axis),
            ("sum" | "max" | "mean", Some(axis)) => {
                self.builder.op(&format!("nn.reduce_{name}")).operands(&[value]).ints("axes", &[axis])
            }
            _ => return Err(format!("there is no function `{name}` of these arguments")),
        };
        op.build().map_err(|error| error.to_string())
    }

    fn op(&mut self, name: &str, operands: &[Value]) -> Result<Value, String> {
        self.builder.op(name).operands(operands).build().map_err(|error| error.to_string())
    }
}

fn operator(line: &mut Line, known: &[(char, &'static str)]) -> Option<&'static str> {
    let op = known.iter().find(|(mark, _)| line.peek() == Some(&Token::Mark(*mark)))?.1;
    line.next();
    Some(op)
}

fn expect(line: &mut Line, mark: char) -> Result<(), String> {
    line.next_if_eq(&Token::Mark(mark)).map(|_| ()).ok_or_else(|| format!("expected `{mark}`"))
}

/// The inside of `[[1, 2], [3, 4]]`, whose rows are equally long.
fn array(line: &mut Line, depth: usize, shape: &mut Vec<u64>, numbers: &mut Vec<f32>) -> Result<(), String> {
    let mut count = 0;
    loop {
        match line.next() {
            Some(Token::Number(number)) => numbers.push(number),
            Some(Token::Mark('-')) => match line.next() {
                Some(Token::Number(number)) => numbers.push(-number),
                other => return Err(format!("expected a number, found {other:?}")),
            },
            Some(Token::Mark('[')) => array(line, depth + 1, shape, numbers)?,
            other => return Err(format!("expected a number or `[`, found {other:?}")),
        }
        count += 1;
        if line.next_if_eq(&Token::Mark(']')).is_some() {
            break;
        }
        expect(line, ',')?;
    }
    if shape.len() <= depth {
        shape.resize(depth + 1, 0);
    }
    if shape[depth] != 0 && shape[depth] != count {
        return Err("the rows of an array are equally long".to_owned());
    }
    shape[depth] = count;
    Ok(())
}
