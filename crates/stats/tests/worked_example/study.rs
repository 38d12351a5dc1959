//! Tables of the study, and the classical analysis of a table of settings and columns.

use statrs::distribution::{ContinuousCDF as _, FisherSnedecor, StudentsT};
use stats::{Block, Run, holm, median};

/// Values in µs by setting and column; the first setting is the default.
pub struct Table {
    pub settings: Vec<String>,
    pub values: Vec<Vec<f64>>,
    /// Mean of each setting in a second campaign.
    pub again: Vec<f64>,
}

impl Table {
    pub fn read(csv: &str) -> Self {
        let mut table = Self { settings: Vec::new(), values: Vec::new(), again: Vec::new() };
        for line in csv.lines().skip(1) {
            let (setting, values) = line.split_once(',').expect("a setting");
            let mut values: Vec<f64> =
                values.split(',').map(|value| value.parse().expect("a value")).collect();
            table.again.push(values.pop().expect("the second campaign"));
            table.values.push(values);
            table.settings.push(setting.to_owned());
        }
        assert!(table.values.iter().all(|row| row.len() == table.columns()), "a row is too short");
        table
    }

    pub fn columns(&self) -> usize {
        self.values[0].len()
    }

    pub fn named(&self, setting: &str) -> usize {
        self.settings.iter().position(|name| name == setting).unwrap_or_else(|| panic!("no `{setting}`"))
    }

    /// Returns blocks, one per column, that compare each of these settings with the default.
    pub fn blocks(&self, settings: &[usize]) -> Vec<Vec<Block>> {
        self.blocks_against(settings, &self.values[0])
    }

    /// Returns blocks that compare each of these settings with the median of all settings in the column.
    pub fn blocks_against_middle(&self, settings: &[usize]) -> Vec<Vec<Block>> {
        let column = |column: usize| {
            median(&self.values.iter().map(|row| row[column]).collect::<Vec<_>>()).expect("settings")
        };
        self.blocks_against(settings, &(0..self.columns()).map(column).collect::<Vec<_>>())
    }

    fn blocks_against(&self, settings: &[usize], baseline: &[f64]) -> Vec<Vec<Block>> {
        let run = |value: &f64| Some(Run { value: *value, steady: true });
        let blocks = |setting: &usize| {
            let pairs = self.values[*setting].iter().zip(baseline);
            pairs
                .map(|(treatment, baseline)| Block { treatment: run(treatment), baseline: run(baseline) })
                .collect()
        };
        settings.iter().map(blocks).collect()
    }

    pub fn mean_of_setting(&self, setting: usize) -> f64 {
        mean(&self.values[setting])
    }

    pub fn mean_of_columns(&self) -> Vec<f64> {
        (0..self.columns())
            .map(|column| mean(&self.values.iter().map(|row| row[column]).collect::<Vec<_>>()))
            .collect()
    }
}

/// Two-way analysis of variance by settings and columns.
pub struct Anova {
    pub mean: f64,
    /// Residual standard deviation after removing settings and columns.
    pub residual_sd: f64,
    pub freedom: f64,
    /// F statistic of the settings.
    pub f: f64,
    pub p: f64,
}

impl Anova {
    pub fn of(table: &Table) -> Self {
        let (rows, columns) = (table.values.len() as f64, table.columns() as f64);
        let all = mean(&table.values.concat());
        let settings: Vec<f64> = (0..table.values.len()).map(|row| table.mean_of_setting(row)).collect();
        let of_columns = table.mean_of_columns();
        let between: f64 = settings.iter().map(|setting| columns * (setting - all).powi(2)).sum();
        let left: f64 = table
            .values
            .iter()
            .zip(&settings)
            .flat_map(|(row, setting)| {
                row.iter().zip(&of_columns).map(move |(value, column)| value - setting - column + all)
            })
            .map(|off| off * off)
            .sum();
        let freedom = (rows - 1.0) * (columns - 1.0);
        let f = between / (rows - 1.0) / (left / freedom);
        let p = FisherSnedecor::new(rows - 1.0, freedom).expect("degrees of freedom").sf(f);
        Self { mean: all, residual_sd: (left / freedom).sqrt(), freedom, f, p }
    }

    /// Returns for each setting but the default its difference from the default in µs, and the p-value of a t test
    /// with the residual standard deviation of the whole table, adjusted by Holm over all settings.
    pub fn against_default(&self, table: &Table) -> Vec<(f64, f64)> {
        let standard_error = self.residual_sd * (2.0 / table.columns() as f64).sqrt();
        let t = StudentsT::new(0.0, 1.0, self.freedom).expect("degrees of freedom");
        let effects: Vec<f64> = (1..table.values.len())
            .map(|setting| table.mean_of_setting(setting) - table.mean_of_setting(0))
            .collect();
        let p: Vec<f64> = effects.iter().map(|effect| 2.0 * t.sf((effect / standard_error).abs())).collect();
        effects.into_iter().zip(holm(&p)).collect()
    }
}

pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns the correlation of the averages of two campaigns, setting by setting.
pub fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let (a_mean, b_mean) = (mean(a), mean(b));
    let products = |x: &[f64], x_mean: f64, y: &[f64], y_mean: f64| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - x_mean) * (y - y_mean)).sum()
    };
    products(a, a_mean, b, b_mean) / (products(a, a_mean, a, a_mean) * products(b, b_mean, b, b_mean)).sqrt()
}
