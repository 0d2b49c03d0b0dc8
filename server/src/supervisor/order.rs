//! In which order points run: a machine drifts, so what is compared is measured side by side where that costs little, and
//! in blocks A B B A where an engine takes its time to start.

use load::LengthSource;
use measure::study::{EngineSpec, StudySpec, Turn};

use crate::store::StoredPoint;

/// How points of several configurations take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    /// One configuration after the other: each change costs a person's time.
    OneByOne,
    /// Half of each configuration's points there, the other half on the way back: A B B A.
    Blocks,
    /// A B, then B A, point by point.
    PointByPoint,
}

/// How a study's points take turns. `quick`: every managed engine of it that was started so far was there at once.
pub(super) fn pace(spec: &StudySpec, quick: bool) -> Pace {
    let managed = |turn: &Turn| match turn {
        Turn::Managed { .. } => true,
        Turn::AsIs => matches!(spec.engine, EngineSpec::Managed { .. }),
        Turn::OtherEndpoint(_) | Turn::Pause { .. } => false,
    };
    let turns = || spec.configurations.iter().map(|it| &it.turn);
    if turns().any(|turn| matches!(turn, Turn::Pause { .. })) {
        Pace::OneByOne
    } else if turns().any(managed) && !quick {
        Pace::Blocks
    } else {
        Pace::PointByPoint
    }
}

/// Whether only the first engine can count a level's prompts: then it has to be the first at each.
pub(super) fn first_counts(spec: &StudySpec, counted: Option<LengthSource>) -> bool {
    let elsewhere = |turn: &Turn| matches!(turn, Turn::OtherEndpoint(_) | Turn::Managed { .. });
    counted == Some(LengthSource::Engine)
        && spec.configurations.iter().any(|it| elsewhere(&it.turn))
}

/// The next of the open points. With `forward` no turn goes back: A B, A B.
pub(super) fn next(
    points: &[StoredPoint],
    (pace, forward): (Pace, bool),
    open: impl Fn(usize) -> bool,
) -> Option<usize> {
    let repeats = points
        .iter()
        .map(|it| it.repeat.saturating_add(1))
        .max()
        .unwrap_or(1);
    let last = points.iter().map(|it| it.configuration).max().unwrap_or(0);
    let place = |index: &usize| {
        let point = &points[*index];
        let rank = points[..*index]
            .iter()
            .filter(|it| it.configuration == point.configuration)
            .count();
        let block = match pace {
            Pace::OneByOne => 0,
            Pace::PointByPoint => rank,
            // Repeats are halved; a single one is halved by its levels, every other one.
            Pace::Blocks if repeats == 1 => rank % 2,
            Pace::Blocks => usize::from(repeats.div_ceil(2) <= point.repeat),
        };
        let back = block % 2 == 1 && !forward;
        let turn = if back {
            last - point.configuration
        } else {
            point.configuration
        };
        (block, turn, rank)
    };
    (0..points.len())
        .filter(|index| open(*index))
        .min_by_key(place)
}

#[cfg(test)]
mod tests {
    use app::studio::PointState;
    use measure::study::{Api, Endpoint};
    use measure::units::Level;
    use uuid::Uuid;

    use super::*;

    fn plan(configurations: u32, levels: u32, repeats: u32) -> Vec<StoredPoint> {
        let mut points = Vec::new();
        for configuration in 0..configurations {
            for _ in 0..levels {
                for repeat in 0..repeats {
                    points.push(StoredPoint {
                        id: Uuid::nil(),
                        configuration,
                        ordinal: points.len() as u32,
                        level: Level::Inf,
                        repeat,
                        planned_requests: 1,
                        estimated_ms: 1,
                        state: PointState::Planned,
                        started_ms: None,
                        finished_ms: None,
                        summary: None,
                        certificate: None,
                        judgement: None,
                        made: None,
                        problem: None,
                    });
                }
            }
        }
        points
    }

    #[track_caller]
    fn check(points: &[StoredPoint], pace: Pace, order: &str) {
        check_turns(points, (pace, false), order);
    }

    #[track_caller]
    fn check_turns(points: &[StoredPoint], pace: (Pace, bool), order: &str) {
        let mut done = Vec::new();
        while let Some(index) = next(points, pace, |index| !done.contains(&index)) {
            done.push(index);
        }
        let letter = |index: &usize| char::from(b'A' + points[*index].configuration as u8);
        assert_eq!(done.iter().map(letter).collect::<String>(), order);
    }

    #[test]
    fn configurations_take_turns() {
        check(&plan(2, 3, 1), Pace::OneByOne, "AAABBB");
        check(&plan(2, 3, 1), Pace::PointByPoint, "ABBAAB");
        check(&plan(2, 4, 1), Pace::Blocks, "AABBBBAA");
        check(&plan(2, 1, 4), Pace::Blocks, "AABBBBAA");
        check(&plan(2, 2, 2), Pace::Blocks, "AABBBBAA");
        check(&plan(3, 2, 1), Pace::Blocks, "ABCCBA");
        check(&plan(2, 1, 1), Pace::Blocks, "AB");
        check(&plan(1, 3, 1), Pace::Blocks, "AAA");
        check_turns(&plan(2, 2, 1), (Pace::PointByPoint, true), "ABAB");
    }

    #[test]
    fn the_pace_follows_from_what_a_change_costs() {
        let mut spec = StudySpec::goodput_exercise();
        assert_eq!(pace(&spec, true), Pace::PointByPoint);
        spec.engine = EngineSpec::Managed {
            name: "vllm".into(),
        };
        assert_eq!(pace(&spec, true), Pace::PointByPoint);
        assert_eq!(pace(&spec, false), Pace::Blocks);
        spec.engine =
            EngineSpec::Endpoint(Endpoint::new("http://127.0.0.1:1", Api::OpenAiChat, "m"));
        assert_eq!(pace(&spec, false), Pace::PointByPoint);
        let instruction = "restart".into();
        spec.configurations[1].turn = Turn::Pause { instruction };
        assert_eq!(pace(&spec, false), Pace::OneByOne);
    }
}
