//! Shared libraries of a process.

use std::path::PathBuf;

/// Returns the shared libraries in a process's memory map.
pub(crate) fn loaded_libraries(maps: &str) -> Vec<PathBuf> {
    let paths = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..]));
    let mut libraries: Vec<PathBuf> = paths.filter(|path| path.contains(".so")).map(PathBuf::from).collect();
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
        assert_eq!(
            loaded_libraries(maps),
            [PathBuf::from("/opt/a b/liba.so"), PathBuf::from("/usr/lib/libb.so.6")]
        );
    }
}
