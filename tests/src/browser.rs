//! A real Chromium with a profile of its own, driven through the chromedriver named by `GOODPUT_TEST_CHROMEDRIVER`.

use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde_json::Value;
use thirtyfour::common::capabilities::chromium::ChromiumLikeCapabilities;
use thirtyfour::{
    By, ChromeCapabilities, DesiredCapabilities, LoggingPrefsLogLevel, WebDriver, WebElement,
};

/// How long a page may take to show what is waited for. Generous: two cores build, serve and render at once.
const PATIENCE: Duration = Duration::from_secs(60);

/// Switches without which Chromium does not run as root, or calls home.
const SWITCHES: [&str; 9] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];

/// One browser with a fresh profile: it has never seen the studio before. End it with [`Browser::close`].
pub struct Browser {
    /// The driver, for what the helpers below do not cover.
    pub driver: WebDriver,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts Chromium with a window of `width` by `height` pixels.
    pub async fn open(width: u32, height: u32) -> anyhow::Result<Self> {
        let driver_url = std::env::var("GOODPUT_TEST_CHROMEDRIVER")
            .context("GOODPUT_TEST_CHROMEDRIVER is not set: run `cargo xtask test`")?;
        // Fails when another test of this process was first, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let profile = tempfile::tempdir()?;
        let driver = WebDriver::new(driver_url, capabilities(&profile, width, height)?).await?;
        // Emulated, because a headless window is never narrower than 500 pixels.
        let metrics = serde_json::json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        driver
            .cdp()
            .send_raw("Emulation.setDeviceMetricsOverride", metrics)
            .await?;
        Ok(Self {
            driver,
            _profile: profile,
        })
    }

    /// Opens a page and waits until it is awake (hydrated).
    pub async fn goto(&self, url: &str) -> anyhow::Result<()> {
        self.driver.goto(url).await?;
        self.awake().await
    }

    /// Waits until the page is hydrated: the app marks its document then.
    pub async fn awake(&self) -> anyhow::Result<()> {
        self.until(
            "the page to wake up",
            "return document.documentElement.dataset.hydrated === 'true'",
        )
        .await
    }

    /// Waits until a script (a function body) returns true.
    pub async fn until(&self, what: &str, script: &str) -> anyhow::Result<()> {
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            let done = self.driver.execute(script, Vec::new()).await;
            if done.is_ok_and(|done| done.json() == &Value::Bool(true)) {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        bail!(
            "waited {PATIENCE:?} in vain for {what} at {}:\n{}",
            self.driver.current_url().await?,
            self.text().await?
        )
    }

    /// Waits for an element.
    pub async fn find(&self, css: &str) -> anyhow::Result<WebElement> {
        let quoted = serde_json::to_string(css)?;
        self.until(
            css,
            &format!("return document.querySelector({quoted}) !== null"),
        )
        .await?;
        Ok(self.driver.find(By::Css(css)).await?)
    }

    /// Waits until the page's visible text contains `words`.
    pub async fn shows(&self, words: &str) -> anyhow::Result<()> {
        let quoted = serde_json::to_string(words)?;
        self.until(
            words,
            &format!("return document.body.innerText.includes({quoted})"),
        )
        .await
    }

    /// The page's visible text.
    pub async fn text(&self) -> anyhow::Result<String> {
        Ok(self.driver.find(By::Css("body")).await?.text().await?)
    }

    /// What the console holds since the last call: errors, warnings, violations of the content security policy.
    pub async fn complaints(&self) -> anyhow::Result<Vec<String>> {
        let log = self.driver.browser_log().await?;
        Ok(log
            .into_iter()
            .filter(|entry| entry.level != "INFO" && entry.level != "DEBUG")
            .map(|entry| entry.message)
            .collect())
    }

    /// Runs axe on the page; one line a violation.
    pub async fn accessibility_violations(&self) -> anyhow::Result<Vec<String>> {
        let path = std::env::var("GOODPUT_TEST_AXE")
            .context("GOODPUT_TEST_AXE is not set: run `cargo xtask test`")?;
        let axe = std::fs::read_to_string(path)?;
        self.driver.execute(axe, Vec::new()).await?;
        let run = "const done = arguments[0]; axe.run(document, {resultTypes: ['violations']}).then(r => done(r.violations.map(v => v.id + ': ' + v.nodes.map(n => n.target.join(' ')).slice(0, 3).join(', '))))";
        let violations = self.driver.execute_async(run, Vec::new()).await?;
        Ok(violations.convert()?)
    }

    /// Ends the browser.
    pub async fn close(self) -> anyhow::Result<()> {
        Ok(self.driver.quit().await?)
    }
}

fn capabilities(
    profile: &tempfile::TempDir,
    width: u32,
    height: u32,
) -> anyhow::Result<ChromeCapabilities> {
    let mut capabilities = DesiredCapabilities::chrome();
    for switch in SWITCHES {
        capabilities.add_arg(switch)?;
    }
    capabilities.add_arg(&format!("--user-data-dir={}", profile.path().display()))?;
    capabilities.add_arg(&format!("--window-size={width},{height}"))?;
    capabilities.set_browser_log_level(LoggingPrefsLogLevel::All)?;
    Ok(capabilities)
}
