//! Rate limits for the two doors that strangers can knock at: sign-in and shared links.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// More callers than this are not told apart: the fullest buckets are forgotten first.
const MAX_CALLERS: usize = 4096;

/// A token bucket for each caller.
#[derive(Debug)]
pub struct Limit {
    burst: f64,
    per_second: f64,
    buckets: Mutex<HashMap<IpAddr, Bucket>>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    left: f64,
    at: Instant,
}

impl Limit {
    /// So many at once, so many a second after that.
    pub fn new(burst: u32, per_second: f64) -> Self {
        Self {
            burst: f64::from(burst),
            per_second,
            buckets: Mutex::new(HashMap::new()),
        }
    }

    /// Takes one; on refusal, the seconds until there is one again.
    pub fn take(&self, caller: IpAddr, now: Instant) -> Result<(), u64> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MAX_CALLERS && !buckets.contains_key(&caller) {
            let burst = self.burst;
            buckets.retain(|_, bucket| self.refilled(*bucket, now) < burst);
            if buckets.len() >= MAX_CALLERS {
                return Err(1);
            }
        }
        let bucket = buckets.entry(caller).or_insert(Bucket {
            left: self.burst,
            at: now,
        });
        let left = self.refilled(*bucket, now);
        let allowed = 1.0 <= left;
        *bucket = Bucket {
            left: if allowed { left - 1.0 } else { left },
            at: now,
        };
        if allowed {
            Ok(())
        } else {
            Err(((1.0 - left) / self.per_second).ceil().max(1.0) as u64)
        }
    }

    fn refilled(&self, bucket: Bucket, now: Instant) -> f64 {
        let waited = now.saturating_duration_since(bucket.at).as_secs_f64();
        (bucket.left + waited * self.per_second).min(self.burst)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::Duration;

    use super::*;

    fn ip(number: u32) -> IpAddr {
        IpAddr::V4(Ipv4Addr::from(number))
    }

    #[test]
    fn a_burst_is_allowed_then_one_at_a_time() {
        let limit = Limit::new(2, 0.5);
        let start = Instant::now();
        assert_eq!(limit.take(ip(1), start), Ok(()));
        assert_eq!(limit.take(ip(1), start), Ok(()));
        assert_eq!(limit.take(ip(1), start), Err(2));
        assert_eq!(limit.take(ip(2), start), Ok(()), "others are not held up");
        assert_eq!(limit.take(ip(1), start + Duration::from_secs(2)), Ok(()));
    }

    #[test]
    fn memory_is_bounded() {
        let limit = Limit::new(1, 1.0);
        let start = Instant::now();
        for number in 0..5000 {
            let _ = limit.take(ip(number), start);
        }
        assert!(limit.buckets.lock().expect("lock").len() <= MAX_CALLERS);
        assert_eq!(limit.take(ip(9999), start + Duration::from_secs(5)), Ok(()));
    }
}
