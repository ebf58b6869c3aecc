//! Reading headers.

use http::{HeaderMap, HeaderName, HeaderValue};

/// A header that may stand once stands twice: two readers may take it for different values.
#[derive(Debug)]
pub(crate) struct Twice;

/// The value of a header that stands once, or not at all.
pub(crate) fn single<'h>(
    headers: &'h HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'h HeaderValue>, Twice> {
    let mut values = headers.get_all(name).iter();
    let value = values.next();
    if values.next().is_some() { Err(Twice) } else { Ok(value) }
}
