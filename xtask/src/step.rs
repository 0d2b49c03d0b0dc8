//! One line when something begins, one line when it ends: what was done and how long it took.

use std::time::{Duration, Instant};

/// Does `work`, printing its name before and its duration after, also when it fails.
pub fn step<T>(what: &str, work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    println!("==> {what}");
    let began = Instant::now();
    let result = work();
    let verb = if result.is_ok() { "done" } else { "failed" };
    println!("    {verb} in {}", spent(began.elapsed()));
    result
}

/// Says that a step had nothing to do.
pub fn unchanged(what: &str) {
    println!("    {what}: unchanged");
}

/// A duration as people say it: `0.4 s`, `38 s`, `3 min 05 s`.
pub fn spent(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 9.95 {
        format!("{seconds:.1} s")
    } else if seconds < 99.5 {
        format!("{seconds:.0} s")
    } else {
        let whole = time.as_secs();
        format!("{} min {:02} s", whole / 60, whole % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::spent;
    use std::time::Duration;

    #[track_caller]
    fn check(seconds: f64, expected: &str) {
        assert_eq!(spent(Duration::from_secs_f64(seconds)), expected);
    }

    #[test]
    fn durations_read_as_people_say_them() {
        check(0.04, "0.0 s");
        check(9.94, "9.9 s");
        check(38.4, "38 s");
        check(185.0, "3 min 05 s");
    }
}
