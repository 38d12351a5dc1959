//! Contrast and distance of the colours.

use crate::palette::{DARK, LIGHT, Palette, STRONGEST_FIELD};

type Rgb = [f64; 3];

fn rgb(colour: &str) -> Rgb {
    let channel =
        |at: usize| f64::from(u8::from_str_radix(&colour[at..at + 2], 16).expect("hexadecimal")) / 255.0;
    [channel(1), channel(3), channel(5)]
}

fn linear(colour: Rgb) -> Rgb {
    colour.map(|v| if v <= 0.040_45 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) })
}

/// Relative luminance of WCAG 2.
fn luminance(colour: Rgb) -> f64 {
    let [r, g, b] = linear(colour);
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

/// Contrast ratio of WCAG 2.
fn contrast(a: Rgb, b: Rgb) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// Colour over a background, with an opacity, as browsers blend it.
fn over(colour: Rgb, background: Rgb, opacity: f64) -> Rgb {
    std::array::from_fn(|i| colour[i] * opacity + background[i] * (1.0 - opacity))
}

fn lab(linear: Rgb) -> Rgb {
    let [r, g, b] = linear;
    let f = |t: f64| if t > 0.008_856_45 { t.cbrt() } else { t / 0.128_418_55 + 4.0 / 29.0 };
    let x = f((0.412_456_4 * r + 0.357_576_1 * g + 0.180_437_5 * b) / 0.950_47);
    let y = f(0.212_672_9 * r + 0.715_152_2 * g + 0.072_175 * b);
    let z = f((0.019_333_9 * r + 0.119_192 * g + 0.950_304_1 * b) / 1.088_83);
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

/// Colour difference CIEDE2000 with all weights 1.
fn ciede2000(one: Rgb, two: Rgb) -> f64 {
    let ([l1, a1, b1], [l2, a2, b2]) = (one, two);
    let mean_chroma = f64::midpoint(a1.hypot(b1), a2.hypot(b2));
    let seventh = |c: f64| (c.powi(7) / (c.powi(7) + 25_f64.powi(7))).sqrt();
    let g = 0.5 * (1.0 - seventh(mean_chroma));
    let (a1, a2) = (a1 * (1.0 + g), a2 * (1.0 + g));
    let (c1, c2) = (a1.hypot(b1), a2.hypot(b2));
    let hue =
        |a: f64, b: f64| if a == 0.0 && b == 0.0 { 0.0 } else { b.atan2(a).to_degrees().rem_euclid(360.0) };
    let (h1, h2) = (hue(a1, b1), hue(a2, b2));
    let grey = c1 * c2 == 0.0;
    let turn = if grey { 0.0 } else { (h2 - h1 + 540.0).rem_euclid(360.0) - 180.0 };
    let (dl, dc) = (l2 - l1, c2 - c1);
    let dh = 2.0 * (c1 * c2).sqrt() * (turn / 2.0).to_radians().sin();
    let (l, c) = (f64::midpoint(l1, l2), f64::midpoint(c1, c2));
    let h = if grey { h1 + h2 } else { (h1 + turn / 2.0).rem_euclid(360.0) };
    let cos = |degrees: f64| degrees.to_radians().cos();
    let t = 1.0 - 0.17 * cos(h - 30.0) + 0.24 * cos(2.0 * h) + 0.32 * cos(3.0 * h + 6.0)
        - 0.2 * cos(4.0 * h - 63.0);
    let sl = 1.0 + 0.015 * (l - 50.0).powi(2) / (20.0 + (l - 50.0).powi(2)).sqrt();
    let (sc, sh) = (1.0 + 0.045 * c, 1.0 + 0.015 * c * t);
    let theta = 30.0 * (-((h - 275.0) / 25.0).powi(2)).exp();
    let rotation = -2.0 * seventh(c) * (2.0 * theta).to_radians().sin();
    let (x, y, z) = (dl / sl, dc / sc, dh / sh);
    (x * x + y * y + z * z + rotation * y * z).sqrt()
}

/// Sight in linear RGB: normal, and full protanopia, deuteranopia and tritanopia after Machado et al. (2009).
const SIGHTS: [[Rgb; 3]; 4] = [
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    [
        [0.152_286, 1.052_583, -0.204_868],
        [0.114_503, 0.786_281, 0.099_216],
        [-0.003_882, -0.048_116, 1.051_998],
    ],
    [[0.367_322, 0.860_646, -0.227_968], [0.280_085, 0.672_501, 0.047_413], [-0.011_82, 0.042_94, 0.968_881]],
    [
        [1.255_528, -0.076_749, -0.178_779],
        [-0.078_411, 0.930_809, 0.147_602],
        [0.004_733, 0.691_367, 0.303_9],
    ],
];

fn seen(colour: Rgb, sight: &[Rgb; 3]) -> Rgb {
    let colour = linear(colour);
    sight.map(|row| row.iter().zip(colour).map(|(a, b)| a * b).sum::<f64>().clamp(0.0, 1.0))
}

const PALETTES: [(&str, Palette); 2] = [("light", LIGHT), ("dark", DARK)];

#[test]
fn text_has_a_contrast_of_4_5_and_marks_have_3() {
    for (name, palette) in PALETTES {
        let series = palette.series.iter().map(|colour| ("series", *colour));
        let texts = [
            ("ink", palette.ink),
            ("muted", palette.muted),
            ("fit", palette.fit),
            ("care", palette.care),
            ("unfit", palette.unfit),
        ];
        for (role, colour) in series.chain(texts) {
            for background in [palette.background, palette.panel] {
                let ratio = contrast(rgb(colour), rgb(background));
                assert!(ratio >= 4.5, "{name}: {role} {colour} on {background}: {ratio:.2}");
            }
        }
        let ratio = contrast(rgb(palette.axis), rgb(palette.background));
        assert!(ratio >= 3.0, "{name}: axis: {ratio:.2}");
    }
}

#[test]
fn text_on_fields_and_on_noise_is_readable() {
    for (name, palette) in PALETTES {
        for colour in palette.series {
            let field = over(rgb(colour), rgb(palette.background), STRONGEST_FIELD);
            let ratio = contrast(rgb(palette.ink), field);
            assert!(ratio >= 4.5, "{name}: ink on the strongest field of {colour}: {ratio:.2}");
        }
        let ratio = contrast(rgb(palette.ink), rgb(palette.noise));
        assert!(ratio >= 4.5, "{name}: ink on noise: {ratio:.2}");
        for colour in palette.series {
            let ratio = contrast(rgb(colour), rgb(palette.noise));
            assert!(ratio >= 3.0, "{name}: mark {colour} on noise: {ratio:.2}");
        }
    }
}

/// The least distances of the palette as published in its design, less rounding.
#[test]
fn series_are_told_apart_with_any_sight() {
    for ((name, palette), least) in
        PALETTES.into_iter().zip([[15.9, 15.6, 12.9, 12.0], [17.5, 16.4, 11.2, 15.0]])
    {
        for (sight, least) in SIGHTS.iter().zip(least) {
            let colours = palette.series.map(|colour| lab(seen(rgb(colour), sight)));
            for (i, one) in colours.iter().enumerate() {
                for (j, two) in colours.iter().enumerate().skip(i + 1) {
                    let distance = ciede2000(*one, *two);
                    assert!(distance >= least, "{name}: s{i} and s{j}: {distance:.1} with {sight:?}");
                }
            }
        }
    }
}

/// Pairs from the supplementary test data of Sharma, Wu and Dalal (2005).
#[test]
fn the_distance_is_ciede2000() {
    for (one, two, distance) in [
        ([50.0, 2.6772, -79.7751], [50.0, 0.0, -82.7485], 2.0425),
        ([50.0, -1.0, 2.0], [50.0, 0.0, 0.0], 2.3669),
        ([50.0, 2.49, -0.001], [50.0, -2.49, 0.0011], 7.2195),
        ([22.7233, 20.0904, -46.694], [23.0331, 14.973, -42.5619], 2.0373),
    ] {
        assert!((ciede2000(one, two) - distance).abs() < 1e-4, "{}", ciede2000(one, two));
    }
}
