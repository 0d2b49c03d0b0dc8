use measure::curve::Ceiling;

use super::figures::{ceiling, estimated};
use super::*;
use measure::quantile::{Distribution, Estimate};
use measure::units::Nanos;

#[test]
fn what_is_allowed_is_read_as_people_write_it() {
    for (text, expected) in [
        ("5", Some(0.05)),
        (" 5 % ", Some(0.05)),
        ("0.5%", Some(0.005)),
        ("", None),
    ] {
        assert_eq!(read_share("allow", text).expect(text), expected);
    }
    for text in ["much", "-1", "1001", "NaN"] {
        assert!(read_share("allow", text).is_err(), "{text}");
    }
}

fn p50(value: Option<u64>, lo: Option<u64>, hi: Option<u64>) -> Told {
    let nanos = |it: Option<u64>| it.map(Nanos::from_millis);
    let p50 = Some(Estimate {
        value: nanos(value),
        lo: nanos(lo),
        hi: nanos(hi),
    });
    let of = Distribution {
        p50,
        ..Distribution::default()
    };
    estimated(&of, 50.0)
}

#[test]
fn a_percentile_that_nobody_can_bound_is_no_figure_and_an_infinite_one_is_beyond_any() {
    let Told::Value(value, error) = p50(Some(100), Some(90), Some(110)) else {
        panic!("it has a value")
    };
    assert_eq!(value, 1e8);
    // ln(110 / 90) over twice 1.96.
    assert!((error - 0.051_19).abs() < 1e-4, "{error}");
    assert!(matches!(p50(Some(100), Some(90), None), Told::Nothing(_)));
    assert!(matches!(p50(None, Some(90), None), Told::Beyond(_)));
}

#[test]
fn a_ceiling_below_every_rate_is_worse_than_any_and_an_open_one_tells_nothing() {
    let bracket = Ceiling::Bracket {
        value: 11.0,
        lo: 10.0,
        hi: 12.0,
    };
    assert!(matches!(ceiling(Some(bracket)), Told::Value(11.0, _)));
    assert!(matches!(
        ceiling(Some(Ceiling::NoneKept { hi: 1.0 })),
        Told::Beyond(_)
    ));
    assert!(matches!(
        ceiling(Some(Ceiling::AtLeast { lo: 1.0 })),
        Told::Nothing(_)
    ));
    assert!(matches!(ceiling(None), Told::Nothing(_)));
}
