//! QoS file of any origin: a profile is read, or the error has a hint. What is read twice is the same.

use std::collections::BTreeMap;

use experiment::{InputFile, qos_profile};

pub fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut file = InputFile::new("f.xml".to_owned(), text.to_owned(), String::new());
    file.variables = BTreeMap::from([("V".to_owned(), "<BuiltinQosLib::Pattern.Status&".to_owned())]);
    let files = BTreeMap::from([("f.xml".to_owned(), file)]);
    let read = || qos_profile("f.xml#L::P", &files, &(0..0));
    match read() {
        Ok(found) => {
            assert!(found.is_some(), "the name is that of a file");
            assert_eq!(Ok(found), read());
        }
        Err(error) => assert!(!error.to_string().is_empty() && !error.hint().is_empty()),
    }
}
