//! Commands that run in a host.

use std::{
    ffi::{CStr, CString, OsStr},
    io,
    os::unix::{ffi::OsStrExt as _, process::CommandExt as _},
    path::Path,
    process::Command,
};

use nix::{
    errno::Errno,
    mount::{MntFlags, MsFlags, mount, umount2},
    sched::{CloneFlags, unshare},
};

use crate::{
    error::LabError,
    namespace::{Namespace, NamespaceEntry},
};

const SYS: &CStr = c"/sys";
const CGROUPS: &CStr = c"/sys/fs/cgroup";
const SHARED_MEMORY: &CStr = c"/dev/shm";
const HOSTS: &CStr = c"/etc/hosts";

/// Returns a command for a program in a namespace.
pub(crate) fn within(
    namespace: &Namespace,
    host: &str,
    hosts_file: &Path,
    program: &OsStr,
) -> Result<Command, LabError> {
    let entry = namespace.entry()?;
    let hosts = CString::new(hosts_file.as_os_str().as_bytes()).expect("the path has no zero byte");
    let host = host.to_owned();
    let mut command = Command::new(program);
    // SAFETY: between fork and exec the closure only makes system calls with texts that exist already: setns, unshare,
    // sethostname, open_tree, move_mount, mount, umount2 and close. It allocates nothing and takes no lock.
    unsafe { command.pre_exec(move || enter(&entry, &host, &hosts)) };
    Ok(command)
}

/// Moves the calling process into a host.
fn enter(entry: &NamespaceEntry, host: &str, hosts: &CStr) -> io::Result<()> {
    entry.enter()?;
    unshare(CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWUTS)?;
    nix::unistd::sethostname(host)?;
    // No mount of this process reaches another one.
    let none = None::<&CStr>;
    mount(none, c"/", none, MsFlags::MS_REC | MsFlags::MS_SLAVE, none)?;
    show_own_interfaces()?;
    // Hosts do not share memory, whatever a middleware tries.
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(Some(c"ddsmark"), SHARED_MEMORY, Some(c"tmpfs"), flags, Some(c"mode=1777"))?;
    match mount(Some(hosts), HOSTS, none, MsFlags::MS_BIND, none) {
        // A system without the file resolves no names of hosts.
        Err(Errno::ENOENT) => Ok(()),
        result => Ok(result?),
    }
}

/// Mounts a `/sys` that shows the interfaces of the namespace, and keeps the control groups in it.
fn show_own_interfaces() -> io::Result<()> {
    let flags = libc::OPEN_TREE_CLONE | libc::AT_RECURSIVE.cast_unsigned() | libc::OPEN_TREE_CLOEXEC;
    // SAFETY: the path is a valid text; the call returns a descriptor or -1.
    let groups = unsafe { libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, CGROUPS.as_ptr(), flags) };
    umount2(SYS, MntFlags::MNT_DETACH)?;
    mount(Some(c"ddsmark"), SYS, Some(c"sysfs"), MsFlags::empty(), None::<&CStr>)?;
    if groups >= 0 {
        const EMPTY_FROM_PATH: libc::c_uint = 4; // MOVE_MOUNT_F_EMPTY_PATH
        // SAFETY: both paths are valid texts, and `groups` is a descriptor of this process that is closed once. A failure is
        // ignored: then the host has no control groups to show.
        unsafe {
            libc::syscall(
                libc::SYS_move_mount,
                groups,
                c"".as_ptr(),
                libc::AT_FDCWD,
                CGROUPS.as_ptr(),
                EMPTY_FROM_PATH,
            );
            libc::syscall(libc::SYS_close, groups);
        }
    }
    Ok(())
}
