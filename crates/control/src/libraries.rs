//! Shared libraries of a process.

use std::fs;

/// Returns the shared libraries that this process has loaded, sorted.
#[must_use]
pub fn loaded_libraries() -> Vec<String> {
    libraries_of(&fs::read_to_string("/proc/self/maps").unwrap_or_default())
}

/// Returns the shared libraries in a memory map, sorted.
fn libraries_of(maps: &str) -> Vec<String> {
    let paths = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..]));
    let mut libraries: Vec<String> =
        paths.filter(|path| path.contains(".so")).map(ToOwned::to_owned).collect();
    libraries.sort();
    libraries.dedup();
    libraries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_found_among_the_mappings() {
        let maps = "7f00-7f01 r-xp 00000000 08:01 12   /usr/lib/libb.so.6\n\
                    7f01-7f02 r--p 00001000 08:01 12   /usr/lib/libb.so.6\n\
                    7f02-7f03 rw-p 00000000 00:00 0\n\
                    7f03-7f04 r-xp 00000000 08:01 13   /opt/a b/liba.so\n\
                    5500-5501 r-xp 00000000 08:01 14   /usr/bin/agent\n\
                    7fff-7fff rw-p 00000000 00:00 0    [stack]\n";
        assert_eq!(libraries_of(maps), ["/opt/a b/liba.so", "/usr/lib/libb.so.6"]);
    }
}
