//! Special functions for exact distributions, to about 12 digits.

/// Returns the logarithm of the gamma function for `x > 0`: Stirling's series (Abramowitz and Stegun 6.1.41) for `x` of
/// at least 16, reached by the recurrence for smaller values.
pub fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut product) = (x, 0.0);
    while x < 16.0 {
        product += x.ln();
        x += 1.0;
    }
    let inverse = 1.0 / x;
    let square = inverse * inverse;
    let series =
        inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square * (1.0 / 1680.0))));
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series - product
}

/// Returns the regularised lower incomplete gamma function P(a, x): the series 6.5.29 of Abramowitz and Stegun below
/// `a + 1`, the continued fraction 6.5.31 above, evaluated by Lentz's method.
pub fn gamma_p(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x.is_infinite() {
        return 1.0;
    }
    let front = (a * x.ln() - x - ln_gamma(a)).exp();
    if x < a + 1.0 {
        let (mut term, mut sum, mut n) = (1.0 / a, 1.0 / a, a);
        for _ in 0..100_000 {
            n += 1.0;
            term *= x / n;
            sum += term;
            if term < sum * 1e-16 {
                break;
            }
        }
        (front * sum).min(1.0)
    } else {
        const TINY: f64 = 1e-300;
        let mut b = x + 1.0 - a;
        let mut c = 1.0 / TINY;
        let mut d = 1.0 / b;
        let mut fraction = d;
        for i in 1..100_000 {
            let i = f64::from(i);
            let numerator = -i * (i - a);
            b += 2.0;
            d = numerator * d + b;
            d = 1.0 / if d.abs() < TINY { TINY } else { d };
            c = b + numerator / c;
            c = if c.abs() < TINY { TINY } else { c };
            let step = c * d;
            fraction *= step;
            if (step - 1.0).abs() < 1e-15 {
                break;
            }
        }
        (1.0 - front * fraction).clamp(0.0, 1.0)
    }
}

/// Returns the distribution function of the standard normal distribution.
pub fn normal_cdf(z: f64) -> f64 {
    let half = 0.5 * gamma_p(0.5, z * z / 2.0);
    if z >= 0.0 { 0.5 + half } else { 0.5 - half }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        // (n - 1)!, and the square root of pi.
        for (x, expected) in [(1.0, 1.0_f64), (5.0, 24.0), (11.0, 3_628_800.0)] {
            assert!((ln_gamma(x) - expected.ln()).abs() < 1e-12, "{x}");
        }
        assert!((ln_gamma(0.5) - std::f64::consts::PI.ln() / 2.0).abs() < 1e-12);
        // P(1, x) is the exponential distribution; P(2, x) also has a closed form.
        for x in [0.01, 0.5, 1.0, 1.9, 2.1, 7.0, 30.0_f64] {
            assert!((gamma_p(1.0, x) - (1.0 - (-x).exp())).abs() < 1e-13, "{x}");
            assert!((gamma_p(2.0, x) - (1.0 - (-x).exp() * (1.0 + x))).abs() < 1e-13, "{x}");
        }
        // Abramowitz and Stegun, table 26.1
        for (z, expected) in [
            (0.0, 0.5),
            (1.0, 0.841_344_746_068_543),
            (2.0, 0.977_249_868_051_821),
            (-3.0, 0.001_349_898_031_630),
        ] {
            assert!((normal_cdf(z) - expected).abs() < 1e-13, "{z}: {}", normal_cdf(z));
        }
    }
}
