//! Checks of the table of capabilities, and of the tables that take words from it.

use std::{collections::BTreeSet, path::Path};

use super::read;
use crate::capabilities::{self, disagreements, of_the_program, rows, with_column};

const PAGE: &str = "# Page\n\n| | ddsmark | names in the program |\n|---|---|---|\n\
                    | hosts | over ssh | `local`, `ssh` |\n| plots | **none** | |\n\nText | with | bars\n";

fn names(all: &[&str]) -> BTreeSet<String> {
    all.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn table_of_capabilities_has_the_names_of_the_program() {
    let table = capabilities::read().expect("the table");
    let program = of_the_program().expect("the program");
    for (row, names) in &program {
        assert!(names.len() > 3, "`{row}` is found: {names:?}");
    }
    assert_eq!(disagreements(&table, &program), Vec::<String>::new());
}

#[test]
fn tables_of_tools_have_the_words_of_the_table_of_capabilities() {
    let table = capabilities::read().expect("the table");
    for page in capabilities::COMPARISONS.map(Path::new) {
        let text = read(page);
        let current = with_column(page, &text, &table).expect("a table of tools");
        assert!(current == text, "{}: run `make generate`", page.display());
    }
}

#[test]
fn names_of_one_side_and_denials_are_reported() {
    let table = rows(PAGE);
    assert_eq!(table.len(), 2, "{table:?}");
    assert_eq!(disagreements(&table, &[("hosts", names(&["local", "ssh"]))]), Vec::<String>::new());
    assert_eq!(
        disagreements(&table, &[("hosts", names(&["local", "moon"])), ("rings", names(&["ring-N"]))]),
        ["`hosts` lacks `moon`", "`hosts`: the program has no `ssh`", "the row `rings` is missing"]
    );
    assert_eq!(disagreements(&table, &[]), ["nothing in the program is compared with `hosts`"]);
    for denial in ["no", "no: one only", "**none**"] {
        let denied = rows(&PAGE.replace("over ssh", denial));
        let found = disagreements(&denied, &[("hosts", names(&["local", "ssh"]))]);
        assert_eq!(found, ["`hosts` denies its names"], "{denial}");
    }
}

#[test]
fn column_of_ddsmark_is_replaced_and_an_unknown_row_is_an_error() {
    let page = Path::new("page.md");
    let text = "| | ddsmark | other |\n|---|---|---|\n| plots | many | some |\n| hosts | no | **yes** |\n\n| hosts | no |\n";
    let current = "| | ddsmark | other |\n|---|---|---|\n| plots | **none** | some |\n| hosts | over ssh | **yes** |\n\n| hosts | no |\n";
    assert_eq!(with_column(page, text, &rows(PAGE)).expect("a table"), current);
    let unknown = with_column(page, &text.replace("plots", "colours"), &rows(PAGE)).unwrap_err();
    assert!(unknown.to_string().ends_with("capabilities.md has no row `colours`"), "{unknown}");
    assert!(with_column(page, "# Nothing\n", &rows(PAGE)).is_err());
}
