//! Memory of this process.

use std::fs;

/// Returns the memory of this process in bytes: its private pages, and its share of each page that other processes also
/// use (Pss). `None` if the kernel does not report it.
#[must_use]
pub fn memory_bytes() -> Option<u64> {
    parse(&fs::read_to_string("/proc/self/smaps_rollup").ok()?)
}

fn parse(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_the_proportional_share() {
        let text =
            "55e0-7ffc ---p 00000000 00:00 0 [rollup]\nRss:   4096 kB\nPss:   1234 kB\nPss_Dirty:  7 kB\n";
        assert_eq!(parse(text), Some(1234 * 1024));
        assert_eq!(parse("Rss: 4096 kB\n"), None);
        let before = memory_bytes().expect("the kernel reports it");
        let pages = std::hint::black_box(vec![1_u8; 32 << 20]);
        let after = memory_bytes().expect("the kernel reports it");
        assert!(after >= before + (30 << 20), "{before} {after} {}", pages.len());
    }
}
