//! Drawings as PNG, of builds with the feature `png`.

use crate::cli::cli_error::{CliError, Result};

/// Painter with its fonts: those of the system would make other pictures on each host, and without one all texts vanish.
pub struct Painter {
    #[cfg(feature = "png")]
    options: resvg::usvg::Options<'static>,
    /// No value: other builds have no painter.
    #[cfg(not(feature = "png"))]
    never: std::convert::Infallible,
}

#[cfg(feature = "png")]
impl Painter {
    /// Pixels for each px of a drawing, so that it is sharp on a slide.
    const SCALE: f32 = 2.0;

    /// Creates a painter.
    ///
    /// # Errors
    /// Never: builds without PNG have one.
    pub fn new() -> Result<Self> {
        let mut options = resvg::usvg::Options::default();
        let fonts = options.fontdb_mut();
        for font in [dejavu::sans::regular(), dejavu::sans::bold()] {
            fonts.load_font_data(font.to_vec());
        }
        fonts.set_sans_serif_family("DejaVu Sans");
        Ok(Self { options })
    }

    /// Paints a drawing with literal colours, and returns the bytes of a PNG file.
    ///
    /// # Errors
    /// Returns an error if the drawing is no SVG, or larger than the memory.
    pub fn png(&self, svg: &str) -> Result<Vec<u8>> {
        use resvg::{
            tiny_skia::{Pixmap, Transform},
            usvg::Tree,
        };
        let failed = |cause: String| {
            CliError::failed(format!("cannot paint a chart as PNG: {cause}"), "write it as SVG: `--svg`")
        };
        let tree = Tree::from_str(svg, &self.options).map_err(|error| failed(error.to_string()))?;
        let size = tree.size().to_int_size();
        let pixels = |px: u32| (px as f32 * Self::SCALE) as u32;
        let mut picture = Pixmap::new(pixels(size.width()), pixels(size.height()))
            .ok_or_else(|| failed("it is too large".to_owned()))?;
        resvg::render(&tree, Transform::from_scale(Self::SCALE, Self::SCALE), &mut picture.as_mut());
        picture.encode_png().map_err(|error| failed(error.to_string()))
    }
}

#[cfg(not(feature = "png"))]
impl Painter {
    /// Returns an error: this build has no painter.
    ///
    /// # Errors
    /// Always.
    pub fn new() -> Result<Self> {
        Err(CliError::usage(
            "`--png` is not a part of this build",
            "write SVG with `--svg`, install a package, or build with `cargo build --release --features ddsmark/png`",
        ))
    }

    /// Is never called, since there is no painter.
    ///
    /// # Errors
    /// Never.
    pub const fn png(&self, _: &str) -> Result<Vec<u8>> {
        match self.never {}
    }
}

#[cfg(all(test, feature = "png"))]
mod tests {
    use resvg::tiny_skia::Pixmap;

    use super::Painter;

    /// Returns a picture of a drawing of 100 by 40 px: a blue field at the left, and these words at the right.
    fn painted(words: &str) -> Pixmap {
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 100 40\" width=\"100\" height=\"40\" \
             font-family=\"&quot;Segoe UI&quot;, Roboto, sans-serif\"><rect width=\"100\" height=\"40\" fill=\"#ffffff\"/>\
             <rect width=\"20\" height=\"40\" fill=\"#0b4fb8\"/>\
             <text x=\"30\" y=\"25\" font-size=\"14px\" font-weight=\"700\" fill=\"#15191e\">{words}</text></svg>"
        );
        let png = Painter::new().and_then(|painter| painter.png(&svg)).expect("a drawing");
        Pixmap::decode_png(&png).expect("a PNG")
    }

    /// Returns how many pixels beside the field are dark.
    fn dark(picture: &Pixmap) -> usize {
        let (width, height) = (picture.width(), picture.height());
        let at = |x: u32, y: u32| picture.pixel(x, y).expect("inside").red() < 100;
        (40..width).flat_map(|x| (0..height).map(move |y| (x, y))).filter(|(x, y)| at(*x, *y)).count()
    }

    #[test]
    fn pictures_are_sharp_and_have_the_colours_of_the_drawing() {
        let picture = painted("");
        assert_eq!((picture.width(), picture.height()), (200, 80));
        let colour = |x, y| picture.pixel(x, y).map(|of| (of.red(), of.green(), of.blue(), of.alpha()));
        assert_eq!(colour(10, 40), Some((0x0b, 0x4f, 0xb8, 255)));
        assert_eq!(colour(100, 40), Some((255, 255, 255, 255)));
    }

    #[test]
    fn texts_are_painted_with_fonts_of_the_program() {
        assert_eq!(dark(&painted("")), 0);
        // A character that a font lacks is a box, equal for all of them.
        let missing = painted("\u{e000}");
        for letter in ["M", "\u{2193}", "\u{b5}", "\u{2212}", "\u{b1}", "\u{d7}", "\u{2713}"] {
            let picture = painted(letter);
            assert!(dark(&picture) > 5, "{letter}");
            assert!(picture.data() != missing.data(), "{letter}");
        }
    }
}
