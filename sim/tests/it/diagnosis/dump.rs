use measure::diagnose::{Case, dump};
use sim::scenarios::{CAUSES, Scenario};
use super::played::Played;

#[test]
#[ignore]
fn dump_all() {
    for cause in CAUSES {
        for strength in [0.0, 0.5, 1.0] {
            for seed in 11..14 {
                let s = Scenario::of(cause, strength, seed);
                let p = Played::of(s.config().unwrap(), &s.load, seed);
                let (summary, client, evidence) = (p.summary(), p.certificate(), p.evidence());
                let case = Case { records: &p.records, summary: &summary, client: &client, evidence: Some(&evidence) };
                println!("### {cause:?} {strength} {seed} {} floor {:.5} token {:.7} kv {:.9} {:?} {:?}\n{}", s.preset,
                    (p.config.cost.weights_ns + p.config.cost.reduce_ns + p.config.cost.gap_ns) / 1e9, p.config.cost.token_ns/1e9, p.config.cost.kv_token_ns/1e9,
                    summary.capacity, evidence.cache.warmth, dump(&case));
            }
        }
    }
}
