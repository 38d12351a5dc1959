//! Two functions of the C library that the painter calls.
//!
//! glibc 2.35 gave them another version, so a program that is linked to those of a later library does not start with an
//! older one. Packages start with 2.34, therefore the program contains them.
#![expect(unsafe_code, reason = "the linker finds a function by its name")]

/// Returns the length of the vector (x, y), as `hypotf` of C99.
// SAFETY: The signature is that of C, and so is the result; no other object of the program defines this name.
#[unsafe(no_mangle)]
extern "C" fn hypotf(x: f32, y: f32) -> f32 {
    libm::hypotf(x, y)
}

/// Returns the length of the vector (x, y), as `hypot` of C99.
// SAFETY: As for `hypotf`.
#[unsafe(no_mangle)]
extern "C" fn hypot(x: f64, y: f64) -> f64 {
    libm::hypot(x, y)
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    #[test]
    fn lengths_are_those_of_the_c_library() {
        assert_eq!(black_box(3.0_f32).hypot(black_box(-4.0)), 5.0);
        assert_eq!(black_box(3.0_f64).hypot(black_box(-4.0)), 5.0);
        assert_eq!(black_box(f32::MAX).hypot(0.0), f32::MAX);
        assert_eq!(black_box(f64::NEG_INFINITY).hypot(f64::NAN), f64::INFINITY);
        assert!(black_box(1.0_f32).hypot(f32::NAN).is_nan());
    }
}
