//! The same requests by other tools' rules, in the lines that stand below the block.

use measure::request::RequestRecord;
use measure::rules::{NOTE, Row, Table, Tool, UnknownTool};
use measure::summary::Summary;
use measure::units::Nanos;
use serde_json::{Value, json};

use super::promise::Promise;

/// One tool, or all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tools {
    One(Tool),
    All,
}

pub(super) fn parse(text: &str) -> Result<Tools, UnknownTool> {
    match text {
        "all" => Ok(Tools::All),
        name => name.parse().map(Tools::One),
    }
}

/// A table for each tool that was asked for.
pub(super) struct ByRules(Vec<Table>);

impl ByRules {
    /// Of the requests that are counted and when they began to be, and what was made of them.
    pub(super) fn of(
        asked: &[Tools],
        part: (&[RequestRecord], Nanos),
        summary: &Summary,
        promise: Option<&Promise>,
    ) -> Self {
        let is_asked = |tool: &Tool| {
            asked
                .iter()
                .any(|it| [Tools::All, Tools::One(*tool)].contains(it))
        };
        let tools = Tool::ALL.into_iter().filter(is_asked);
        let promise = promise.map(Promise::parts);
        Self(
            tools
                .map(|tool| Table::of(tool, part, summary, promise))
                .collect(),
        )
    }

    /// As scripts read it; `None` where nobody asked.
    pub(super) fn json(&self) -> Option<Value> {
        (!self.0.is_empty()).then(|| json!(self.0))
    }

    /// For people, line by line.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.0.iter().flat_map(lines).collect();
        if !lines.is_empty() {
            lines.push(format!("{NOTE}."));
        }
        lines
    }
}

fn lines(table: &Table) -> Vec<String> {
    let head = format!("By the rules of {}:", table.title);
    let columns = format!("  {:<18} {:<28} theirs", "p50 / p95 / p99", "ours");
    let rows = table.rows.iter().flat_map(row);
    [head, columns].into_iter().chain(rows).collect()
}

fn row(row: &Row) -> Vec<String> {
    let name = match row.unit.as_str() {
        "" => row.metric.clone(),
        unit => format!("{} ({unit})", row.metric),
    };
    let theirs = if row.reads_the_same() {
        "the same".to_owned()
    } else {
        row.theirs.text()
    };
    let figures = format!("  {name:<18} {:<28} {theirs}", row.ours.text());
    let why = (!row.reads_the_same()).then(|| format!("      {}", row.why));
    [figures].into_iter().chain(why).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::bench::report::tests::record;
    use measure::request::{ErrorKind, Outcome};
    use measure::summary::{Discipline, Failures, summarize};

    fn by_rules(asked: &[Tools]) -> ByRules {
        let outcome = |index| match index {
            3 => Outcome::Error(ErrorKind::RateLimited),
            _ => Outcome::Ok,
        };
        let records: Vec<_> = (0..40).map(|index| record(index, outcome(index))).collect();
        let summary = summarize(&records, Discipline::OpenLoop, Failures::AsInfinity);
        ByRules::of(asked, (&records, Nanos::ZERO), &summary, None)
    }

    #[test]
    fn a_figure_stands_beside_the_own_with_the_reason_why_it_differs() {
        let text = by_rules(&[Tools::One(Tool::Vllm)]).lines().join("\n");
        for part in [
            "By the rules of vllm bench serve",
            "unbounded",
            "failures are left out; ours stand as infinity",
            "Completed          39",
            "the same",
            "this client read the bytes",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("guidellm"), "{text}");
    }

    #[test]
    fn all_are_told_when_all_are_asked_for_and_nothing_when_none_is() {
        let json = by_rules(&[Tools::All, Tools::One(Tool::Vllm)])
            .json()
            .expect("tables");
        let tools: Vec<_> = json
            .as_array()
            .expect("a list")
            .iter()
            .map(|it| &it["tool"])
            .collect();
        assert_eq!(tools, ["vllm", "sglang", "guidellm", "aiperf", "mlperf"]);
        assert_eq!(json[0]["rows"][0]["metric"], "TTFT");
        assert_eq!(
            (by_rules(&[]).json(), by_rules(&[]).lines().len()),
            (None, 0)
        );
    }

    #[test]
    fn a_tool_is_called_by_its_name() {
        assert_eq!(parse("all"), Ok(Tools::All));
        assert_eq!(parse("mlperf"), Ok(Tools::One(Tool::Mlperf)));
        assert!(parse("llmperf").is_err());
    }
}
