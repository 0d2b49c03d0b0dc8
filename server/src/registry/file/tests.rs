//! A file is read whole, or its first mistake is said with its line and the mend.

use super::*;

const GOOD: &str = r#"
[[engine]]
name = "attached"
model = "m"
url = "http://LOCALHOST:8000/v1"

[[engine]]
name = "llama"
dialect = "openai.completions"
model = "gemma"
hardware = "2 cores"
tags = ["cpu", "a", "cpu"]

[engine.launch]
engine = "llamacpp"
command = ["llama-server", "-m", "{model}", "--port", "{port}"]
start_timeout_s = 30
base_knobs = { parallel = 4, flash-attn = "off", repack = false }
"#;

#[test]
fn engines_are_read_whole() {
    let registry = parse(GOOD).expect("a registry");
    assert_eq!(registry.managed_names(), ["llama"]);
    let rows: Vec<_> = registry.rows().collect();
    assert_eq!(rows[0].endpoint.url, "http://localhost:8000/");
    assert_eq!(
        (&*rows[1].endpoint.url, rows[1].managed.as_deref()),
        ("managed:llama", Some("llamacpp"))
    );
    let (engine, launch) = registry.managed("llama").expect("there");
    assert_eq!(engine.tags, ["a", "cpu"]);
    assert_eq!(
        (launch.limit, launch.grace, &*launch.health),
        (Duration::from_secs(30), Duration::from_secs(10), "/health")
    );
    let flags = launch
        .flags(&[("parallel".to_owned(), KnobValue::Whole(1))].into())
        .expect("flags");
    assert_eq!(
        flags.args,
        ["--flash-attn", "off", "--parallel", "1", "--no-repack"]
    );
    assert!(registry.managed("attached").is_none());
    assert!(parse("").expect("nothing").managed_names().is_empty());
}

#[track_caller]
fn wrong(text: &str, line: usize, mend: &str) {
    let (at, message) = parse(text).map(drop).expect_err("a mistake");
    assert!(at == line && message.contains(mend), "line {at}: {message}");
}

#[test]
fn a_knob_that_the_command_sets_in_another_spelling_cannot_be_turned_either() {
    let few = [("parallel".to_owned(), KnobValue::Whole(1))].into();
    for flags in ["\"-np\", \"2\"", "\"-np=2\"", "\"--parallel=2\""] {
        let text = GOOD
            .replace("\"--port\"", &format!("{flags}, \"--port\""))
            .replace("parallel = 4, ", "");
        let refused = llama(&text).flags(&few).expect_err(flags);
        assert!(
            refused.message.contains("base_knobs") && refused.message.contains("(-"),
            "{}",
            refused.message
        );
    }
    let vllm = GOOD
        .replace("llamacpp", "vllm")
        .replace(
            "\"-m\"",
            "\"--max_num_seqs\", \"4\", \"-tp\", \"2\", \"-m\"",
        )
        .replace(
            "base_knobs = { parallel = 4, flash-attn = \"off\", repack = false }",
            "",
        );
    let launch = llama(&vllm);
    for (name, word) in [
        ("max-num-seqs", "--max_num_seqs"),
        ("tensor-parallel-size", "-tp"),
    ] {
        let given = [(name.to_owned(), KnobValue::Whole(8))].into();
        let refused = launch.flags(&given).expect_err(name);
        assert!(refused.message.contains(word), "{}", refused.message);
    }
    let given = [("max-model-len".to_owned(), KnobValue::Whole(8))].into();
    launch.flags(&given).expect("what the command does not set");
}

/// What stands in the file, what is written in its place, the line of the mistake, and the mend.
const MISTAKES: &[(&str, &str, usize, &str)] = &[
    ("hardware =", "hardwear =", 11, "unknown field `hardwear`"),
    ("model = \"gemma\"\n", "", 7, "missing field `model`"),
    ("openai.completions", "openai", 9, "openai.completions"),
    ("\"gemma\"", "\" \"", 10, "name the model"),
    ("\"llama\"", "\"attached\"", 8, "another name"),
    ("\"llamacpp\"", "\"llama.cpp\"", 15, "llamacpp"),
    ("{port}", "{prot}", 16, "{prot} means nothing"),
    (
        "\"llama-server\", \"-m\"",
        "\"sh\", \"-c\"",
        16,
        "list of arguments",
    ),
    ("= 30", "= 0", 17, "1 to 7200 seconds"),
    ("parallel = 4", "parallel = 4000", 18, "from -1 to 1024"),
    (
        "parallel = 4",
        "paralel = 4",
        18,
        "unknown to the catalogue",
    ),
    ("parallel = 4", "parallel = [4]", 18, "must be a number"),
    (
        "hardware =",
        "url = \"http://x:1\"\nhardware =",
        11,
        "in [engine.launch]",
    ),
    ("url = \"http://LOCALHOST:8000/v1\"\n", "", 2, "needs a url"),
    (
        "hardware =",
        "api_key_env = \"PATH\"\nhardware =",
        11,
        "_API_KEY",
    ),
    (
        "start_timeout_s = 30",
        "pass_env = [\"GOODPUT_TOKEN\"]",
        17,
        "studio's own",
    ),
    ("start_timeout_s = 30", "cwd = \"models\"", 17, "whole path"),
    (
        "start_timeout_s = 30",
        "health = \"health\"",
        17,
        "begins with /",
    ),
    (
        "start_timeout_s = 30",
        "url = \"http://gpu1:{port}\"",
        17,
        "name the port",
    ),
    (
        "start_timeout_s = 30",
        "url = \"http://127.0.0.1:8000\"",
        17,
        "name the port",
    ),
    (
        "start_timeout_s = 30",
        "url = \"gpu1:8000\"\nport = 8000",
        17,
        "http://",
    ),
    ("name = \"llama\"", "name =", 8, ""),
];

#[test]
fn a_mistake_is_said_with_its_line_and_the_mend() {
    for (from, to, line, mend) in MISTAKES {
        assert!(GOOD.contains(from), "{from}");
        wrong(&GOOD.replacen(from, to, 1), *line, mend);
    }
}

#[test]
fn a_knob_that_the_command_sets_cannot_be_turned() {
    let text = GOOD
        .replace("\"--port\"", "\"--parallel\", \"2\", \"--port\"")
        .replace("parallel = 4, ", "");
    let registry = parse(&text).expect("a registry");
    let (_, launch) = registry.managed("llama").expect("there");
    let refused = launch
        .flags(&[("parallel".to_owned(), KnobValue::Whole(1))].into())
        .expect_err("refused");
    assert!(
        refused.message.contains("base_knobs"),
        "{}",
        refused.message
    );
}

#[track_caller]
fn llama(text: &str) -> LaunchTemplate {
    let registry = parse(text).expect("a registry");
    registry.managed("llama").expect("there").1.clone()
}

#[test]
fn whatever_makes_a_start_another_one_is_told_apart() {
    let digest = |text: &str| llama(text).digest();
    let plain = digest(GOOD);
    assert_eq!((plain.len(), &plain), (12, &digest(GOOD)));
    let with = |line: &str| GOOD.replace("start_timeout_s = 30", line);
    let others = [
        GOOD.replace("\"-m\"", "\"-t\", \"2\", \"-m\""),
        GOOD.replace("llama-server", "/opt/other/llama-server"),
        with("env = { GGML_N = \"1\" }"),
        with("env = { GGML_N = \"2\" }"),
        with("cwd = \"/tmp\""),
        with("stop = [\"true\"]"),
        with("pass_env = [\"GGML_N\"]"),
    ];
    let mut all: Vec<String> = others.iter().map(|text| digest(text)).collect();
    all.push(plain.clone());
    all.sort();
    all.dedup();
    assert_eq!(all.len(), others.len() + 1);
    // How long is waited makes no other engine, and base knobs are facts themselves.
    assert_eq!(digest(&with("start_timeout_s = 60")), plain);
    assert_eq!(digest(&GOOD.replace("parallel = 4", "parallel = 2")), plain);
}

#[test]
fn a_variable_that_is_passed_on_counts_and_a_key_does_not() {
    let keyed = |key: &str| {
        let text = GOOD
            .replace("\"-m\"", &format!("\"--api-key\", \"{key}\", \"-m\""))
            .replace(
                "start_timeout_s = 30",
                &format!("env = {{ HF_TOKEN = \"{key}\" }}\npass_env = [\"CUDA_VISIBLE_DEVICES\", \"A_KEY\"]"),
            );
        llama(&text)
    };
    let own = |device: &'static str, key: &'static str| {
        move |name: &str| match name {
            "A_KEY" => Some(key.to_owned()),
            _ => Some(device.to_owned()),
        }
    };
    let one = keyed("sk-live-1").digest_where(own("0", "k1"));
    assert_eq!(keyed("sk-live-2").digest_where(own("0", "k2")), one);
    assert_ne!(keyed("sk-live-1").digest_where(own("1", "k1")), one);
}

#[test]
fn a_key_in_the_command_is_a_secret_of_its_log() {
    let text = GOOD.replace(
        "\"-m\"",
        "\"--api-key\", \"sk-live\", \"--ssl-key=sk-live-longer\", \"--max-num-batched-tokens\", \"2048\", \"-m\"",
    );
    let text = text.replace(
        "start_timeout_s = 30",
        "stop = [\"stop\", \"--password\", \"hush-hush\"]",
    );
    let secrets = llama(&text).secrets(&Endpoint::new("", Api::default(), "m"));
    // The longer first: nothing of it is left by the shorter.
    assert_eq!(secrets, ["sk-live-longer", "hush-hush", "sk-live"]);
}
