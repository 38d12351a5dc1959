//! Memory of this process.

use std::fs;

/// Returns the memory of this process in bytes: its private pages, and its share of each page that other processes also
/// use (Pss). `None` if the kernel does not report it.
#[must_use]
pub fn memory_bytes() -> Option<u64> {
    parse(&fs::read_to_string("/proc/self/smaps_rollup").ok()?, "Pss:")
}

/// Returns the maximum resident memory of this program in bytes. `None` if the kernel does not report it.
///
/// `getrusage` has that of the process, which was a copy of its parent before it executed this program.
#[must_use]
pub fn peak_memory_bytes() -> Option<u64> {
    parse(&fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

fn parse(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_the_proportional_share() {
        let text =
            "55e0-7ffc ---p 00000000 00:00 0 [rollup]\nRss:   4096 kB\nPss:   1234 kB\nPss_Dirty:  7 kB\n";
        assert_eq!(parse(text, "Pss:"), Some(1234 * 1024));
        assert_eq!(parse("Rss: 4096 kB\n", "Pss:"), None);
        let before = memory_bytes().expect("the kernel reports it");
        let pages = std::hint::black_box(vec![1_u8; 32 << 20]);
        let after = memory_bytes().expect("the kernel reports it");
        assert!(after >= before + (30 << 20), "{before} {after} {}", pages.len());
    }

    #[test]
    fn peak_stays_after_memory_was_returned() {
        drop(std::hint::black_box(vec![1_u8; 64 << 20]));
        let peak = peak_memory_bytes().expect("the kernel reports it");
        assert!(peak >= 64 << 20 && peak >= memory_bytes().expect("the kernel reports it"), "{peak}");
    }

    #[test]
    fn peak_of_a_program_is_not_that_of_its_parent() {
        let pages = std::hint::black_box(vec![1_u8; 256 << 20]);
        let status = std::process::Command::new("cat").arg("/proc/self/status").output().expect("`cat` runs");
        let child = parse(&String::from_utf8_lossy(&status.stdout), "VmHWM:").expect("the kernel reports it");
        assert!(child < 64 << 20, "{child} {}", pages.len());
    }
}
