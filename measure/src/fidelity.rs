//! Did the engine do what it was asked? Prompts that were silently changed, and outputs of another length.
//!
//! Pure evidence from the engine's own counts; nothing here changes a number. A constant offset, as of a template or a
//! first token, is no change, and neither is an estimate that is some tens of percent off.

use std::collections::BTreeSet;

use crate::request::RequestRecord;

/// Fewer requests than this say nothing.
const ENOUGH: usize = 5;

/// What is to be said, a sentence each; empty where all is as it was asked.
pub fn remarks(records: &[RequestRecord]) -> Vec<String> {
    let prompts: Vec<Length> = lengths(records, |it| (it.input_tokens_planned, it.prompt_tokens));
    let outputs: Vec<Length> = lengths(records, |it| (it.output_tokens_asked, it.output_tokens));
    let prompt = replaced(&prompts)
        .or_else(|| cut(&prompts))
        .or_else(|| other_length(&prompts));
    let undercounted = undercounted(records);
    // A count that cannot be right says nothing about lengths.
    let short = too_short(&outputs).filter(|_| undercounted.is_none());
    [prompt, too_long(&outputs), short, undercounted]
        .into_iter()
        .flatten()
        .collect()
}

/// What was meant, and what the engine counted.
#[derive(Clone, Copy)]
struct Length {
    meant: u32,
    counted: u32,
}

fn lengths(records: &[RequestRecord], of: fn(&RequestRecord) -> (u32, Option<u32>)) -> Vec<Length> {
    let counted = records.iter().filter(|record| record.is_ok()).map(of);
    let known = counted.filter_map(|(meant, counted)| {
        let counted = counted?;
        (0 < meant).then_some(Length { meant, counted })
    });
    let known: Vec<Length> = known.collect();
    if known.len() < ENOUGH {
        Vec::new()
    } else {
        known
    }
}

/// Prompts of many lengths that all arrive as one.
fn replaced(prompts: &[Length]) -> Option<String> {
    let meant: BTreeSet<u32> = prompts.iter().map(|it| it.meant).collect();
    let (least, most) = (*meant.first()?, *meant.last()?);
    let counted = prompts[0].counted;
    let one = prompts.iter().all(|it| it.counted == counted);
    (one && 3 <= meant.len() && least * 2 <= most && counted < most).then(|| {
        format!(
            "prompts of {least} to {most} tokens all arrived as {counted}: the engine replaces them, perhaps by a wrong chat template"
        )
    })
}

/// Long prompts that all arrive as the longest, while shorter ones arrive as they are.
fn cut(prompts: &[Length]) -> Option<String> {
    let limit = prompts.iter().map(|it| it.counted).max()?;
    let whole = prompts.iter().filter(|it| it.counted < limit);
    let offset = median(
        whole
            .map(|it| f64::from(it.counted) / f64::from(it.meant))
            .collect(),
    );
    // Without shorter ones to compare with, what was meant is taken as it is.
    let longer =
        |it: &&Length| f64::from(limit) * 1.1 < f64::from(it.meant) * offset.unwrap_or(1.0);
    let longer: Vec<&Length> = prompts.iter().filter(longer).collect();
    let meant: BTreeSet<u32> = longer.iter().map(|it| it.meant).collect();
    let at_limit = longer.iter().all(|it| it.counted == limit);
    (at_limit && 3 <= longer.len() && 2 <= meant.len()).then(|| {
        format!(
            "{} of {} prompts were longer but arrived as {limit} tokens: the engine cuts them; raise its context length or shorten the prompts",
            longer.len(),
            prompts.len()
        )
    })
}

/// Prompts that arrive much shorter or longer than meant.
fn other_length(prompts: &[Length]) -> Option<String> {
    let ratio = median(
        prompts
            .iter()
            .map(|it| f64::from(it.counted) / f64::from(it.meant))
            .collect(),
    )?;
    let counted = median(prompts.iter().map(|it| f64::from(it.counted)).collect())?;
    let meant = median(prompts.iter().map(|it| f64::from(it.meant)).collect())?;
    // A template adds some tens of tokens to short prompts.
    let longer = 2.0 < ratio && 100.0 < counted - meant;
    (ratio < 0.5 || longer).then(|| {
        format!(
            "prompts arrived as {counted:.0} tokens where {meant:.0} were meant (medians): the engine changes them, or its tokenizer counts otherwise"
        )
    })
}

fn too_short(outputs: &[Length]) -> Option<String> {
    let short = |it: &&Length| f64::from(it.counted) + 1.0 < 0.95 * f64::from(it.meant);
    let short: Vec<&Length> = outputs.iter().filter(short).collect();
    let counted = median(short.iter().map(|it| f64::from(it.counted)).collect())?;
    let meant = median(short.iter().map(|it| f64::from(it.meant)).collect())?;
    (outputs.len() <= short.len() * 20).then(|| {
        format!(
            "{} of {} outputs are shorter than asked, {counted:.0} of {meant:.0} tokens (medians): the engine stops where the model does",
            short.len(),
            outputs.len()
        )
    })
}

fn too_long(outputs: &[Length]) -> Option<String> {
    let long = |it: &&Length| f64::from(it.meant) * 1.05 + 1.0 < f64::from(it.counted);
    let long: Vec<&Length> = outputs.iter().filter(long).collect();
    let most = long.iter().max_by_key(|it| it.counted)?;
    Some(format!(
        "{} of {} outputs are longer than asked, up to {} tokens where {} were: the engine does not keep the limit",
        long.len(),
        outputs.len(),
        most.counted,
        most.meant
    ))
}

/// Every event carries a token or more; a count far below the events is somebody's mistake.
fn undercounted(records: &[RequestRecord]) -> Option<String> {
    let counted = records.iter().filter(|record| record.is_ok());
    let counted =
        counted.filter_map(|it| Some((it.chunks.len() as u64, u64::from(it.output_tokens?))));
    let (requests, events, tokens) =
        counted.fold((0, 0, 0), |sum, it| (sum.0 + 1, sum.1 + it.0, sum.2 + it.1));
    // The empty event at the end of short outputs is no mistake.
    let far = tokens * 3 < events * 2 && requests < events.saturating_sub(tokens);
    (ENOUGH as u64 <= requests && far).then(|| {
        format!(
            "{tokens} output tokens were counted in {events} events that each carry at least one: the count cannot be right"
        )
    })
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::answered;

    /// Requests of (tokens meant, tokens counted).
    fn prompts(lengths: &[(u32, u32)]) -> Vec<RequestRecord> {
        let record = |(meant, counted): &(u32, u32)| RequestRecord {
            input_tokens_planned: *meant,
            prompt_tokens: Some(*counted),
            output_tokens_asked: 2,
            ..answered(0, 0.0, 10.0, &[10.0])
        };
        lengths.iter().map(record).collect()
    }

    fn outputs(lengths: &[(u32, u32)]) -> Vec<RequestRecord> {
        let record = |(meant, counted): &(u32, u32)| RequestRecord {
            output_tokens_asked: *meant,
            output_tokens: Some(*counted),
            ..answered(0, 0.0, 10.0, &[10.0])
        };
        lengths.iter().map(record).collect()
    }

    #[track_caller]
    fn check(records: &[RequestRecord], expected: &[&str]) {
        let remarks = remarks(records);
        assert_eq!(remarks.len(), expected.len(), "{remarks:?}");
        for (remark, beginning) in remarks.iter().zip(expected) {
            assert!(remark.starts_with(beginning), "{remark}");
        }
    }

    #[test]
    fn a_template_or_a_rough_estimate_is_no_change() {
        check(
            &prompts(&[(10, 34), (20, 44), (100, 124), (400, 424), (900, 924)]),
            &[],
        );
        check(
            &prompts(&[(10, 13), (20, 26), (100, 130), (400, 520), (900, 1170)]),
            &[],
        );
        check(&prompts(&[(128, 129); 6]), &[]);
        check(&prompts(&[(10, 3), (20, 3), (100, 3)]), &[]);
        check(&[], &[]);
    }

    #[test]
    fn prompts_that_all_become_one_are_told() {
        check(
            &prompts(&[(10, 3), (20, 3), (100, 3), (400, 3), (900, 3)]),
            &["prompts of 10 to 900 tokens all arrived as 3"],
        );
        check(
            &prompts(&[(128, 3); 6]),
            &["prompts arrived as 3 tokens where 128 were meant"],
        );
        check(
            &prompts(&[(1000, 2500); 6]),
            &["prompts arrived as 2500 tokens where 1000"],
        );
    }

    #[test]
    fn prompts_that_are_cut_are_told() {
        let lengths = [
            (100, 110),
            (800, 830),
            (1900, 1935),
            (3000, 2048),
            (4000, 2048),
            (9000, 2048),
        ];
        check(
            &prompts(&lengths),
            &["3 of 6 prompts were longer but arrived as 2048 tokens"],
        );
        // The longest prompt is no limit.
        check(
            &prompts(&[
                (100, 110),
                (800, 830),
                (1900, 1935),
                (3000, 3048),
                (4000, 4048),
            ]),
            &[],
        );
    }

    #[test]
    fn outputs_of_another_length_are_told() {
        check(&outputs(&[(128, 128); 20]), &[]);
        check(
            &outputs(&[(128, 127), (128, 129), (2, 2), (2, 1), (1, 2)]),
            &[],
        );
        let mut some = vec![(128, 128); 18];
        some.extend([(128, 40), (128, 20)]);
        check(
            &outputs(&some),
            &["2 of 20 outputs are shorter than asked, 40 of 128"],
        );
        check(
            &outputs(&[(16, 16), (16, 400), (16, 16), (16, 16), (16, 16)]),
            &["1 of 5 outputs are longer than asked, up to 400 tokens where 16 were"],
        );
    }

    #[test]
    fn a_count_below_the_events_is_told() {
        let record = RequestRecord {
            output_tokens: Some(3),
            output_tokens_asked: 3,
            ..answered(0, 0.0, 10.0, &[10.0; 39])
        };
        check(
            &vec![record; 5],
            &["15 output tokens were counted in 200 events"],
        );
    }

    #[test]
    fn failures_and_unknown_counts_say_nothing() {
        let mut records = prompts(&[(128, 3); 6]);
        for record in &mut records {
            record.prompt_tokens = None;
        }
        check(&records, &[]);
    }
}
