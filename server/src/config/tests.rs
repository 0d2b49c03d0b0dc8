//! Tests of the module above.

use clap::Parser;

use super::*;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    serve: ServeArgs,
}

fn parse(line: &str) -> Result<Config, ConfigError> {
    let words = std::iter::once("serve").chain(line.split_whitespace());
    Line::parse_from(words).serve.check(None)
}

#[track_caller]
fn refused(line: &str, expected: &str) {
    assert_eq!(parse(line).expect_err("refused").to_string(), expected);
}

#[test]
fn a_loopback_studio_needs_no_token() {
    for bind in ["127.0.0.1:1", "[::1]:1", "localhost:1"] {
        assert_eq!(
            parse(&format!("--data-dir /d --bind {bind}"))
                .expect("config")
                .access,
            Access::Open
        );
    }
}

#[test]
fn any_other_address_and_the_flag_demand_one() {
    for line in [
        "--bind 0.0.0.0:1",
        "--bind [::]:1",
        "--bind 10.1.2.3:1",
        "--token",
    ] {
        assert_eq!(
            parse(&format!("--data-dir /d {line}"))
                .expect("config")
                .access,
            Access::Kept,
            "{line}"
        );
    }
}

#[test]
fn the_database_lies_in_the_data_folder_unless_it_is_named() {
    let database = |line: &str| parse(line).expect("config").store.database;
    assert_eq!(
        database("--data-dir /d"),
        Database::Sqlite("/d/goodput.db".into())
    );
    assert_eq!(
        database("--data-dir /d --database sqlite:/x/y.db"),
        Database::Sqlite("/x/y.db".into())
    );
    assert_eq!(
        database("--data-dir /d --database sqlite:///x/y.db"),
        Database::Sqlite("/x/y.db".into())
    );
    assert_eq!(
        database("--data-dir /d --database postgres://h/x"),
        Database::Postgres("postgres://h/x".into())
    );
}

#[test]
fn each_bad_argument_is_one_sentence() {
    refused(
        "--bind 7878",
        "--bind must be ADDRESS:PORT, such as 127.0.0.1:7878, got \"7878\"",
    );
    refused(
        "--database mysql://u:secret@h/x",
        "--database must begin with postgres:// or sqlite:, got \"mysql\"",
    );
    refused(
        "--data-dir /d --allow-host http://x",
        "--allow-host takes a bare host name, such as studio.example, got \"http://x\"",
    );
    refused(
        "--public-url ftp://x/",
        "--public-url must be http:// or https:// with a host, got ftp://x/",
    );
    refused(
        "--token-file /nowhere/t",
        "--token-file names \"/nowhere/t\", which cannot be read",
    );
}

#[test]
fn a_short_token_is_refused_and_never_printed() {
    let args = Line::parse_from(["serve", "--data-dir", "/d"]).serve;
    let error = args
        .check(Some("hunter2".into()))
        .expect_err("refused")
        .to_string();
    assert!(error.contains("at least"), "{error}");
    assert!(!error.contains("hunter2"), "{error}");
}
