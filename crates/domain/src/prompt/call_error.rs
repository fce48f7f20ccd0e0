//! The error of a template's filter, function or method that got a wrong argument.

use std::borrow::Cow;

use minijinja::{Error, ErrorKind};

pub(super) fn invalid_call(message: impl Into<Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::InvalidOperation, message)
}
