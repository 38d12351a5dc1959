//! `ddsmark import`.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use import::{BagChoices, ImportError, InputText, Metadata, ProcessPer, Recording, System, TimeSource};
use report::parts::count;

use crate::{
    cli::{
        cli_error::{CliError, ExitStatus, Result},
        import_args::{Import, ProcessesPer, Times},
        output,
    },
    work::files,
};

pub fn execute(command: &Import) -> Result<ExitStatus> {
    let system = system(command)?.checked().map_err(import_error)?;
    let output = command.output();
    write(&output.out, &system)?;
    let out = output.out.display();
    let number = system.topics.iter().map(import::Topic::number).sum::<u64>();
    let mut text = format!("{out}/system.toml: {}\n", count(number as usize, "topic"));
    let notes = system.not_applied.len();
    if notes > 0 {
        let rule = if output.strict { ", which `--strict` forbids" } else { "" };
        text += &format!("not applied: {}{rule}; see {out}/import.txt\n", count(notes, "part"));
    }
    text += &format!("next: ddsmark run {out}/system.toml --dry-run\n");
    output::print(&text)?;
    if output.strict && notes > 0 {
        return Ok(ExitStatus::Broken);
    }
    Ok(ExitStatus::Done)
}

fn system(command: &Import) -> Result<System> {
    match command {
        Import::Table { file, .. } => {
            let name = file.display().to_string();
            let mut system =
                import::table(&read_text(file)?).map_err(|error| import_error(error.in_file(&name)))?;
            system.source.push(format!("Source: {name}, a table of topics."));
            Ok(system)
        }
        Import::Irobot { files, processes, types, .. } => {
            let read = |file: &PathBuf| Ok((file.display().to_string(), read_text(file)?));
            let texts = files.iter().map(read).collect::<Result<Vec<_>>>()?;
            let inputs: Vec<InputText<'_>> =
                texts.iter().map(|(name, text)| InputText { name, text }).collect();
            let per = match processes {
                ProcessesPer::Node => ProcessPer::Node,
                ProcessesPer::File => ProcessPer::File,
            };
            import::irobot(&inputs, per, &types.iter().cloned().collect()).map_err(import_error)
        }
        Import::Producers { file, .. } => {
            let name = file.display().to_string();
            import::producers(&read_text(file)?, &name).map_err(|error| import_error(error.in_file(&name)))
        }
        Import::Rosbag2 { bag, from, length, readers, processes, time, rates, segment, all, .. } => {
            let ns = |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
            let choices = BagChoices {
                time: match time {
                    Times::Publish => TimeSource::Publish,
                    Times::Log => TimeSource::Log,
                },
                from_ns: ns(*from),
                for_ns: length.map(ns),
                segment: *segment,
                readers: *readers,
                process_prefix: processes.is_some(),
                all: *all,
                rates: *rates,
            };
            let (recording, sources) = read_bag(bag)?;
            let name = bag.display().to_string();
            import::rosbag2(&recording, &choices, sources).map_err(|error| import_error(error.in_file(&name)))
        }
    }
}

/// Returns the recording of a bag, and lines about it.
fn read_bag(bag: &Path) -> Result<(Recording, Vec<String>)> {
    let mut recording = Recording::default();
    let mut sources = Vec::new();
    let is_directory = fs::metadata(bag).map_err(|error| unreadable(bag, &error))?.is_dir();
    if !is_directory {
        read_file(bag, "", &mut recording)?;
        match recording.complete_alone(bag) {
            Some(metadata) => sources.extend(about(bag, "a file", &metadata, &recording)),
            None => sources.push(format!("Source: {}, a file of rosbag2.", bag.display())),
        }
        return Ok((recording, sources));
    }
    let path = bag.join("metadata.yaml");
    if !path.exists() {
        let files = bag_files(bag)?;
        for file in &files {
            read_file(file, "", &mut recording)?;
        }
        sources.push(format!(
            "Source: {}, a bag of rosbag2 without metadata: its {} files in the order of their names.",
            bag.display(),
            files.len()
        ));
        return Ok((recording, sources));
    }
    let name = path.display().to_string();
    let metadata =
        import::metadata(&read_text(&path)?).map_err(|error| import_error(error.in_file(&name)))?;
    let mut ends = Vec::new();
    for file in &metadata.files {
        let stored = bag.join(file);
        let plain = file.strip_suffix(".zstd").map(|plain| bag.join(plain)).filter(|plain| plain.exists());
        if let Some(plain) = plain {
            read_file(&plain, &metadata.storage, &mut recording)?;
        } else if metadata.compressed_files && file.ends_with(".zstd") {
            let words = format!("`{}` is compressed as a whole", stored.display());
            let hint = format!("decompress it first: `zstd -d {}`", stored.display());
            return Err(CliError::usage(words, hint));
        } else {
            read_file(&stored, &metadata.storage, &mut recording)?;
        }
        ends.push(recording.messages.len());
    }
    metadata.complete(&mut recording, &ends);
    sources.extend(about(bag, "a bag", &metadata, &recording));
    Ok((recording, sources))
}

/// Returns lines about a bag or a file of one.
fn about(path: &Path, what: &str, metadata: &Metadata, recording: &Recording) -> Vec<String> {
    let distribution = if metadata.distribution.is_empty() {
        String::new()
    } else {
        format!(", recorded by ROS 2 {}", metadata.distribution)
    };
    let source = format!(
        "Source: {}, {what} of rosbag2, version {}{distribution}, {}.",
        path.display(),
        metadata.version,
        count(recording.messages.len(), "message")
    );
    let custom_data = metadata.custom_data.iter().map(|line| format!("Custom data: {line}."));
    std::iter::once(source).chain(custom_data).collect()
}

/// Returns the bag files of a directory in the order of their names.
fn bag_files(bag: &Path) -> Result<Vec<PathBuf>> {
    let entries =
        fs::read_dir(bag).map_err(|error| unreadable(bag, &error))?.flatten().map(|entry| entry.path());
    let is_bag =
        |path: &PathBuf| path.extension().is_some_and(|extension| extension == "mcap" || extension == "db3");
    let mut files: Vec<PathBuf> = entries.filter(is_bag).collect();
    files.sort();
    if files.is_empty() {
        let words = format!("`{}` is not a bag: it has no `metadata.yaml`, `.mcap` or `.db3`", bag.display());
        return Err(CliError::usage(words, "give a directory that `ros2 bag record` wrote"));
    }
    Ok(files)
}

/// Adds a file to a recording. `storage`: how the metadata calls its format; empty: the extension tells.
fn read_file(path: &Path, storage: &str, recording: &mut Recording) -> Result<()> {
    let extension =
        path.extension().map(|extension| extension.to_string_lossy().into_owned()).unwrap_or_default();
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    let name = path.display().to_string();
    let at_file = |error: ImportError| import_error(error.in_file(&name));
    match (storage, extension.as_str()) {
        ("mcap", _) | ("", "mcap") => import::read_mcap(file, recording).map_err(at_file),
        ("sqlite3", _) | ("", "db3") => {
            for suffix in ["-wal", "-journal"] {
                let beside = PathBuf::from(format!("{name}{suffix}"));
                if fs::metadata(&beside).is_ok_and(|metadata| metadata.len() > 0) {
                    let words = format!("`{}` has changes that are not in the bag yet", beside.display());
                    let hint = format!("write them: `sqlite3 {name} 'PRAGMA wal_checkpoint(TRUNCATE)'`");
                    return Err(CliError::usage(words, hint));
                }
            }
            import::read_db3(file, recording).map_err(at_file)
        }
        (_, "zstd") => {
            let words = format!("`{name}` is compressed as a whole");
            Err(CliError::usage(words, format!("decompress it first: `zstd -d {name}`")))
        }
        ("", _) => {
            let words = format!("`{name}` is not a bag file: its name does not end with `.mcap` or `.db3`");
            Err(CliError::usage(words, "give a bag that `ros2 bag record` wrote"))
        }
        (other, _) => {
            let words = format!("storage `{other}` of `{name}` is not supported");
            Err(CliError::usage(words, "convert the bag to mcap: `ros2 bag convert`"))
        }
    }
}

/// Writes the files of a system to an empty directory.
fn write(out: &Path, system: &System) -> Result<()> {
    let failed = |error: &io::Error| {
        let words = format!("cannot write to `{}`: {error}", out.display());
        CliError::failed(words, "choose a writable directory")
    };
    let is_used = fs::read_dir(out).is_ok_and(|mut entries| entries.next().is_some());
    if is_used {
        let words = format!("directory `{}` is not empty", out.display());
        return Err(CliError::usage(words, "choose another directory with `--out`"));
    }
    for file in system.files() {
        let path = out.join(&file.path);
        fs::create_dir_all(path.parent().unwrap_or(out)).map_err(|error| failed(&error))?;
        fs::write(path, file.text).map_err(|error| failed(&error))?;
    }
    Ok(())
}

fn read_text(path: &Path) -> Result<String> {
    files::read_text(path).map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, error: &io::Error) -> CliError {
    CliError::usage(format!("cannot read `{}`: {error}", path.display()), "name a readable file")
}

#[allow(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn import_error(error: ImportError) -> CliError {
    CliError::usage(&error, error.hint.clone())
}
