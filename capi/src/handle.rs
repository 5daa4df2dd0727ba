//! How values go to C and come back: as pointers that C holds, and as text.

use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::status::Refusal;

/// What a pointer points to.
///
/// # Safety
/// It is null, or points to a value that lives and that nobody changes meanwhile.
pub(crate) unsafe fn borrowed<'a, T>(pointer: *const T, what: &'static str) -> Result<&'a T, Refusal> {
    // SAFETY: as the caller vouches.
    unsafe { pointer.as_ref() }.ok_or(Refusal::Null(what))
}

/// The same, to change it.
///
/// # Safety
/// It is null, or points to a value that lives and that nobody else uses meanwhile.
pub(crate) unsafe fn changed<'a, T>(pointer: *mut T, what: &'static str) -> Result<&'a mut T, Refusal> {
    // SAFETY: as the caller vouches.
    unsafe { pointer.as_mut() }.ok_or(Refusal::Null(what))
}

/// An array; an empty one may be null.
///
/// # Safety
/// It has `count` live elements that nobody changes meanwhile.
pub(crate) unsafe fn listed<'a, T>(
    start: *const T,
    count: usize,
    what: &'static str,
) -> Result<&'a [T], Refusal> {
    if count == 0 {
        return Ok(&[]);
    }
    if start.is_null() {
        return Err(Refusal::Null(what));
    }
    // SAFETY: as the caller vouches.
    Ok(unsafe { std::slice::from_raw_parts(start, count) })
}

/// A text of C.
///
/// # Safety
/// It is null, or ends with 0, and nobody changes it meanwhile.
pub(crate) unsafe fn text<'a>(start: *const c_char, what: &'static str) -> Result<&'a str, Refusal> {
    if start.is_null() {
        return Err(Refusal::Null(what));
    }
    // SAFETY: as the caller vouches.
    let text = unsafe { CStr::from_ptr(start) };
    text.to_str().map_err(|_| Refusal::NotText(what))
}

/// Hands a value over: the caller frees it.
///
/// # Safety
/// The place is null, or can be written.
pub(crate) unsafe fn hand_over<T>(value: T, place: *mut *mut T) -> Result<(), Refusal> {
    // SAFETY: as the caller vouches.
    let place = unsafe { place.as_mut() }.ok_or(Refusal::Null("the place for the result"))?;
    *place = Box::into_raw(Box::new(value));
    Ok(())
}

/// Frees what was handed over.
///
/// # Safety
/// It is null, or was handed over and not freed since.
pub(crate) unsafe fn free<T>(pointer: *mut T) {
    if !pointer.is_null() {
        // SAFETY: as the caller vouches.
        let value = unsafe { Box::from_raw(pointer) };
        // A panic ends here, as in `ended`; whom to tell of it there is nobody.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(value)));
    }
}

/// A text for C; one with a 0 in it ends there.
pub(crate) fn c_text(text: &str) -> CString {
    let end = text.find('\0').unwrap_or(text.len());
    CString::new(&text[..end]).unwrap_or_default()
}

/// Text that the caller frees.
pub struct OwnedText {
    text: CString,
}

impl OwnedText {
    pub(crate) fn new(text: &str) -> OwnedText {
        OwnedText { text: c_text(text) }
    }
}

/// The text. NULL for NULL.
///
/// # Safety
/// `text` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_text_get(text: *const OwnedText) -> *const c_char {
    // SAFETY: as the caller vouches.
    unsafe { text.as_ref() }.map_or(std::ptr::null(), |text| text.text.as_ptr())
}

/// Frees a text.
///
/// # Safety
/// `text` is NULL or a handle, which is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn optc_text_free(text: *mut OwnedText) {
    // SAFETY: as the caller vouches.
    unsafe { free(text) }
}
