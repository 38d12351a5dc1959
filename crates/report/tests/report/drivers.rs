//! Output about drivers.

use std::path::PathBuf;

use insta::assert_snapshot;
use report::{FoundDriver, InstallableDriver, driver_info, driver_list, driver_versions};

use crate::sample;

#[test]
fn a_driver_whose_middleware_is_not_installed_says_how_to_get_it() {
    let mut description = sample::description("absent", true, "native_batching");
    description.middleware_version = "not installed".to_owned();
    description.build = Some("it is not there; hint: get it".to_owned());
    let path = PathBuf::from("drivers/libddsmark_absent.so");
    let list =
        driver_list(&[FoundDriver { name: "absent".to_owned(), path, description: Ok(description) }], &[]);
    assert!(list.contains("not installed"), "{list}");
    assert!(list.contains("absent: it is not there; hint: get it"), "{list}");
}

#[test]
fn drivers_in_a_list() {
    let found = |name: &str, description| FoundDriver {
        name: name.to_owned(),
        path: PathBuf::from(format!("drivers/libddsmark_{name}.so")),
        description,
    };
    let list = [
        found("dds", Ok(sample::description("dds", true, "native_batching"))),
        found("plain", Ok(sample::description("plain", false, "application_batching"))),
        found("old", Err("it has version 0 of the driver contract; this ddsmark has version 1".to_owned())),
    ];
    assert_snapshot!(driver_list(&list, &[]), @"
    Driver  Middleware      Version  Transports  Receives by       File
    dds     Example DDS     2.5.1    udp4, shm   waitset, polling  drivers/libddsmark_dds.so
    plain   bare socket     2.5.1    udp4, shm   waitset, polling  drivers/libddsmark_plain.so
    old     cannot be used                                         drivers/libddsmark_old.so

    old: it has version 0 of the driver contract; this ddsmark has version 1
    ");
    assert_snapshot!(driver_list(&[], &[]), @"no driver was found");
}

#[test]
fn drivers_that_can_be_built() {
    let version = |name: &str, is_installed, must_be_accepted| InstallableDriver {
        name: name.to_owned(),
        origin: "a package 1.0".to_owned(),
        licence: "Apache-2.0".to_owned(),
        must_be_accepted,
        is_installed,
    };
    let own = InstallableDriver { name: "own".to_owned(), ..Default::default() };
    let all = [
        version("dds@3.2", true, false),
        version("dds@2.14", false, false),
        version("x@1", false, true),
        own,
    ];
    assert_snapshot!(driver_versions(&all), @"
    Driver    Middleware        Licence                      Installed
    dds@3.2   a package 1.0     Apache-2.0                   yes
    dds@2.14  a package 1.0     Apache-2.0                   no
    x@1       a package 1.0     Apache-2.0 (to be accepted)  no
    own       nothing to fetch                               no
    ");
    assert_snapshot!(driver_list(&[], &all), @"
    no driver was found

      Not installed  Middleware        Licence
      dds@2.14       a package 1.0     Apache-2.0
      x@1            a package 1.0     Apache-2.0 (to be accepted)
      own            nothing to fetch

    `ddsmark drivers install NAME@VERSION` fetches and builds one
    ");
    assert_snapshot!(driver_versions(&[]), @"no driver can be built");
}

#[test]
fn all_that_a_driver_says_of_itself() {
    let mut dds = sample::description("dds", true, "native_batching");
    dds.kept_threads = vec!["dds.keeper".to_owned(), "dds.other".to_owned()];
    assert_snapshot!(driver_info(&dds));
    let mut bare = sample::description("plain", false, "application_batching");
    (bare.options, bare.build) = (Vec::new(), None);
    let text = driver_info(&bare);
    assert!(text.contains("\nOptions\n  none\n"), "{text}");
    assert!(text.contains("  build        not known\n"), "{text}");
    assert!(!text.contains("keeps"), "{text}");
}
