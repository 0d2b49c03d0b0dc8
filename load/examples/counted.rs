//! Does one inner part of the instrument a number of times, for callgrind to count: `counted NAME TIMES`. Without arguments
//! it says which there are.

#[path = "../benches/work/mod.rs"]
mod work;

fn main() {
    let mut words = std::env::args().skip(1);
    let (name, times) = (words.next(), words.next());
    let Some(name) = name else {
        work::ALL.iter().for_each(|(name, _)| println!("{name}"));
        return;
    };
    let times: u64 = times.and_then(|times| times.parse().ok()).unwrap_or(1);
    for (known, make) in work::ALL {
        if known == name {
            let work = make();
            (0..times).for_each(|_| work());
        }
    }
}
