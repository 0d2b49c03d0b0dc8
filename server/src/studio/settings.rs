//! Settings of the studio itself, beside its studies.

use app::studio::StudioError;

use super::{LocalStudio, internal};

impl LocalStudio {
    /// A setting of the studio itself, such as the hash of its access token.
    pub async fn setting(&self, key: &str) -> Result<Option<String>, StudioError> {
        self.store.setting(key).await.map_err(internal)
    }

    /// Sets a setting, or forgets it (`None`).
    pub async fn set_setting(&self, key: &str, value: Option<&str>) -> Result<(), StudioError> {
        self.store.set_setting(key, value).await.map_err(internal)
    }
}
