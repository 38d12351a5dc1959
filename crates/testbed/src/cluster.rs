//! A cluster of Slurm in the hosts of a lab. Needs root.

use std::{
    fs::{self, File},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use lab::{Host, Lab};

use crate::{Error, server, wait::wait_for};

/// Configuration without controller and nodes; `DIR` is the directory of its files.
const CONFIGURATION: &str = "\
ClusterName=testbed
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=DIR/munge.socket
StateSaveLocation=DIR/state
SlurmdSpoolDir=DIR/spool-%n
SlurmctldPidFile=DIR/slurmctld.pid
SlurmdPidFile=DIR/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
InactiveLimit=0
KillWait=2
";
/// Files of munged, by the option that names each.
const MUNGE: [(&str, &str); 5] = [
    ("key-file", "munge.key"),
    ("socket", "munge.socket"),
    ("pid-file", "munge.pid"),
    ("log-file", "munge.log"),
    ("seed-file", "munge.seed"),
];

/// Running cluster: a controller on the first host of a lab, and a node on each of the others. Dropping it ends its servers,
/// and then its lab with everything that runs there.
#[derive(Debug)]
pub struct Cluster {
    directory: PathBuf,
    /// Servers with their names, in the order of their start.
    servers: Vec<(String, Child)>,
    lab: Lab,
}

impl Cluster {
    /// Starts a cluster with its files in a directory, which is created. Its servers have these variables.
    ///
    /// # Errors
    /// Returns an error if Slurm is not installed, or if a server does not start.
    pub fn start(lab: Lab, directory: &Path, variables: &[(&str, &Path)]) -> Result<Self, Error> {
        fs::create_dir_all(directory.join("state"))?;
        let file = |name: &str| directory.join(name);
        fs::write(file("slurm.conf"), configuration(lab.hosts(), directory))?;
        // The `/sys` of a host of a lab is not the one that slurmd looks for otherwise.
        fs::write(file("cgroup.conf"), "CgroupPlugin=cgroup/v1\n")?;
        fs::write(file("munge.key"), [7; 1024])?;
        fs::set_permissions(file("munge.key"), fs::Permissions::from_mode(0o600))?;
        let mut cluster = Self { directory: directory.to_owned(), servers: Vec::new(), lab };
        let munge = MUNGE.map(|(option, name)| format!("--{option}={}", file(name).display()));
        // Its files are in a private directory, to which it would object.
        let [foreground, force] = ["--foreground", "--force"].map(ToOwned::to_owned);
        let arguments = [&[foreground, force], &munge[..]].concat();
        cluster.launch("munged", Command::new(server("munged")?), &arguments, variables)?;
        let socket = file("munge.socket");
        cluster.wait_for("munged", |_| Ok(socket.exists()))?;
        let controller = cluster.controller().command(server("slurmctld")?);
        cluster.launch("slurmctld", controller, &["-D", "-c"].map(ToOwned::to_owned), variables)?;
        let nodes: Vec<Host> = cluster.nodes().to_vec();
        for node in &nodes {
            let slurmd = node.command(server("slurmd")?);
            let arguments = ["-D", "-N", &node.name].map(ToOwned::to_owned);
            cluster.launch(&server_of(&node.name), slurmd, &arguments, variables)?;
        }
        cluster.wait_for("idle nodes", |cluster| {
            let output = cluster.command("sinfo").args(["-h", "-N", "-o", "%t"]).output()?;
            let states = String::from_utf8_lossy(&output.stdout);
            Ok(states.lines().filter(|state| *state == "idle").count() == nodes.len())
        })?;
        Ok(cluster)
    }

    /// Returns the lab.
    #[must_use]
    pub const fn lab(&self) -> &Lab {
        &self.lab
    }

    /// Returns the host of the controller and of the user.
    #[must_use]
    pub fn controller(&self) -> &Host {
        &self.lab.hosts()[0]
    }

    /// Returns the hosts of the nodes.
    #[must_use]
    pub fn nodes(&self) -> &[Host] {
        &self.lab.hosts()[1..]
    }

    /// Returns the path of the configuration, the value of `SLURM_CONF`.
    #[must_use]
    pub fn configuration(&self) -> PathBuf {
        self.directory.join("slurm.conf")
    }

    /// Returns a command that runs a program on the host of the controller.
    #[must_use]
    pub fn command(&self, program: &str) -> Command {
        let mut command = self.controller().command(program);
        command.env("SLURM_CONF", self.configuration());
        command
    }

    /// Allocates all nodes without a shell. Returns the number of the job and the list of its nodes, the values of
    /// `SLURM_JOB_ID` and `SLURM_JOB_NODELIST`.
    ///
    /// # Errors
    /// Returns an error if the nodes cannot be allocated.
    pub fn allocate(&self) -> Result<(String, String), Error> {
        let nodes = format!("-N{}", self.nodes().len());
        self.succeed("salloc", &["--quiet", "--no-shell", &nodes])?;
        let jobs = self.succeed("squeue", &["-h", "-o", "%i"])?;
        let [job] = jobs.split_whitespace().collect::<Vec<_>>()[..] else {
            return Err(format!("`squeue` lists other jobs than one: `{}`", jobs.escape_debug()).into());
        };
        let names: Vec<&str> = self.nodes().iter().map(|node| node.name.as_str()).collect();
        Ok((job.to_owned(), names.join(",")))
    }

    fn succeed(&self, program: &str, arguments: &[&str]) -> Result<String, Error> {
        let output = self.command(program).args(arguments).stdin(Stdio::null()).output()?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let error = String::from_utf8_lossy(&output.stderr);
        Err(format!("`{program}` failed: {}: {}", output.status, error.trim()).into())
    }

    /// Returns the processes of its servers in hosts of the lab.
    #[must_use]
    pub fn servers(&self) -> Vec<i32> {
        self.servers.iter().skip(1).map(|(_, child)| child.id().cast_signed()).collect()
    }

    /// Returns the process of the server of a node.
    ///
    /// # Panics
    /// Panics if there is no such node.
    #[must_use]
    pub fn server_on(&self, node: &str) -> i32 {
        let server = self.servers.iter().find(|(name, _)| *name == server_of(node));
        server.expect("a node").1.id().cast_signed()
    }

    /// Returns the output of all servers.
    #[must_use]
    pub fn logs(&self) -> String {
        let log = |name: &String| {
            let text = fs::read_to_string(self.directory.join(format!("{name}.log"))).unwrap_or_default();
            format!("{name}:\n{text}")
        };
        self.servers.iter().map(|(name, _)| log(name)).collect::<Vec<_>>().join("\n")
    }

    fn launch(
        &mut self,
        name: &str,
        mut command: Command,
        arguments: &[String],
        variables: &[(&str, &Path)],
    ) -> Result<(), Error> {
        let log = File::create(self.directory.join(format!("{name}.log")))?;
        command.args(arguments).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        command.env("SLURM_CONF", self.configuration()).envs(variables.iter().copied());
        let child = command.spawn().map_err(|error| format!("{name}: {error}"))?;
        self.servers.push((name.to_owned(), child));
        Ok(())
    }

    /// Waits until `is_there` returns true, or a server ends.
    fn wait_for(&mut self, what: &str, is_there: impl Fn(&Self) -> Result<bool, Error>) -> Result<(), Error> {
        wait_for(what, || {
            let mut ended = Vec::new();
            for (name, child) in &mut self.servers {
                ended.extend(child.try_wait()?.map(|status| format!("{name} ended: {status}")));
            }
            if ended.is_empty() {
                return Ok(is_there(self)?.then_some(()));
            }
            Err(format!("{}\n{}", ended.join(", "), self.logs()).into())
        })
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for (_, child) in self.servers.iter_mut().rev() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Returns the name of the server of a node.
fn server_of(node: &str) -> String {
    format!("slurmd-{node}")
}

/// Returns the configuration of a cluster of these hosts.
fn configuration(hosts: &[Host], directory: &Path) -> String {
    let common = CONFIGURATION.replace("DIR", &directory.display().to_string());
    let [controller, nodes @ ..] = hosts else { return common };
    let node = |Host { name, address, .. }: &Host| {
        format!("NodeName={name} NodeAddr={address} NodeHostname={name} CPUs=2\n")
    };
    let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
    format!(
        "{common}SlurmctldHost={}({})\n{}PartitionName=all Nodes={} Default=YES State=UP\n",
        controller.name,
        controller.address,
        nodes.iter().map(node).collect::<String>(),
        names.join(",")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_host_is_the_controller_and_the_others_are_nodes() {
        let host = |number: u8| Host {
            name: format!("h{number}"),
            namespace: String::new(),
            address: [10, 77, 0, number].into(),
            interface: "eth0".to_owned(),
            mtu_bytes: 1_500,
        };
        let text = configuration(&[1, 2, 3].map(host), Path::new("/x"));
        for line in [
            "StateSaveLocation=/x/state",
            "SlurmctldHost=h1(10.77.0.1)",
            "NodeName=h2 NodeAddr=10.77.0.2 NodeHostname=h2 CPUs=2",
            "NodeName=h3 NodeAddr=10.77.0.3 NodeHostname=h3 CPUs=2",
            "PartitionName=all Nodes=h2,h3 Default=YES State=UP",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
    }
}
