//! Guests of a leader that is not trusted: what they execute, and what they reject.

mod fake_site;
mod hostile;
mod leader;
mod limits;
mod silence;
