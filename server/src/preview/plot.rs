//! One chart in pixels: grid, promise, bands, lines, ceilings, marks.

use app::chart::{CeilingMark, Chart, Fill, Line, Mark, Place};
use app::figure_svg::ceiling_heights;
use app::sheet::{Panel, Whisker};

use super::canvas::{At, Canvas, Colour, Font};
use super::{ACCENT, FAINT, GREY, GRID, INK, ascii, colour_of, cut};

/// A chart's place in the picture: left, top, width, height.
pub(super) type Area = [f32; 4];

/// Draws a chart into its place.
pub(super) fn panel(canvas: &mut Canvas, panel: &Panel, area: Area) {
    let Panel {
        title,
        chart,
        grey,
        whiskers,
        trail,
    } = panel;
    let plot = Plot { chart, area };
    plot.axes(canvas);
    let title = cut(&ascii(title), (area[2] / 8.0) as usize);
    let (x, y) = (area[0] - 52.0, area[1] - 44.0);
    canvas.text(
        x.max(0.0) as usize,
        y.max(0.0) as usize,
        &title,
        Font::Small,
        INK,
    );
    plot.promise(canvas);
    let colour = |index: usize| {
        if *grey == Some(index) {
            GREY
        } else {
            colour_of(index)
        }
    };
    for line in &chart.lines {
        plot.line(canvas, line, colour(line.colour));
    }
    for (index, ceiling) in chart.over.ceilings.iter().enumerate() {
        plot.ceiling(canvas, index, ceiling, colour(ceiling.colour));
    }
    for pair in trail.windows(2) {
        let ends = [pair[0], pair[1]].map(|(x, y)| plot.at(x, y));
        canvas.line(ends[0], ends[1], 1.0, GREY);
    }
    for one in whiskers {
        plot.whisker(canvas, *one);
    }
}

struct Plot<'a> {
    chart: &'a Chart,
    area: Area,
}

impl Plot<'_> {
    fn x(&self, value: f64) -> f32 {
        self.area[0] + self.chart.x.fraction(value) as f32 * self.area[2]
    }

    fn y(&self, value: f64) -> f32 {
        self.height(self.chart.y.fraction(value))
    }

    fn height(&self, fraction: f64) -> f32 {
        self.area[1] + (1.0 - fraction as f32) * self.area[3]
    }

    fn at(&self, x: f64, y: f64) -> At {
        (self.x(x), self.y(y))
    }

    fn whisker(&self, canvas: &mut Canvas, Whisker { colour, x, lo, hi }: Whisker) {
        let (low, high, colour) = (self.at(x, lo), self.at(x, hi), colour_of(colour));
        canvas.line(low, high, 2.0, colour);
        for (x, y) in [low, high] {
            canvas.line((x - 6.0, y), (x + 6.0, y), 2.0, colour);
        }
    }

    fn axes(&self, canvas: &mut Canvas) {
        let [left, top, wide, high] = self.area;
        let (right, bottom) = (left + wide, top + high);
        for (value, label) in self.chart.y.ticks() {
            let y = self.y(value);
            canvas.line((left, y), (right, y), 1.0, GRID);
            let x = left as usize - 8 - Font::Small.width(&label);
            canvas.text(x, y as usize - 8, &label, Font::Small, FAINT);
        }
        for (value, label) in self.chart.x.ticks() {
            let x = self.x(value);
            canvas.line((x, top), (x, bottom), 1.0, GRID);
            let x = x as usize - Font::Small.width(&label) / 2;
            canvas.text(x, bottom as usize + 8, &label, Font::Small, FAINT);
        }
        let (x_title, y_title) = (ascii(&self.chart.x.title), ascii(&self.chart.y.title));
        let x = (left + wide / 2.0) as usize;
        let x = x.saturating_sub(Font::Small.width(&x_title) / 2);
        canvas.text(x, bottom as usize + 30, &x_title, Font::Small, FAINT);
        canvas.text(
            left as usize - 52,
            top as usize - 24,
            &y_title,
            Font::Small,
            FAINT,
        );
    }

    fn promise(&self, canvas: &mut Canvas) {
        let [left, top, wide, high] = self.area;
        let Some(limit) = &self.chart.over.limit else {
            return;
        };
        let y = self.y(limit.value).clamp(top, top + high);
        canvas.dashes((left, y), (left + wide, y), 2.0, ACCENT);
        let text = ascii(&limit.text);
        let x = (left + wide) as usize - Font::Small.width(&text);
        canvas.text(
            x,
            (y as usize).saturating_sub(20),
            &text,
            Font::Small,
            ACCENT,
        );
    }

    fn line(&self, canvas: &mut Canvas, line: &Line, colour: Colour) {
        let seen = |mark: &&Mark| (-0.001..=1.001).contains(&self.chart.x.fraction(mark.x));
        let mut knots = line.knots();
        knots.retain(|knot| (-0.001..=1.001).contains(&self.chart.x.fraction(knot.x)));
        for pair in knots.windows(2) {
            canvas.line(
                self.at(pair[0].x, pair[0].y),
                self.at(pair[1].x, pair[1].y),
                3.0,
                colour,
            );
        }
        for mark in line.marks.iter().filter(seen) {
            if mark.place == Place::Value {
                self.interval(canvas, mark, colour);
            }
            self.mark(canvas, mark, colour);
        }
    }

    /// A mark's interval. An end that is not known is open: a short arrow leads there, as one leads to the edge where the end lies beyond.
    fn interval(&self, canvas: &mut Canvas, mark: &Mark, colour: Colour) {
        if mark.lo.is_none() && mark.hi.is_none() {
            return;
        }
        let (bottom, top) = (self.chart.y.bottom(), self.chart.y.top());
        let (x, middle) = self.at(mark.x, mark.y);
        for (end, way) in [(mark.lo, 1.0), (mark.hi, -1.0)] {
            let is_open = end.is_none_or(|it| !(bottom..=top).contains(&it));
            let y = end.map_or(middle + way * 22.0, |it| self.y(it.clamp(bottom, top)));
            canvas.line((x, middle), (x, y), 1.5, colour);
            for side in [-4.0, 4.0] {
                let wing = if is_open { y - way * 6.0 } else { y };
                canvas.line((x + side, wing), (x, y), 1.5, colour);
            }
        }
    }

    fn mark(&self, canvas: &mut Canvas, mark: &Mark, colour: Colour) {
        let (x, y) = self.at(mark.x, mark.y);
        match mark.place {
            Place::Above | Place::Infinite => {
                for from in [(x, y + 24.0), (x - 7.0, y + 11.0), (x + 7.0, y + 11.0)] {
                    canvas.line(from, (x, y + 3.0), 3.0, colour);
                }
            }
            Place::RightEdge => {
                let corners = [(x, y - 7.0), (x + 7.0, y), (x, y + 7.0), (x - 7.0, y)];
                for (from, to) in corners.iter().zip(corners.iter().cycle().skip(1)) {
                    canvas.line(*from, *to, 2.5, colour);
                }
            }
            Place::Value => disc(canvas, (x, y), mark.fill, colour),
        }
    }

    fn ceiling(&self, canvas: &mut Canvas, index: usize, mark: &CeilingMark, colour: Colour) {
        let [low, middle, high] = ceiling_heights(self.chart, index).map(|it| self.height(it));
        let (from, to) = (self.x(mark.from), self.x(mark.to));
        canvas.line((from, middle), (to, middle), 2.0, colour);
        for end in [from, to] {
            canvas.line((end, low), (end, high), 2.0, colour);
        }
        if let Some(at) = mark.at {
            let at = self.x(at);
            canvas.line((at, middle), (at, self.area[1] + self.area[3]), 2.0, colour);
        }
    }
}

/// A mark filled as its certificate says.
pub(super) fn disc(canvas: &mut Canvas, at: At, fill: Fill, colour: Colour) {
    canvas.dot(at, 5.5, colour);
    match fill {
        Fill::Solid => {}
        // As on every page: its right half is filled.
        Fill::Half => canvas.half_dot(at, 3.5, [255; 3]),
        Fill::Hollow => canvas.dot(at, 3.5, [255; 3]),
    }
}
