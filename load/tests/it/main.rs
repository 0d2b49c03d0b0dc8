//! The instrument against recorded streams and against a small server.

mod case;
mod double;
mod engines;
mod generated;
mod kernel; // when bytes arrive
mod key;
mod large; // events of a megabyte
mod launch; // engines as processes
mod limits; // what the client itself may not do
mod recorded;
mod run;
mod socket;
mod trial;
mod wire; // how an engine is reached
