//! Moments: the same text from the server for everyone, then "3 min ago" in the browser, which knows the time.

use crate::ui::erased::shared;
use crate::ui::reactive::effect;
use leptos::prelude::*;

/// A moment in the ISO form that `<time datetime>` wants: `2026-11-29T13:57:12Z`.
pub fn iso(unix_ms: i64) -> String {
    let (date, seconds) = (
        unix_ms.div_euclid(86_400_000),
        unix_ms.rem_euclid(86_400_000) / 1000,
    );
    let (year, month, day) = civil(date);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    )
}

/// A moment as a person reads it: `2026-11-29 13:57 UTC`.
pub fn plain(unix_ms: i64) -> String {
    let iso = iso(unix_ms);
    format!(
        "{} {} UTC",
        &iso[..iso.len() - 10],
        &iso[iso.len() - 9..iso.len() - 4]
    )
}

/// The day alone, for what lies ahead: `2027-11-29`.
pub fn day(unix_ms: i64) -> String {
    iso(unix_ms)[..10].to_owned()
}

/// How long ago: `just now`, `3 min ago`, `5 h ago`, `2 days ago`, then the date.
pub fn ago(now_ms: i64, then_ms: i64) -> String {
    let minutes = (now_ms - then_ms) / 60_000;
    match minutes {
        ..=0 => "just now".into(),
        1..=59 => format!("{minutes} min ago"),
        60..=1439 => format!("{} h ago", minutes / 60),
        1440..=2879 => "yesterday".into(),
        2880..=43_199 => format!("{} days ago", minutes / 1440),
        _ => day(then_ms),
    }
}

/// Year, month and day of a day counted from 1970 (Howard Hinnant's `civil_from_days`).
fn civil(day: i64) -> (i64, i64, i64) {
    let shifted = day + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// A moment, relative once the browser is awake.
#[component]
pub fn RelativeTime(
    /// Milliseconds since 1970.
    unix_ms: i64,
) -> impl IntoView {
    let text = RwSignal::new(plain(unix_ms));
    // Effects run in the browser only: the server's clock and language never enter the page.
    effect(move || text.set(ago(js_sys::Date::now() as i64, unix_ms)));
    view! {
        <time datetime=iso(unix_ms) title=plain(unix_ms)>
            {shared(move || text.get())}
        </time>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(unix_ms: i64, expected: &str) {
        assert_eq!(iso(unix_ms), expected);
    }

    #[test]
    fn moments_have_their_date() {
        check(0, "1970-01-01T00:00:00Z");
        check(951_782_400_000, "2000-02-29T00:00:00Z");
        check(1_795_960_632_500, "2026-11-29T13:57:12Z");
        check(-1, "1969-12-31T23:59:59Z");
        assert_eq!(plain(1_795_960_632_500), "2026-11-29 13:57 UTC");
    }

    #[test]
    fn an_age_is_told_in_the_unit_a_person_would_use() {
        let minute = 60_000;
        for (minutes, expected) in [
            (0, "just now"),
            (3, "3 min ago"),
            (61, "1 h ago"),
            (1500, "yesterday"),
            (4400, "3 days ago"),
        ] {
            assert_eq!(ago(minutes * minute, 0), expected);
        }
        assert_eq!(ago(40 * 1440 * minute, 0), "1970-01-01");
        assert_eq!(ago(0, minute), "just now", "a clock that runs behind");
    }
}
