//! What an engine's last words mean: the few ways in which engines fail to start, each as one sentence with its mend.

use super::exit::{Exit, KILLED};

/// What is looked for, and what it means. Earlier rows weigh more: an engine that has no room for its cache says many
/// things, and one of them is the reason.
const SIGNS: &[(&[&str], &str)] = &[
    (
        &[
            "No available memory for the cache blocks",
            "is larger than the maximum number of tokens that can be stored in KV cache",
            "To serve at least one request with the model",
            "larger than the available KV cache memory",
            "failed to allocate buffer for kv cache",
            "Not enough memory. Please try to increase --mem-fraction-static",
            "Not enough memory to handle",
            "The memory capacity is unbalanced",
        ],
        "its KV cache does not fit into the memory that is left; lower the context length or the most sequences, or give the cache more memory",
    ),
    (
        &[
            "CUDA out of memory",
            "torch.OutOfMemoryError",
            "torch.cuda.OutOfMemoryError",
            "HIP out of memory",
            "CUDA error: out of memory",
            "cudaMalloc failed: out of memory",
            "ErrorOutOfDeviceMemory",
            "Free memory on device",
        ],
        "the model does not fit into the accelerator's memory; take a smaller or quantised one, more devices, or free the memory that others hold",
    ),
    (
        &[
            "DefaultCPUAllocator: can't allocate memory",
            "insufficient memory (attempted to allocate",
            "failed to allocate CPU buffer",
            "std::bad_alloc",
            "MemoryError",
            "Cannot allocate memory",
            "memory allocation of",
            "is less than desired CPU memory utilization",
            "unable to allocate CPU",
            "requires more system memory",
        ],
        "the model does not fit into the machine's memory; take a smaller one or a shorter context, or free memory",
    ),
    (
        &[
            "address already in use",
            "EADDRINUSE",
            "couldn't bind HTTP server socket",
            "Only one usage of each socket address",
            "is in use; stop what listens there",
        ],
        "its port is in use; stop what listens there, or give the engine another port",
    ),
    (
        &[
            "is not a valid model identifier",
            "is not a local folder and is not a valid",
            "Repository Not Found",
            "failed to open GGUF file",
            "failed to load model",
            "error loading model",
            "Can't load the configuration of",
            "Invalid repository ID or local directory",
            "does not appear to have a file named config.json",
            "pull model manifest",
            "no such model",
        ],
        "it cannot load the model; check its name or path in the launch template",
    ),
    (
        &[
            "cannot start",
            "executable file not found",
            "command not found",
            "No module named",
        ],
        "its command cannot be run; check `command` in the launch template",
    ),
];

/// How refusals of an option begin; the option follows, in quotes or not.
const BAD_OPTION: &[&str] = &[
    "unrecognized arguments:",
    "unrecognized argument",
    "error: invalid argument:",
    "unexpected argument",
    "unknown argument:",
    "No such option:",
    "no such option:",
    "unknown flag:",
    "unknown shorthand flag:",
    "Found argument",
    "unknown option",
    "unrecognized option",
];

/// How refusals of an option's value begin.
const BAD_VALUE: &[&str] = &[
    "error while handling argument",
    "error: argument ",
    "Invalid value for",
    "invalid argument \"",
    "invalid value '",
];

/// What it means that a guard was killed.
const GUARD_GONE: &str = "somebody, or the system, killed the process between the studio and the engine, and the engine was ended with all that was seen of what it started";

/// What made an engine end, as one sentence; `None` where nothing in its log is known.
pub fn why(exit: Exit, log: &str) -> Option<String> {
    // The engine had no part in that, whatever it said.
    if let Exit::Guard(_) = exit {
        return Some(GUARD_GONE.to_owned());
    }
    if let Some(sentence) = refused(log) {
        return Some(sentence);
    }
    let lower = log.to_lowercase();
    let meant = SIGNS.iter().find(|(signs, _)| {
        signs
            .iter()
            .any(|sign| lower.contains(&sign.to_lowercase()))
    });
    match (meant, exit) {
        (Some((_, sentence)), _) => Some((*sentence).to_owned()),
        (None, Exit::Signal(KILLED)) => Some(
            "something killed it, most likely the system for want of memory; take a smaller model or a shorter context, or free memory".into(),
        ),
        (None, Exit::Status(126 | 127)) => {
            Some("its command cannot be run; check `command` in the launch template".into())
        }
        _ => None,
    }
}

/// The option that it does not take, by its own words.
fn refused(log: &str) -> Option<String> {
    for line in log.lines().rev() {
        let after = |signs: &[&str]| {
            let sign = signs.iter().find(|sign| line.contains(*sign))?;
            line.split_once(sign).map(|(_, rest)| rest.to_owned())
        };
        if let Some(rest) = after(BAD_VALUE) {
            let option = option(&rest).or_else(|| option(line))?;
            let said = line.trim().chars().take(200).collect::<String>();
            return Some(format!(
                "it does not take the value of {option} ({said}); give it another"
            ));
        }
        if let Some(option) = after(BAD_OPTION).and_then(|rest| option(&rest)) {
            return Some(format!(
                "it does not know {option}; take that out, or use the version of the engine that has it"
            ));
        }
    }
    None
}

/// The first word that looks like an option.
fn option(text: &str) -> Option<String> {
    let words =
        text.split(|it: char| it.is_whitespace() || matches!(it, '\'' | '"' | ',' | '`' | '/'));
    let word = words
        .into_iter()
        .find(|word| 1 < word.len() && word.starts_with('-'))?;
    let name = word.split('=').next().unwrap_or(word);
    Some(
        name.trim_end_matches([':', '.', ')'])
            .chars()
            .take(64)
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(exit: Exit, log: &str, part: &str) {
        let said = why(exit, log).unwrap_or_default();
        assert!(said.contains(part) && !part.is_empty(), "{log}: {said}");
    }

    #[test]
    fn an_option_that_is_refused_is_named() {
        for (log, option) in [
            (
                "usage: vllm [-h]\nvllm: error: unrecognized arguments: --max-num-seq 4",
                "does not know --max-num-seq;",
            ),
            (
                "error: invalid argument: --nonsense",
                "does not know --nonsense;",
            ),
            (
                "error: unexpected argument '--nonsense' found\n\nUsage: goodput sim",
                "does not know --nonsense;",
            ),
            (
                "Usage: trtllm-serve [OPTIONS]\nError: No such option: --max_batch",
                "does not know --max_batch;",
            ),
            ("Error: unknown flag: --nope", "does not know --nope;"),
            (
                "vllm serve: error: argument --max-num-seqs: invalid int value: 'abc'",
                "value of --max-num-seqs (",
            ),
            (
                "error while handling argument \"--parallel\": stoi",
                "value of --parallel (",
            ),
            (
                "error: invalid value 'x' for '--preset <PRESET>'\n  [possible values: tiny]",
                "value of --preset (",
            ),
        ] {
            check(Exit::Status(2), log, option);
        }
    }

    #[test]
    fn the_ways_in_which_engines_fail_are_told_apart() {
        for (log, part) in [
            (
                "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB",
                "accelerator's memory",
            ),
            (
                "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.",
                "KV cache does not fit",
            ),
            (
                "ValueError: The model's max seq len (131072) is larger than the maximum number of tokens that can be stored in KV cache (88000).",
                "KV cache does not fit",
            ),
            (
                "E ggml_aligned_malloc: insufficient memory (attempted to allocate 23437.50 MB)\nE llama_init_from_model: failed to initialize the context: failed to allocate buffer for kv cache",
                "KV cache does not fit",
            ),
            (
                "ValueError: Available memory on node 0 (21.55/23.54 GiB) on startup is less than desired CPU memory utilization (0.92, 21.66 GiB)",
                "machine's memory",
            ),
            (
                "E srv         start: couldn't bind HTTP server socket, hostname: 127.0.0.1, port: 18998",
                "port is in use",
            ),
            (
                "OSError: [Errno 98] Address already in use",
                "port is in use",
            ),
            (
                "E gguf_init_from_file: failed to open GGUF file '/nonexistent.gguf' (No such file or directory)",
                "cannot load the model",
            ),
            (
                "goodput: cannot start \"vlm\": No such file or directory",
                "command cannot be run",
            ),
        ] {
            check(Exit::Status(1), log, part);
        }
    }

    #[test]
    fn a_silent_death_is_told_by_its_signal_alone() {
        check(Exit::Signal(9), "loading weights", "want of memory");
        check(Exit::Status(127), "", "command cannot be run");
        let earlier = "CUDA out of memory, retrying";
        check(Exit::Guard(9), earlier, "between the studio and the engine");
        assert_eq!(why(Exit::Status(1), "something else"), None);
        assert_eq!(why(Exit::Signal(11), "loading"), None);
    }
}
