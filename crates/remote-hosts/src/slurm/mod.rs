//! Nodes of an allocation of Slurm, which `srun` reaches.

mod allocation;
pub mod messages;
mod shell;

pub use allocation::Allocation;
pub use shell::SrunShell;
