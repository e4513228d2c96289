//! Curves as SVG: states on the left, CPU time on the right.

use std::ops::Range;

use plotters::coord::Shift;
use plotters::prelude::*;

use super::points::{Curves, Point};
use super::suite::{Family, Question, Steps};
use crate::error::Error;
use crate::report::grouped;

/// Width and height of the picture.
const SIZE: (u32, u32) = (960, 380);
/// A colour for each question, told apart by those who see few colours as well.
const COLOURS: [RGBColor; 3] = [RGBColor(0, 90, 170), RGBColor(200, 80, 0), RGBColor(0, 130, 90)];
const GUIDE: RGBColor = RGBColor(150, 150, 150);
/// The least that is drawn: below, CPU times are not told apart.
const LEAST_SECONDS: f64 = 0.01;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// What is drawn upwards.
struct Measure {
    title: &'static str,
    of: fn(&Point) -> f64,
    label: fn(f64) -> String,
}

const MEASURES: [Measure; 2] = [
    Measure { title: "states", of: |point| point.states.max(1) as f64, label: |states| grouped(states.round() as u64) },
    Measure {
        title: "CPU time in seconds",
        of: |point| point.cpu_seconds.max(LEAST_SECONDS),
        label: |seconds| format!("{seconds}"),
    },
];

/// The curves of a family.
///
/// # Errors
/// [`Error::Drawing`].
pub fn svg(family: &Family, curves: &Curves) -> Result<String, Error> {
    let mut text = String::new();
    draw(&mut text, family, curves)
        .map_err(|error| Error::Drawing { family: family.name.clone(), reason: error.to_string() })?;
    Ok(text + "\n")
}

fn draw(text: &mut String, family: &Family, curves: &Curves) -> Result<(), Box<dyn std::error::Error>> {
    let whole = SVGBackend::with_string(text, SIZE).into_drawing_area();
    whole.fill(&WHITE)?;
    let (left, right) = whole.split_horizontally(SIZE.0 / 2);
    for (area, measure) in [left, right].iter().zip(&MEASURES) {
        panel(area, family, curves, measure)?;
    }
    whole.present()?;
    Ok(())
}

fn panel(
    area: &Area<'_>,
    family: &Family,
    curves: &Curves,
    measure: &Measure,
) -> Result<(), Box<dyn std::error::Error>> {
    let place =
        |point: &Point| (family.sizes.iter().position(|size| *size == point.size).unwrap_or(0), (measure.of)(point));
    let values = || family.questions.iter().flat_map(|question| curves.of(family, question)).map(measure.of);
    let range = decades(values(), family.questions.len());
    let mut chart = ChartBuilder::on(area)
        .caption(measure.title, ("sans-serif", 16))
        .margin(8)
        .x_label_area_size(42)
        .y_label_area_size(70)
        .build_cartesian_2d(0..family.sizes.len(), range.clone().log_scale())?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(WHITE)
        .x_labels(family.sizes.len() + 1)
        .x_label_formatter(&|index| family.sizes.get(*index).map_or(String::new(), |size| grouped(*size)))
        .y_label_formatter(&|value| (measure.label)(*value))
        .x_desc(&family.title)
        .draw()?;
    if family.steps == Steps::Factors {
        let guide = guide(family, curves, measure.of, range.end);
        chart.draw_series(LineSeries::new(guide, GUIDE))?;
    }
    for (question, colour) in family.questions.iter().zip(COLOURS) {
        let points: Vec<&Point> = curves.of(family, question).collect();
        let style = colour.stroke_width(2);
        chart
            .draw_series(LineSeries::new(points.iter().map(|point| place(point)), style))?
            .label(&question.name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], style));
        let decided = points.iter().filter(|point| point.is_decided());
        chart.draw_series(decided.map(|point| Circle::new(place(point), 4, colour.filled())))?;
        let undecided = points.iter().filter(|point| !point.is_decided());
        chart.draw_series(undecided.map(|point| Cross::new(place(point), 6, style)))?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.8))
        .border_style(GUIDE)
        .draw()?;
    Ok(())
}

/// From the power of ten below the least value to the one above the greatest, with room for a legend of some lines.
fn decades(values: impl Iterator<Item = f64>, lines: usize) -> Range<f64> {
    let (least, greatest) =
        values.fold((f64::MAX, f64::MIN_POSITIVE), |(least, greatest), value| (value.min(least), value.max(greatest)));
    10_f64.powf(least.min(greatest).log10().floor())
        ..10_f64.powf(greatest.log10().floor() + if lines > 2 { 3.0 } else { 2.0 })
}

/// What growth in proportion to the size comes to, from the first point of the first question on.
fn guide(family: &Family, curves: &Curves, of: fn(&Point) -> f64, end: f64) -> Vec<(usize, f64)> {
    let first = |question: &Question| curves.of(family, question).next().map(|point| (of)(point) / point.size as f64);
    let Some(rate) = family.questions.first().and_then(first) else { return Vec::new() };
    let values = family.sizes.iter().map(|size| rate * *size as f64).enumerate();
    values.take_while(|(_, value)| *value <= end).collect()
}

#[cfg(test)]
mod tests {
    use super::decades;

    #[test]
    fn axes_begin_and_end_at_powers_of_ten() {
        assert_eq!(decades([30.0, 4000.0].into_iter(), 2), 10.0..100_000.0);
        assert_eq!(decades([30.0, 4000.0].into_iter(), 3), 10.0..1_000_000.0);
        assert_eq!(decades([0.02].into_iter(), 1), 0.01..1.0);
    }
}
