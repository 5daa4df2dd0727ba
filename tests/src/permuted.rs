//! Random functions, as text, that permute values of several sizes: on both edges of branches, in loops, and
//! at the exits of branches. Some values are passed twice, and others are dropped.

use std::fmt::Write;

use crate::random::Random;

const TYPES: [&str; 3] = ["tensor<3x8xf32>", "tensor<5xf32>", "tensor<2x33xf32>"];
/// The number of passed values of each type.
const EACH: [usize; 3] = [3, 2, 2];

struct Writer {
    random: Random,
    text: String,
    next: usize,
}

/// A value for each position; positions of equal type are consecutive.
type Places = Vec<String>;

impl Writer {
    fn name(&mut self) -> String {
        self.next += 1;
        format!("%v{}", self.next)
    }

    fn line(&mut self, text: &str) {
        writeln!(self.text, "  {text}").expect("writing to a string");
    }

    fn names(&mut self) -> Places {
        (0..EACH.iter().sum()).map(|_| self.name()).collect()
    }

    /// The values permuted within their types, a few of them twice.
    fn moved(&mut self, values: &Places) -> Places {
        let mut moved = values.clone();
        let mut first = 0;
        for count in EACH {
            for at in 0..count {
                let other = self.random.below(count);
                moved.swap(first + at, first + other);
            }
            if self.random.below(4) == 0 {
                moved[first] = moved[first + 1].clone();
            }
            first += count;
        }
        moved
    }

    /// The values after operations on some of them.
    fn changed(&mut self, values: &Places) -> Places {
        let mut changed = values.clone();
        for _ in 0..self.random.below(3) {
            let at = self.random.below(changed.len());
            let name = self.name();
            let op = self.random.pick(&["neg", "abs", "relu"]);
            self.line(&format!("{name} = nn.{op} {} : {}", changed[at], type_of(at)));
            changed[at] = name;
        }
        changed
    }
}

fn type_of(place: usize) -> &'static str {
    let mut first = 0;
    for (ty, count) in TYPES.into_iter().zip(EACH) {
        first += count;
        if place < first {
            return ty;
        }
    }
    TYPES[0]
}

fn types() -> String {
    (0..EACH.iter().sum()).map(type_of).collect::<Vec<_>>().join(", ")
}

fn typed(values: &Places) -> String {
    let typed = values.iter().enumerate().map(|(at, value)| format!("{value}: {}", type_of(at)));
    typed.collect::<Vec<_>>().join(", ")
}

impl Writer {
    /// A counted loop that permutes its values in each iteration.
    fn count(&mut self, values: &Places) -> Places {
        let (name, counter) = (self.name(), self.name());
        let args = self.names();
        let all = types();
        self.line(&format!(
            "{name}:{} = \"scf.for\"(%zero, %n, %one, {}) ({{",
            args.len(),
            values.join(", ")
        ));
        self.line(&format!("^bb0({counter}: index, {}):", typed(&args)));
        let changed = self.changed(&args);
        let given = self.moved(&changed).join(", ");
        self.line(&format!("\"scf.yield\"({given}) : ({all}) -> ()"));
        self.line(&format!("}}) : (index, index, index, {all}) -> ({all})"));
        (0..args.len()).map(|index| format!("{name}#{index}")).collect()
    }

    /// A branch that permutes the values in each arm.
    fn choose(&mut self, values: &Places) -> Places {
        let name = self.name();
        let all = types();
        self.line(&format!("{name}:{} = \"scf.if\"(%c) ({{", values.len()));
        for end in ["}, {", &format!("}}) : (i1) -> ({all})")] {
            let changed = self.changed(values);
            let given = self.moved(&changed).join(", ");
            self.line(&format!("\"scf.yield\"({given}) : ({all}) -> ()"));
            self.line(end);
        }
        (0..values.len()).map(|index| format!("{name}#{index}")).collect()
    }

    /// A loop of blocks with a branch whose edges both go to the same block.
    fn blocks(&mut self, values: &Places) -> Places {
        let (number, truth, next) = (self.name(), self.name(), self.name());
        let [head, join, exit] = [self.names(), self.names(), self.names()];
        let all = types();
        let count = values.len();
        let given = self.moved(values).join(", ");
        self.line(&format!("\"cf.br\"({given}, %f0)[^head] : ({all}, f32) -> ()"));
        self.line(&format!("^head({}, {number}: f32):", typed(&head)));
        let changed = self.changed(&head);
        self.line(&format!("{truth} = arith.cmpf olt, {number}, %limit : f32"));
        let left = self.moved(&changed).join(", ");
        self.line(&format!(
            "\"cf.cond_br\"({truth}, {left})[^body, ^exit] <{{operandSegmentSizes = array<i32: 1, 0, {count}>}}> : (i1, {all}) -> ()"
        ));
        self.line("^body:");
        let changed = self.changed(&changed);
        let (one, other) = (self.moved(&changed).join(", "), self.moved(&changed).join(", "));
        self.line(&format!(
            "\"cf.cond_br\"(%c, {one}, {other})[^join, ^join] <{{operandSegmentSizes = array<i32: 1, {count}, {count}>}}> : (i1, {all}, {all}) -> ()"
        ));
        self.line(&format!("^join({}):", typed(&join)));
        let changed = self.changed(&join);
        self.line(&format!("{next} = arith.addf {number}, %f1 : f32"));
        let given = self.moved(&changed).join(", ");
        self.line(&format!("\"cf.br\"({given}, {next})[^head] : ({all}, f32) -> ()"));
        self.line(&format!("^exit({}):", typed(&exit)));
        exit
    }
}

/// A function of values of several sizes, a boolean, a number of iterations, and a limit.
pub fn permuted(seed: u64) -> String {
    let mut writer = Writer { random: Random::new(seed), text: String::new(), next: 0 };
    let args = writer.names();
    let all = types();
    writer.line(&format!("func.func @main({}, %c: i1, %n: index, %limit: f32) -> ({all}) {{", typed(&args)));
    for (name, value) in
        [("zero", "0 : index"), ("one", "1 : index"), ("f0", "0.0 : f32"), ("f1", "1.0 : f32")]
    {
        writer.line(&format!("%{name} = arith.constant {value}"));
    }
    let mut values = writer.changed(&args);
    for part in 0..2 + seed % 2 {
        values = match (part, seed % 4) {
            (1, 0 | 2) => writer.blocks(&values),
            (0, 1) | (1, 3) => writer.choose(&values),
            _ => writer.count(&values),
        };
    }
    let returned = writer.moved(&values).join(", ");
    writer.line(&format!("return {returned} : {all}"));
    writer.line("}");
    writer.text
}
