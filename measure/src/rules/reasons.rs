//! Why a tool says something else of the same requests: reasons that these requests have.

use super::Tool;
use super::differences::What;
use crate::summary::Summary;
use When::{Always, Failures, Paceless, Uncounted};

/// What these requests have that tools tell otherwise.
#[derive(Clone, Copy)]
pub(super) struct Has {
    failures: bool,
    /// Answers without a TPOT: of one token, or whose tokens came in one burst.
    paceless: bool,
    /// Answers whose tokens nobody counted.
    uncounted: bool,
}

impl Has {
    pub(super) fn of(summary: &Summary) -> Self {
        let paced = summary.tpot.count.saturating_sub(summary.tpot.failed);
        Self {
            failures: 0 < summary.failed,
            paceless: paced < summary.completed,
            uncounted: 0 < summary.output_unknown,
        }
    }

    fn has(self, when: When) -> bool {
        match when {
            Always => true,
            Failures => self.failures,
            Paceless => self.paceless,
            Uncounted => self.uncounted,
        }
    }
}

/// When a part of a reason counts.
#[derive(Clone, Copy)]
pub(super) enum When {
    Always,
    Failures,
    Paceless,
    Uncounted,
}

/// A part of a reason, and when it counts.
pub(super) type Part = (When, &'static str);

/// The parts of a reason that these requests have. Every tool has its own clocks, which is what remains.
pub(super) fn because(parts: &[Part], has: Has) -> String {
    let parts = parts.iter().filter(|(when, _)| has.has(*when));
    let said: Vec<&str> = parts.map(|(_, part)| *part).collect();
    let said = if said.is_empty() {
        REST.to_owned()
    } else {
        said.join("; ")
    };
    let mut letters = said.chars();
    let first = letters.next().map(|it| it.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

const REST: &str = "what it counts and from when; none of its usual reasons is in these requests";

/// What a tool does otherwise. All but MLPerf leave failures out of percentiles.
pub(super) fn why(tool: Tool, what: What) -> &'static [Part] {
    match what {
        What::Ttft => first_token(tool),
        What::Tpot => pace(tool),
        What::Itl => gaps(tool),
        What::E2e => latency(tool),
        What::Completed => successes(tool),
        What::Requests | What::Tokens => over(tool),
        What::Good | What::Attainment => promise(tool),
    }
}

const LEFT_OUT: Part = (Failures, "failures are left out; ours stand as infinity");
const BEFORE: Part = (
    Always,
    "from before a connection is asked for, not from the sending",
);
const TO_THE_END: Part = (
    Always,
    "to the end of the stream: usage and end mark are in it",
);
const EARLY: Part = (
    Failures,
    "streams that ended too early but politely are successes",
);

fn first_token(tool: Tool) -> &'static [Part] {
    match tool {
        Tool::Vllm | Tool::Aiperf => &[BEFORE, LEFT_OUT],
        Tool::Sglang => &[
            BEFORE,
            LEFT_OUT,
            (Failures, "a stream without a token counts with 0"),
        ],
        Tool::Guidellm => &[
            (Always, "a value that was seen, never one between two"),
            LEFT_OUT,
        ],
        Tool::Mlperf => &[(
            Always,
            "from when the request was due, not from the sending: our scheduled TTFT; the value at place n p, never one between two",
        )],
    }
}

fn pace(tool: Tool) -> &'static [Part] {
    match tool {
        Tool::Vllm | Tool::Aiperf => &[
            (
                Paceless,
                "over n - 1 as ours, but one token, or several in one burst, count as 0 instead of having none",
            ),
            LEFT_OUT,
        ],
        Tool::Sglang => &[
            (
                Always,
                "over n - 1 as ours, but up to the end of the stream: usage and end mark are in it",
            ),
            (
                Uncounted,
                "a length that nobody counted is the length asked for",
            ),
            LEFT_OUT,
        ],
        Tool::Guidellm => &[
            (
                Always,
                "request to last token over n, so that the wait for the first token is in it; each request weighs by its tokens",
            ),
            LEFT_OUT,
        ],
        Tool::Mlperf => &[(
            Always,
            "over n - 1 as ours, up to the end of the stream, in whole nanoseconds; the value at place n p",
        )],
    }
}

fn gaps(tool: Tool) -> &'static [Part] {
    match tool {
        Tool::Vllm => &[
            (
                Always,
                "gaps between events as ours, that before the event with the finish reason among them",
            ),
            LEFT_OUT,
        ],
        Tool::Sglang | Tool::Aiperf => &[
            (
                Paceless,
                "gaps between events as ours (aiperf: inter-chunk latency), also of answers that came in one burst",
            ),
            LEFT_OUT,
        ],
        Tool::Guidellm => &[
            (
                Always,
                "no gaps: what ours calls TPOT, up to the last token, each request weighing by its tokens less one",
            ),
            LEFT_OUT,
        ],
        Tool::Mlperf => &[(Always, "it has none")],
    }
}

fn latency(tool: Tool) -> &'static [Part] {
    match tool {
        Tool::Vllm => &[BEFORE, LEFT_OUT],
        Tool::Sglang => &[BEFORE, TO_THE_END, LEFT_OUT],
        Tool::Guidellm => &[TO_THE_END, (Always, "a value that was seen"), LEFT_OUT],
        Tool::Aiperf => &[
            (
                Always,
                "from before a connection is asked for to the last token; an event with the finish reason alone is not in it",
            ),
            LEFT_OUT,
        ],
        Tool::Mlperf => &[(
            Always,
            "from when the request was due to the end of the stream",
        )],
    }
}

fn successes(tool: Tool) -> &'static [Part] {
    match tool {
        Tool::Vllm => &[EARLY, (Failures, "an error inside a stream is not seen")],
        Tool::Sglang => &[(
            Failures,
            "streams that ended too early but politely, or brought nothing, are successes",
        )],
        Tool::Guidellm | Tool::Aiperf => &[EARLY],
        Tool::Mlperf => &[(
            Always,
            "a run in which a query fails has no result; these are the others",
        )],
    }
}

fn over(tool: Tool) -> &'static [Part] {
    const SUCCESSES: Part = (Failures, "successes only");
    match tool {
        Tool::Vllm => &[
            (
                Always,
                "divided by the time from before the schedule's first gap",
            ),
            SUCCESSES,
            (Uncounted, "a length that nobody counted is 1"),
        ],
        Tool::Sglang => &[
            SUCCESSES,
            (
                Uncounted,
                "a length that nobody counted is the length asked for",
            ),
            (
                Always,
                "its own time has a question to the server in it that is not known here",
            ),
        ],
        Tool::Guidellm => &[
            (
                Always,
                "the mean over time, from before the schedule's first gap",
            ),
            SUCCESSES,
            (
                Uncounted,
                "a length that nobody counted is the number of events",
            ),
        ],
        Tool::Aiperf => &[(
            Always,
            "divided by the time from the first success's start to the last one's last token",
        )],
        Tool::Mlperf => &[(
            Always,
            "divided by the time until the request that was due last is answered; that one is not counted",
        )],
    }
}

fn promise(tool: Tool) -> &'static [Part] {
    match tool {
        Tool::Vllm => &[
            (Paceless, "one token keeps any bound on TPOT"),
            (
                Always,
                "it knows ttft, tpot and e2el by its own clocks, and has no attainment",
            ),
        ],
        Tool::Sglang => &[
            (Paceless, "one token keeps any bound on TPOT"),
            (Always, "it knows ttft, tpot and e2el, by its own clocks"),
        ],
        Tool::Guidellm => &[
            (
                Paceless,
                "one token leaves a bound on TPOT undecided, and the request is not counted",
            ),
            (Failures, "what was given up by the client is not counted"),
        ],
        Tool::Aiperf => &[
            (Paceless, "one token breaks any bound on TPOT"),
            (
                Uncounted,
                "a length that nobody counted breaks any bound on TPOT",
            ),
        ],
        Tool::Mlperf => &[(
            Always,
            "no goodput: p99 of TTFT and of TPOT must keep their limits, or the run is invalid",
        )],
    }
}
