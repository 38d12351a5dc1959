//! Checks every number of `docs/explain/worked-example.md`, computed from the tables of the study.
//! `DDSMARK_BLESS=1` rewrites the computed parts of the page.

#[path = "worked_example/study.rs"]
mod study;

use std::{fmt::Write as _, fs, path::Path};

use stats::{
    Comparison, Conclusion, Interval, Modality, PowerSpec, Rules, compare, least_blocks, log_ratios, median,
    modality, sample_sd, simultaneous_level, smallest_effect,
};
use study::{Anova, Table, correlation, mean};

const PAGE: &str = "../../docs/explain/worked-example.md";

fn setup_3() -> Table {
    Table::read(include_str!("../../../tests/data/qos-study/setup-3.csv"))
}

fn setup_4() -> Table {
    Table::read(include_str!("../../../tests/data/qos-study/setup-4.csv"))
}

fn flood() -> Table {
    Table::read(include_str!("../../../tests/data/qos-study/flood.csv"))
}

fn judged(table: &Table, settings: &[usize]) -> Vec<Comparison> {
    compare(&table.blocks(settings), &Rules::DEFAULT)
}

fn all_but_the_default(table: &Table) -> Vec<usize> {
    (1..table.settings.len()).collect()
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn signed(share: f64) -> String {
    format!("{:+.1}", 100.0 * share)
}

fn interval(interval: Option<Interval>) -> String {
    interval.map_or_else(
        || "n/a".to_owned(),
        |interval| format!("{}..{}", signed(interval.low), signed(interval.high)),
    )
}

fn p_value(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}

/// Returns the median over all settings of the standard deviation of log ratios to the default.
fn typical_sd(table: &Table) -> f64 {
    let of_each: Vec<f64> = table
        .blocks(&all_but_the_default(table))
        .iter()
        .filter_map(|blocks| sample_sd(&log_ratios(blocks)))
        .collect();
    median(&of_each).expect("settings")
}

fn rigs() -> String {
    let (three, four) = (setup_3(), setup_4());
    let mut text = String::from("| | setup 3 | setup 4 |\n|---|---|---|\n");
    let mut row = |what: &str, of: &dyn Fn(&Table, &Anova) -> String| {
        let [three, four] = [&three, &four].map(|table| of(table, &Anova::of(table)));
        writeln!(text, "| {what} | {three} | {four} |").expect("a text");
    };
    row("settings and the default", &|table, _| table.settings.len().to_string());
    row("columns", &|table, _| table.columns().to_string());
    row("mean of all", &|_, anova| format!("{:.0} µs", anova.mean));
    row("scatter when settings and columns are taken out", &|_, anova| {
        format!("{:.1} µs, {}", anova.residual_sd, percent(anova.residual_sd / anova.mean))
    });
    row("the same of the default alone", &|table, anova| {
        let columns = table.mean_of_columns();
        let off: Vec<f64> =
            table.values[0].iter().zip(&columns).map(|(value, column)| value - column).collect();
        let sd = sample_sd(&off).expect("columns");
        format!("{sd:.1} µs, {}", percent(sd / anova.mean))
    });
    row("means of columns", &|table, _| {
        let columns = table.mean_of_columns();
        let low = columns.iter().copied().fold(f64::MAX, f64::min);
        format!("{low:.0} to {:.0} µs", columns.iter().copied().fold(0.0, f64::max))
    });
    row("does the setting matter: F", &|_, anova| format!("{:.2}", anova.f));
    row("p", &|_, anova| p_value(anova.p));
    row("correlation of a setting's average with that of the second campaign", &|table, _| {
        let averages: Vec<f64> = table.values.iter().map(|row| mean(row)).collect();
        format!("{:.2}", correlation(&averages, &table.again))
    });
    text
}

fn counted(table: &Table) -> String {
    let settings = all_but_the_default(table);
    let judged = judged(table, &settings);
    let too_few =
        judged.iter().filter(|one| matches!(one.conclusion, Conclusion::TooFewBlocks { .. })).count();
    let exploratory =
        judged.iter().filter(|one| one.change.as_ref().is_some_and(|change| change.p_exploratory <= 0.05));
    let pooled = Anova::of(table).against_default(table);
    format!(
        "{} comparisons with the default, {} blocks. Too few blocks for a claim: {too_few} of them.\nOn the list of what to look \
         at next: {}. By a t test with the scatter of the whole table, after Holm: {} differ.\n",
        settings.len(),
        table.columns(),
        exploratory.count(),
        pooled.iter().filter(|(_, p)| *p <= 0.05).count(),
    )
}

/// Returns the effects in setup 4 that stand out in any analysis.
fn effects() -> String {
    let table = setup_4();
    let settings = all_but_the_default(&table);
    let mut text = String::from(
        "| setting | change from the default, % | 95 % interval, % | t test: mean, µs | Holm's p | change from the middle, % \
         | 95 % interval, % | exploratory p |\n|---|---|---|---|---|---|---|---|\n",
    );
    let against_middle = compare(&table.blocks_against_middle(&settings), &Rules::DEFAULT);
    let judged = judged(&table, &settings);
    for (index, (us, p)) in Anova::of(&table).against_default(&table).into_iter().enumerate() {
        let [default, middle] =
            [&judged, &against_middle].map(|judged| judged[index].change.as_ref().expect("blocks"));
        if default.p_exploratory > 0.05 && p > 0.05 && middle.p_exploratory > 0.05 {
            continue;
        }
        writeln!(
            text,
            "| {} | {} | {} | {us:+.1} | {} | {} | {} | {} |",
            table.settings[settings[index]],
            signed(default.estimate),
            interval(default.interval),
            p_value(p),
            signed(middle.estimate),
            interval(middle.interval),
            p_value(middle.p_exploratory),
        )
        .expect("a text");
    }
    text
}

/// Returns the effects in setup 4 that the study concluded from setup 3.
fn confirmed() -> String {
    let table = setup_4();
    let spec = [
        "lifespan 10ms",
        "lifespan 100ms",
        "liveliness automatic 10ms",
        "ownership shared",
        "ownership exclusive",
        "history keep last",
    ];
    let settings = spec.map(|setting| table.named(setting));
    let mut text = String::from(
        "| setting | change, % | 95 % interval, % | Holm's p | verdict |\n|---|---|---|---|---|\n",
    );
    for (setting, one) in spec.iter().zip(judged(&table, &settings)) {
        let change = one.change.expect("blocks");
        let verdict = match one.conclusion {
            Conclusion::Differs { within_margin: false, .. } => "higher".to_owned(),
            Conclusion::Differs { .. } => "higher, equivalent within 2 %".to_owned(),
            Conclusion::Equivalent => "equivalent within 2 %".to_owned(),
            Conclusion::Inconclusive { could_have_seen } => {
                let seen = could_have_seen.map_or_else(String::new, percent);
                format!("inconclusive: could have seen {seen}")
            }
            Conclusion::TooFewBlocks { needs } => format!("too few blocks: needs {needs}"),
        };
        let (estimate, interval, p) =
            (signed(change.estimate), interval(change.interval), p_value(change.p_adjusted));
        writeln!(text, "| {setting} | {estimate} | {interval} | {p} | {verdict} |").expect("a text");
    }
    text
}

fn needed() -> String {
    let mut text = String::from("| | setup 3 | setup 4 |\n|---|---|---|\n");
    let tables = [setup_3(), setup_4()];
    let mut row = |what: String, of: &dyn Fn(&Table) -> String| {
        writeln!(text, "| {what} | {} | {} |", of(&tables[0]), of(&tables[1])).expect("a text");
    };
    let spec = |comparisons| PowerSpec { level: 0.95, power: 0.8, comparisons };
    let most = |table: &Table| table.settings.len() - 1;
    row("scatter of log ratios, the median of settings".to_owned(), &|table| percent(typical_sd(table)));
    row("smallest effect as it was made, one comparison".to_owned(), &|table| {
        smallest_effect(table.columns(), typical_sd(table), &spec(1)).map_or("n/a".to_owned(), percent)
    });
    row("the same, all comparisons".to_owned(), &|table| {
        smallest_effect(table.columns(), typical_sd(table), &spec(most(table)))
            .map_or("none".to_owned(), percent)
    });
    row("blocks from which on all comparisons together can claim anything".to_owned(), &|table| {
        least_blocks(simultaneous_level(0.95, most(table))).to_string()
    });
    for blocks in [12, 20, 40] {
        row(format!("smallest effect with {blocks} blocks, all comparisons"), &|table| {
            smallest_effect(blocks, typical_sd(table), &spec(most(table))).map_or("none".to_owned(), percent)
        });
    }
    row("blocks for an effect of 2 %, all comparisons".to_owned(), &|table| {
        let detects = |blocks: &usize| {
            let least = smallest_effect(*blocks, typical_sd(table), &spec(most(table)));
            least.is_some_and(|least| least <= 0.02)
        };
        (2..500).find(detects).map_or("none".to_owned(), |n| n.to_string())
    });
    text
}

fn groups() -> String {
    let table = flood();
    let (all, anova) = (table.values.concat(), Anova::of(&table));
    let averages: Vec<f64> = table.values.iter().map(|row| mean(row)).collect();
    let mut text = format!(
        "{} runs, {} settings in {} columns. F = {:.2}, p = {}. Correlation with the second campaign: {:.2}. Found:\n\n\
         | median of the group | runs | from | to |\n|---|---|---|---|\n",
        all.len(),
        table.settings.len(),
        table.columns(),
        anova.f,
        p_value(anova.p),
        correlation(&averages, &table.again),
    );
    let Modality::Several(modes) = modality(&all) else { panic!("no groups: {:?}", modality(&all)) };
    for mode in modes {
        let share = 100.0 * mode.share;
        writeln!(
            text,
            "| {:.1} µs | {share:.0} % | {:.0} µs | {:.0} µs |",
            mode.location, mode.from, mode.to
        )
        .expect("a text");
    }
    let judged = judged(&table, &all_but_the_default(&table));
    let can = judged.iter().filter(|one| !matches!(one.conclusion, Conclusion::TooFewBlocks { .. })).count();
    write!(
        text,
        "\nOf {} comparisons with {} blocks, {can} can claim anything.\n",
        judged.len(),
        table.columns()
    )
    .expect("a text");
    text
}

/// Returns the computed parts by name.
fn parts() -> Vec<(&'static str, String)> {
    vec![
        ("rigs", rigs()),
        ("setup 3", counted(&setup_3())),
        ("setup 4", counted(&setup_4())),
        ("effects", effects()),
        ("confirmed", confirmed()),
        ("needed", needed()),
        ("flood", groups()),
    ]
}

/// Returns the page with its computed parts filled in, and the text outside of them.
fn filled(page: &str) -> (String, String) {
    let (mut whole, mut prose, mut rest) = (String::new(), String::new(), page);
    for (name, part) in parts() {
        let (begin, end) = (format!("<!-- computed: {name} -->\n"), "<!-- end: computed -->\n");
        let (before, after) =
            rest.split_once(&begin).unwrap_or_else(|| panic!("no part `{name}` in its place"));
        let (_, after) = after.split_once(end).expect("an end");
        write!(whole, "{before}{begin}\n{part}\n{end}").expect("a text");
        prose.push_str(before);
        rest = after;
    }
    (whole + rest, prose + rest)
}

#[test]
fn every_number_on_the_page_is_computed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    let page = fs::read_to_string(&path).expect("the page");
    let (expected, prose) = filled(&page);
    if std::env::var_os("DDSMARK_BLESS").is_some() {
        fs::write(&path, &expected).expect("the page");
    } else {
        assert!(
            page == expected,
            "the page is not what its tables say; DDSMARK_BLESS=1 writes it\n{expected}"
        );
    }
    let names = ["setup 3", "setup 4", "Setup 3", "Setup 4", "March 2020", "0008-stein", "decision 8"];
    let left = names.iter().fold(prose, |prose, name| {
        assert!(prose.contains(name), "`{name}` need not be allowed");
        prose.replace(name, "")
    });
    assert!(
        !left.contains(|letter: char| letter.is_ascii_digit()),
        "a number that nothing computes:\n{left}"
    );
}

/// Known values of the classical analysis: other numbers would indicate an error in a table or in the analysis.
#[test]
fn the_classical_analysis_finds_what_is_known_of_the_tables() {
    let (three, four) = (Anova::of(&setup_3()), Anova::of(&setup_4()));
    assert_eq!(
        (format!("{:.2}", three.f), format!("{:.1}", three.residual_sd)),
        ("1.01".into(), "11.9".into())
    );
    assert_eq!((format!("{:.1}", four.f), format!("{:.1}", four.residual_sd)), ("11.6".into(), "5.3".into()));
}

/// A true shift in the noise of setup 3 is found.
#[test]
fn a_planted_effect_is_found() {
    let mut table = setup_3();
    table.values[1] = table.values[0].iter().map(|value| value * 1.05).collect();
    let found = Anova::of(&table).against_default(&table)[0];
    assert!(found.0 > 20.0 && found.1 < 0.05, "{found:?}");
}
