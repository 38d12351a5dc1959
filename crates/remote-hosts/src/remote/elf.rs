//! Properties of a program or library for Linux that decide where it can run.

/// Name under which programs load a library, and the lowest version of the C library that it needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Elf {
    pub(super) soname: Option<String>,
    pub(super) glibc: Option<(u32, u32)>,
}

const SHT_DYNAMIC: u32 = 6;
const SHT_GNU_VERNEED: u32 = 0x6fff_fffe;
const DT_SONAME: u64 = 14;
/// Maximum number of sections, and of entries of a section.
const MOST: usize = 1 << 16;

/// Section: type, offset, length, and the number of the section with its texts.
type Section = (u32, usize, usize, usize);

impl Elf {
    /// Reads a file of this host. One that cannot be read has no properties: it is tried.
    pub(super) fn read(bytes: &[u8]) -> Self {
        let Some(sections) = sections(bytes) else { return Self::default() };
        let texts = |section: &Section| {
            let &(_, at, length, _) = sections.get(section.3)?;
            bytes.get(at..at.checked_add(length)?)
        };
        let of_type = |wanted: u32| sections.iter().find(move |section| section.0 == wanted);
        let soname = of_type(SHT_DYNAMIC).and_then(|section| soname(bytes, section, texts(section)?));
        let glibc = of_type(SHT_GNU_VERNEED).and_then(|section| glibc(bytes, section, texts(section)?));
        Self { soname, glibc }
    }
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    number(bytes, at).map(u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    number(bytes, at).map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    number(bytes, at).map(u64::from_le_bytes)
}

/// Returns the sections of a 64-bit little-endian file.
fn sections(bytes: &[u8]) -> Option<Vec<Section>> {
    if bytes.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let (table, size) = (usize::try_from(u64_at(bytes, 0x28)?).ok()?, usize::from(u16_at(bytes, 0x3a)?));
    let section = |index: usize| -> Option<Section> {
        let at = table.checked_add(index.checked_mul(size)?)?;
        let field = |offset: usize| usize::try_from(u64_at(bytes, at.checked_add(offset)?)?).ok();
        let link = u32_at(bytes, at.checked_add(0x28)?)?;
        Some((u32_at(bytes, at.checked_add(4)?)?, field(0x18)?, field(0x20)?, link as usize))
    };
    (0..usize::from(u16_at(bytes, 0x3c)?)).map(section).collect()
}

fn text(texts: &[u8], at: usize) -> Option<&str> {
    let rest = texts.get(at..)?;
    str::from_utf8(&rest[..rest.iter().position(|byte| *byte == 0)?]).ok()
}

fn soname(bytes: &[u8], &(_, at, length, _): &Section, texts: &[u8]) -> Option<String> {
    let entries = (0..(length / 16).min(MOST)).map(|entry| at.checked_add(entry * 16));
    for at in entries {
        if u64_at(bytes, at?)? == DT_SONAME {
            let name = text(texts, usize::try_from(u64_at(bytes, at? + 8)?).ok()?)?;
            return Some(name.to_owned());
        }
    }
    None
}

/// Returns the highest version of the C library among the versions that a file needs of all libraries.
fn glibc(bytes: &[u8], &(_, begin, length, _): &Section, texts: &[u8]) -> Option<(u32, u32)> {
    let end = begin.checked_add(length)?;
    let (mut highest, mut library, mut steps) = (None, begin, 0);
    loop {
        let mut version = library.checked_add(u32_at(bytes, library.checked_add(8)?)? as usize)?;
        for _ in 0..u16_at(bytes, library.checked_add(2)?)? {
            steps += 1;
            if version >= end || steps > MOST {
                return highest;
            }
            let name = text(texts, u32_at(bytes, version.checked_add(8)?)? as usize);
            highest = highest.max(name.and_then(|name| parse(name.strip_prefix("GLIBC_")?)));
            version = version.checked_add(u32_at(bytes, version.checked_add(12)?)? as usize)?;
        }
        let next = u32_at(bytes, library.checked_add(12)?)? as usize;
        steps += 1;
        library = library.checked_add(next)?;
        if next == 0 || library >= end || steps > MOST {
            return highest;
        }
    }
}

/// Parses the first two numbers of a version.
pub(super) fn parse(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.split('.').map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn library_of_this_program_has_a_name_and_a_version() {
        let libraries = control::loaded_libraries();
        let library = libraries.iter().find(|path| path.contains("libgcc_s")).expect("a library");
        let elf = Elf::read(&fs::read(library).expect("a file"));
        assert_eq!(elf.soname.as_deref(), Some("libgcc_s.so.1"));
        let own = Elf::read(&fs::read("/proc/self/exe").expect("this program"));
        assert!(own.soname.is_none() && own.glibc.is_some_and(|version| version >= (2, 17)), "{own:?}");
    }

    proptest! {
        #[test]
        fn damaged_file_does_no_harm(at in 0usize..0x2000, byte in any::<u8>(), cut in any::<prop::sample::Index>()) {
            let library = control::loaded_libraries().into_iter().find(|path| path.contains("libgcc_s"));
            let mut bytes = fs::read(library.expect("a library")).expect("a file");
            bytes[at] = byte;
            let _ = Elf::read(&bytes);
            bytes.truncate(cut.index(bytes.len()));
            let _ = Elf::read(&bytes);
        }
    }
}
