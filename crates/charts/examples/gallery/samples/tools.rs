//! Series, axes and numbers that samples share.

use charts::{Axis, Better, Chart, ChartKind, Estimate, Point, Scale, Series, Slot, Unit};

pub const SIZES: [f64; 6] = [64.0, 256.0, 1024.0, 4096.0, 16_384.0, 63_000.0];

/// Numbers from 0 to 1 that look random, and are the same on every host.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / (1_u64 << 24) as f64
    }

    /// A value that scatters by a share.
    pub fn around(&mut self, value: f64, share: f64) -> f64 {
        value * (1.0 + share * (self.next() + self.next() - 1.0))
    }
}

pub fn socket() -> Series {
    Series::new("UDP socket", Slot::S0)
}

pub fn drivers() -> [Series; 4] {
    [
        Series::new("Driver A", Slot::S1),
        Series::new("Driver B", Slot::S2),
        Series::new("Driver C", Slot::S3),
        Series::new("Driver D", Slot::S4),
    ]
}

pub fn chart(title: &str, better: Option<Better>, subtitle: &str, note: &str, kind: ChartKind) -> Chart {
    Chart {
        title: title.to_owned(),
        better,
        subtitle: format!("{subtitle} \u{b7} synthetic data"),
        note: note.to_owned(),
        description: format!("{title}. {subtitle}. {note}"),
        interval_name: "95 % interval".to_owned(),
        footer: "synthetic data \u{b7} n = 12 runs \u{b7} no host \u{b7} 2026-01-01".to_owned(),
        kind,
    }
}

pub fn times(scale: Scale) -> Axis {
    Axis { label: String::new(), unit: Unit::Nanoseconds, scale, ticks: vec![] }
}

pub fn sizes() -> Axis {
    Axis { label: "sample size".to_owned(), unit: Unit::Bytes, scale: Scale::Log, ticks: SIZES.to_vec() }
}

pub fn over_sizes(fixed: f64, per_byte: f64, numbers: &mut Numbers) -> Vec<Point> {
    let value = |numbers: &mut Numbers, size: f64| numbers.around(fixed + per_byte * size, 0.1);
    let mut point = |size: f64| {
        let value = value(numbers, size);
        Point::new(size, Estimate::within(value, value * 0.9, value * 1.25))
    };
    SIZES.map(&mut point).to_vec()
}
