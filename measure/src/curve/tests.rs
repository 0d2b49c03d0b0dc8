use proptest::prelude::*;

use super::*;
use crate::quantile::{Estimate, Proportion};
use crate::slo::{BoundVerdict, Keeps};
use crate::units::Nanos;

use Keeps::{CannotTell, Probably, ProbablyNot, Surely, SurelyNot};

fn judgement(keeps: Keeps, attainment: f64) -> Judgement {
    let observed = Some(Nanos::from_secs_f64(0.5 / (attainment / 0.95).powi(4)));
    Judgement {
        scheduled: 100,
        good: 0,
        undetermined: 0,
        attainment: Some(Proportion {
            value: attainment,
            lo: attainment,
            hi: attainment,
            effective: 100.0,
        }),
        target: 0.95,
        by_attainment: keeps,
        by_percentile: keeps,
        bounds: vec![BoundVerdict {
            bound: "ttft:p95<500ms".to_owned(),
            observed: Some(Estimate {
                value: observed,
                lo: None,
                hi: None,
            }),
            keeps,
        }],
        good_requests_per_s: None,
        good_tokens_per_s: None,
    }
}

/// A point by rate, verdict and attainment.
type Given = (f64, Keeps, f64);

fn with(points: &[Given], by: By, change: impl Fn(usize, &mut CurvePoint<'_>)) -> Ceiling {
    let judgements: Vec<Judgement> = points
        .iter()
        .map(|(_, keeps, share)| judgement(*keeps, *share))
        .collect();
    let points: Vec<CurvePoint<'_>> = points
        .iter()
        .zip(&judgements)
        .enumerate()
        .map(|(i, ((rate, ..), judgement))| {
            let level = rate.to_string().parse().expect("level");
            let innocence = Innocence::Clean;
            let mut point = CurvePoint {
                level,
                arrival: Arrival::Poisson,
                offered: Some(*rate),
                above_capacity: false,
                innocence,
                judgement,
            };
            change(i, &mut point);
            point
        })
        .collect();
    ceiling(&points, by)
}

#[track_caller]
fn check(points: &[Given], expected: Ceiling) {
    let rounded = match with(points, By::Attainment, |_, _| {}) {
        Ceiling::Bracket { value, lo, hi } => Ceiling::Bracket {
            value: (value * 1e9).round() / 1e9,
            lo,
            hi,
        },
        other => other,
    };
    assert_eq!(rounded, expected);
}

#[test]
fn a_bracket_lies_between_sure_points_and_the_value_where_attainment_crosses() {
    check(
        &[
            (1.0, Surely, 1.0),
            (2.0, Surely, 0.99),
            (4.0, SurelyNot, 0.91),
        ],
        Ceiling::Bracket {
            value: 3.0,
            lo: 2.0,
            hi: 4.0,
        },
    );
}

#[test]
fn unsure_points_guide_the_value_and_never_the_bracket() {
    check(
        &[
            (1.0, Surely, 1.0),
            (2.0, Probably, 0.96),
            (3.0, ProbablyNot, 0.94),
            (4.0, SurelyNot, 0.5),
        ],
        Ceiling::Bracket {
            value: 2.5,
            lo: 1.0,
            hi: 4.0,
        },
    );
}

#[test]
fn the_order_of_points_does_not_matter() {
    check(
        &[(4.0, SurelyNot, 0.91), (2.0, Surely, 0.99)],
        Ceiling::Bracket {
            value: 3.0,
            lo: 2.0,
            hi: 4.0,
        },
    );
}

#[test]
fn at_least_when_no_point_broke_it() {
    check(
        &[(1.0, Surely, 1.0), (2.0, Surely, 1.0)],
        Ceiling::AtLeast { lo: 2.0 },
    );
    check(
        &[(1.0, Surely, 1.0), (2.0, Probably, 0.96)],
        Ceiling::AtLeast { lo: 1.0 },
    );
}

#[test]
fn none_when_no_point_kept_it() {
    check(
        &[(1.0, SurelyNot, 0.5), (2.0, SurelyNot, 0.2)],
        Ceiling::NoneKept { hi: 1.0 },
    );
    check(
        &[(1.0, SurelyNot, 0.5), (2.0, ProbablyNot, 0.94)],
        Ceiling::NoneKept { hi: 1.0 },
    );
}

#[test]
fn unresolved_when_no_point_is_sure() {
    check(&[], Ceiling::Unresolved { lo: None, hi: None });
    check(
        &[(1.0, Probably, 0.96), (2.0, ProbablyNot, 0.94)],
        Ceiling::Unresolved { lo: None, hi: None },
    );
    check(
        &[(1.0, Probably, 0.96), (2.0, SurelyNot, 0.5)],
        Ceiling::Unresolved {
            lo: None,
            hi: Some(2.0),
        },
    );
    check(
        &[(1.0, Surely, 0.99), (2.0, ProbablyNot, 0.94)],
        Ceiling::Unresolved {
            lo: Some(1.0),
            hi: None,
        },
    );
    check(
        &[(1.0, CannotTell, 0.0)],
        Ceiling::Unresolved { lo: None, hi: None },
    );
}

#[test]
fn points_that_contradict_each_other_are_unresolved() {
    check(
        &[(1.0, SurelyNot, 0.5), (2.0, Surely, 1.0)],
        Ceiling::Unresolved {
            lo: Some(2.0),
            hi: Some(1.0),
        },
    );
}

#[test]
fn above_capacity_is_an_upper_end_and_never_a_value() {
    let points = [
        (1.0, Surely, 1.0),
        (2.0, Surely, 0.99),
        (4.0, Surely, 0.97),
        (8.0, SurelyNot, 0.1),
    ];
    let ceiling = with(&points, By::Attainment, |i, point| {
        point.above_capacity = i == 2
    });
    assert_eq!(
        ceiling,
        Ceiling::Bracket {
            value: 2.0,
            lo: 2.0,
            hi: 4.0
        }
    );
}

#[test]
fn void_inf_and_closed_loop_points_are_left_out() {
    let points = [
        (1.0, Surely, 1.0),
        (2.0, Surely, 1.0),
        (4.0, SurelyNot, 0.1),
    ];
    let void = with(&points, By::Attainment, |i, point| {
        if i == 2 {
            point.innocence = Innocence::Void;
        }
    });
    assert_eq!(void, Ceiling::AtLeast { lo: 2.0 });
    for level in [Level::Inf, Level::Concurrency(4)] {
        let ceiling = with(&points, By::Attainment, |i, point| {
            if i == 2 {
                point.level = level;
            }
        });
        assert_eq!(ceiling, Ceiling::AtLeast { lo: 2.0 });
    }
}

#[test]
fn a_suspect_point_counts() {
    let points = [(1.0, Surely, 1.0), (2.0, SurelyNot, 0.5)];
    let ceiling = with(&points, By::Attainment, |_, point| {
        point.innocence = Innocence::Suspect
    });
    assert!(matches!(
        ceiling,
        Ceiling::Bracket {
            lo: 1.0,
            hi: 2.0,
            ..
        }
    ));
}

#[test]
fn rates_are_those_offered_not_those_asked_for() {
    let points = [(1.0, Surely, 1.0), (2.0, SurelyNot, 0.5)];
    let ceiling = with(&points, By::Attainment, |_, point| {
        point.offered = point.offered.map(|rate| rate * 1.1)
    });
    assert!(
        matches!(
            ceiling,
            Ceiling::Bracket {
                lo: 1.1,
                hi: 2.2,
                ..
            }
        ),
        "{ceiling:?}"
    );
}

#[test]
fn by_percentile_the_value_lies_where_the_tightest_bound_is_met() {
    let points = [(1.0, Surely, 0.99), (3.0, SurelyNot, 0.95 * 0.95 / 0.99)];
    let Ceiling::Bracket { value, lo, hi } = with(&points, By::Percentile, |_, _| {}) else {
        panic!("no bracket")
    };
    assert_eq!((lo, hi), (1.0, 3.0));
    assert!((value - 2.0).abs() < 1e-6, "{value}");
}

#[test]
fn a_ceiling_survives_json() {
    for ceiling in [
        Ceiling::Bracket {
            value: 1.5,
            lo: 1.0,
            hi: 2.0,
        },
        Ceiling::Unresolved {
            lo: None,
            hi: Some(2.0),
        },
    ] {
        let json = serde_json::to_string(&ceiling).expect("json");
        assert_eq!(
            serde_json::from_str::<Ceiling>(&json).expect("back"),
            ceiling
        );
    }
}

fn given() -> impl Strategy<Value = Vec<(f64, Keeps, f64, bool)>> {
    let keeps = prop::sample::select(vec![Surely, Probably, CannotTell, ProbablyNot, SurelyNot]);
    prop::collection::vec((0.1f64..100.0, keeps, 0.0f64..=1.0, any::<bool>()), 0..10)
}

proptest! {
    #[test]
    fn a_value_never_lies_outside_its_bracket(points in given(), by_percentile: bool) {
        let plain: Vec<Given> = points.iter().map(|(rate, keeps, share, _)| (*rate, *keeps, *share)).collect();
        let by = if by_percentile { By::Percentile } else { By::Attainment };
        let got = with(&plain, by, |i, point| point.above_capacity = points[i].3);
        let sure = |wanted: Keeps| points.iter().filter(move |p| if p.3 { wanted == SurelyNot } else { p.1 == wanted });
        match got {
            Ceiling::Bracket { value, lo, hi } => {
                prop_assert!(lo <= value && value <= hi && lo < hi);
                prop_assert!(sure(Surely).all(|p| p.0 <= lo) && sure(SurelyNot).all(|p| hi <= p.0));
            }
            Ceiling::AtLeast { lo } => {
                prop_assert!(sure(Surely).any(|p| p.0 == lo) && sure(SurelyNot).count() == 0);
            }
            Ceiling::NoneKept { hi } => prop_assert!(points.iter().all(|p| hi <= p.0) && sure(Surely).count() == 0),
            Ceiling::Ramped => prop_assert!(false, "nothing is ramped"),
            Ceiling::Unresolved { lo, hi } => {
                prop_assert_eq!(lo.is_some(), sure(Surely).count() > 0);
                prop_assert_eq!(hi.is_some(), sure(SurelyNot).count() > 0);
            }
        }
    }
}

#[test]
fn no_ceiling_is_read_from_ramps() {
    let points = [
        (1.0, Surely, 0.99),
        (2.0, Surely, 0.97),
        (4.0, SurelyNot, 0.5),
    ];
    let spread = |arrival: &str, by| {
        let arrival: Arrival = arrival.parse().expect("arrival");
        with(&points, by, |_, point| point.arrival = arrival)
    };
    for by in [By::Attainment, By::Percentile] {
        for ramp in ["linear-ramp=0.5", "exponential-ramp=8"] {
            assert_eq!(spread(ramp, by), Ceiling::Ramped, "{ramp}");
        }
        for steady in ["poisson", "constant", "gamma=0.2"] {
            let told = matches!(
                spread(steady, by),
                Ceiling::Bracket {
                    lo: 2.0,
                    hi: 4.0,
                    ..
                }
            );
            assert!(told, "{steady}");
        }
    }
}

#[test]
fn a_ramp_leaves_what_has_no_rate_as_it_is() {
    let ramp: Arrival = "linear-ramp=0.5".parse().expect("arrival");
    let replayed = with(&[(1.0, Surely, 0.99)], By::Attainment, |_, point| {
        point.arrival = ramp;
        point.level = "x2".parse().expect("level");
    });
    assert_eq!(replayed, Ceiling::AtLeast { lo: 1.0 });
    let closed = with(&[(1.0, Surely, 0.99)], By::Attainment, |_, point| {
        point.arrival = ramp;
        point.level = Level::Inf;
    });
    assert_eq!(closed, Ceiling::Unresolved { lo: None, hi: None });
    // What is steady counts, whatever stands beside it.
    let mixed = with(
        &[(1.0, Surely, 0.99), (2.0, SurelyNot, 0.1)],
        By::Attainment,
        |i, point| {
            if i == 1 {
                point.arrival = ramp;
            }
        },
    );
    assert_eq!(mixed, Ceiling::AtLeast { lo: 1.0 });
}

/// Points with given good requests and tokens per second.
fn delivered(points: &[Given], ceiling: &Ceiling) -> Option<AtCeiling> {
    let judgements: Vec<Judgement> = points
        .iter()
        .map(|(rate, keeps, share)| Judgement {
            good_requests_per_s: Some(rate * share),
            good_tokens_per_s: Some(rate * share * 100.0),
            ..judgement(*keeps, *share)
        })
        .collect();
    let points: Vec<CurvePoint<'_>> = points
        .iter()
        .zip(&judgements)
        .map(|((rate, ..), judgement)| CurvePoint {
            level: rate.to_string().parse().expect("level"),
            arrival: Arrival::Poisson,
            offered: Some(*rate),
            above_capacity: false,
            innocence: Innocence::Clean,
            judgement,
        })
        .collect();
    at_ceiling(&points, ceiling)
}

#[test]
fn goodput_at_the_ceiling_lies_between_the_levels_around_it() {
    let points = [(2.0, Surely, 1.0), (4.0, SurelyNot, 0.5)];
    let bracket = Ceiling::Bracket {
        value: 2.5,
        lo: 2.0,
        hi: 4.0,
    };
    let at = delivered(&points, &bracket).expect("a rate");
    // 2 good requests at 2/s and at 4/s.
    assert_eq!(
        (at.rate, at.requests_per_s, at.tokens_per_s),
        (2.5, Some(2.0), Some(200.0))
    );
    let at_least = Ceiling::AtLeast { lo: 2.0 };
    let at = delivered(&points, &at_least).expect("a rate");
    assert_eq!(at.requests_per_s, Some(2.0));
    for none in [Ceiling::NoneKept { hi: 2.0 }, Ceiling::Ramped] {
        assert_eq!(delivered(&points, &none), None);
    }
}

/// Repeats stand at one level; their offered rates differ.
fn repeats(points: &[(f64, f64, Keeps, f64)], by: By) -> Ceiling {
    let given: Vec<Given> = points.iter().map(|it| (it.0, it.2, it.3)).collect();
    with(&given, by, |i, point| point.offered = Some(points[i].1))
}

#[test]
fn repeats_of_a_level_are_one() {
    // A hundred requests at 97 % are not sure of 95 %, six hundred are.
    let repeat = |offered, share| (2.0, offered, Probably, share);
    let one = repeats(&[repeat(2.0, 0.97)], By::Attainment);
    assert_eq!(one, Ceiling::Unresolved { lo: None, hi: None });
    let six = repeats(&[repeat(2.0, 0.97); 6], By::Attainment);
    assert_eq!(six, Ceiling::AtLeast { lo: 2.0 });
    // Arrivals over time: 200 in 100 / 2 + 100 / 3 seconds.
    let two = repeats(
        &[(2.0, 2.0, Surely, 1.0), (2.0, 3.0, Surely, 1.0)],
        By::Attainment,
    );
    let Ceiling::AtLeast { lo } = two else {
        panic!("{two:?}")
    };
    assert!((lo - 2.4).abs() < 1e-12);
}

#[test]
fn by_percentile_the_repeat_in_the_middle_counts() {
    let of = |verdicts: &[Keeps]| {
        let points: Vec<_> = verdicts.iter().map(|it| (2.0, 2.0, *it, 0.97)).collect();
        repeats(&points, By::Percentile)
    };
    assert_eq!(
        of(&[Surely, Probably, Surely]),
        Ceiling::AtLeast { lo: 2.0 }
    );
    let unsure = Ceiling::Unresolved { lo: None, hi: None };
    assert_eq!(of(&[Surely, Probably]), unsure);
    assert_eq!(of(&[ProbablyNot, SurelyNot]), unsure);
    assert_eq!(
        of(&[SurelyNot, SurelyNot, Surely]),
        Ceiling::NoneKept { hi: 2.0 }
    );
}

#[test]
fn half_of_the_repeats_above_capacity_make_the_level_so() {
    let of = |above: usize| {
        let points = [
            (1.0, 1.0, Surely, 1.0),
            (2.0, 2.0, Surely, 1.0),
            (2.0, 2.0, Surely, 1.0),
            (2.0, 2.0, Surely, 1.0),
        ];
        let given: Vec<Given> = points.iter().map(|it| (it.0, it.2, it.3)).collect();
        with(&given, By::Attainment, |i, point| {
            point.above_capacity = 4 - above <= i
        })
    };
    assert_eq!(of(0), Ceiling::AtLeast { lo: 2.0 });
    // One of three: no longer sure.
    assert_eq!(of(1), Ceiling::AtLeast { lo: 1.0 });
    assert!(matches!(
        of(2),
        Ceiling::Bracket {
            lo: 1.0,
            hi: 2.0,
            ..
        }
    ));
}

#[test]
fn the_value_follows_a_fit_that_never_rises() {
    // 0.94 and 0.96 are noise around the target: their mean is at it, so the crossing lies at the second.
    let ceiling = with(
        &[
            (1.0, Surely, 1.0),
            (2.0, ProbablyNot, 0.94),
            (3.0, Probably, 0.96),
            (4.0, SurelyNot, 0.5),
        ],
        By::Attainment,
        |_, _| {},
    );
    let Ceiling::Bracket { value, lo, hi } = ceiling else {
        panic!("{ceiling:?}")
    };
    assert!(
        (value - 3.0).abs() < 1e-6 && (lo, hi) == (1.0, 4.0),
        "{value}"
    );
}

#[test]
fn intervals_and_widths_are_read_from_every_kind() {
    let all = [
        (
            Ceiling::Bracket {
                value: 2.0,
                lo: 1.5,
                hi: 2.5,
            },
            Some((1.5, 2.5)),
            Some(0.5),
        ),
        (
            Ceiling::AtLeast { lo: 2.0 },
            Some((2.0, f64::INFINITY)),
            None,
        ),
        (Ceiling::NoneKept { hi: 2.0 }, Some((0.0, 2.0)), None),
        (
            Ceiling::Unresolved {
                lo: None,
                hi: Some(2.0),
            },
            Some((0.0, 2.0)),
            None,
        ),
        (
            Ceiling::Unresolved {
                lo: Some(2.0),
                hi: Some(1.0),
            },
            None,
            None,
        ),
        (Ceiling::Ramped, None, None),
    ];
    for (ceiling, interval, width) in all {
        assert_eq!(
            (ceiling.interval(), ceiling.relative_width()),
            (interval, width)
        );
    }
}
