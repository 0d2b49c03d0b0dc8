//! Made-up text: conversations of given lengths, and prompts that begin alike in families.

use measure::sampling::{Draws, derive};
use measure::units::Nanos;
use measure::workload::{TurnLengths, Workload};

use super::script::{Line, Piece, Said, Script};
use super::{WARMUP_ANSWER, purpose};

/// Sessions of the given lengths.
pub(super) fn scripts(
    workload: &Workload,
    sessions: &[Vec<TurnLengths>],
    seed: u64,
) -> Vec<Script> {
    let text = derive(seed, &[purpose::TEXT]);
    let families = Families::of(workload, seed);
    let sessions = sessions.iter().enumerate();
    let mut scripts: Vec<Script> = sessions
        .map(|(index, turns)| script(derive(text, &[index as u64]), turns))
        .collect();
    if let Some(mut families) = families {
        scripts.iter_mut().for_each(|script| families.begin(script));
    }
    scripts
}

fn script(stream: u64, turns: &[TurnLengths]) -> Script {
    let lines = turns.iter().map(|lengths| Line {
        lengths: *lengths,
        history: lengths.answer,
        asks_history: false,
        said: [Said::by_user([Piece::Own(lengths.user)])].into(),
        answer: [Piece::Own(lengths.answer)].into(),
    });
    Script {
        stream,
        lines: lines.collect(),
    }
}

/// Prefixes that requests share. They are a point's own: no other point begins so.
struct Families {
    draws: Draws,
    texts: u64,
    count: u32,
    tokens: u32,
    share: f64,
}

impl Families {
    fn of(workload: &Workload, seed: u64) -> Option<Self> {
        let Workload::SharedPrefix {
            families,
            prefix_tokens,
            share,
            ..
        } = workload
        else {
            return None;
        };
        Some(Self {
            draws: Draws::new(derive(seed, &[purpose::FAMILIES])),
            texts: derive(seed, &[purpose::SHARED_TEXT]),
            count: (*families).max(1),
            tokens: *prefix_tokens,
            share: *share,
        })
    }

    /// Gives a request its family's prefix, unless it is one of those that have none. Both are drawn in any case.
    fn begin(&mut self, script: &mut Script) {
        let shares = self.draws.uniform() < self.share;
        let family = self.draws.below(self.count as usize) as u64;
        let stream = derive(self.texts, &[family]);
        let Some(line) = script.lines.first_mut().filter(|_| shares) else {
            return;
        };
        let prefix = Piece::Shared {
            stream,
            words: self.tokens,
        };
        let rest = line.lengths.user.saturating_sub(self.tokens);
        line.said = [Said::by_user([prefix, Piece::Own(rest)])].into();
    }
}

/// Single requests before the clock, of the workload's own lengths but with short answers. A file's rows are for
/// measuring; its warm-up is made up, of a middling length.
pub(super) fn warmup(workload: &Workload, seed: u64, count: usize) -> Vec<Script> {
    let middling = TurnLengths {
        user: 200,
        answer: WARMUP_ANSWER,
        think: Nanos::ZERO,
    };
    let lengths = workload.sessions(derive(seed, &[purpose::WARMUP_LENGTHS]), count, count);
    let lengths = lengths.unwrap_or_else(|| vec![vec![middling]; count]);
    let text = derive(seed, &[purpose::WARMUP_TEXT]);
    let first = |(index, turns): (usize, Vec<TurnLengths>)| {
        let turns: Vec<TurnLengths> = turns.into_iter().take(1).map(short).collect();
        script(derive(text, &[index as u64]), &turns)
    };
    lengths
        .into_iter()
        .take(count)
        .enumerate()
        .map(first)
        .collect()
}

fn short(turn: TurnLengths) -> TurnLengths {
    TurnLengths {
        answer: turn.answer.min(WARMUP_ANSWER),
        ..turn
    }
}
