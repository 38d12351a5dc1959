//! Deterministic random numbers: the same on every platform for the same seed.

/// SplitMix64 generator: Steele, Lea and Flood, *Fast Splittable Pseudorandom Number Generators*, OOPSLA 2014.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Creates a generator from a seed and a stream number. The streams of one seed are independent.
    #[must_use]
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut mixed = Self { state: seed };
        let first = mixed.bits();
        Self { state: first ^ stream.wrapping_mul(0xD134_2543_DE82_EF95) }
    }

    /// Returns 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a uniform value in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns true with the given probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.unit() < probability
    }

    /// Returns a standard normal value, by the polar method: Marsaglia and Bray, SIAM Review 6, 1964.
    pub fn normal(&mut self) -> f64 {
        loop {
            let (x, y) = (2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0);
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                return x * (-2.0 * square.ln() / square).sqrt();
            }
        }
    }

    /// Returns a gamma value with the given shape and scale 1: Marsaglia and Tsang, *A Simple Method for Generating
    /// Gamma Variables*, TOMS 26, 2000.
    pub fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            // For shapes below 1: a value of the shape plus 1, times a power of a uniform value in (0, 1].
            let power = (1.0 - self.unit()).powf(1.0 / shape);
            return self.gamma(shape + 1.0) * power;
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = (1.0 + c * x).powi(3);
            if v > 0.0 && (1.0 - self.unit()).ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                return d * v;
            }
        }
    }

    /// Returns a random index; `weights` add up to 1.
    pub fn pick(&mut self, weights: impl Iterator<Item = f64>) -> usize {
        let at = self.unit();
        let (mut below, mut last) = (0.0, 0);
        for (index, weight) in weights.enumerate() {
            below += weight;
            if at < below {
                return index;
            }
            last = index;
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_and_another_stream_something_else() {
        let numbers = |seed, stream| {
            let mut random = Random::new(seed, stream);
            [random.bits(), random.bits(), random.bits()]
        };
        assert_eq!(numbers(1, 0), numbers(1, 0));
        assert_ne!(numbers(1, 0), numbers(1, 1));
        assert_ne!(numbers(1, 0), numbers(2, 0));
    }

    #[test]
    fn choices_follow_their_weights() {
        let mut random = Random::new(7, 0);
        let mut seen = [0_u32; 3];
        for _ in 0..100_000 {
            seen[random.pick([0.2, 0.5, 0.3].into_iter())] += 1;
        }
        // Four standard deviations of a binomial count are below 640.
        for (count, expected) in seen.into_iter().zip([20_000_u32, 50_000, 30_000]) {
            assert!(count.abs_diff(expected) < 640, "{seen:?}");
        }
    }
}
