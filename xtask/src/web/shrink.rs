//! Makes the module smaller on its way to the browser, without changing what it does.
//!
//! Before the bindings are made, functions that the page never calls are emptied ([`without_idle`]): what only they
//! used then falls away. Afterwards binaryen goes over the whole ([`optimised`]), and the functions are put into an order
//! that compresses well ([`neighbours`]): gzip sees 32 kB at a time, so code that is alike must stand close together.

mod likeness; // which functions are alike

use crate::command::run_quietly;
use anyhow::{Context, anyhow};
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::ops::Range;
use std::path::Path;
use std::process::Command;
use wasm_encoder::reencode::{Error, Reencode};
use wasm_encoder::{CodeSection, Function, FunctionSection, Instruction, Module};
use wasmparser::{
    CodeSectionReader, FunctionBody, FunctionSectionReader, KnownCustom, Name, Parser, Payload,
    TypeRef,
};

/// leptos' second way of waking a view up, bit by bit, which every view behind one type carries in its table. Only
/// `hydrate_lazy` goes this way; this app wakes up whole.
const IDLE: &str = "::hydrate_async";

/// What JavaScript would call of streams that Rust writes or reads; a crate beneath leptos lends it whether or not there are
/// any, and here are none.
const STREAMS: &str = "intounderlying";

/// That crate: its asynchronous bodies stand in a table, where nobody sees that they are not called.
const STREAMS_CRATE: &str = "wasm_streams::";

/// The module with the bodies of [`IDLE`] and [`STREAMS`] functions replaced by a trap.
pub fn without_idle(module: &[u8]) -> anyhow::Result<Vec<u8>> {
    let idle = Outline::read(module)?
        .named(|name| is_idle(&format!("{:#}", rustc_demangle::demangle(name))));
    rewritten(module, Emptied { idle, at: 0 })
}

/// Whether a name is that of an entry of the idle way, or of an asynchronous body on it.
///
/// All else stays: the compiler keeps one of several equal functions, under any of their names, so that what only copies
/// its arguments, or a closure within, may serve others too. An entry makes a future of just this way, and a body names its
/// own place when it is polled too often; neither has an equal elsewhere.
fn is_idle(name: &str) -> bool {
    let lent = name.strip_prefix("__wbg_").unwrap_or(name);
    let of_streams = name.trim_start_matches('<').starts_with(STREAMS_CRATE);
    if lent.starts_with(STREAMS) || of_streams && is_body(name) {
        return true;
    }
    name.rsplit_once(IDLE).is_some_and(|(before, rest)| {
        // Nothing, or what a generic function adds to its name.
        let within = rest.rsplit_once('>').map_or(rest, |(_, within)| within);
        match within {
            "" => before.ends_with("::into_any"),
            within => is_body(within) && within.matches("::").count() == 1,
        }
    })
}

/// Whether a name ends as that of an asynchronous body.
fn is_body(name: &str) -> bool {
    name.ends_with("::{{closure}}") || name.ends_with("::{closure#0}")
}

/// What the compiler's own wasm32 target may use, and browsers have had for years.
const FEATURES: [&str; 7] = [
    "--enable-bulk-memory",
    "--enable-multivalue",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-sign-ext",
    "--enable-simd",
];

/// Lets binaryen's `wasm-opt` go over a module. Only what is tiny is put into its callers: larger bodies, each with its own
/// surroundings, would be smaller plain and larger compressed.
pub fn optimised(module: &Path, packages: &Path) -> anyhow::Result<()> {
    let mut node = Command::new("node");
    node.arg(packages.join("binaryen/bin/wasm-opt"))
        .args(FEATURES)
        .args(["-Oz", "--one-caller-inline-max-function-size", "12"])
        .arg(module)
        .arg("-o")
        .arg(module);
    run_quietly(&mut node).context("cannot optimise the module")
}

/// The module with functions that are alike next to each other.
pub fn neighbours(module: &[u8]) -> anyhow::Result<Vec<u8>> {
    let outline = Outline::read(module)?;
    let bodies: Vec<&[u8]> = outline
        .bodies
        .iter()
        .map(|body| &module[body.clone()])
        .collect();
    let order = likeness::chain(&bodies);
    let mut place = vec![0; order.len()];
    for (to, from) in order.iter().enumerate() {
        place[*from] = u32::try_from(to)?;
    }
    let imports = outline.imports;
    rewritten(
        module,
        Reordered {
            imports,
            order,
            place,
        },
    )
}

fn rewritten(module: &[u8], mut how: impl Reencode<Error = Infallible>) -> anyhow::Result<Vec<u8>> {
    let mut written = Module::new();
    how.parse_core_module(&mut written, Parser::new(0), module)
        .map_err(|error| anyhow!("cannot rewrite the module: {error}"))?;
    Ok(written.finish())
}

/// What must be known of a module before it is rewritten.
#[derive(Default)]
struct Outline {
    /// How many functions come from outside; they have the first numbers.
    imports: u32,
    bodies: Vec<Range<usize>>,
    names: Vec<(u32, String)>,
}

impl Outline {
    fn read(module: &[u8]) -> anyhow::Result<Self> {
        let mut outline = Self::default();
        for payload in Parser::new(0).parse_all(module) {
            outline
                .see(payload.context("not a module")?)
                .context("not a module")?;
        }
        Ok(outline)
    }

    fn see(&mut self, payload: Payload<'_>) -> wasmparser::Result<()> {
        match payload {
            Payload::ImportSection(section) => {
                for import in section.into_imports() {
                    self.imports += u32::from(matches!(import?.ty, TypeRef::Func(_)));
                }
            }
            Payload::CodeSectionEntry(body) => self.bodies.push(body.range()),
            Payload::CustomSection(section) => {
                if let KnownCustom::Name(names) = section.as_known() {
                    for name in names {
                        self.see_names(name?)?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn see_names(&mut self, names: Name<'_>) -> wasmparser::Result<()> {
        if let Name::Function(functions) = names {
            for naming in functions {
                let naming = naming?;
                self.names.push((naming.index, naming.name.to_owned()));
            }
        }
        Ok(())
    }

    /// Numbers among the module's own functions.
    fn named(&self, wanted: impl Fn(&str) -> bool) -> BTreeSet<u32> {
        self.names
            .iter()
            .filter(|(_, name)| wanted(name))
            .filter_map(|(index, _)| index.checked_sub(self.imports))
            .collect()
    }
}

struct Emptied {
    idle: BTreeSet<u32>,
    at: u32,
}

impl Reencode for Emptied {
    type Error = Infallible;

    fn parse_function_body(
        &mut self,
        code: &mut CodeSection,
        body: FunctionBody<'_>,
    ) -> Result<(), Error<Infallible>> {
        self.at += 1;
        if !self.idle.contains(&(self.at - 1)) {
            return wasm_encoder::reencode::utils::parse_function_body(self, code, body);
        }
        let mut trap = Function::new([]);
        trap.instruction(&Instruction::Unreachable)
            .instruction(&Instruction::End);
        code.function(&trap);
        Ok(())
    }
}

struct Reordered {
    imports: u32,
    /// Which function comes first, second, ...
    order: Vec<usize>,
    /// Where the first, second, ... function goes.
    place: Vec<u32>,
}

impl Reencode for Reordered {
    type Error = Infallible;

    fn function_index(&mut self, index: u32) -> Result<u32, Error<Infallible>> {
        Ok(match index.checked_sub(self.imports) {
            Some(own) => self.imports + self.place[own as usize],
            None => index,
        })
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        section: FunctionSectionReader<'_>,
    ) -> Result<(), Error<Infallible>> {
        let types = section.into_iter().collect::<Result<Vec<_>, _>>()?;
        for from in &self.order {
            functions.function(types[*from]);
        }
        Ok(())
    }

    fn parse_code_section(
        &mut self,
        code: &mut CodeSection,
        section: CodeSectionReader<'_>,
    ) -> Result<(), Error<Infallible>> {
        let bodies = section.into_iter().collect::<Result<Vec<_>, _>>()?;
        for from in self.order.clone() {
            self.parse_function_body(code, bodies[from].clone())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
