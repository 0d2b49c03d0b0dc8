//! Which steps `cargo xtask test` has, and what each tells the tests through their environment.

use super::{Options, Report, chromedriver, postgres, scratch::Scratch, tally};
use crate::command::{cargo, run};
use crate::{engine, npm, paths, tidy, web};
use std::process::Command;

/// Everything but the browser's crate: `ssr` and `hydrate` must never meet in one build.
const NATIVE: [&str; 5] = [
    "--workspace",
    "--exclude",
    "frontend",
    "--locked",
    "--features=tests/browser",
];
/// Without a browser.
const NATIVE_PLAIN: [&str; 4] = ["--workspace", "--exclude", "frontend", "--locked"];

/// All steps, the cheap ones first.
pub fn all(options: &Options, report: &mut Report) {
    let mut tests = Tests::new(options);
    if options.filter.is_none() {
        report.step("format", || run(cargo().args(["fmt", "--all", "--check"])));
        report.step("tidy", tidy::run);
        lints(&tests, report);
    }
    tests.set_up_assets(report);
    let built = report.step("build", || {
        run(tests.cargo("build").args(["--bins", "--tests"]))
    });
    if built.is_some() {
        tests.run(report);
    }
}

/// A `cargo test` that finds module, binary and a running chromedriver, for what is no part of the tests.
pub fn with_browser<T>(
    options: &Options,
    then: impl FnOnce(&mut Command) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let consent = options.consent;
    let mut tests = Tests::new(options);
    web::run(&web::Options {
        dev: false,
        consent,
    })?;
    run(tests.cargo("build").args(["--bins", "--tests"]))?;
    let scratch = Scratch::new()?;
    let driver = chromedriver::start(&scratch, consent)?;
    tests.tell("GOODPUT_TEST_CHROMEDRIVER", driver.url.clone());
    tests.tell("TMPDIR", scratch.temporary().display().to_string());
    then(&mut tests.cargo("test"))
}

/// Warnings are errors, in the native crates and in the browser's; never both in one build.
fn lints(tests: &Tests<'_>, report: &mut Report) {
    let deny = ["--", "-D", "warnings"];
    report.step("lints", || {
        run(tests.cargo("clippy").arg("--all-targets").args(deny))
    });
    let browser = ["clippy", "--package", "frontend", "--locked"];
    report.step("lints of the browser's part", || {
        run(cargo().args(browser).args(deny))
    });
}

/// The test run and what it is told.
struct Tests<'a> {
    options: &'a Options,
    environment: Vec<(&'static str, String)>,
}

impl<'a> Tests<'a> {
    fn new(options: &'a Options) -> Self {
        let mut environment = vec![("INSTA_UPDATE", "no".to_owned())];
        if std::env::var_os("CI").is_some() {
            environment.push(("CARGO_INCREMENTAL", "0".to_owned()));
        }
        let binary = paths::native_target().join("debug/goodput");
        environment.push(("GOODPUT_TEST_BINARY", binary.display().to_string()));
        environment.push(("GOODPUT_SITE", web::folder().display().to_string()));
        Self {
            options,
            environment,
        }
    }

    /// A cargo command over the native workspace with the tests' environment, so that all share one build.
    fn cargo(&self, verb: &str) -> Command {
        let mut command = cargo();
        command.arg(verb).args(if self.options.no_browser {
            &NATIVE_PLAIN[..]
        } else {
            &NATIVE[..]
        });
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// What the browser gets, and axe for the tests.
    fn set_up_assets(&mut self, report: &mut Report) {
        if self.options.no_browser {
            return;
        }
        let consent = self.options.consent;
        report.step("web", || {
            web::run(&web::Options {
                dev: false,
                consent,
            })
        });
        if let Some(packages) = report.step("axe-core", || npm::packages(consent)) {
            self.tell(
                "GOODPUT_TEST_AXE",
                packages.join("axe-core/axe.min.js").display().to_string(),
            );
        }
    }

    fn tell(&mut self, name: &'static str, value: String) {
        self.environment.push((name, value));
    }

    /// Starts what the tests talk to, runs them, and ends it all again.
    fn run(mut self, report: &mut Report) {
        let Some(scratch) = report.step("scratch folder", Scratch::new) else {
            return;
        };
        let consent = self.options.consent;
        let database = report.step("PostgreSQL", || postgres::start(&scratch, consent));
        if let Some(database) = &database {
            self.tell("GOODPUT_TEST_POSTGRES", database.url.clone());
        }
        let driver = if self.options.no_browser {
            None
        } else {
            report.step("chromedriver", || chromedriver::start(&scratch, consent))
        };
        if let Some(driver) = &driver {
            self.tell("GOODPUT_TEST_CHROMEDRIVER", driver.url.clone());
        }
        let engine = self.engine(report);
        if let Some(engine) = &engine {
            self.tell("GOODPUT_TEST_LLAMACPP", engine.url.clone());
        }
        self.tell("TMPDIR", scratch.temporary().display().to_string());
        report.step("tests", || tally::run(self.test_command()));
    }

    fn test_command(&self) -> Command {
        let mut command = self.cargo("test");
        command.arg("--no-fail-fast");
        if let Some(filter) = &self.options.filter {
            command.arg(filter);
        }
        command
    }

    /// A real engine, unless Python or its package index is out of reach; that is said loudly.
    fn engine(&self, report: &mut Report) -> Option<engine::Running> {
        if self.options.no_engine {
            report.note("tests against a real engine were left out (--no-engine)".to_owned());
            return None;
        }
        let installed = match engine::install(self.options.consent) {
            Ok(installed) => installed,
            Err(engine::InstallError::Unreachable(why)) => {
                report.note(format!("tests against a real engine were SKIPPED: {why}"));
                return None;
            }
            Err(error) => return report.step("llama.cpp", || Err(error.into())),
        };
        report.step("llama.cpp", || engine::start(&installed, 0, &[]))
    }
}
