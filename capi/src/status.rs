//! What a call says of its end: a status, and diagnostics for what was at fault.

use std::any::Any;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use optc::ir::Severity;
use optc::ir::diag::MessagePlace;
use optc::runtime::RunError;
use optc::{Failure, Fault, FaultCode};

use crate::handle::{c_text, free};

/// How a call ended.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(non_camel_case_types, reason = "they are names of C")]
pub enum Status {
    /// Well.
    OPTC_OK = 0,
    /// The input is at fault: a model, a text, an option, shapes, or buffers.
    OPTC_INPUT = 1,
    /// The call is at fault: NULL where a value is expected, text that is not UTF-8, a number out of range.
    OPTC_USAGE = 2,
    /// The library is at fault. The handles of the call may be freed, and nothing else.
    OPTC_INTERNAL = 3,
    /// A function of the caller ended the work.
    OPTC_CANCELLED = 4,
}

/// Why a call did not end well.
pub(crate) enum Refusal {
    Input(Failure),
    Null(&'static str),
    NotText(&'static str),
    OutOfRange(String),
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Refusal {
        Refusal::Input(failure)
    }
}

impl From<RunError> for Refusal {
    fn from(error: RunError) -> Refusal {
        Refusal::Input(error.into())
    }
}

/// A list of what is at fault, or of remarks.
pub struct Diagnostics {
    entries: Vec<Entry>,
}

struct Entry {
    severity: u32,
    message: CString,
    file: Option<CString>,
    name: Option<CString>,
    line: u32,
    column: u32,
    notes: CString,
    help: CString,
    text: CString,
}

/// A fault of the input, or a remark. All text lives as long as the list.
#[repr(C)]
pub struct Diagnostic {
    /// 0: an error; 1: a warning; 2: a remark.
    pub severity: u32,
    /// What was found, and what was expected.
    pub message: *const c_char,
    /// The text that is at fault; NULL if it is none.
    pub file: *const c_char,
    /// The line in that text, from 1; 0 if it is none.
    pub line: u32,
    /// The column in characters, from 1; 0 if it is none.
    pub column: u32,
    /// What is at fault in a model: a node, a tensor, the file; NULL if that is not known.
    pub name: *const c_char,
    /// What else there is to know, a line for each; may be empty.
    pub notes: *const c_char,
    /// What to do about it, a line for each; may be empty.
    pub help: *const c_char,
    /// All of it as the command prints it, with a line of the source.
    pub text: *const c_char,
}

impl Diagnostics {
    pub(crate) fn new(faults: &[Fault]) -> Diagnostics {
        Diagnostics { entries: faults.iter().map(Entry::new).collect() }
    }
}

impl Entry {
    fn new(fault: &Fault) -> Entry {
        let severity = match fault.severity {
            Severity::Error => 0,
            Severity::Warning => 1,
            Severity::Remark => 2,
        };
        let mut entry = Entry {
            severity,
            message: c_text(&fault.message),
            file: None,
            name: None,
            line: 0,
            column: 0,
            notes: c_text(&fault.notes.join("\n")),
            help: c_text(&fault.help.join("\n")),
            text: c_text(&fault.to_string()),
        };
        match &fault.place {
            Some(MessagePlace::Text { file, line, column }) => {
                entry.file = Some(c_text(file));
                entry.line = *line;
                entry.column = *column;
            }
            Some(MessagePlace::Named(name)) => entry.name = Some(c_text(name)),
            None => {}
        }
        entry
    }
}

/// How many there are. 0 for NULL.
///
/// # Safety
/// `list` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_diagnostics_count(list: *const Diagnostics) -> usize {
    // SAFETY: as the caller vouches.
    unsafe { list.as_ref() }.map_or(0, |list| list.entries.len())
}

/// Writes one of them to `*diagnostic`. OPTC_USAGE if there is no such one.
///
/// # Safety
/// `list` is NULL or a handle, and `diagnostic` NULL or a place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_diagnostics_get(
    list: *const Diagnostics,
    index: usize,
    diagnostic: *mut Diagnostic,
) -> Status {
    // SAFETY: as the caller vouches.
    let (list, place) = unsafe { (list.as_ref(), diagnostic.as_mut()) };
    let (Some(entry), Some(place)) = (list.and_then(|list| list.entries.get(index)), place) else {
        return Status::OPTC_USAGE;
    };
    let optional = |text: &Option<CString>| text.as_ref().map_or(ptr::null(), |text| text.as_ptr());
    *place = Diagnostic {
        severity: entry.severity,
        message: entry.message.as_ptr(),
        file: optional(&entry.file),
        line: entry.line,
        column: entry.column,
        name: optional(&entry.name),
        notes: entry.notes.as_ptr(),
        help: entry.help.as_ptr(),
        text: entry.text.as_ptr(),
    };
    Status::OPTC_OK
}

/// Frees a list.
///
/// # Safety
/// `list` is NULL or a handle, which is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_diagnostics_free(list: *mut Diagnostics) {
    // SAFETY: as the caller vouches.
    unsafe { free(list) }
}

/// Does what a call does. A panic ends here.
///
/// # Safety
/// `errors` is null, or a place for a list.
pub(crate) unsafe fn ended(
    errors: *mut *mut Diagnostics,
    call: impl FnOnce() -> Result<(), Refusal>,
) -> Status {
    let (status, faults) = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(())) => return Status::OPTC_OK,
        Ok(Err(Refusal::Input(Failure::Input(faults)))) => (status_of(&faults), faults),
        Ok(Err(Refusal::Input(Failure::Usage(message)))) => (Status::OPTC_INPUT, vec![Fault::new(message)]),
        Ok(Err(Refusal::Null(what))) => (Status::OPTC_USAGE, vec![Fault::new(format!("{what} is NULL"))]),
        Ok(Err(Refusal::NotText(what))) => {
            (Status::OPTC_USAGE, vec![Fault::new(format!("{what} is not UTF-8"))])
        }
        Ok(Err(Refusal::OutOfRange(message))) => (Status::OPTC_USAGE, vec![Fault::new(message)]),
        Err(payload) => (Status::OPTC_INTERNAL, vec![Fault::new(said(payload.as_ref()))]),
    };
    // SAFETY: as the caller vouches.
    if let Some(errors) = unsafe { errors.as_mut() } {
        *errors = Box::into_raw(Box::new(Diagnostics::new(&faults)));
    }
    status
}

fn status_of(faults: &[Fault]) -> Status {
    let is_cancelled = faults.iter().any(|fault| fault.code == FaultCode::Cancelled);
    if is_cancelled { Status::OPTC_CANCELLED } else { Status::OPTC_INPUT }
}

fn said(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
    format!("a panic in the library: {}", text.unwrap_or("without a message"))
}
