//! Comparison of simulated runs with the truth of their configuration.

mod batches;
mod between;
mod checks;
mod count_limit;
mod discovery;
mod drain;
mod duet;
mod echoes;
mod family;
mod headroom;
mod late_join;
mod overload;
mod paced;
mod pipelined;
mod rig;
mod ring;
mod search;
mod second_tier;
mod separated;
mod share;
mod steady;
mod topologies;
mod truth;
