use super::*;
use crate::knobs::KnobValue;
use crate::units::Rate;
use crate::workload::Lengths;

fn exercise() -> StudySpec {
    StudySpec::goodput_exercise()
}

fn endpoint() -> Endpoint {
    Endpoint::new("http://127.0.0.1:8000", Api::OpenAiChat, "llama")
}

fn on_endpoint(change: impl Fn(&mut Endpoint)) -> StudySpec {
    let mut endpoint = endpoint();
    change(&mut endpoint);
    let mut spec = exercise();
    spec.engine = EngineSpec::Endpoint(endpoint);
    spec.configurations[1].turn = Turn::Pause {
        instruction: "restart with --enable-prefix-caching".to_owned(),
    };
    spec
}

/// One change, one error at one field.
#[track_caller]
fn refuses(change: impl Fn(&mut StudySpec), field: &str, part: &str) {
    let mut spec = exercise();
    change(&mut spec);
    let errors = spec.check();
    let found = errors
        .iter()
        .any(|error| error.field == field && error.message.contains(part));
    assert!(found, "{field}: {part}: {errors:?}");
}

#[test]
fn the_exercise_can_run() {
    assert_eq!(exercise().check(), []);
    assert_eq!(on_endpoint(|_| {}).check(), []);
}

#[test]
fn errors_are_at_their_fields() {
    refuses(|s| s.name = " ".to_owned(), "name", "empty");
    refuses(|s| s.name = "x".repeat(201), "name", "200");
    refuses(
        |s| {
            s.engine = EngineSpec::Simulator {
                preset: String::new(),
            }
        },
        "engine.preset",
        "preset",
    );
    refuses(|s| s.levels.clear(), "levels", "at least one");
    refuses(|s| s.levels.push(s.levels[1]), "levels[8]", "twice");
    refuses(
        |s| s.levels[2] = Level::Rate(Rate::try_from(1e6).expect("rate")),
        "levels[2]",
        "0.001 to 100000",
    );
    refuses(
        |s| s.levels[2] = Level::Concurrency(20_000),
        "levels[2]",
        "streams",
    );
    refuses(
        |s| s.length.min_requests = 0,
        "length.min_requests",
        "at least 1",
    );
    refuses(
        |s| s.length.max_requests = 1,
        "length.max_requests",
        "min_requests (100)",
    );
    refuses(
        |s| s.length.max_requests = MAX_REQUESTS + 1,
        "length.max_requests",
        "100000",
    );
    refuses(|s| s.length.seconds = 0, "length.seconds", "1 to 3600");
    refuses(|s| s.warmup = 5000, "warmup", "1000");
    refuses(|s| s.repeats = 0, "repeats", "1 to 100");
    refuses(|s| s.repeats = 100, "levels", "1600 points");
    refuses(|s| s.idle_timeout_ms = 0, "idle_timeout_ms", "1 ms to 1 h");
    refuses(|s| s.drain_ms = u64::MAX, "drain_ms", "at most 1 h");
}

#[test]
fn a_name_can_be_seen_and_stands_in_one_line() {
    refuses(|s| s.name = "\u{200b}\u{feff}".to_owned(), "name", "empty");
    refuses(|s| s.name = "a\nb".to_owned(), "name", "line breaks");
    refuses(|s| s.name = "\u{7}".to_owned(), "name", "control");
    let mut spec = exercise();
    spec.name = "caf\u{e9} \u{1f468}\u{200d}\u{1f469}".to_owned();
    assert_eq!(spec.check(), []);
}

#[test]
fn a_study_ends_within_a_day() {
    let rate = |per_second| Level::Rate(Rate::try_from(per_second).expect("rate"));
    refuses(
        |s| s.levels = vec![rate(1e-300)],
        "levels[0]",
        "0.001 to 100000",
    );
    refuses(
        |s| s.levels = vec![rate(0.001), rate(0.0011), rate(0.0012)],
        "levels",
        "at most 24 h",
    );
}

#[test]
fn errors_of_the_workload_have_its_path() {
    let fixed = |tokens| Lengths::Fixed { tokens };
    refuses(
        |s| {
            s.workload = Workload::Synthetic {
                input: fixed(0),
                output: fixed(1),
            }
        },
        "workload.input",
        "1 to",
    );
}

#[test]
fn errors_of_configurations_have_their_index() {
    refuses(
        |s| s.configurations.clear(),
        "configurations",
        "at least one",
    );
    refuses(
        |s| s.configurations[1].name = s.configurations[0].name.clone(),
        "configurations[1].name",
        "twice",
    );
    refuses(
        |s| s.configurations[1].name.clear(),
        "configurations[1].name",
        "empty",
    );
    let knob = |s: &mut StudySpec, name: &str, value| {
        s.configurations[1].knobs.insert(name.to_owned(), value)
    };
    refuses(
        |s| drop(knob(s, "speed", KnobValue::Whole(9))),
        "configurations[1].knobs",
        "no knob \"speed\"",
    );
    refuses(
        |s| drop(knob(s, "max-num-seqs", KnobValue::Whole(0))),
        "configurations[1].knobs.max-num-seqs",
        "1 to 4096",
    );
    refuses(
        |s| s.configurations[1].turn = Turn::OtherEndpoint(endpoint()),
        "configurations[1].turn",
        "simulator",
    );
}

#[test]
fn endpoints_are_checked() {
    let check = |change: fn(&mut Endpoint), field: &str, part: &str| {
        let errors = on_endpoint(change).check();
        let found = errors
            .iter()
            .any(|error| error.field == field && error.message.contains(part));
        assert!(found, "{field}: {errors:?}");
    };
    check(
        |e| e.url = "127.0.0.1:8000".to_owned(),
        "engine.url",
        "http://",
    );
    check(|e| e.url = "http://".to_owned(), "engine.url", "host");
    check(|e| e.url = "http://a b".to_owned(), "engine.url", "host");
    check(|e| e.model.clear(), "engine.model", "probe");
    check(
        |e| e.api_key_env = Some("sk-abc123".to_owned()),
        "engine.api_key_env",
        "environment variable",
    );
    check(
        |e| e.api_key_env = Some(String::new()),
        "engine.api_key_env",
        "environment variable",
    );
    assert_eq!(
        on_endpoint(|e| e.api_key_env = Some("API_KEY".to_owned())).check(),
        []
    );
}

#[test]
fn a_change_that_never_happens_is_no_configuration() {
    let mut spec = on_endpoint(|_| {});
    spec.configurations[1].turn = Turn::AsIs;
    let fields: Vec<String> = spec.check().into_iter().map(|error| error.field).collect();
    assert_eq!(fields, ["configurations[1].turn"]);
    spec.configurations[1].knobs = spec.configurations[0].knobs.clone();
    assert_eq!(spec.check(), [], "the same twice tells how much is noise");
}

#[test]
fn the_ways_of_turning_a_knob_are_checked() {
    let with = |turn: Turn| {
        let mut spec = on_endpoint(|_| {});
        spec.configurations[1].turn = turn;
        spec.check()
    };
    let pause = |text: &str| Turn::Pause {
        instruction: text.to_owned(),
    };
    assert_eq!(with(pause("restart with --max-num-seqs 64")), []);
    assert_eq!(
        with(pause(""))[0].field,
        "configurations[1].turn.instruction"
    );
    assert_eq!(with(Turn::OtherEndpoint(endpoint())), []);
    let nowhere = Endpoint {
        url: "nowhere".to_owned(),
        ..endpoint()
    };
    assert_eq!(
        with(Turn::OtherEndpoint(nowhere))[0].field,
        "configurations[1].turn.url"
    );
}

#[test]
fn an_engines_own_knobs_are_not_the_simulators_to_judge() {
    let mut spec = on_endpoint(|_| {});
    spec.factorial = true;
    spec.configurations[1].knobs.insert(
        "gpu-memory-utilization".to_owned(),
        KnobValue::Fraction(0.9),
    );
    assert_eq!(spec.check(), []);
    spec.configurations[1]
        .knobs
        .insert("--two words".to_owned(), KnobValue::Fraction(0.9));
    assert_eq!(spec.check()[0].field, "configurations[1].knobs");
}

#[test]
fn one_knob_is_turned_at_a_time_unless_several_were_chosen() {
    let mut spec = exercise();
    let seqs = ("max-num-seqs".to_owned(), KnobValue::Whole(8));
    spec.configurations[1].knobs.extend([seqs]);
    let errors = spec.check();
    assert_eq!(errors[0].field, "configurations[1].knobs");
    let named = "2 knobs (enable-prefix-caching, max-num-seqs)";
    assert!(errors[0].message.contains(named), "{errors:?}");
    spec.factorial = true;
    assert_eq!(spec.check(), []);
    // Another engine is a difference of its own.
    let mut spec = on_endpoint(|_| {});
    let knobs = ["a", "b", "c"].map(|knob| (knob.to_owned(), KnobValue::Whole(1)));
    spec.configurations[1].knobs.extend(knobs);
    assert_eq!(spec.check()[0].field, "configurations[1].knobs");
    spec.configurations[1].turn = Turn::OtherEndpoint(endpoint());
    assert_eq!(spec.check(), []);
}

#[test]
fn an_engine_that_the_studio_starts_has_a_name_and_needs_nobody() {
    let mut spec = exercise();
    spec.engine = EngineSpec::Managed {
        name: "llama".into(),
    };
    assert_eq!(spec.check(), []);
    let instruction = "restart".into();
    spec.configurations[1].turn = Turn::Pause { instruction };
    assert_eq!(spec.check()[0].field, "configurations[1].turn");
    spec.configurations[1].turn = Turn::Managed { name: " ".into() };
    assert_eq!(spec.check()[0].field, "configurations[1].turn.name");
    spec.engine = EngineSpec::Managed {
        name: String::new(),
    };
    assert_eq!(spec.check()[0].field, "engine.name");
}

#[test]
fn the_plan_goes_configuration_by_configuration_level_by_level() {
    let plan = StudySpec {
        repeats: 2,
        ..exercise()
    }
    .plan();
    let places: Vec<(u32, u32, u32)> = plan
        .iter()
        .map(|p| (p.configuration, p.level_index, p.repeat))
        .collect();
    assert_eq!(places.len(), 32);
    assert_eq!(places[..3], [(0, 0, 0), (0, 0, 1), (0, 1, 0)]);
    assert!(places.is_sorted());
}

#[test]
fn configurations_are_paired_and_points_independent() {
    let plan = StudySpec {
        repeats: 3,
        ..exercise()
    }
    .plan();
    let (off, on) = plan.split_at(24);
    assert_eq!(
        off.iter().map(|p| p.seed.0).collect::<Vec<_>>(),
        on.iter().map(|p| p.seed.0).collect::<Vec<_>>()
    );
    let seeds: std::collections::BTreeSet<u64> = off.iter().map(|p| p.seed.0).collect();
    assert_eq!(seeds.len(), 24);
}

#[test]
fn a_point_has_as_many_requests_as_arrive_within_bounds() {
    let length = PointLength {
        min_requests: 100,
        max_requests: 400,
        seconds: 20,
    };
    let of = |level: &str, turns| length.requests(level.parse().expect("level"), turns);
    assert_eq!(of("1", 1.0), 100);
    assert_eq!(of("7.5", 1.0), 150);
    assert_eq!(of("7.5", 2.0), 300);
    assert_eq!(of("1000", 1.0), 400);
    assert_eq!(of("inf", 1.0), 400);
    assert_eq!(
        (of("c=16", 1.0), of("c=64", 1.0), of("c=1000", 1.0)),
        (100, 256, 400)
    );
}

#[test]
fn the_exercise_takes_at_most_eight_minutes() {
    let plan = exercise().plan();
    let seconds: f64 = plan.iter().map(|point| point.estimated.as_secs_f64()).sum();
    assert!(
        seconds <= 8.0 * 60.0 + 120.0,
        "{seconds} s with guessed tails"
    );
    let arrivals: f64 = plan
        .iter()
        .filter_map(|point| {
            Some(
                f64::from(point.requests)
                    / exercise().workload.requests_per_session()
                    / point.level.rate()?,
            )
        })
        .sum();
    assert!(arrivals <= 6.5 * 60.0, "{arrivals} s of arrivals");
}

#[test]
fn the_exercise_is_the_one_that_everyone_should_do_once() {
    let spec = exercise();
    assert_eq!(
        spec.slo.to_string(),
        "ttft:p95<500ms tpot:p95<50ms attain>=95%"
    );
    assert_eq!(
        (spec.levels.len(), spec.levels[7], spec.seed.0),
        (8, Level::Inf, 42)
    );
    assert!(spec.workload.is_multi_turn());
    let plan = spec.plan();
    assert!(plan.iter().all(|point| 100 <= point.requests));
    // Near the knee.
    assert!(
        plan[3..6].iter().all(|point| 200 <= point.requests),
        "{:?}",
        &plan[3..6]
    );
}

#[test]
fn a_longer_study_is_estimated_longer() {
    let seconds = |spec: &StudySpec| {
        spec.plan()
            .iter()
            .map(|point| point.estimated.as_secs_f64())
            .sum::<f64>()
    };
    let mut slower = exercise();
    slower.levels = vec!["0.1".parse().expect("level")];
    assert!(2.0 * 100.0 / 3.6 / 0.1 * 0.9 < seconds(&slower));
    let mut closed = exercise();
    closed.levels = vec!["c=1".parse().expect("level"), "c=8".parse().expect("level")];
    let plan = closed.plan();
    assert!(plan[1].estimated < plan[0].estimated);
}

#[test]
fn a_study_survives_json() {
    for spec in [
        exercise(),
        on_endpoint(|e| e.api_key_env = Some("KEY".to_owned())),
    ] {
        let json = serde_json::to_string(&spec).expect("json");
        assert_eq!(
            serde_json::from_str::<StudySpec>(&json).expect("back"),
            spec
        );
    }
}

#[test]
fn a_field_that_nobody_knows_is_refused_wherever_it_stands() {
    let spec = on_endpoint(|_| {});
    let json = serde_json::to_value(spec).expect("json");
    for place in [
        "",
        "/engine",
        "/workload",
        "/length",
        "/configurations/0",
        "/configurations/0/turn",
        "/configurations/1/turn",
    ] {
        let mut json = json.clone();
        json.pointer_mut(place).expect(place)["speed"] = 1.into();
        let error = serde_json::from_value::<StudySpec>(json).expect_err(place);
        assert!(
            error.to_string().contains("unknown field `speed`"),
            "{place}: {error}"
        );
    }
}

fn adaptive(from: f64, to: f64) -> StudySpec {
    StudySpec {
        levels: Vec::new(),
        adaptive: Some(Adaptive {
            from: from.try_into().expect("rate"),
            to: to.try_into().expect("rate"),
            minutes: 30,
            width: 0.15,
        }),
        ..exercise()
    }
}

#[test]
fn an_adaptive_sweep_begins_with_one_point_a_configuration() {
    let spec = adaptive(1.0, 64.0);
    assert_eq!(spec.check(), []);
    let plan = spec.plan();
    let told: Vec<_> = plan
        .iter()
        .map(|it| (it.configuration, it.level.to_string(), it.requests))
        .collect();
    // A quarter of the 600 requests that a rate may have.
    assert_eq!(told, [(0, "8".into(), 150), (1, "8".into(), 150)]);
    assert_ne!(plan[0].seed, plan[1].seed);
    let search = spec.search().expect("adaptive");
    assert_eq!(
        (search.seconds, search.least, search.most),
        (900.0, 100, 600)
    );
    assert!(exercise().search().is_none());
}

#[test]
fn an_adaptive_sweep_survives_json_and_text() {
    let spec = adaptive(0.5, 64.0);
    let json = serde_json::to_string(&spec).expect("json");
    assert!(
        json.contains(r#""levels":[],"adaptive":{"from":0.5,"to":64.0,"minutes":30,"width":0.15}"#),
        "{json}"
    );
    assert_eq!(
        serde_json::from_str::<StudySpec>(&json).expect("back"),
        spec
    );
    assert!(
        !serde_json::to_string(&exercise())
            .expect("json")
            .contains("adaptive")
    );
    for text in ["find 0.5-64 in 30 min", "find 1-8 in 5 min to 10%"] {
        let read: Adaptive = text.parse().expect(text);
        assert_eq!(read.to_string(), text);
    }
    for bad in [
        "find",
        "find 1-8",
        "find 8 in 5 min",
        "find 0-8 in 5 min",
        "find 1-8 in 5 h",
        "find 1-8 in 5 min to 10",
    ] {
        assert!(bad.parse::<Adaptive>().is_err(), "{bad}");
    }
}

#[test]
fn what_an_adaptive_sweep_cannot_have_is_refused_at_its_field() {
    let at = |change: &dyn Fn(&mut StudySpec)| {
        let mut spec = adaptive(1.0, 64.0);
        change(&mut spec);
        spec.check()
            .into_iter()
            .map(|it| it.field)
            .collect::<Vec<_>>()
    };
    let sweep =
        |change: &dyn Fn(&mut Adaptive)| at(&|spec| spec.adaptive.iter_mut().for_each(change));
    assert_eq!(at(&|spec| spec.levels = exercise().levels), ["levels"]);
    assert_eq!(at(&|spec| spec.repeats = 2), ["repeats"]);
    assert_eq!(
        at(&|spec| spec.arrival = "linear-ramp=1".parse().expect("ramp")),
        ["arrival"]
    );
    assert_eq!(sweep(&|it| it.to = it.from), ["adaptive.to"]);
    assert_eq!(
        sweep(&|it| it.from = 1e-4f64.try_into().expect("rate")),
        ["adaptive.from", "adaptive.to"]
    );
    assert_eq!(sweep(&|it| it.width = 0.001), ["adaptive.width"]);
    assert_eq!(sweep(&|it| it.minutes = 0), ["adaptive.minutes"]);
    // A tenth of a request a second: the first probe alone takes longer.
    let slow = |spec: &mut StudySpec| spec.adaptive = adaptive(0.01, 0.02).adaptive;
    assert_eq!(at(&slow), ["adaptive.minutes"]);
}
