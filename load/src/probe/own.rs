//! Each engine's own report of itself: which it has, and where.

use std::time::Duration;

use serde_json::Value;

use super::{Asker, listing};

/// A report that takes longer is gone without.
const REPORT: Duration = Duration::from_secs(6);
impl Asker {
    /// SGLang's, vLLM's or the simulator's report of itself, under whichever name it has. vLLM has one in development mode
    /// only, and takes seconds for it: it lists its Python packages.
    pub(super) async fn info(&self, models: &Value, development: bool) -> Option<Value> {
        if listing::is_foreign(self.api) {
            return None;
        }
        let is_vllm = models["data"][0]["owned_by"] == "vllm";
        let paths: &[&str] = match (is_vllm, development) {
            (true, true) => &["server_info?config_format=json"],
            (true, false) => &[],
            (false, _) => &["server_info", "get_server_info", "get_model_info"],
        };
        for path in paths {
            let asked = tokio::time::timeout(REPORT, self.json(path)).await;
            if let Some(info) = asked.ok().flatten() {
                return Some(info);
            }
        }
        None
    }

    /// TGI's report: the list of its models was made of the same answer.
    pub(super) async fn tgi(&self, models: &Value) -> Option<Value> {
        let is_tgi = models["data"][0]["owned_by"] == "tgi" || models["data"][0]["id"] == "tgi";
        if is_tgi {
            self.json("info").await
        } else {
            None
        }
    }

    /// What Ollama says of its first model.
    pub(super) async fn ollama(&self, models: &Value) -> Option<Value> {
        let first = &models["data"][0];
        let asked = serde_json::json!({ "model": first["id"] });
        let is_ollama = matches!(first["owned_by"].as_str(), Some("ollama" | "library"));
        if is_ollama {
            self.post("api/show", &asked).await.ok()
        } else {
            None
        }
    }
}
