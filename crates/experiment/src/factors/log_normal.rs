//! Quantiles of the log-normal distribution, with the same bits on each host: they use the basic operations only, which IEEE 754
//! defines exactly, and no functions of the C library.

use std::f64::consts::{LN_2, SQRT_2};

/// 99 % quantile of the standard normal distribution.
const Z_99: f64 = 2.326_347_874_040_841;

/// Returns the quantile `p`, from 0 to 1 exclusive, of the log-normal distribution with this median and 99 % quantile.
pub(crate) fn quantile(median: f64, p99: f64, p: f64) -> f64 {
    median * exp(ln(p99 / median) * normal_quantile(p) / Z_99)
}

/// Returns the quantile of the standard normal distribution (Wichura: Algorithm AS 241, PPND16, Applied Statistics 37, 1988).
fn normal_quantile(p: f64) -> f64 {
    let centred = p - 0.5;
    if centred.abs() <= 0.425 {
        let r = 0.180_625 - centred * centred;
        return centred
            * ratio(
                r,
                [
                    3.387_132_872_796_366_5,
                    133.141_667_891_784_38,
                    1_971.590_950_306_551_3,
                    13_731.693_765_509_46,
                    45_921.953_931_549_87,
                    67_265.770_927_008_7,
                    33_430.575_583_588_13,
                    2_509.080_928_730_122_7,
                ],
                [
                    42.313_330_701_600_91,
                    687.187_007_492_057_9,
                    5_394.196_021_424_751,
                    21_213.794_301_586_597,
                    39_307.895_800_092_71,
                    28_729.085_735_721_943,
                    5_226.495_278_852_545,
                ],
            );
    }
    let tail = (-ln(p.min(1.0 - p))).sqrt();
    let z = if tail <= 5.0 {
        ratio(
            tail - 1.6,
            [
                1.423_437_110_749_683_5,
                4.630_337_846_156_546,
                5.769_497_221_460_691,
                3.647_848_324_763_204_5,
                1.270_458_252_452_368_4,
                0.241_780_725_177_450_6,
                0.022_723_844_989_269_184,
                7.745_450_142_783_414e-4,
            ],
            [
                2.053_191_626_637_759,
                1.676_384_830_183_803_8,
                0.689_767_334_985_1,
                0.148_103_976_427_480_08,
                0.015_198_666_563_616_457,
                5.475_938_084_995_345e-4,
                1.050_750_071_644_416_9e-9,
            ],
        )
    } else {
        ratio(
            tail - 5.0,
            [
                6.657_904_643_501_103,
                5.463_784_911_164_114,
                1.784_826_539_917_291_3,
                0.296_560_571_828_504_87,
                0.026_532_189_526_576_124,
                0.001_242_660_947_388_078_4,
                2.711_555_568_743_487_6e-5,
                2.010_334_399_292_288_1e-7,
            ],
            [
                0.599_832_206_555_887_9,
                0.136_929_880_922_735_8,
                0.014_875_361_290_850_615,
                7.868_691_311_456_133e-4,
                1.846_318_317_510_054_8e-5,
                1.421_511_758_316_446e-7,
                2.044_263_103_389_939_8e-15,
            ],
        )
    };
    z.copysign(centred)
}

/// Returns the ratio of two polynomials, with the coefficients in ascending order. The first one of the denominator is 1.
fn ratio(x: f64, above: [f64; 8], below: [f64; 7]) -> f64 {
    let sum = |of: &[f64]| of.iter().rev().fold(0.0, |sum, term| sum * x + term);
    sum(&above) / (sum(&below) * x + 1.0)
}

/// Returns the natural logarithm of a positive, normal number.
fn ln(x: f64) -> f64 {
    const MANTISSA: u64 = (1 << 52) - 1;
    const ONE: u64 = 1023 << 52;
    let mut exponent = (x.to_bits() >> 52) as f64 - 1023.0;
    let mut mantissa = f64::from_bits(x.to_bits() & MANTISSA | ONE);
    if mantissa > SQRT_2 {
        (mantissa, exponent) = (mantissa / 2.0, exponent + 1.0);
    }
    // ln m = 2 atanh s; the terms after the 13th are below 1e-21.
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let sum = (0..13).rev().fold(0.0, |sum, term| sum * s * s + 1.0 / f64::from(2 * term + 1));
    exponent * LN_2 + 2.0 * s * sum
}

/// Returns the exponential function of a number within ±700.
fn exp(x: f64) -> f64 {
    let x = x.clamp(-700.0, 700.0);
    let power = (x / LN_2).round();
    let rest = x - power * LN_2;
    // The terms after the 18th are below 1e-24.
    let sum = (1..=18).rev().fold(1.0, |sum, term| sum * rest / f64::from(term) + 1.0);
    sum * f64::from_bits(((power as i64 + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_agree_with_those_of_the_library() {
        for x in [1e-300, 1e-9, 0.01, 0.5, 0.999, 1.0, 1.4, 1.5, 2.0, 10.0, 1e9] {
            assert!((ln(x) - x.ln()).abs() <= 1e-15 * (1.0 + x.ln().abs()), "{x}");
        }
        for x in [-700.0, -20.5, -1.0, 0.0, 1e-9, 0.3, 1.0, 12.25, 700.0] {
            assert!((exp(x) / f64::exp(x) - 1.0).abs() < 1e-12, "{x}");
        }
    }

    #[test]
    fn quantiles_are_those_of_tables() {
        for (p, z) in [
            (0.5, 0.0),
            (0.75, 0.674_489_750_196_082),
            (0.841_344_746_068_543, 1.0),
            (0.975, 1.959_963_984_540_054),
            (0.99, Z_99),
            (0.999_5, 3.290_526_731_491_926),
            (1e-12, -7.034_483_825_301_131),
        ] {
            assert!((normal_quantile(p) - z).abs() < 1e-9, "{p}: {}", normal_quantile(p));
            assert!((normal_quantile(1.0 - p) + z).abs() < 1e-4, "{p}");
        }
        let of = |p| quantile(200_000.0, 450_000.0, p);
        assert!((of(0.5) - 200_000.0).abs() < 1e-6 && (of(0.99) - 450_000.0).abs() < 1e-6);
    }
}
