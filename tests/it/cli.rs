//! The command line: what people type wrong, and what ends how.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use server::auth::Token;
use server::config::{Access, Config, StoreConfig};
use server::serving::{Serving, rotate_token};

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
    let rotate = || goodput(&["token", "rotate", "--data-dir", &data.to_string_lossy()]);
    assert_eq!(rotate(), 1, "no such folder");
    assert!(!data.exists(), "a mistyped folder is not made");
    std::fs::create_dir(&data)?;
    assert_eq!(rotate(), 0);
    let kept = std::fs::read(data.join("goodput.db"))?;
    assert!(!kept.is_empty());
    Ok(())
}

/// The binary beside the tests, where it was built.
fn binary() -> Option<std::path::PathBuf> {
    let path = std::env::current_exe()
        .ok()?
        .parent()?
        .parent()?
        .join("goodput");
    if !path.exists() {
        eprintln!(
            "skipped: {} was not built (cargo build -p server)",
            path.display()
        );
        return None;
    }
    Some(path)
}

#[test]
fn ctrl_c_ends_a_server_politely() -> anyhow::Result<()> {
    let Some(binary) = binary() else {
        return Ok(());
    };
    let dir = tempfile::tempdir()?;
    let mut command = Command::new(binary);
    command
        .args(["serve", "--bind", "127.0.0.1:0", "--data-dir"])
        .arg(dir.path());
    let mut server = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut lines = BufReader::new(server.stdout.take().expect("piped")).lines();
    let first = lines.next().expect("a line")?;
    assert!(
        first.starts_with("Goodput Studio listens on http://127.0.0.1:"),
        "{first}"
    );
    let last = lines
        .map_while(Result::ok)
        .find(|line| line.contains("Ctrl-C"));
    assert!(last.is_some());
    let before = Instant::now();
    assert!(
        Command::new("kill")
            .args(["-INT", &server.id().to_string()])
            .status()?
            .success()
    );
    assert_eq!(server.wait()?.code(), Some(0));
    assert!(
        before.elapsed() < Duration::from_secs(10),
        "{:?}",
        before.elapsed()
    );
    Ok(())
}

fn behind_kept_token(dir: &tempfile::TempDir) -> Config {
    Config {
        access: Access::Kept,
        ..Config::loopback(0, StoreConfig::in_folder(dir.path().to_owned()))
    }
}

async fn status(serving: &Serving, token: &Token) -> anyhow::Result<u16> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().build()?;
    let request = client
        .get(format!("{}/api/v1/studies", serving.url()))
        .bearer_auth(token.reveal());
    Ok(request.send().await?.status().as_u16())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_made_token_is_told_once_and_kept_as_its_hash() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let first = Serving::start(&behind_kept_token(&dir)).await?;
    let token = first.new_token.clone().expect("made at the first start");
    assert_eq!(status(&first, &token).await?, 200);
    first.shutdown().await;
    let stored = std::fs::read(dir.path().join("goodput.db"))?;
    let is_there = stored
        .windows(token.reveal().len())
        .any(|bytes| bytes == token.reveal().as_bytes());
    assert!(!is_there, "the token itself is kept nowhere");
    let second = Serving::start(&behind_kept_token(&dir)).await?;
    assert!(second.new_token.is_none() && second.needs_token);
    assert_eq!(status(&second, &token).await?, 200);
    second.shutdown().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rotated_token_reaches_a_server_that_runs() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let config = behind_kept_token(&dir);
    let serving = Serving::start(&config).await?;
    let old = serving.new_token.clone().expect("made");
    let new = rotate_token(&config.store).await?;
    let deadline = Instant::now() + Duration::from_secs(20);
    while status(&serving, &new).await? != 200 {
        assert!(Instant::now() < deadline, "the new token is not taken up");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert_eq!(status(&serving, &old).await?, 401);
    serving.shutdown().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_that_was_given_is_changed_where_it_was_given() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let given: Token = "a-token-that-was-given".parse()?;
    let config = Config {
        access: Access::Given(given.clone()),
        ..behind_kept_token(&dir)
    };
    let serving = Serving::start(&config).await?;
    let refused = rotate_token(&config.store).await.err();
    let text = refused.expect("refused").to_string();
    assert!(
        text.contains("GOODPUT_TOKEN") && text.contains("restart"),
        "{text}"
    );
    assert_eq!(status(&serving, &given).await?, 200);
    serving.shutdown().await;
    // Nothing runs any more: the next start may well keep its token here.
    rotate_token(&config.store).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_never_share_a_data_directory() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let config = Config::loopback(0, StoreConfig::in_folder(dir.path().to_owned()));
    let first = Serving::start(&config).await?;
    let error = Serving::start(&config)
        .await
        .err()
        .expect("refused")
        .to_string();
    assert!(error.contains("another goodput server uses"), "{error}");
    let taken = Config {
        bind: first.address,
        ..Config::loopback(0, StoreConfig::in_folder(dir.path().join("b")))
    };
    let error = Serving::start(&taken)
        .await
        .err()
        .expect("refused")
        .to_string();
    assert!(
        error.contains("is in use; stop what listens there"),
        "{error}"
    );
    first.shutdown().await;
    Ok(())
}
