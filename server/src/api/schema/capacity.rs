//! What ceilings mean for a demand.

use super::*;

shapes! {
    /// What a study's ceilings mean for a demand, under the study's own SLO.
    struct StudyPlan {
        pub need: Need,
        /// Of demand and rates: `req/s`, or `sessions/s`.
        pub unit: String,
        /// Baseline first.
        pub configurations: Vec<ConfigurationPlan>,
    }
    /// What was asked, with what is usual where nothing was said.
    struct Need {
        pub demand: Option<f64>,
        /// Share of the ceiling that is left free.
        pub headroom: f64,
        /// Price of one GPU for an hour.
        pub price: Option<f64>,
        /// GPUs of one replica.
        pub gpus: u32,
    }
    /// What one configuration's ceiling means.
    struct ConfigurationPlan {
        pub id: Uuid,
        pub name: String,
        /// Null where there is nothing to plan with; `sentences` says why.
        pub plan: Option<Plan>,
        pub sentences: Vec<String>,
    }
    /// Rates per second, each with the ends of the ceiling's interval.
    struct Plan {
        /// Arrivals that one replica takes under the SLO.
        pub rate: Range,
        pub requests_per_gpu: Range,
        /// Null where nobody counted tokens.
        pub good_tokens_per_gpu: Option<Range>,
        /// Where a demand was named.
        pub replicas: Option<Replicas>,
        /// Cost of a million good tokens, each replica at the ceiling less the head-room; where a price was named.
        pub million_good_tokens: Option<Cost>,
        /// Cost of the planned replicas for an hour.
        pub hour: Option<f64>,
    }
    struct Range {
        /// Surely so much.
        pub lo: f64,
        /// Null where the ceiling has no upper end.
        pub value: Option<f64>,
        /// Surely not more.
        pub hi: Option<f64>,
    }
    struct Replicas {
        /// By the rate that surely keeps the SLO.
        pub planned: u32,
        pub by_value: Option<u32>,
        /// Fewer surely break the SLO.
        pub least: Option<u32>,
    }
    struct Cost {
        pub least: Option<f64>,
        pub value: Option<f64>,
        pub most: f64,
    }
}
