//! The standard normal distribution's inverse.

/// Inverse of the standard normal distribution function for 0 < p < 1 (Wichura's AS 241, PPND16; relative accuracy about
/// 1e-16). Infinite at 0 and 1.
pub fn normal_quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180_625 - q * q;
        return q * ratio(r, &CENTRE_ABOVE, &CENTRE_BELOW);
    }
    let tail = if q < 0.0 { p } else { 1.0 - p };
    let r = (-tail.ln()).sqrt();
    let size = if r <= 5.0 {
        ratio(r - 1.6, &MIDDLE_ABOVE, &MIDDLE_BELOW)
    } else if r.is_finite() {
        ratio(r - 5.0, &FAR_ABOVE, &FAR_BELOW)
    } else {
        f64::INFINITY
    };
    size.copysign(q)
}

/// A ratio of two polynomials, coefficients from the highest power down.
fn ratio(r: f64, above: &[f64; 8], below: &[f64; 8]) -> f64 {
    let at = |coefficients: &[f64; 8]| coefficients.iter().fold(0.0, |sum, c| sum * r + c);
    at(above) / at(below)
}

const CENTRE_ABOVE: [f64; 8] = [
    2.509_080_928_730_122_7e3,
    3.343_057_558_358_813e4,
    6.726_577_092_700_87e4,
    4.592_195_393_154_987e4,
    1.373_169_376_550_946e4,
    1.971_590_950_306_551_3e3,
    1.331_416_678_917_843_8e2,
    3.387_132_872_796_366_5,
];
const CENTRE_BELOW: [f64; 8] = [
    5.226_495_278_852_854e3,
    2.872_908_573_572_194_3e4,
    3.930_789_580_009_271e4,
    2.121_379_430_158_66e4,
    5.394_196_021_424_751e3,
    6.871_870_074_920_579e2,
    4.231_333_070_160_091e1,
    1.0,
];
const MIDDLE_ABOVE: [f64; 8] = [
    7.745_450_142_783_414e-4,
    2.272_384_498_926_918_4e-2,
    2.417_807_251_774_506e-1,
    1.270_458_252_452_368_4,
    3.647_848_324_763_204_5,
    5.769_497_221_460_691,
    4.630_337_846_156_546,
    1.423_437_110_749_683_5,
];
const MIDDLE_BELOW: [f64; 8] = [
    1.050_750_071_644_416_9e-9,
    5.475_938_084_995_345e-4,
    1.519_866_656_361_645_7e-2,
    1.481_039_764_274_800_8e-1,
    6.897_673_349_851e-1,
    1.676_384_830_183_803_8,
    2.053_191_626_637_759,
    1.0,
];
const FAR_ABOVE: [f64; 8] = [
    2.010_334_399_292_288e-7,
    2.711_555_568_743_487_6e-5,
    1.242_660_947_388_078_4e-3,
    2.653_218_952_657_612_4e-2,
    2.965_605_718_285_048_7e-1,
    1.784_826_539_917_291_3,
    5.463_784_911_164_114,
    6.657_904_643_501_103,
];
const FAR_BELOW: [f64; 8] = [
    2.044_263_103_389_939_8e-15,
    1.421_511_758_316_446e-7,
    1.846_318_317_510_054_8e-5,
    7.868_691_311_456_133e-4,
    1.487_536_129_085_061_5e-2,
    1.369_298_809_227_358e-1,
    5.998_322_065_558_88e-1,
    1.0,
];

#[cfg(test)]
mod tests {
    use super::normal_quantile;

    /// Expected values from Python's `statistics.NormalDist().inv_cdf`.
    #[track_caller]
    fn check(p: f64, expected: f64) {
        let got = normal_quantile(p);
        assert!(
            (got - expected).abs() <= 1e-14 * expected.abs().max(1.0),
            "{p}: {got}, not {expected}"
        );
    }

    #[test]
    fn the_centre_agrees_with_a_reference() {
        check(0.5, 0.0);
        check(0.6, 0.2533471031357998);
        check(0.1, -1.2815515655446008);
        check(0.92, 1.4050715603096327);
    }

    #[test]
    fn the_shoulders_agrees_with_a_reference() {
        check(0.975, 1.9599639845400536);
        check(0.025, -1.9599639845400538);
        check(0.999, 3.090232306167813);
        check(1e-06, -4.753424308822899);
        check(1e-09, -5.9978070150076865);
    }

    #[test]
    fn the_far_tail_agrees_with_a_reference() {
        check(1e-12, -7.034483825301132);
        check(1e-30, -11.464024688443617);
        check(1e-300, -37.0470962993612);
    }

    #[test]
    fn it_is_antisymmetric_and_infinite_at_the_ends() {
        assert_eq!(normal_quantile(0.25), -normal_quantile(0.75));
        assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(normal_quantile(1.0), f64::INFINITY);
    }
}
