//! Lines of the table that `cargo xtask bench --statistics` prints.
//!
//! Every ignored test whose name begins with `statistics` may print any number of rows; the command runs them all in a
//! release build, gathers the rows, and puts them in order of their names.

/// One statement about how often judgement is right, and whether that is often enough.
pub struct Row {
    /// What was tried, in the order of the table: `p95 of TTFT, n 500, M/D/1 0.7`.
    pub name: String,
    /// How many times it was tried.
    pub count: usize,
    /// What came out.
    pub figure: String,
    /// What should.
    pub bar: String,
    /// Whether it did.
    pub kept: bool,
}

impl Row {
    /// Prints it for the command to find.
    pub fn print(&self) {
        let Self {
            name,
            count,
            figure,
            bar,
            kept,
        } = self;
        let kept = if *kept { "kept" } else { "missed" };
        println!("statistics | {name} | {count} | {figure} | {bar} | {kept}");
    }
}
