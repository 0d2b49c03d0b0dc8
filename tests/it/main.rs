//! Tests that cross crates, one module per feature.

mod store; // studies and what they measured, on both databases
mod store_records; // a point's records as Parquet
mod studio; // the studio, end to end on the simulator
