//! Colours and type of a figure, as the page's own style has them.

/// Colours and type, read from the page's own style, so that a chart follows the theme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Palette {
    /// Text.
    pub text: String,
    /// Axis labels.
    pub muted: String,
    /// Hairlines.
    pub line: String,
    /// What can be acted on.
    pub accent: String,
    /// The ground.
    pub surface: String,
    /// The configurations, in order.
    pub series: Vec<String>,
    /// Font family.
    pub font: String,
}

impl Palette {
    /// The colour of a configuration.
    pub fn of(&self, index: usize) -> String {
        self.series
            .get(index % self.series.len().max(1))
            .cloned()
            .unwrap_or_else(|| self.text.clone())
    }
}

/// A colour with an opacity, in a form that plotly's strict parser takes.
pub(super) fn translucent(colour: &str, opacity: f64) -> String {
    let digits = colour.trim_start_matches('#');
    let channel =
        |at: usize| u8::from_str_radix(digits.get(at..at + 2).unwrap_or("80"), 16).unwrap_or(128);
    if colour.starts_with('#') {
        return format!(
            "rgba({}, {}, {}, {opacity})",
            channel(0),
            channel(2),
            channel(4)
        );
    }
    let numbers: Vec<&str> = colour
        .trim_start_matches("rgba(")
        .trim_start_matches("rgb(")
        .trim_end_matches(')')
        .split(',')
        .map(str::trim)
        .collect();
    match numbers[..] {
        [red, green, blue, ..] => format!("rgba({red}, {green}, {blue}, {opacity})"),
        _ => format!("rgba(128, 128, 128, {opacity})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_become_translucent() {
        for (colour, expected) in [
            ("#0072b2", "rgba(0, 114, 178, 0.15)"),
            ("rgb(1, 2, 3)", "rgba(1, 2, 3, 0.15)"),
            ("odd", "rgba(128, 128, 128, 0.15)"),
        ] {
            assert_eq!(translucent(colour, 0.15), expected);
        }
    }
}
