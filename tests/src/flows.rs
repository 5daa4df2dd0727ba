//! Random functions with branches, loops and blocks, as text.

use std::fmt::Write;

use crate::random::Random;

const TENSOR: &str = "tensor<3x8xf32>";
/// The shape of every tensor.
pub const SHAPE: [u64; 2] = [3, 8];

/// A function under construction, as text.
struct Writer {
    random: Random,
    text: String,
    next: usize,
    /// Tensors in scope.
    tensors: Vec<String>,
    /// Booleans in scope.
    truths: Vec<String>,
    /// Row indices in scope.
    rows: Vec<String>,
}

impl Writer {
    fn name(&mut self) -> String {
        self.next += 1;
        format!("%v{}", self.next)
    }

    fn line(&mut self, text: &str) {
        writeln!(self.text, "  {text}").expect("writing to a string");
    }

    fn tensor(&mut self) -> String {
        let recent = self.tensors.len().saturating_sub(4);
        let index = match self.random.below(3) {
            0 => self.random.below(self.tensors.len()),
            _ => recent + self.random.below(self.tensors.len() - recent),
        };
        self.tensors[index].clone()
    }

    fn tensors(&mut self, count: usize) -> Vec<String> {
        (0..count).map(|_| self.tensor()).collect()
    }

    /// Statements in a scope of their own; some of their values are its results.
    fn region(&mut self, depth: usize, results: usize) -> Vec<String> {
        let (tensors, truths) = (self.tensors.len(), self.truths.len());
        for _ in 0..1 + self.random.below(4) {
            self.statement(depth);
        }
        let given = self.tensors(results);
        self.tensors.truncate(tensors);
        self.truths.truncate(truths);
        given
    }

    fn statement(&mut self, depth: usize) {
        match self.random.below(if depth > 0 { 13 } else { 9 }) {
            0..=2 => self.unary(),
            3 | 4 => self.binary(),
            5 => self.product(),
            6 | 7 => self.write_row(),
            8 => self.fill(),
            9 | 10 => self.choice(depth - 1),
            11 => self.count(depth - 1),
            _ => self.repeat(depth - 1),
        }
    }

    /// Writes a row of one tensor to a row of another, like the loops that write one slice in each iteration.
    fn write_row(&mut self) {
        let [row, new, name] = [self.name(), self.name(), self.name()];
        let [x, y] = [self.tensor(), self.tensor()];
        let [from, to] = [self.random.below(self.rows.len()), self.random.below(self.rows.len())];
        let [from, to] = [&self.rows[from], &self.rows[to]].map(String::clone);
        let rows = "tensor<1x8xf32>";
        self.line(&format!(
            "{row} = nn.gather {x}, {from} {{axis = 0 : i64}} : ({TENSOR}, tensor<1xi64>) -> {rows}"
        ));
        self.line(&format!("{new} = nn.sin {row} : {rows}"));
        self.line(&format!(
            "{name} = nn.scatter {y}, {to}, {new} : ({TENSOR}, tensor<1xi64>, {rows}) -> {TENSOR}"
        ));
        self.tensors.push(name);
    }

    fn fill(&mut self) {
        let name = self.name();
        self.line(&format!(
            "{name} = optc.fill {{shape = array<i64: 3, 8>, to = f32, value = 0.5 : f32}} : {TENSOR}"
        ));
        self.tensors.push(name);
    }

    fn unary(&mut self) {
        let name = self.name();
        let x = self.tensor();
        let op = self.random.pick(&["neg", "relu", "tanh", "abs", "sigmoid", "sin"]);
        self.line(&format!("{name} = nn.{op} {x} : {TENSOR}"));
        self.tensors.push(name);
    }

    fn binary(&mut self) {
        let name = self.name();
        let sum = self.name();
        let x = self.tensor();
        let y = self.tensor();
        let op = self.random.pick(&["add", "sub", "mul", "max"]);
        self.line(&format!("{sum} = nn.{op} {x}, {y} : {TENSOR}"));
        self.line(&format!("{name} = nn.tanh {sum} : {TENSOR}"));
        self.tensors.push(name);
    }

    fn product(&mut self) {
        let name = self.name();
        let x = self.tensor();
        self.line(&format!("{name} = nn.matmul {x}, %w : ({TENSOR}, tensor<8x8xf32>) -> {TENSOR}"));
        self.tensors.push(name);
    }

    fn truth(&mut self) -> String {
        let index = self.random.below(self.truths.len());
        self.truths[index].clone()
    }

    fn results(&mut self) -> (usize, String, String) {
        let count = 1 + self.random.below(3);
        let name = self.name();
        (count, name, vec![TENSOR; count].join(", "))
    }

    fn keep(&mut self, name: &str, count: usize) {
        self.tensors.extend((0..count).map(|index| format!("{name}#{index}")));
    }

    fn choice(&mut self, depth: usize) {
        let (count, name, types) = self.results();
        let truth = self.truth();
        self.line(&format!("{name}:{count} = \"scf.if\"({truth}) ({{"));
        for end in ["}, {", &format!("}}) : (i1) -> ({types})")] {
            let given = self.region(depth, count).join(", ");
            self.line(&format!("\"scf.yield\"({given}) : ({types}) -> ()"));
            self.line(end);
        }
        self.keep(&name, count);
    }

    fn count(&mut self, depth: usize) {
        let (count, name, types) = self.results();
        let initial = self.tensors(count).join(", ");
        let upper = self.random.pick(&["%zero", "%one", "%n"]);
        let counter = self.name();
        let truth = self.name();
        let args: Vec<String> = (0..count).map(|_| self.name()).collect();
        let typed: Vec<String> = args.iter().map(|arg| format!("{arg}: {TENSOR}")).collect();
        self.line(&format!("{name}:{count} = \"scf.for\"(%zero, {upper}, %one, {initial}) ({{"));
        self.line(&format!("^bb0({counter}: index, {}):", typed.join(", ")));
        self.line(&format!("{truth} = arith.cmpi slt, {counter}, %one : index"));
        let row = self.row_of(&counter);
        let (tensors, truths, rows) = (self.tensors.len(), self.truths.len(), self.rows.len());
        self.tensors.extend(args);
        self.truths.push(truth);
        self.rows.push(row);
        let given = self.region(depth, count).join(", ");
        self.tensors.truncate(tensors);
        self.truths.truncate(truths);
        self.rows.truncate(rows);
        self.line(&format!("\"scf.yield\"({given}) : ({types}) -> ()"));
        self.line(&format!("}}) : (index, index, index, {types}) -> ({types})"));
        self.keep(&name, count);
    }

    /// A row index from a loop counter.
    fn row_of(&mut self, counter: &str) -> String {
        let [number, value, row] = [self.name(), self.name(), self.name()];
        self.line(&format!("{number} = arith.index_cast {counter} : index to i64"));
        self.line(&format!("{value} = nn.from_scalar {number} : (i64) -> tensor<i64>"));
        self.line(&format!(
            "{row} = nn.reshape {value} {{shape = array<i64: 1>}} : (tensor<i64>) -> tensor<1xi64>"
        ));
        row
    }

    /// A loop with a carried counter.
    fn repeat(&mut self, depth: usize) {
        let (count, name, types) = self.results();
        let initial = self.tensors(count).join(", ");
        let [before, after, truth, next] = [self.name(), self.name(), self.name(), self.name()];
        let args: Vec<String> = (0..2 * count).map(|_| self.name()).collect();
        let typed = |args: &[String]| {
            args.iter().map(|arg| format!("{arg}: {TENSOR}")).collect::<Vec<_>>().join(", ")
        };
        self.line(&format!("{name}:{} = \"scf.while\"({initial}, %f0) ({{", count + 1));
        self.line(&format!("^bb0({}, {before}: f32):", typed(&args[..count])));
        let tensors = self.tensors.len();
        self.tensors.extend_from_slice(&args[..count]);
        let given = self.region(depth, count).join(", ");
        self.line(&format!("{truth} = arith.cmpf olt, {before}, %limit : f32"));
        self.line(&format!("\"scf.condition\"({truth}, {given}, {before}) : (i1, {types}, f32) -> ()"));
        self.tensors.truncate(tensors);
        self.line("}, {");
        self.line(&format!("^bb0({}, {after}: f32):", typed(&args[count..])));
        self.tensors.extend_from_slice(&args[count..]);
        let given = self.region(depth, count).join(", ");
        self.line(&format!("{next} = arith.addf {after}, %f1 : f32"));
        self.line(&format!("\"scf.yield\"({given}, {next}) : ({types}, f32) -> ()"));
        self.tensors.truncate(tensors);
        self.line(&format!("}}) : ({types}, f32) -> ({types}, f32)"));
        self.keep(&name, count);
    }

    /// A loop of blocks around a branch.
    fn blocks(&mut self) {
        let initial = self.tensors(2).join(", ");
        let [a, b, number, truth, next] = [self.name(), self.name(), self.name(), self.name(), self.name()];
        let chosen = self.name();
        self.line(&format!("\"cf.br\"({initial}, %f0)[^head] : ({TENSOR}, {TENSOR}, f32) -> ()"));
        self.line(&format!("^head({a}: {TENSOR}, {b}: {TENSOR}, {number}: f32):"));
        self.tensors.extend([a.clone(), b.clone()]);
        self.unary();
        self.line(&format!("{truth} = arith.cmpf olt, {number}, %limit : f32"));
        let out = self.tensor();
        self.line(&format!(
            "\"cf.cond_br\"({truth}, {out})[^body, ^exit] <{{operandSegmentSizes = array<i32: 1, 0, 1>}}> : (i1, {TENSOR}) -> ()"
        ));
        let visible = self.tensors.len();
        self.line("^body:");
        let (flag, [x, y]) =
            (self.truth(), [self.region(2, 1), self.region(1, 1)].map(|mut given| given.remove(0)));
        let (x, y) = if self.tensors.contains(&x) && self.tensors.contains(&y) { (x, y) } else { (a, b) };
        self.line(&format!(
            "\"cf.cond_br\"({flag}, {x}, {y})[^join, ^join] <{{operandSegmentSizes = array<i32: 1, 1, 1>}}> : (i1, {TENSOR}, {TENSOR}) -> ()"
        ));
        self.line(&format!("^join({chosen}: {TENSOR}):"));
        self.tensors.push(chosen);
        self.statement(1);
        self.line(&format!("{next} = arith.addf {number}, %f1 : f32"));
        let given = self.tensors(2).join(", ");
        self.line(&format!("\"cf.br\"({given}, {next})[^head] : ({TENSOR}, {TENSOR}, f32) -> ()"));
        self.tensors.truncate(visible);
        let result = self.name();
        self.line(&format!("^exit({result}: {TENSOR}):"));
        self.tensors.push(result);
    }
}

/// A function of two tensors, a boolean, a number of iterations, and a limit.
pub fn function(seed: u64) -> String {
    let truths = vec!["%c".to_owned()];
    let tensors = vec!["%x".to_owned(), "%y".to_owned()];
    let rows = vec!["%last".to_owned()];
    let mut writer =
        Writer { random: Random::new(seed), text: String::new(), next: 0, tensors, truths, rows };
    writer.line(&format!(
        "func.func @main(%x: {TENSOR}, %y: {TENSOR}, %c: i1, %n: index, %limit: f32) -> ({TENSOR}, {TENSOR}) {{"
    ));
    let row = |row: usize| {
        let numbers =
            (0..8).map(|column| format!("{:?}", ((row * 5 + column * 3) % 11) as f32 / 16.0 - 0.25));
        format!("[{}]", numbers.collect::<Vec<_>>().join(", "))
    };
    let rows = (0..8).map(row).collect::<Vec<_>>().join(", ");
    writer.line(&format!("%w = nn.constant dense<[{rows}]> : tensor<8x8xf32>"));
    writer.line("%last = nn.constant dense<2> : tensor<1xi64>");
    for (name, value) in
        [("zero", "0 : index"), ("one", "1 : index"), ("f0", "0.0 : f32"), ("f1", "1.0 : f32")]
    {
        writer.line(&format!("%{name} = arith.constant {value}"));
    }
    for round in 0..3 + seed % 3 {
        writer.statement(2);
        if round == 1 && seed % 2 == 1 {
            writer.blocks();
        }
    }
    let (x, y) = (writer.tensor(), writer.tensor());
    writer.line(&format!("return {x}, {y} : {TENSOR}, {TENSOR}"));
    writer.line("}");
    writer.text
}
