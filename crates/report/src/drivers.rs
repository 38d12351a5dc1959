//! Lists of drivers, and their descriptions.

use std::path::PathBuf;

use experiment::{DriverDescription, Policy, ReceiveMode, Support};

use crate::layout::{Grid, WIDTH, wrap};

/// Driver that was found, for [`driver_list`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundDriver {
    /// Name on the command line.
    pub name: String,
    /// Path of the driver file.
    pub path: PathBuf,
    /// Description that the driver reports, or the error of asking for it.
    pub description: Result<DriverDescription, String>,
}

/// Driver that can be built, for [`driver_list`] and [`driver_versions`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstallableDriver {
    /// Name, with a version if there are several.
    pub name: String,
    /// Package of the middleware; empty if nothing is downloaded.
    pub origin: String,
    /// Licence of the package; empty if nothing is downloaded.
    pub licence: String,
    /// Whether the licence must be accepted first.
    pub must_be_accepted: bool,
    /// Whether it is installed.
    pub is_installed: bool,
}

/// Formats the list of drivers, one per line; below it the errors of unusable drivers, and the drivers that can be
/// installed.
#[must_use]
pub fn driver_list(drivers: &[FoundDriver], installable: &[InstallableDriver]) -> String {
    let mut text = if drivers.is_empty() { "no driver was found\n".to_owned() } else { found_table(drivers) };
    let missing: Vec<&InstallableDriver> = installable.iter().filter(|driver| !driver.is_installed).collect();
    if !missing.is_empty() {
        text.push('\n');
        text.push_str(&offered("Not installed", &missing, false));
        text.push_str("\n`ddsmark drivers install NAME@VERSION` fetches and builds one\n");
    }
    text
}

/// Formats the drivers that can be built, one per line.
#[must_use]
pub fn driver_versions(installable: &[InstallableDriver]) -> String {
    if installable.is_empty() {
        return "no driver can be built\n".to_owned();
    }
    offered("Driver", &installable.iter().collect::<Vec<_>>(), true)
}

fn offered(heading: &str, drivers: &[&InstallableDriver], with_state: bool) -> String {
    let mut grid = Grid::default().left([heading, "Middleware", "Licence"]);
    if with_state {
        grid = grid.left(["Installed"]);
    }
    for driver in drivers {
        let origin = if driver.origin.is_empty() { "nothing to fetch" } else { &driver.origin };
        let accept = if driver.must_be_accepted { " (to be accepted)" } else { "" };
        let mut row = vec![driver.name.clone(), origin.to_owned(), format!("{}{accept}", driver.licence)];
        if with_state {
            row.push(if driver.is_installed { "yes" } else { "no" }.to_owned());
        }
        grid.row(row);
    }
    grid.render()
}

fn found_table(drivers: &[FoundDriver]) -> String {
    let mut grid =
        Grid::default().left(["Driver", "Middleware", "Version", "Transports", "Receives by", "File"]);
    let mut unusable = String::new();
    for driver in drivers {
        let path = driver.path.display().to_string();
        match &driver.description {
            Ok(description) => {
                grid.row(vec![
                    driver.name.clone(),
                    description.middleware.clone(),
                    description.middleware_version.clone(),
                    joined(description.transports.iter().map(|transport| transport.name.as_str())),
                    joined(description.receive_modes.iter().map(|mode| mode.name())),
                    path,
                ]);
                if !description.is_installed()
                    && let Some(why) = &description.build
                {
                    unusable.push_str(&wrap(&format!("{}: {why}", driver.name), WIDTH, 2));
                }
            }
            Err(error) => {
                let cells = [&driver.name, "cannot be used", "", "", "", &path].map(str::to_owned);
                grid.row(cells.into());
                unusable.push_str(&wrap(&format!("{}: {error}", driver.name), WIDTH, 2));
            }
        }
    }
    let mut text = grid.render();
    if !unusable.is_empty() {
        text.push('\n');
        text.push_str(&unusable);
    }
    text
}

/// Formats the complete description of a driver.
#[must_use]
pub fn driver_info(description: &DriverDescription) -> String {
    let mut text = format!("{} {}\n", description.name, description.driver_version);
    let version = format!("{} (from the {})", description.middleware_version, description.version_source);
    let mut facts = Grid::default().left(["", ""]);
    for (name, value) in [
        ("middleware", description.middleware.clone()),
        ("version", version),
        ("build", description.build.clone().unwrap_or_else(|| "not known".to_owned())),
        ("licence", description.licence.clone()),
        ("receives by", joined(description.receive_modes.iter().copied().map(ReceiveMode::name))),
        ("types", joined(description.type_kinds.iter().map(String::as_str))),
        ("features", joined(description.features.iter().map(String::as_str))),
    ] {
        facts.row(vec![name.to_owned(), value]);
    }
    for thread in &description.kept_threads {
        facts.row(vec!["keeps".to_owned(), format!("thread {thread} until the process ends")]);
    }
    if !description.variables.is_empty() {
        facts.row(vec!["variables".to_owned(), description.variables.join(", ")]);
    }
    text.push_str(&facts.render());

    let mut transports = Grid::default().left(["Transport"]).right(["Largest payload"]).left(["Note"]);
    for (index, transport) in description.transports.iter().enumerate() {
        let default = (index == 0).then_some("the default");
        let note = [default, transport.note.as_deref()].into_iter().flatten().collect::<Vec<_>>().join("; ");
        transports.row(vec![transport.name.clone(), transport.max_payload_bytes.to_string(), note]);
    }
    section(&mut text, "Transports", &transports, description.transports.is_empty());

    let mut options = Grid::default().left(["Option", "Default", "What it does"]);
    for option in &description.options {
        let default = option.default_value.clone().unwrap_or_else(|| "the middleware's".to_owned());
        options.row(vec![option.name.clone(), default, option.help.clone()]);
    }
    section(&mut text, "Options", &options, description.options.is_empty());

    let mut policies = Grid::default().left(["Policy", "Support", "Note"]);
    for &policy in Policy::ALL {
        let note = description.policies.get(&policy).and_then(|state| state.note.clone()).unwrap_or_default();
        policies.row(vec![policy.to_string(), support_of_ends(description.support_of_ends(policy)), note]);
    }
    section(&mut text, "QoS policies", &policies, false);
    text
}

fn section(text: &mut String, title: &str, grid: &Grid, empty: bool) {
    text.push_str(&format!("\n{title}\n"));
    text.push_str(&if empty { "  none\n".to_owned() } else { grid.render() });
}

/// Formats the support of a policy by writers and by readers.
pub(crate) fn support_of_ends([of_writers, of_readers]: [Support; 2]) -> String {
    if of_writers == of_readers {
        return support_name(of_writers).to_owned();
    }
    format!("{} by writers, {} by readers", support_name(of_writers), support_name(of_readers))
}

/// Returns a level of support in the words of the tables.
pub(crate) const fn support_name(support: Support) -> &'static str {
    match support {
        Support::Unsupported => "unsupported",
        Support::Ignored => "ignored",
        Support::MatchedOnly => "matched only",
        Support::Hint => "hint",
        Support::NeedsService => "needs a service",
        Support::Enforced => "enforced",
    }
}

fn joined<'w>(words: impl Iterator<Item = &'w str>) -> String {
    let words: Vec<&str> = words.collect();
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}
