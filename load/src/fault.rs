//! What it means that an exchange broke off.

use std::error::Error;
use std::io;

use crate::dialect::End;

/// No response came, or its body broke off.
pub(crate) fn broken(error: &hyper::Error, in_body: bool) -> End {
    let text = chain(error);
    let cause = causes(error).filter_map(|cause| cause.downcast_ref::<io::Error>());
    let cut = cause
        .last()
        .is_some_and(|cause| cause.kind() == io::ErrorKind::UnexpectedEof);
    if in_body && (cut || error.is_incomplete_message()) {
        End::Truncated(text)
    } else {
        End::Reset(text)
    }
}

/// An error with its causes, in words.
pub(crate) fn chain(error: &hyper::Error) -> String {
    let texts: Vec<String> = std::iter::once(error.to_string())
        .chain(causes(error).map(ToString::to_string))
        .collect();
    texts.join(": ")
}

fn causes(error: &hyper::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |cause| (**cause).source())
}
