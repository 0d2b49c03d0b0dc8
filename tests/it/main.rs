//! Tests that cross crates, one module per feature.

mod api; // REST, assets and pages
mod auth; // who gets in
mod bench; // goodput bench
#[cfg(feature = "browser")]
mod browser; // what a person sees, in a real Chromium
mod bundle; // studies as files
mod cli; // the rest of the command line
mod diagnosis; // why a point is slow, and what is foretold
mod everywhere; // what holds on every page
mod evidence; // what is seen beside a point
mod fields; // what requests say
mod files; // what is plotted as pictures and rows
mod history; // earlier runs of the same
mod honesty; // every failure is told, and told rightly
mod launch; // engines as processes
mod links; // links that were once given out
mod lists; // studies in lists
mod managed; // studies on engines that the studio starts
mod pages; // what people typed is text in them
mod point; // a point's requests, and windows on them
mod reach; // encrypted, over HTTP/2, through a proxy, with a stored key
mod refusals; // what is refused, and in which words
mod restart; // a killed server loses nothing
mod shares; // what a link shows, and a curve in a frame
mod store; // studies and what they measured, on both databases
mod store_records; // a point's records as Parquet
mod studio; // the studio, end to end on the simulator
