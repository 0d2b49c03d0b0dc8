//! Scratch.
use super::trial::{Trial, all};
use measure::diagnose::{Answer, Came, Measured, Standing, check_prediction};

#[test]
#[ignore]
fn dump_all() {
    let on = std::env::var("DEV").unwrap();
    let seeds: Vec<u64> = std::env::var("SEEDS")
        .unwrap()
        .split(',')
        .map(|it| it.parse().unwrap())
        .collect();
    for wrong in all() {
        for strength in [0.0, 0.5, 1.0] {
            for seed in &seeds {
                let trial = if on == "another" {
                    Trial::on_another(wrong, strength, *seed)
                } else {
                    Trial::on_presets(wrong, strength, *seed)
                };
                let played = trial.played();
                let d = played.diagnosis();
                let right = match (&d.answer, wrong.cause()) {
                    (Answer::Named { cause }, Some(c)) => *cause == c,
                    (Answer::NothingToMend, None) => true,
                    _ => false,
                };
                let also: Vec<_> = d
                    .findings
                    .iter()
                    .filter(|it| it.standing == Standing::Shown)
                    .map(|it| it.cause)
                    .collect();
                println!(
                    "{} {wrong:?} {strength} {seed}: {:?} shown {also:?}",
                    if right { "ok" } else { "WRONG" },
                    d.answer
                );
                if !right {
                    for f in &d.findings {
                        if Some(f.cause) == wrong.cause()
                            || (wrong.cause().is_none() && f.standing != Standing::RuledOut)
                        {
                            println!("   {f:#?}");
                        }
                    }
                }
                let m = trial.mended();
                let md = m.diagnosis();
                let mok =
                    !matches!(&md.answer, Answer::Named{cause} if Some(*cause) == wrong.cause());
                println!(
                    "   {} mended: {:?}",
                    if mok { "ok" } else { "MWRONG" },
                    md.answer
                );
                if let Some(a) = wrong
                    .cause()
                    .and_then(|c| d.of(c))
                    .and_then(|f| f.advice.clone())
                {
                    if let Some(p) = a.prediction {
                        let (s1, c1, s2, c2) = (
                            played.summary(),
                            played.certificate(),
                            m.summary(),
                            m.certificate(),
                        );
                        let o = check_prediction(
                            &p,
                            Measured {
                                records: &played.records,
                                summary: &s1,
                                client: &c1,
                            },
                            Measured {
                                records: &m.records,
                                summary: &s2,
                                client: &c2,
                            },
                        );
                        println!(
                            "   {} {:?} ratio {:.3} sure {}",
                            if o.came == Came::True { "ok" } else { "PWRONG" },
                            p,
                            o.after.unwrap_or_default().0 as f64
                                / o.before.unwrap_or_default().0 as f64,
                            o.sure
                        );
                    } else {
                        println!("   PNONE")
                    }
                }
                for (name, blind) in [
                    ("page", trial.played().without_page()),
                    ("both", trial.played().without_page().without_theory()),
                    ("theory", trial.played().without_theory()),
                ] {
                    let b = blind.diagnosis();
                    let v = match (&b.answer, wrong.cause()) {
                        (Answer::Named { cause }, Some(c)) if *cause == c => "ok-named",
                        (Answer::OneOf { causes }, Some(c)) if causes.contains(&c) => "ok-oneof",
                        (Answer::NothingToMend, None) => "ok-nothing",
                        (Answer::CannotTell { .. }, _) => "ok-cannot",
                        _ => "BWRONG",
                    };
                    println!(
                        "   without {name} {v}: {}",
                        format!("{:?}", b.answer)
                            .chars()
                            .take(300)
                            .collect::<String>()
                    );
                }
            }
        }
    }
}
