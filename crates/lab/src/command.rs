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
    fcntl::{OFlag, open},
    mount::{MntFlags, MsFlags, mount, umount2},
    sched::{CloneFlags, setns, unshare},
    sys::stat::Mode,
};

use crate::{
    host::Host,
    layout::{NAMESPACES, files_of},
};

const SYS: &CStr = c"/sys";
const CGROUPS: &CStr = c"/sys/fs/cgroup";
const SHARED_MEMORY: &CStr = c"/dev/shm";
const FILES: [&CStr; 2] = [c"/etc/hosts", c"/etc/machine-id"];

impl Host {
    /// Returns a command that runs a program in the host. The process, and all that it starts, has the network, the name, `/sys`,
    /// `/etc/hosts` and `/etc/machine-id` of the host, and a `/dev/shm` of its own; everything else is that of this host.
    ///
    /// The command does not keep the lab up. After the lab is removed, it cannot be started (`ENONET`).
    #[must_use]
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let text = |path: &Path| CString::new(path.as_os_str().as_bytes()).expect("names have no zero byte");
        let namespace = text(&Path::new(NAMESPACES).join(&self.namespace));
        let files = FILES.map(|file| {
            let name = Path::new(OsStr::from_bytes(file.to_bytes())).file_name().unwrap_or_default();
            text(&files_of(self).join(name))
        });
        let name = self.name.clone();
        let mut command = Command::new(program);
        // SAFETY: between fork and exec the closure only makes system calls with texts that exist already: open, setns, unshare,
        // sethostname, open_tree, move_mount, mount, umount2 and close. It allocates nothing and takes no lock.
        unsafe { command.pre_exec(move || enter(&namespace, &name, &files)) };
        command
    }
}

/// Moves the calling process into a host.
fn enter(namespace: &CStr, host: &str, files: &[CString; 2]) -> io::Result<()> {
    let flags = OFlag::O_RDONLY | OFlag::O_CLOEXEC;
    let namespace = open(namespace, flags, Mode::empty()).map_err(|error| match error {
        // Not that of a program that does not exist.
        Errno::ENOENT => Errno::ENONET,
        error => error,
    })?;
    setns(namespace, CloneFlags::CLONE_NEWNET)?;
    unshare(CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWUTS)?;
    nix::unistd::sethostname(host)?;
    // No mount of this process reaches another one.
    let none = None::<&CStr>;
    mount(none, c"/", none, MsFlags::MS_REC | MsFlags::MS_SLAVE, none)?;
    show_own_interfaces()?;
    // Hosts do not share memory, whatever a middleware tries.
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(Some(c"ddsmark"), SHARED_MEMORY, Some(c"tmpfs"), flags, Some(c"mode=1777"))?;
    for (own, usual) in files.iter().zip(FILES) {
        match mount(Some(own.as_c_str()), usual, none, MsFlags::MS_BIND, none) {
            // A file that this host lacks is missing there, too.
            Ok(()) | Err(Errno::ENOENT) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
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
