//! Processes of a run, and the endpoints in each.

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
        let mut number = 0;
        let mut before = None;
        for endpoint in &mut self.endpoints {
            let now = (endpoint.process, endpoint.place.host.clone());
            if before.as_ref() != Some(&now) {
                number += 1;
            }
            before = Some(now);
            endpoint.process = number;
        }
    }

    /// Returns the processes of the run: the indices of the endpoints of each.
    #[must_use]
    pub fn processes(&self) -> Vec<Vec<usize>> {
        let mut processes: Vec<(u32, Vec<usize>)> = Vec::new();
        for (index, endpoint) in self.endpoints.iter().enumerate() {
            match processes.last_mut().filter(|(number, _)| *number == endpoint.process) {
                Some((_, members)) => members.push(index),
                None => processes.push((endpoint.process, vec![index])),
            }
        }
        processes.into_iter().map(|(_, members)| members).collect()
    }
}
