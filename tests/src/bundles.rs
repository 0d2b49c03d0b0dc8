//! Bundles taken apart, changed and put together again, as nobody should.

use std::collections::BTreeMap;
use std::io::{Read, Write};

use anyhow::Context;
use serde_json::{Value, json};

/// A bundle in pieces.
#[derive(Clone, Debug, PartialEq)]
pub struct Loose {
    /// Its manifest.
    pub manifest: Value,
    /// Its parts by name, in the order in which they stand.
    pub parts: Vec<(String, Vec<u8>)>,
}

impl Loose {
    /// Takes a bundle apart.
    pub fn of(bundle: &[u8]) -> anyhow::Result<Self> {
        let mut archive = tar::Archive::new(zstd::Decoder::new(bundle)?);
        let mut parts = Vec::new();
        for entry in archive.entries()? {
            let mut entry = entry?;
            let name = entry.path()?.display().to_string();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes)?;
            parts.push((name, bytes));
        }
        let (name, manifest) = parts.remove(0);
        anyhow::ensure!(name == "manifest.json", "{name} comes first");
        Ok(Self {
            manifest: serde_json::from_slice(&manifest)?,
            parts,
        })
    }

    /// A part.
    pub fn part(&self, name: &str) -> anyhow::Result<&[u8]> {
        let found = self.parts.iter().find(|(it, _)| it == name);
        found.map(|(_, bytes)| &bytes[..]).context("no such part")
    }

    /// Changes a part, and what the manifest says of it.
    pub fn set(&mut self, name: &str, bytes: &[u8]) {
        self.manifest["parts"][name] = json!({
            "bytes": bytes.len(),
            "sha256": server::bundle::sha256(bytes),
        });
        match self.parts.iter_mut().find(|(it, _)| it == name) {
            Some((_, part)) => *part = bytes.to_vec(),
            None => self.parts.push((name.to_owned(), bytes.to_vec())),
        }
    }

    /// Puts it together again.
    pub fn packed(&self) -> anyhow::Result<Vec<u8>> {
        let manifest = serde_json::to_vec(&self.manifest)?;
        let mut entries = vec![("manifest.json", &manifest[..])];
        entries.extend(self.parts.iter().map(|(name, it)| (&name[..], &it[..])));
        packed(&entries)
    }

    /// Every byte of it, unpacked, with the names.
    pub fn everything(&self) -> anyhow::Result<Vec<u8>> {
        let mut all = serde_json::to_vec(&self.manifest)?;
        for (name, bytes) in &self.parts {
            all.extend_from_slice(name.as_bytes());
            all.extend_from_slice(bytes);
        }
        Ok(all)
    }

    /// The names of its parts.
    pub fn names(&self) -> BTreeMap<String, usize> {
        let names = self.parts.iter();
        names
            .map(|(name, bytes)| (name.clone(), bytes.len()))
            .collect()
    }
}

/// Any entries as a bundle is packed. Names are written as they are, whatever they say.
pub fn packed(entries: &[(&str, &[u8])]) -> anyhow::Result<Vec<u8>> {
    let mut archive = Vec::new();
    for (name, bytes) in entries {
        archive.extend_from_slice(header(name, bytes.len() as u64, b'0').as_bytes());
        archive.extend_from_slice(bytes);
        archive.resize(archive.len().next_multiple_of(512), 0);
    }
    archive.resize(archive.len() + 1024, 0);
    framed(&archive)
}

/// A header of this name, size and kind.
pub fn header(name: &str, size: u64, kind: u8) -> tar::Header {
    let mut header = tar::Header::new_ustar();
    let field = &mut header.as_old_mut().name;
    for (to, from) in field.iter_mut().zip(name.bytes()) {
        *to = from;
    }
    header.set_size(size);
    header.set_mode(0o644);
    header.set_entry_type(tar::EntryType::new(kind));
    header.set_cksum();
    header
}

/// Bytes in one frame.
pub fn framed(bytes: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut frame = zstd::Encoder::new(Vec::new(), 1)?;
    frame.include_checksum(true)?;
    frame.write_all(bytes)?;
    Ok(frame.finish()?)
}
