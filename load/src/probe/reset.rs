//! The prefix cache emptied from outside. A confirmation is believed only where the engine has the route: a server that
//! answers everything confirms everything.

use std::time::Duration;

use measure::study::Endpoint;
use reqwest::Method;
use serde_json::Value;

use super::{Asker, Found};
use crate::engine::Wire;

/// vLLM's (in development mode) and the simulator's.
pub(super) const RESET: &str = "reset_prefix_cache";
/// SGLang's, which answers GET too: what is asked in order to find out would empty the cache already.
const FLUSH: &str = "flush_cache";
/// An engine that is busy empties its cache late.
const LIMIT: Duration = Duration::from_secs(30);

/// Asks an engine to forget its prefix cache; true when it has such a route and confirmed.
pub async fn reset_prefix_cache(endpoint: &Endpoint, wire: Wire) -> bool {
    let Ok(asker) = Asker::made(endpoint, wire, LIMIT).await else {
        return false;
    };
    let asked = tokio::time::timeout(LIMIT, async {
        if asker.only_posts(RESET).await {
            return asker.confirms(RESET).await;
        }
        asker.is_sglang().await && asker.confirms(FLUSH).await
    });
    asked.await.unwrap_or(false)
}

impl Asker {
    /// GET tells whether the path exists without resetting anything: 405 where only POST is allowed.
    pub(super) async fn only_posts(&self, path: &str) -> bool {
        let asked = self.ask(Method::GET, path).await;
        asked.is_ok_and(|answer| answer.status == 405)
    }

    async fn is_sglang(&self) -> bool {
        let found = Found {
            info: self.info(&Value::Null, false).await,
            ..Found::default()
        };
        found.sglang().is_some()
    }

    async fn confirms(&self, path: &str) -> bool {
        let Ok(answer) = self.ask(Method::POST, path).await else {
            return false;
        };
        let denied = || {
            answer
                .json()
                .is_some_and(|json| json["success"] == Value::Bool(false))
        };
        answer.is_ok() && !denied()
    }
}
