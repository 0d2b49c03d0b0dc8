//! What requests say beside the usual.

use clap::Args;
use load::dialect::Quirks;
use measure::study::Api;

#[derive(Args, Debug)]
pub(super) struct FieldArgs {
    /// Say min_tokens too, as many as are asked for: for engines that end early in spite of ignore_eos
    #[arg(long)]
    min_tokens: bool,
    /// Ask for usage in every event (stream_options.continuous_usage_stats), which tells how many tokens each carried
    #[arg(long)]
    continuous_usage: bool,
}

impl FieldArgs {
    pub(super) fn wish(&self) -> Quirks {
        Quirks {
            min_tokens: self.min_tokens,
            continuous_usage: self.continuous_usage,
            ..Quirks::default()
        }
    }

    /// Refuses what the dialect has no field for, rather than leaving it unheard.
    pub(super) fn check(&self, api: Api) -> Result<(), String> {
        match self.wish().unsayable(api) {
            None => Ok(()),
            Some(field) => {
                let name = api.name();
                Err(format!(
                    "{name} has no field for {field}; leave {} out",
                    option(field)
                ))
            }
        }
    }

    /// Refuses to go on without a field that was asked for by name.
    pub(super) fn are_kept(&self, quirks: Quirks) -> Result<(), String> {
        let lost = [
            (self.min_tokens && !quirks.min_tokens, "min_tokens"),
            (
                self.continuous_usage && !quirks.continuous_usage,
                "continuous_usage_stats",
            ),
        ];
        match lost.into_iter().find(|(lost, _)| *lost) {
            None => Ok(()),
            Some((_, field)) => Err(format!(
                "the engine refuses {field}; leave {} out",
                option(field)
            )),
        }
    }
}

fn option(field: &str) -> &'static str {
    match field {
        "min_tokens" => "--min-tokens",
        _ => "--continuous-usage",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dialect_is_asked_only_what_it_has_a_field_for() {
        let both = |min_tokens, continuous_usage| FieldArgs {
            min_tokens,
            continuous_usage,
        };
        for api in Api::ALL {
            let has_min = matches!(
                api,
                Api::OpenAiChat | Api::OpenAiCompletions | Api::SglangGenerate
            );
            let has_usage = matches!(api, Api::OpenAiChat | Api::OpenAiCompletions);
            assert_eq!(both(false, false).check(api), Ok(()));
            for (args, has, option) in [
                (both(true, false), has_min, "--min-tokens"),
                (both(false, true), has_usage, "--continuous-usage"),
            ] {
                let refused = args.check(api).err();
                assert_eq!(refused.is_none(), has, "{api:?} {option}");
                let named = |why: &String| why.contains(option) && why.contains(api.name());
                assert!(refused.iter().all(named), "{refused:?}");
            }
        }
    }
}
