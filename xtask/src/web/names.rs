//! Short names for what module and script lend each other, and a script without what only people read.
//!
//! The names of the bindings carry a hash each, so that they stay apart; a letter or two do that as well.

use anyhow::{Context, anyhow};
use std::collections::BTreeMap;
use std::convert::Infallible;
use wasm_encoder::reencode::{Error, Reencode};
use wasm_encoder::{ExportSection, ImportSection, Module};
use wasmparser::{Export, Import, ImportSectionReader, Parser, Payload};

/// As what the module knows the script. What other scripts lend keeps its name.
const SCRIPT: &str = "./frontend_bg.js";

/// Module and script with short names.
pub fn shortened(module: &[u8], script: &str) -> anyhow::Result<(Vec<u8>, String)> {
    let mut names = Names::read(module)?;
    let script = names.put_into(&bare(script));
    let mut written = Module::new();
    names
        .parse_core_module(&mut written, Parser::new(0), module)
        .map_err(|error| anyhow!("cannot rename within the module: {error}"))?;
    Ok((written.finish(), script))
}

/// From long names to short ones.
#[derive(Default)]
struct Names {
    /// What the script lends: keys of an object.
    imports: BTreeMap<String, String>,
    /// What the module lends: `wasm.name`.
    exports: BTreeMap<String, String>,
}

impl Names {
    fn read(module: &[u8]) -> anyhow::Result<Self> {
        let mut names = Self::default();
        for payload in Parser::new(0).parse_all(module) {
            match payload.context("not a module")? {
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        names.see(import.context("not a module")?);
                    }
                }
                Payload::ExportSection(section) => {
                    for export in section {
                        let name = export.context("not a module")?.name.to_owned();
                        let short = short(names.exports.len());
                        names.exports.insert(name, short);
                    }
                }
                _ => {}
            }
        }
        Ok(names)
    }

    fn see(&mut self, import: Import<'_>) {
        if import.module == SCRIPT {
            let short = short(self.imports.len());
            self.imports.entry(import.name.to_owned()).or_insert(short);
        }
    }

    /// The script with short names: keys before a colon, and what follows `wasm.`.
    fn put_into(&self, script: &str) -> String {
        let mut written = String::with_capacity(script.len());
        let mut rest = script;
        while let Some(at) = rest.find(is_of_name) {
            let (before, from) = rest.split_at(at);
            let end = from
                .find(|letter| !is_of_name(letter))
                .unwrap_or(from.len());
            let (name, after) = from.split_at(end);
            written.push_str(before);
            let renamed = if written.ends_with("wasm.") {
                self.exports.get(name)
            } else if after.starts_with(": function") {
                self.imports.get(name)
            } else {
                None
            };
            written.push_str(renamed.map_or(name, String::as_str));
            rest = after;
        }
        written + rest
    }
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '$')
}

/// `a`, `b`, ... `Z`, `aa`, ...: a name for each number.
fn short(number: usize) -> String {
    const LETTERS: &[u8; 52] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let last = char::from(LETTERS[number % LETTERS.len()]);
    match number / LETTERS.len() {
        0 => last.to_string(),
        more => format!("{}{last}", short(more - 1)),
    }
}

/// The script without indentation and comments. No text in it runs over lines.
fn bare(script: &str) -> String {
    let mut written = String::with_capacity(script.len());
    let mut within_comment = false;
    for line in script.lines().map(str::trim) {
        within_comment |= line.starts_with("/**");
        if !within_comment && !line.is_empty() && !line.starts_with("//") {
            written.push_str(line);
            written.push('\n');
        }
        within_comment &= !line.ends_with("*/");
    }
    written
}

impl Reencode for Names {
    type Error = Infallible;

    fn parse_import_section(
        &mut self,
        imports: &mut ImportSection,
        section: ImportSectionReader<'_>,
    ) -> Result<(), Error<Infallible>> {
        for import in section.into_imports() {
            self.parse_import(imports, import?)?;
        }
        Ok(())
    }

    fn parse_import(
        &mut self,
        imports: &mut ImportSection,
        import: Import<'_>,
    ) -> Result<(), Error<Infallible>> {
        let kind = self.entity_type(import.ty)?;
        let short = match import.module {
            SCRIPT => self.imports.get(import.name).map(String::as_str),
            _ => None,
        };
        imports.import(import.module, short.unwrap_or(import.name), kind);
        Ok(())
    }

    fn parse_export(
        &mut self,
        exports: &mut ExportSection,
        export: Export<'_>,
    ) -> Result<(), Error<Infallible>> {
        let kind = self.export_kind(export.kind)?;
        let index = self.external_index(export.kind, export.index)?;
        let short = self.exports.get(export.name).map(String::as_str);
        exports.export(short.unwrap_or(export.name), kind, index);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wasm_encoder::{EntityType, ExportKind, TypeSection};

    #[test]
    fn each_number_has_a_name_of_its_own() {
        assert_eq!(
            [0, 51, 52, 103, 104].map(short),
            ["a", "Z", "aa", "aZ", "ba"]
        );
        let all: std::collections::BTreeSet<String> = (0..3000).map(short).collect();
        assert_eq!(all.len(), 3000);
    }

    #[test]
    fn module_and_script_agree() -> anyhow::Result<()> {
        let mut types = TypeSection::new();
        types.ty().function([], []);
        let mut imports = ImportSection::new();
        imports.import(
            "./frontend_bg.js",
            "__wbg_close_12",
            EntityType::Function(0),
        );
        imports.import(SCRIPT, "__wbg_close_1", EntityType::Function(0));
        let mut exports = ExportSection::new();
        exports.export("hydrate", ExportKind::Func, 0);
        let mut module = Module::new();
        module.section(&types).section(&imports).section(&exports);
        let script = "/**\n * Wakes up.\n */\nexport function hydrate() {\n    wasm.hydrate();\n}\nconst i = {\n  __wbg_close_1: function(hydrate) {\n  },\n  __wbg_close_12: function() {},\n};\n";
        let (module, script) = shortened(&module.finish(), script)?;
        assert_eq!(
            script,
            "export function hydrate() {\nwasm.a();\n}\nconst i = {\nb: function(hydrate) {\n},\na: function() {},\n};\n"
        );
        let names = Names::read(&module)?;
        assert_eq!(names.imports.into_keys().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(names.exports.into_keys().collect::<Vec<_>>(), ["a"]);
        Ok(())
    }
}
