//! A document ends where it ends: leptos sends what it has read for the browser behind everything else, after `</html>`, where nothing may
//! stand. The end is held back until that has been sent.

use axum::body::Body;
use axum::extract::Request;
use axum::http::header;
use axum::middleware::Next;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream::{self, Stream, StreamExt};

const BODY_ENDS: &[u8] = b"</body>";
const PAGE_ENDS: &[u8] = b"</html>";
/// What leptos puts between its pieces.
const MARK: &[u8] = b"<!>";

/// The middleware.
pub(super) async fn close(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let kind = response.headers().get(header::CONTENT_TYPE);
    let is_page = kind.is_some_and(|it| it.as_bytes().starts_with(b"text/html"));
    if !is_page {
        return response;
    }
    response.headers_mut().remove(header::CONTENT_LENGTH);
    response.map(|body| Body::from_stream(end_last(body.into_data_stream())))
}

/// The same pieces, the document's end last.
fn end_last<E>(
    pieces: impl Stream<Item = Result<Bytes, E>>,
) -> impl Stream<Item = Result<Bytes, E>> {
    let state = (Box::pin(pieces), None::<Bytes>);
    stream::unfold(state, async |(mut pieces, mut end)| {
        match pieces.next().await {
            Some(Ok(piece)) => {
                let found = end.is_none().then(|| take_end(&piece)).flatten();
                let piece = match found {
                    Some((rest, taken)) => {
                        end = Some(taken);
                        rest
                    }
                    None => piece,
                };
                Some((Ok(piece), (pieces, end)))
            }
            Some(Err(error)) => Some((Err(error), (pieces, end))),
            None => end.take().map(|end| (Ok(end), (pieces, None))),
        }
    })
}

/// A piece without the document's end, and that end; leptos writes it in one piece.
fn take_end(piece: &Bytes) -> Option<(Bytes, Bytes)> {
    let from = find(piece, BODY_ENDS)?;
    let mut to = from + find(&piece[from..], PAGE_ENDS)? + PAGE_ENDS.len();
    if piece[to..].starts_with(MARK) {
        to += MARK.len();
    }
    let rest = [&piece[..from], &piece[to..]].concat();
    Some((rest.into(), piece.slice(from..to)))
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|it| it == what)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    async fn check(pieces: &[&'static str], expected: &str) {
        let pieces = pieces
            .iter()
            .map(|it| Ok::<_, Infallible>(Bytes::from_static(it.as_bytes())));
        let all: Vec<_> = end_last(stream::iter(pieces)).collect().await;
        let all: Vec<u8> = all
            .into_iter()
            .flat_map(Result::unwrap_or_default)
            .collect();
        assert_eq!(String::from_utf8_lossy(&all), expected);
    }

    #[tokio::test]
    async fn what_comes_behind_a_document_stands_in_it() {
        check(
            &[
                "<body>a",
                "b<!></body></html><!>",
                "<script>1</script>",
                "<script>2</script>",
            ],
            "<body>ab<!><script>1</script><script>2</script></body></html><!>",
        )
        .await;
    }

    #[tokio::test]
    async fn what_comes_in_the_same_piece_does_too() {
        check(
            &["<body>a</body><!></html><!><!><script>1</script>"],
            "<body>a<!><script>1</script></body><!></html><!>",
        )
        .await;
    }

    #[tokio::test]
    async fn what_has_no_end_stays_as_it_is() {
        check(&["a", "", "b"], "ab").await;
        check(&[], "").await;
    }
}
