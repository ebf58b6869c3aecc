//! Numbers that lose nothing: whole ones beyond what a double holds stay exact.

use alloc::vec::Vec;
use core::cmp::Ordering;
use core::fmt;

use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use crate::model::RawJson;
use crate::model::write_json::WriteJson;

/// A number of JSON: a whole one of up to 127 bits, or a double.
///
/// Written as it was read, whole or with a fraction, and compared by value: 1 equals 1.0.
#[derive(Clone, Copy, Debug)]
pub struct Number(Kind);

#[derive(Clone, Copy, Debug)]
enum Kind {
    Whole(i128),
    Real(f64),
}

/// Doubles of this magnitude and above are whole.
const WHOLE: f64 = 9_007_199_254_740_992.0;

impl Number {
    /// Reads the text of a JSON value; `None` if it is not a number, or one beyond all doubles.
    pub(super) fn of(json: &RawJson) -> Option<Self> {
        let text = json.get();
        if !text.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
            return None;
        }
        if let Ok(whole) = text.parse() {
            return Some(Self(Kind::Whole(whole)));
        }
        text.parse().ok().filter(|real: &f64| real.is_finite()).map(|real| Self(Kind::Real(real)))
    }

    /// The nearest double.
    #[allow(clippy::cast_precision_loss)] // Nearest is what is promised.
    pub fn as_f64(self) -> f64 {
        match self.0 {
            Kind::Whole(whole) => whole as f64,
            Kind::Real(real) => real,
        }
    }

    /// The whole number that this is, however it is written; `None` if it has a fraction or 64 bits do not hold it.
    pub fn as_i64(self) -> Option<i64> {
        self.whole().and_then(|whole| i64::try_from(whole).ok())
    }

    /// Whether it is a number at all, as those that were read are.
    pub fn is_finite(self) -> bool {
        self.as_f64().is_finite()
    }

    #[allow(clippy::float_cmp)] // Exactness is the question.
    #[allow(clippy::cast_precision_loss)] // What was a double before is one again.
    pub(super) fn whole(self) -> Option<i128> {
        match self.0 {
            Kind::Whole(whole) => Some(whole),
            Kind::Real(real) => {
                let whole = real as i128;
                (whole as f64 == real && whole != i128::MAX).then_some(whole)
            }
        }
    }

    pub(super) fn from_whole(whole: i128) -> Self {
        Self(Kind::Whole(whole))
    }

    /// Whether it is written without a fraction or exponent.
    pub(super) fn is_plain(self) -> bool {
        matches!(self.0, Kind::Whole(_))
    }
}

macro_rules! from {
    ($($int:ty),*) => {
        $(impl From<$int> for Number {
            fn from(value: $int) -> Self {
                Self(Kind::Whole(value.into()))
            }
        })*
    };
}

from!(i8, i16, i32, i64, u8, u16, u32, u64);

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self(Kind::Real(value))
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (self.0, other.0) {
            (Kind::Whole(a), Kind::Whole(b)) => Some(a.cmp(&b)),
            (Kind::Real(a), Kind::Real(b)) => a.partial_cmp(&b),
            (Kind::Whole(a), Kind::Real(b)) => mixed(a, b),
            (Kind::Real(a), Kind::Whole(b)) => mixed(b, a).map(Ordering::reverse),
        }
    }
}

/// A small double is compared with the double next to the whole number, which lies on the same side of it; a large one
/// is whole itself.
#[allow(clippy::cast_precision_loss)]
fn mixed(whole: i128, real: f64) -> Option<Ordering> {
    if real.abs() < WHOLE || !real.is_finite() {
        return (whole as f64).partial_cmp(&real);
    }
    Some(whole.cmp(&(real as i128)))
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Kind::Whole(whole) => whole.fmt(f),
            Kind::Real(real) => real.fmt(f),
        }
    }
}

impl WriteJson for Number {
    fn write_json(&self, out: &mut Vec<u8>) {
        match self.0 {
            Kind::Whole(whole) => out.extend_from_slice(itoa::Buffer::new().format(whole).as_bytes()),
            Kind::Real(real) => match serde_json::to_vec(&real) {
                Ok(text) => out.extend_from_slice(&text),
                Err(_) => out.extend_from_slice(b"null"),
            },
        }
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Kind::Real(real) => serializer.serialize_f64(real),
            Kind::Whole(whole) => match (i64::try_from(whole), u64::try_from(whole)) {
                (Ok(whole), _) => serializer.serialize_i64(whole),
                (_, Ok(whole)) => serializer.serialize_u64(whole),
                _ => serializer.serialize_i128(whole),
            },
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = RawJson::deserialize(deserializer)?;
        Self::of(&json).ok_or_else(|| de::Error::custom("expected a number"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn number(text: &str) -> Option<Number> {
        Number::of(&RawJson::from_text(text).unwrap())
    }

    #[test]
    fn compared_by_value_without_loss() {
        let order = ["-1e300", "-9007199254740993", "-2.5", "-2", "0", "0.1", "1", "9007199254740992"];
        let more = ["9007199254740993", "18446744073709551615", "18446744073709551617", "1e300"];
        let all: Vec<Number> = order.iter().chain(&more).map(|text| number(text).unwrap()).collect();
        for (at, a) in all.iter().enumerate() {
            for (with, b) in all.iter().enumerate() {
                assert_eq!(a.partial_cmp(b), Some(at.cmp(&with)), "{a} {b}");
            }
        }
        assert_eq!(number("1"), number("1.0"));
        assert_eq!(number("-0"), number("0.0"));
        assert_eq!(number("9007199254740992"), number("9007199254740992.0"));
        assert_ne!(number("9007199254740993"), number("9007199254740992.0"));
    }

    #[test]
    fn what_is_not_a_number_is_none() {
        for text in ["\"1\"", "true", "null", "[1]", "{}", "1e999", "-1e999"] {
            assert!(number(text).is_none(), "{text}");
        }
    }

    #[test]
    fn whole_numbers_are_whole_however_they_are_written() {
        let whole = |text: &str| number(text).unwrap().as_i64();
        assert_eq!((whole("5"), whole("5.0"), whole("50e-1")), (Some(5), Some(5), Some(5)));
        assert_eq!((whole("5.5"), whole("1e30"), whole("9223372036854775808")), (None, None, None));
    }

    #[test]
    fn written_as_they_were() {
        for text in ["5", "5.0", "-0.5", "18446744073709551615", "170141183460469231731687303715884105727"] {
            let number = number(text).unwrap();
            let mut out = Vec::new();
            number.write_json(&mut out);
            assert_eq!(core::str::from_utf8(&out).unwrap(), text);
            assert_eq!(serde_json::to_string(&number).unwrap(), text);
        }
        assert_eq!(Number::from(2.5).to_string(), "2.5");
        assert!(!Number::from(f64::NAN).is_finite());
    }
}
