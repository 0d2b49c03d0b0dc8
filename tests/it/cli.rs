//! The command line: what people type wrong, and what ends how.

use super::bench::goodput;

#[test]
fn what_cannot_start_says_so_and_ends_with_a_status() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let data = dir.path().join("data");
    let data = data.to_string_lossy();
    let taken = std::net::TcpListener::bind("127.0.0.1:0")?;
    let taken = taken.local_addr()?.to_string();
    assert_eq!(
        goodput(&["serve", "--bind", &taken, "--data-dir", &data]),
        1,
        "port in use"
    );
    assert_eq!(
        goodput(&[
            "serve",
            "--bind",
            "127.0.0.1:0",
            "--data-dir",
            "/proc/goodput"
        ]),
        1,
        "unwritable"
    );
    let newer = dir.path().join("no-database");
    std::fs::write(
        &newer,
        "this is no database, but long enough to look like one that is broken".repeat(40),
    )?;
    let url = format!("sqlite:{}", newer.display());
    assert_eq!(
        goodput(&[
            "serve",
            "--bind",
            "127.0.0.1:0",
            "--data-dir",
            &data,
            "--database",
            &url
        ]),
        1,
        "no database"
    );
    Ok(())
}

#[test]
fn bad_arguments_are_status_2() {
    let bad: [&[&str]; 7] = [
        &[],
        &["serve", "--bind", "7878"],
        &["serve", "--database", "mysql://x"],
        &["serve", "--token-file", "/nowhere/token"],
        &["sim", "--preset", "warp"],
        &["sim", "--knob", "warp=on"],
        &["demo", "--port", "99999"],
    ];
    for args in bad {
        assert_eq!(goodput(args), 2, "{args:?}");
    }
}

#[test]
fn help_and_version_are_no_errors() {
    for args in [
        &["--help"][..],
        &["--version"],
        &["bench", "--help"],
        &["serve", "--help"],
    ] {
        assert_eq!(goodput(args), 0, "{args:?}");
    }
}

#[test]
fn a_token_can_be_made_at_any_time() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let data = dir.path().join("data");
    assert_eq!(
        goodput(&["token", "rotate", "--data-dir", &data.to_string_lossy()]),
        0
    );
    let kept = std::fs::read(data.join("goodput.db"))?;
    assert!(!kept.is_empty());
    Ok(())
}
