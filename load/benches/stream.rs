//! Wall times of the instrument's inner parts: good for looking, bad for judging (`cargo xtask bench --instructions` judges).

mod work;

fn main() {
    divan::main();
}

#[divan::bench(args = work::ALL.map(|(name, _)| name))]
fn parts(bencher: divan::Bencher<'_, '_>, name: &str) {
    let work = work::ALL.iter().find(|(known, _)| *known == name);
    if let Some((_, make)) = work {
        bencher.bench_local(make());
    }
}
