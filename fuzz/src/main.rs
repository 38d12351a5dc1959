//! Runs a fuzz target: `fuzz TARGET FILE...` over files. Compiled with `--cfg fuzzing`, it is a program of libFuzzer, which creates
//! inputs for the target in the variable `FUZZ_TARGET`. See scripts/fuzz.sh.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    static TARGET: std::sync::OnceLock<fn(&[u8])> = std::sync::OnceLock::new();
    let target = || {
        let name = std::env::var("FUZZ_TARGET").expect("FUZZ_TARGET names the target");
        fuzz::find(&name).expect("a target of this name")
    };
    TARGET.get_or_init(target)(input);
});

#[cfg(not(fuzzing))]
fn main() -> std::process::ExitCode {
    use std::process::ExitCode;

    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let Some(run) = fuzz::find(&name) else {
        let names: Vec<&str> = fuzz::TARGETS.iter().map(|(name, _)| *name).collect();
        eprintln!(
            "error: fuzz target `{name}` not found\nhint: fuzz TARGET FILE...; targets: {}",
            names.join(", ")
        );
        return ExitCode::from(2);
    };
    for file in arguments {
        eprintln!("Running: {file}");
        match std::fs::read(&file) {
            Ok(input) => run(&input),
            Err(error) => {
                eprintln!("error: `{file}` cannot be read: {error}\nhint: name files with inputs");
                return ExitCode::from(2);
            }
        }
        eprintln!("Executed {file}");
    }
    ExitCode::SUCCESS
}
