//! Processes of a run, and the endpoints in each.

use std::collections::BTreeMap;

use super::RunTopology;

impl RunTopology {
    /// Numbers the processes: several driving endpoints may share one, and each serving one has its own.
    pub(super) fn share_processes(&mut self, per_process: u32) {
        // Endpoints of the current process, and its number.
        let (mut members, mut process) = (0, 0);
        for endpoint in &mut self.endpoints {
            if members == 0 || members == per_process || !endpoint.role.drives() {
                (members, process) = (0, process + 1);
            }
            members += 1;
            endpoint.process = process;
        }
    }

    /// Gives endpoints that a placement parts from their process one of their own.
    pub(super) fn split_processes(&mut self) {
        let mut known: Vec<(u32, String)> = Vec::new();
        for endpoint in &mut self.endpoints {
            let own = (endpoint.process, endpoint.place.host.clone());
            let index = known.iter().position(|of| *of == own).unwrap_or_else(|| {
                known.push(own);
                known.len() - 1
            });
            endpoint.process = index as u32 + 1;
        }
    }

    /// Returns the processes of the run: the indices of the endpoints of each, in the order of their first endpoints.
    #[must_use]
    pub fn processes(&self) -> Vec<Vec<usize>> {
        let mut processes: Vec<Vec<usize>> = Vec::new();
        let mut by_number: BTreeMap<u32, usize> = BTreeMap::new();
        for (index, endpoint) in self.endpoints.iter().enumerate() {
            let process = *by_number.entry(endpoint.process).or_insert_with(|| {
                processes.push(Vec::new());
                processes.len() - 1
            });
            processes[process].push(index);
        }
        processes
    }
}
