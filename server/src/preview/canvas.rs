//! A picture in memory: rectangles, smooth lines, text; written as PNG.

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};

/// Red, green, blue.
pub type Colour = [u8; 3];

/// A point of the picture, in pixels from its upper left corner.
pub type At = (f32, f32);

/// An opaque picture.
pub struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

/// How text looks.
#[derive(Clone, Copy)]
pub enum Font {
    /// 32 pixels, bold.
    Heading,
    /// 16 pixels.
    Small,
}

impl Font {
    fn raster(self) -> (FontWeight, RasterHeight) {
        match self {
            Self::Heading => (FontWeight::Bold, RasterHeight::Size32),
            Self::Small => (FontWeight::Regular, RasterHeight::Size16),
        }
    }

    /// Width of a text in pixels.
    pub fn width(self, text: &str) -> usize {
        let (weight, height) = self.raster();
        get_raster_width(weight, height) * text.chars().count()
    }
}

impl Canvas {
    /// An empty picture.
    pub fn new(width: usize, height: usize, ground: Colour) -> Self {
        Self {
            width,
            height,
            pixels: ground.repeat(width * height),
        }
    }

    /// Mixes a colour over a pixel; outside the picture nothing happens.
    fn mix(&mut self, x: usize, y: usize, colour: Colour, share: f32) {
        if self.width <= x || self.height <= y {
            return;
        }
        let at = (y * self.width + x) * 3;
        for (pixel, new) in self.pixels[at..at + 3].iter_mut().zip(colour) {
            let (below, above) = (f32::from(*pixel), f32::from(new));
            *pixel = (below + (above - below) * share.clamp(0.0, 1.0)).round() as u8;
        }
    }

    /// A pixel's colour.
    #[cfg(test)]
    pub fn at(&self, x: usize, y: usize) -> Colour {
        let at = (y * self.width + x) * 3;
        [self.pixels[at], self.pixels[at + 1], self.pixels[at + 2]]
    }

    /// A straight line with round ends.
    pub fn line(&mut self, from: At, to: At, thickness: f32, colour: Colour) {
        let reach = thickness / 2.0 + 1.0;
        let span = |a: f32, b: f32| {
            (
                (a.min(b) - reach).max(0.0) as usize,
                (a.max(b) + reach).max(0.0) as usize,
            )
        };
        let ((left, right), (top, bottom)) = (span(from.0, to.0), span(from.1, to.1));
        for y in top..=bottom.min(self.height) {
            for x in left..=right.min(self.width) {
                let distance = distance((x as f32 + 0.5, y as f32 + 0.5), from, to);
                self.mix(x, y, colour, thickness / 2.0 + 0.5 - distance);
            }
        }
    }

    /// A line of dashes, for horizontal and vertical marks.
    pub fn dashes(&mut self, from: At, to: At, thickness: f32, colour: Colour) {
        const DASH: f32 = 12.0;
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length = dx.hypot(dy);
        let at = |along: f32| (from.0 + dx * along / length, from.1 + dy * along / length);
        let mut along = 0.0;
        while along < length {
            self.line(
                at(along),
                at((along + DASH / 2.0).min(length)),
                thickness,
                colour,
            );
            along += DASH;
        }
    }

    /// A filled disc.
    pub fn dot(&mut self, at: At, radius: f32, colour: Colour) {
        self.line(at, at, radius * 2.0, colour);
    }

    /// The left half of a disc.
    pub fn half_dot(&mut self, at: At, radius: f32, colour: Colour) {
        let (left, right) = ((at.0 - radius).floor().max(0.0), at.0.round().max(0.0));
        let (top, bottom) = ((at.1 - radius).floor().max(0.0), (at.1 + radius).ceil());
        for y in top as usize..=bottom.max(0.0) as usize {
            for x in left as usize..right as usize {
                let distance = distance((x as f32 + 0.5, y as f32 + 0.5), at, at);
                self.mix(x, y, colour, radius + 0.5 - distance);
            }
        }
    }

    /// Text from its upper left corner; what the font lacks becomes a question mark.
    pub fn text(&mut self, left: usize, top: usize, text: &str, font: Font, colour: Colour) {
        let (weight, height) = font.raster();
        let mut x = left;
        for character in text.chars() {
            let raster =
                get_raster(character, weight, height).or_else(|| get_raster('?', weight, height));
            let Some(raster) = raster else { continue };
            for (row, line) in raster.raster().iter().enumerate() {
                for (column, share) in line.iter().enumerate() {
                    self.mix(x + column, top + row, colour, f32::from(*share) / 255.0);
                }
            }
            x += raster.width();
        }
    }

    /// The picture as PNG.
    pub fn png(&self) -> Result<Vec<u8>, png::EncodingError> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.write_header()?.write_image_data(&self.pixels)?;
        Ok(bytes)
    }
}

/// From a point to the nearest point of a segment.
fn distance(point: At, from: At, to: At) -> f32 {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let squared = dx * dx + dy * dy;
    let along = if squared == 0.0 {
        0.0
    } else {
        ((point.0 - from.0) * dx + (point.1 - from.1) * dy) / squared
    };
    let along = along.clamp(0.0, 1.0);
    (point.0 - from.0 - dx * along).hypot(point.1 - from.1 - dy * along)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_to_the_segment_not_to_its_line() {
        assert_eq!(distance((0.0, 3.0), (0.0, 0.0), (10.0, 0.0)), 3.0);
        assert_eq!(distance((13.0, 4.0), (0.0, 0.0), (10.0, 0.0)), 5.0);
        assert_eq!(distance((3.0, 4.0), (0.0, 0.0), (0.0, 0.0)), 5.0);
    }

    #[test]
    fn drawing_outside_is_harmless() {
        let mut canvas = Canvas::new(8, 8, [255; 3]);
        canvas.line((-50.0, -50.0), (500.0, 500.0), 3.0, [0; 3]);
        canvas.text(4, 4, "text that does not fit, é", Font::Heading, [0; 3]);
        assert!(canvas.png().expect("png").starts_with(b"\x89PNG"));
    }
}
