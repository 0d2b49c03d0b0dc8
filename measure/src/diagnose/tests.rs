//! Rules on records made by hand.
