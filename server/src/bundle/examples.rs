//! Studies that come with the studio: the bundles of the folder `examples`, inside the binary.

use std::path::Path;
use std::sync::LazyLock;

use rust_embed::Embed;
use uuid::Uuid;

use super::manifest::Manifest;
use super::read::study;
use super::unpack::{head, unpack};
use super::{BundleError, ENDING};
use crate::store::PointText;

#[derive(Embed)]
#[folder = "../examples"]
struct Files;

/// One of them.
#[derive(Debug)]
pub struct Example {
    /// Its file's name without the ending.
    pub name: String,
    /// What it says of itself.
    pub manifest: Manifest,
}

static ALL: LazyLock<Vec<Example>> = LazyLock::new(|| {
    let mut all: Vec<Example> = Files::iter().filter_map(|file| example(&file)).collect();
    all.sort_by(|one, other| one.name.cmp(&other.name));
    all
});

fn example(file: &str) -> Option<Example> {
    let name = file.strip_suffix(ENDING)?.strip_suffix('.')?.to_owned();
    let bytes = Files::get(file)?.data;
    match head(&bytes[..]) {
        Ok(manifest) => Some(Example { name, manifest }),
        Err(why) => {
            tracing::error!("the example {file} is left out: {why}");
            None
        }
    }
}

/// All of them, by name.
pub fn examples() -> &'static [Example] {
    &ALL
}

impl Example {
    /// The one of this name, or with this study.
    pub fn find(name: &str) -> Option<&'static Self> {
        let id = name.parse::<Uuid>().ok();
        let is_it = |it: &&Self| it.name == name || id == Some(it.manifest.study.id);
        examples().iter().find(is_it)
    }

    /// What its bundle is called.
    pub fn file(&self) -> String {
        format!("{}.{ENDING}", self.name)
    }

    /// Its points, unpacked on the disk of a folder meanwhile.
    pub fn points(&self, folder: &Path) -> Result<Vec<PointText>, BundleError> {
        let unpacked = unpack(&self.bytes()?[..], folder)?;
        Ok(study(&unpacked)?.points)
    }

    /// Its bundle.
    pub fn bytes(&self) -> Result<Vec<u8>, BundleError> {
        let file = Files::get(&self.file());
        let file = file.ok_or_else(|| BundleError::Missing(self.file()))?;
        Ok(file.data.into_owned())
    }
}
