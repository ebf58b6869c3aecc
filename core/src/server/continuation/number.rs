//! One form for every spelling of a number: `1`, `1.0`, `1e0` and `10e-1` are the same value.
//!
//! The value is taken exactly, never through a double: `0.1` and a twentieth digit more are two numbers.

use alloc::vec::Vec;

/// Digits of an exponent that are surely within an `i64`.
const EXPONENT_DIGITS: usize = 18;

/// A number as digits without zeros at either end, times a power of ten.
struct Decimal<'a> {
    negative: bool,
    /// The digits, the first of which and the last of which are not zero; both parts empty for zero.
    digits: [&'a str; 2],
    /// The power of ten that the last digit stands for.
    exponent: i64,
}

/// Appends one form of the number that `text` spells. Minus zero is zero. `None` if it is not a number of JSON's.
pub(super) fn write(text: &str, out: &mut Vec<u8>) -> Option<()> {
    let Some(decimal) = Decimal::read(text)? else {
        // An exponent of nineteen digits: as it is written.
        out.push(b'x');
        out.extend_from_slice(&(text.len() as u64).to_be_bytes());
        out.extend_from_slice(text.as_bytes());
        return Some(());
    };
    let [whole, fraction] = decimal.digits;
    let digits = whole.len() + fraction.len();
    if digits == 0 {
        out.push(b'0');
        return Some(());
    }
    out.push(if decimal.negative { b'-' } else { b'+' });
    out.extend_from_slice(&decimal.exponent.to_be_bytes());
    out.extend_from_slice(&(digits as u64).to_be_bytes());
    out.extend_from_slice(whole.as_bytes());
    out.extend_from_slice(fraction.as_bytes());
    Some(())
}

impl<'a> Decimal<'a> {
    /// `Some(None)`: a number whose exponent is beyond counting.
    #[allow(
        clippy::option_option,
        reason = "not a number, and one that cannot be normalised, are two things"
    )]
    fn read(text: &'a str) -> Option<Option<Self>> {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, Some(exponent)),
            None => (text, None),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (mantissa, None),
        };
        let parts = [Some(whole), fraction, exponent.map(|exponent| exponent.trim_start_matches(['+', '-']))];
        if parts
            .into_iter()
            .flatten()
            .any(|part| part.is_empty() || !part.bytes().all(|b| b.is_ascii_digit()))
        {
            return None;
        }
        let Some(exponent) = read_exponent(exponent.unwrap_or("0")) else {
            return Some(None);
        };
        // Zeros at the end of the digits become part of the exponent; zeros before them say nothing.
        let fraction = fraction.unwrap_or_default().trim_end_matches('0');
        let whole = whole.trim_start_matches('0');
        let (whole, fraction, exponent) = if fraction.is_empty() {
            let digits = whole.trim_end_matches('0');
            (digits, "", exponent.saturating_add(places(whole.len() - digits.len())))
        } else {
            let exponent = exponent.saturating_sub(places(fraction.len()));
            (whole, if whole.is_empty() { fraction.trim_start_matches('0') } else { fraction }, exponent)
        };
        Some(Some(Self { negative, digits: [whole, fraction], exponent }))
    }
}

/// A count of digits; no text is long enough to reach the end.
fn places(digits: usize) -> i64 {
    i64::try_from(digits).unwrap_or(i64::MAX)
}

fn read_exponent(text: &str) -> Option<i64> {
    let negative = text.starts_with('-');
    let digits = text.trim_start_matches(['+', '-']).trim_start_matches('0');
    if digits.len() > EXPONENT_DIGITS {
        return None;
    }
    let value = digits.bytes().fold(0, |value: i64, digit| value * 10 + i64::from(digit - b'0'));
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::String;
    use proptest::prelude::*;

    fn fed(text: &str) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        write(text, &mut out)?;
        Some(out)
    }

    #[test]
    fn spellings_of_one_value_are_one() {
        let groups: &[&[&str]] = &[
            &["1", "1.0", "1e0", "1E+0", "10e-1", "0.1e1", "0.01e02", "1.000", "100e-00002"],
            &["0", "-0", "0.0", "0e5", "-0.000e-7", "0e999999999999999999"],
            &["120", "1.2e2", "12e1", "0.12e3", "120.0", "1200e-1"],
            &["-0.5", "-5e-1", "-0.50", "-50E-2"],
            &["10203", "1.0203e4", "10203.00"],
            &["0.00102", "1.02e-3", "102e-5"],
            &["1e99999999999999999999"],
            &["1e99999999999999999998"],
            &["-1e99999999999999999999"],
            &["12345678901234567890", "1234567890123456789e1"],
            &["12345678901234567891"],
            &["1e-3", "0.001"],
            &["1e3", "1000"],
        ];
        for (at, group) in groups.iter().enumerate() {
            for text in *group {
                for (other, texts) in groups.iter().enumerate() {
                    for with in *texts {
                        assert_eq!(fed(text) == fed(with), at == other, "{text} {with}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_not_a_number_is_told() {
        for text in ["", "-", "1.", ".1", "1e", "e1", "1e+", "--1", "1e1e1", "1.1.1", "NaN", "1a"] {
            assert_eq!(fed(text), None, "{text}");
        }
    }

    /// A value and a spelling of it, by digits and the place of the point.
    fn spelled(digits: &str, exponent: i64, point: usize, zeros: usize) -> String {
        let padded = format!("{}{digits}{}", "0".repeat(zeros), "0".repeat(zeros));
        let (whole, fraction) = padded.split_at(point.min(padded.len()));
        let exponent = exponent + places(fraction.len()) - places(zeros);
        let whole = if whole.is_empty() { "0" } else { whole };
        if fraction.is_empty() {
            format!("{whole}e{exponent}")
        } else {
            format!("{whole}.{fraction}e{exponent}")
        }
    }

    proptest! {
        #[test]
        fn two_spellings_agree_exactly_when_the_values_do(
            one in (1_u32..2000, -4_i64..4), two in (1_u32..2000, -4_i64..4),
            (point, zeros) in (0_usize..12, 0_usize..4), (at, more) in (0_usize..12, 0_usize..4),
        ) {
            let value =
                |(digits, exponent): (u32, i64)| u64::from(digits) * 10_u64.pow(u32::try_from(exponent + 4).unwrap());
            let a = fed(&spelled(&format!("{}", one.0), one.1, point, zeros));
            let b = fed(&spelled(&format!("{}", two.0), two.1, at, more));
            prop_assert!(a.is_some() && b.is_some());
            prop_assert_eq!(a == b, value(one) == value(two));
            prop_assert_eq!(a, fed(&spelled(&format!("{}", one.0), one.1, at, more)));
        }
    }
}
