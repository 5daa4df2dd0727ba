//! Placement problems as comma-separated values.
//!
//! The format is minimalloc's (Moffitt, *MiniMalloc*, ASPLOS 2023): a header, then one row per buffer, with
//! half-open live ranges `[lower, upper)`; a solution has a column `offset`.
//!
//! ```text
//! id,lower,upper,size        id,lower,upper,size,offset
//! b1,0,3,4              =>   b1,0,3,4,8
//! b2,3,9,4                   b2,3,9,4,8
//! ```
//!
//! The columns may come in any order and under minimalloc's other names (`buffer`, `start`; `end` is the last
//! step itself, `upper - 1`). There are three further columns, written only if a problem needs them:
//! `alignment`, `pin`, and `overlaps`, a list of `INPUT:DISTANCE` separated by `;`, in the row of the output.
//! There is no quoting: an id is any text without comma and line break (and without `:` and `;` if it
//! overlaps).

use super::{Buffer, BufferId, Overlap, Placement, Problem, Step};
use std::collections::HashMap;
use std::fmt;
use std::fmt::Write as _;

/// A problem with a name for each buffer.
#[derive(Clone, Debug)]
pub struct NamedProblem {
    /// The buffers, in the order of the rows; no capacity.
    pub problem: Problem,
    /// The ids, in the same order.
    pub names: Vec<String>,
    /// The column `offset`, if there is one.
    pub offsets: Option<Vec<u64>>,
}

/// An error in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What was found and what was expected.
    pub message: String,
}

impl fmt::Display for CsvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

/// The meaning of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Id,
    Lower,
    Upper,
    Last,
    Size,
    Alignment,
    Pin,
    Overlaps,
    Offset,
}

/// The names of the columns; the first name of each meaning is the one written.
const COLUMNS: &[(&str, Column)] = &[
    ("id", Column::Id),
    ("buffer", Column::Id),
    ("buffer_id", Column::Id),
    ("lower", Column::Lower),
    ("start", Column::Lower),
    ("upper", Column::Upper),
    ("end", Column::Last),
    ("size", Column::Size),
    ("alignment", Column::Alignment),
    ("pin", Column::Pin),
    ("overlaps", Column::Overlaps),
    ("offset", Column::Offset),
];

/// A field of a line, with its position.
#[derive(Clone, Copy)]
struct CsvField<'t> {
    text: &'t str,
    line: usize,
    column: usize,
}

impl CsvField<'_> {
    fn error(self, message: String) -> CsvError {
        CsvError { line: self.line, column: self.column, message }
    }

    fn number(self, what: &str) -> Result<u64, CsvError> {
        let expected = || format!("`{}` is no {what}: expected a whole number below 2^62", self.text);
        let number: u64 = self.text.parse().map_err(|_| self.error(expected()))?;
        if number < 1 << 62 { Ok(number) } else { Err(self.error(expected())) }
    }

    fn step(self, what: &str) -> Result<u32, CsvError> {
        let number = self.number(what)?;
        let too_large =
            || self.error(format!("{what} {number} is too large: expected at most {}", u32::MAX - 1));
        u32::try_from(number).ok().filter(|&step| step < u32::MAX).ok_or_else(too_large)
    }
}

/// A row before its names are resolved.
struct CsvRow<'t> {
    name: CsvField<'t>,
    buffer: Buffer,
    overlaps: Option<CsvField<'t>>,
    offset: Option<u64>,
}

/// Reads a table.
///
/// # Errors
/// All errors in the order of the lines: an unknown or missing column, a row with too few or too many fields,
/// a field that is no number, an empty live range, an id used twice, an overlap with an unknown id.
pub fn read(text: &str) -> Result<NamedProblem, Vec<CsvError>> {
    let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    let header = lines.by_ref().find(|(_, line)| !line.trim().is_empty());
    let Some((line, header)) = header else {
        return Err(vec![CsvError {
            line: 1,
            column: 1,
            message: "no header: expected id,lower,upper,size".into(),
        }]);
    };
    let columns = read_header(&fields(line, header))?;
    let (mut rows, mut errors) = (Vec::new(), Vec::new());
    for (line, text) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        match read_row(&columns, &fields(line, text)) {
            Ok(row) => rows.push(row),
            Err(row_errors) => errors.extend(row_errors),
        }
    }
    let (names, overlaps) = resolve(&rows, &mut errors);
    if !errors.is_empty() {
        errors.sort_by_key(|error| (error.line, error.column));
        return Err(errors);
    }
    let buffers = rows.iter().map(|row| row.buffer).collect();
    let offsets =
        columns.contains(&Column::Offset).then(|| rows.iter().filter_map(|row| row.offset).collect());
    Ok(NamedProblem { problem: Problem { buffers, overlaps, capacity: None }, names, offsets })
}

fn fields(line: usize, text: &str) -> Vec<CsvField<'_>> {
    let mut column = 1;
    let field = |part: &'_ str| {
        let start = column + (part.chars().count() - part.trim_start().chars().count());
        column += part.chars().count() + 1;
        start
    };
    let columns: Vec<usize> = text.split(',').map(field).collect();
    text.split(',').zip(columns).map(|(part, column)| CsvField { text: part.trim(), line, column }).collect()
}

fn read_header(fields: &[CsvField<'_>]) -> Result<Vec<Column>, Vec<CsvError>> {
    let (mut columns, mut errors) = (Vec::new(), Vec::new());
    for &field in fields {
        match COLUMNS.iter().find(|(name, _)| *name == field.text) {
            Some(&(_, column)) if columns.contains(&column) => {
                errors.push(field.error(format!("`{}` repeats an earlier column", field.text)));
            }
            Some(&(_, column)) => columns.push(column),
            None => {
                let known: Vec<&str> = COLUMNS.iter().map(|&(name, _)| name).collect();
                errors.push(field.error(format!(
                    "unknown column `{}`: expected {}",
                    field.text,
                    known.join(", ")
                )));
            }
        }
    }
    for (what, any_of) in [
        ("id", &[Column::Id][..]),
        ("lower", &[Column::Lower]),
        ("upper", &[Column::Upper, Column::Last]),
        ("size", &[Column::Size]),
    ] {
        if errors.is_empty() && !any_of.iter().any(|column| columns.contains(column)) {
            errors.push(fields[0].error(format!("the header has no column `{what}`")));
        }
    }
    if errors.is_empty() { Ok(columns) } else { Err(errors) }
}

fn read_row<'t>(columns: &[Column], fields: &[CsvField<'t>]) -> Result<CsvRow<'t>, Vec<CsvError>> {
    if fields.len() != columns.len() {
        let last = fields[fields.len() - 1];
        return Err(vec![last.error(format!("{} fields, expected {}", fields.len(), columns.len()))]);
    }
    let mut errors = Vec::new();
    let mut first = 0;
    let mut after = 0;
    let mut size_bytes = 0;
    let mut align = 1;
    let mut pin = None;
    let mut name = fields[0];
    let mut upper = fields[0];
    let mut overlaps = None;
    let mut offset = None;
    for (&column, &field) in columns.iter().zip(fields) {
        let read = || -> Result<(), CsvError> {
            match column {
                Column::Id => name = field,
                Column::Lower => first = field.step("lower")?,
                Column::Upper => (after, upper) = (u64::from(field.step("upper")?), field),
                Column::Last => (after, upper) = (u64::from(field.step("end")?) + 1, field),
                Column::Size => size_bytes = field.number("size")?,
                Column::Alignment => align = field.number("alignment")?,
                Column::Pin if field.text.is_empty() => pin = None,
                Column::Pin => pin = Some(field.number("pin")?),
                Column::Overlaps => overlaps = Some(field),
                Column::Offset => offset = Some(field.number("offset")?),
            }
            Ok(())
        };
        errors.extend({ read }().err());
    }
    if errors.is_empty() && after <= u64::from(first) {
        errors.push(upper.error(format!(
            "upper {after} is not above lower {first}: expected a live range of at least one step"
        )));
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let last = u32::try_from(after - 1).expect("a step is below u32::MAX");
    let (first, last) = (Step::from_u32(first), Step::from_u32(last));
    Ok(CsvRow { name, buffer: Buffer { first, last, size_bytes, align, pin }, overlaps, offset })
}

/// The names, which must be unique, and the overlaps between them.
fn resolve(rows: &[CsvRow<'_>], errors: &mut Vec<CsvError>) -> (Vec<String>, Vec<Overlap>) {
    let mut ids: HashMap<&str, BufferId> = HashMap::new();
    for (index, row) in rows.iter().enumerate() {
        let id = BufferId::from_u32(index as u32);
        if ids.insert(row.name.text, id).is_some() {
            errors.push(row.name.error(format!("id `{}` is used twice", row.name.text)));
        }
    }
    let mut overlaps = Vec::new();
    for row in rows {
        let Some(field) = row.overlaps else { continue };
        let output = ids[row.name.text];
        for entry in field.text.split(';').filter(|entry| !entry.is_empty()) {
            let parts = entry
                .split_once(':')
                .and_then(|(input, distance)| Some((input, distance.parse::<i64>().ok()?)));
            match parts.and_then(|(input, distance)| Some((*ids.get(input)?, distance))) {
                Some((input, min_distance_bytes)) => {
                    overlaps.push(Overlap { input, output, min_distance_bytes })
                }
                None => errors.push(field.error(format!(
                    "`{entry}` is no overlap: expected INPUT:DISTANCE, an id and a whole number"
                ))),
            }
        }
    }
    (rows.iter().map(|row| row.name.text.to_owned()).collect(), overlaps)
}

/// Writes a problem; its solution, if given, is the last column. `names` has an id for each buffer.
pub fn write(problem: &Problem, names: &[String], placement: Option<&Placement>) -> String {
    let aligned = problem.buffers.values().any(|buffer| buffer.align != 1);
    let pinned = problem.buffers.values().any(|buffer| buffer.pin.is_some());
    let overlapping = !problem.overlaps.is_empty();
    let mut text = String::from("id,lower,upper,size");
    for (wanted, name) in [
        (aligned, ",alignment"),
        (pinned, ",pin"),
        (overlapping, ",overlaps"),
        (placement.is_some(), ",offset"),
    ] {
        text.push_str(if wanted { name } else { "" });
    }
    text.push('\n');
    let mut by_output: HashMap<BufferId, Vec<String>> = HashMap::new();
    for overlap in &problem.overlaps {
        let entry = format!("{}:{}", names[overlap.input.as_u32() as usize], overlap.min_distance_bytes);
        by_output.entry(overlap.output).or_default().push(entry);
    }
    for ((id, buffer), name) in problem.buffers.iter().zip(names) {
        let lower = buffer.first.as_u32();
        let upper = buffer.last.as_u32() + 1;
        let mut row = format!("{name},{lower},{upper},{}", buffer.size_bytes);
        if aligned {
            write!(row, ",{}", buffer.align).expect("a string can be written to");
        }
        if pinned {
            row.push_str(&buffer.pin.map_or(",".into(), |pin| format!(",{pin}")));
        }
        if overlapping {
            row.push_str(&by_output.get(&id).map_or(",".into(), |entries| format!(",{}", entries.join(";"))));
        }
        if let Some(placement) = placement {
            write!(row, ",{}", placement.offsets[id]).expect("a string can be written to");
        }
        text.push_str(&row);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::testing::Family;
    use super::super::{PlannerOptions, place};
    use super::*;

    fn errors(text: &str) -> String {
        let errors = read(text).expect_err("an error was expected");
        errors.iter().map(|error| format!("{error}\n")).collect()
    }

    #[test]
    fn half_open_lives_become_inclusive_ones() {
        let table = read("id,lower,upper,size\nb1,0,3,4\n\nb2,3,9,8\n").unwrap();
        let (b1, b2) =
            (&table.problem.buffers[BufferId::from_u32(0)], &table.problem.buffers[BufferId::from_u32(1)]);
        assert_eq!((b1.first.as_u32(), b1.last.as_u32(), b1.size_bytes), (0, 2, 4));
        assert_eq!((b2.first.as_u32(), b2.last.as_u32(), b2.size_bytes), (3, 8, 8));
        assert_eq!(table.names, ["b1", "b2"]);
        assert_eq!(table.offsets, None);
    }

    #[test]
    fn other_names_and_orders_of_columns_are_read() {
        let table = read("size,end,start,buffer,offset\r\n4,2,0,x,12\r\n").unwrap();
        let buffer = &table.problem.buffers[BufferId::from_u32(0)];
        assert_eq!((buffer.first.as_u32(), buffer.last.as_u32(), buffer.size_bytes), (0, 2, 4));
        assert_eq!(table.offsets, Some(vec![12]));
    }

    #[test]
    fn what_is_written_is_read_back() {
        for family in Family::ALL {
            let problem = family.draw(12, 3);
            let names: Vec<String> = problem.buffers.keys().map(|id| format!("v{}", id.as_u32())).collect();
            let placement = place(&problem, &PlannerOptions::default());
            let table = read(&write(&problem, &names, Some(&placement))).unwrap();
            assert!(table.problem.buffers == problem.buffers, "{family:?}");
            assert_eq!(table.names, names);
            let mut overlaps = problem.overlaps.clone();
            overlaps.sort_by_key(|overlap| overlap.output);
            assert_eq!(table.problem.overlaps, overlaps);
            assert_eq!(table.offsets.unwrap(), placement.offsets.values().copied().collect::<Vec<_>>());
        }
    }

    #[test]
    fn sizes_are_below_a_limit() {
        let sized = |size: u64| format!("id,lower,upper,size\na,0,1,{size}\n");
        let largest = read(&sized((1 << 62) - 1)).expect("it is below");
        assert_eq!(largest.problem.buffers[BufferId::from_u32(0)].size_bytes, (1 << 62) - 1);
        let expected = "2:7: `4611686018427387904` is no size: expected a whole number below 2^62\n";
        assert_eq!(errors(&sized(1 << 62)), expected);
    }

    #[test]
    fn all_errors_are_located() {
        assert_eq!(errors(""), "1:1: no header: expected id,lower,upper,size\n");
        assert_eq!(errors("id,lower,upper\n"), "1:1: the header has no column `size`\n");
        assert_eq!(errors("id,lower,upper,size,id\n"), "1:21: `id` repeats an earlier column\n");
        assert!(
            errors("id,lover,upper,size\n").starts_with("1:4: unknown column `lover`: expected id, buffer, ")
        );
        let text =
            "id,lower,upper,size\na,0,x,4\nb,5,5,4\nb,0,1,-2\nc,0,1\nd,0,4294967295,1\na,0,1,1\na,1,2,1\n";
        assert_eq!(
            errors(text),
            "2:5: `x` is no upper: expected a whole number below 2^62\n\
             3:5: upper 5 is not above lower 5: expected a live range of at least one step\n\
             4:7: `-2` is no size: expected a whole number below 2^62\n\
             5:5: 3 fields, expected 4\n\
             6:5: upper 4294967295 is too large: expected at most 4294967294\n\
             8:1: id `a` is used twice\n"
        );
        let text = "id,lower,upper,size,overlaps\na,0,1,1,\nb,0,1,1,a:x;c:1;a:-4\n";
        assert_eq!(
            errors(text),
            "3:9: `a:x` is no overlap: expected INPUT:DISTANCE, an id and a whole number\n\
             3:9: `c:1` is no overlap: expected INPUT:DISTANCE, an id and a whole number\n"
        );
    }
}
