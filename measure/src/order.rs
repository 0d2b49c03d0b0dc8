//! Putting things in order of a number that each has.
//!
//! The standard library's sort is compiled anew for every type of thing, some four kilobytes each in the browser; here
//! only numbers are sorted.

/// Puts things in ascending order of their number; equal ones stay in the order they came in.
pub fn by_number<T>(things: &mut Vec<T>, number: impl Fn(&T) -> f64) {
    let order = order(things.iter().map(number).collect());
    let mut unordered: Vec<Option<T>> = things.drain(..).map(Some).collect();
    things.extend(order.into_iter().filter_map(|at| unordered[at].take()));
}

fn order(numbers: Vec<f64>) -> Vec<usize> {
    let mut placed: Vec<(f64, usize)> = numbers.into_iter().zip(0..).collect();
    placed.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    placed.into_iter().map(|(_, at)| at).collect()
}

#[cfg(test)]
mod tests {
    use super::by_number;

    #[test]
    fn equal_numbers_stay_in_the_order_they_came_in() {
        let mut things = vec![
            (2.0, 'a'),
            (1.0, 'b'),
            (2.0, 'c'),
            (f64::INFINITY, 'd'),
            (-1.0, 'e'),
        ];
        by_number(&mut things, |(number, _)| *number);
        let letters: String = things.iter().map(|(_, letter)| letter).collect();
        assert_eq!(letters, "ebacd");
    }
}
