//! The formats of a text field, each checked by the letter of its RFC, with nothing allowed beyond it.

/// `date`: full-date of RFC 3339, a day that exists.
pub(super) fn is_date(text: &str) -> bool {
    let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text.as_bytes() else { return false };
    let (Some(century), Some(year), Some(month), Some(day)) =
        (two(y1, y2), two(y3, y4), two(m1, m2), two(d1, d2))
    else {
        return false;
    };
    let year = century * 100 + year;
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => return false,
    };
    (1..=days).contains(&day)
}

fn two(tens: u8, ones: u8) -> Option<u16> {
    (tens.is_ascii_digit() && ones.is_ascii_digit())
        .then(|| u16::from(tens - b'0') * 10 + u16::from(ones - b'0'))
}

/// `date-time`: date-time of RFC 3339. A leap second is one only at the end of a day in UTC.
pub(super) fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_at_checked(10) else { return false };
    let &[b'T' | b't', h1, h2, b':', m1, m2, b':', s1, s2, ref rest @ ..] = time.as_bytes() else {
        return false;
    };
    let (Some(hour), Some(minute), Some(second)) = (two(h1, h2), two(m1, m2), two(s1, s2)) else {
        return false;
    };
    let zone = match rest {
        [b'.', rest @ ..] => {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if digits == 0 {
                return false;
            }
            rest.get(digits..).unwrap_or_default()
        }
        rest => rest,
    };
    let offset = match *zone {
        [b'Z' | b'z'] => 0,
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => match (two(h1, h2), two(m1, m2)) {
            (Some(hours @ 0..=23), Some(minutes @ 0..=59)) => {
                let minutes = i32::from(hours * 60 + minutes);
                if sign == b'+' { minutes } else { -minutes }
            }
            _ => return false,
        },
        _ => return false,
    };
    let utc = (i32::from(hour * 60 + minute) - offset).rem_euclid(24 * 60);
    let leap = utc == 24 * 60 - 1;
    is_date(date) && hour < 24 && minute < 60 && (second < 60 || second == 60 && leap)
}

/// `email`: a mailbox of RFC 5321 whose local part is a dot-string and whose domain is a name.
pub(super) fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.split_once('@') else { return false };
    let atom = |atom: &str| {
        !atom.is_empty()
            && atom.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte))
    };
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    local.len() <= 64 && domain.len() <= 253 && local.split('.').all(atom) && domain.split('.').all(label)
}

/// `uri`: URI of RFC 3986, with its scheme.
pub(in crate::model) fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let mut bytes = scheme.bytes();
    if !bytes.next().is_some_and(|first| first.is_ascii_alphabetic())
        || !bytes.all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    {
        return false;
    }
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (hierarchy, query) = rest.split_once('?').unwrap_or((rest, ""));
    let path = match hierarchy.strip_prefix("//") {
        None => hierarchy,
        Some(rest) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            if !is_authority(authority) {
                return false;
            }
            path
        }
    };
    made_of(path, b":@/") && made_of(query, b":@/?") && made_of(fragment, b":@/?")
}

fn is_authority(text: &str) -> bool {
    let (user, rest) = text.rsplit_once('@').unwrap_or(("", text));
    let (host, port) = match rest.strip_prefix('[') {
        None => rest.split_once(':').unwrap_or((rest, "")),
        Some(rest) => {
            let Some((literal, port)) = rest.split_once(']') else { return false };
            let port = match port.strip_prefix(':') {
                Some(port) => port,
                None if port.is_empty() => "",
                None => return false,
            };
            let address = literal.parse::<core::net::Ipv6Addr>().is_ok();
            let future = literal.strip_prefix(['v', 'V']).and_then(|rest| rest.split_once('.'));
            let future = future.is_some_and(|(version, rest)| {
                let hex = !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_hexdigit());
                hex && !rest.is_empty() && !rest.contains('%') && made_of(rest, b":")
            });
            if !address && !future {
                return false;
            }
            ("", port)
        }
    };
    made_of(user, b":") && made_of(host, b"") && port.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text holds nothing but unreserved characters, sub-delimiters, percent-encoded bytes, and `also`.
fn made_of(text: &str, also: &[u8]) -> bool {
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let fine = match byte {
            b'%' => {
                let hex = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_hexdigit());
                hex(bytes.next()) && hex(bytes.next())
            }
            byte => {
                byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(&byte) || also.contains(&byte)
            }
        };
        if !fine {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn table(check: fn(&str) -> bool, good: &[&str], bad: &[&str]) {
        for text in good {
            assert!(check(text), "{text:?}");
        }
        for text in bad {
            assert!(!check(text), "{text:?}");
        }
    }

    #[test]
    fn dates() {
        let good = ["2026-07-28", "2024-02-29", "2000-02-29", "0000-01-01", "9999-12-31"];
        let bad = [
            "",
            "2026-7-28",
            "2026-07-32",
            "2026-02-29",
            "1900-02-29",
            "2026-00-10",
            "2026-13-01",
            "2026-04-31",
            "2026-01-00",
            "20260728",
            "2026/07/28",
            "2026-07-28 ",
            " 2026-07-28",
            "+026-07-28",
            "২০২৬-07-28",
            "2026-07-28T00:00:00Z",
        ];
        table(is_date, &good, &bad);
    }

    #[test]
    fn dates_with_times() {
        let good = [
            "2026-07-28T12:34:56Z",
            "2026-07-28t12:34:56z",
            "2026-07-28T12:34:56.7+05:30",
            "1990-12-31T23:59:60Z",
            "1990-12-31T15:59:60-08:00",
            "2026-07-28T00:00:00.000000000001-00:00",
            "2027-01-01T00:59:60+01:00",
        ];
        let bad = [
            "",
            "2026-07-28",
            "2026-07-28 12:34:56Z",
            "2026-07-28T12:34Z",
            "2026-07-28T12:34:56",
            "2026-07-28T24:00:00Z",
            "2026-07-28T12:60:00Z",
            "2026-07-28T12:34:60Z",
            "1990-12-31T23:59:61Z",
            "1990-12-31T22:59:60Z",
            "2026-07-28T12:34:56.Z",
            "2026-07-28T12:34:56+24:00",
            "2026-07-28T12:34:56+0530",
            "2026-02-30T12:34:56Z",
            "2026-07-28T12:34:56+05:60",
            "2026-07-28T12:34:56ZZ",
            "2026-07-28T12:34:56,5Z",
            "2026-07-2éT12:34:56Z",
        ];
        table(is_date_time, &good, &bad);
    }

    #[test]
    fn emails() {
        let long = alloc::format!("{}@x.org", "a".repeat(64));
        let longer = alloc::format!("{}@x.org", "a".repeat(65));
        let label = alloc::format!("a@{}.org", "b".repeat(64));
        let good = ["a@b", "a.b+c@d-e.example", "!#$%&'*+-/=?^_`{|}~@x.org", "1@2", &long];
        let bad = [
            "",
            "a",
            "@b",
            "a@",
            "a@b@c",
            ".a@b",
            "a.@b",
            "a..b@c",
            "a@-b",
            "a@b-",
            "a@b..c",
            "a@b.",
            "a b@c",
            "\"a\"@b",
            "a@[127.0.0.1]",
            "ä@b",
            "a@ä",
            "a@b_c",
            "a@b\n",
            &longer,
            &label,
        ];
        table(is_email, &good, &bad);
    }

    #[test]
    fn uris() {
        let good = [
            "https://example.org",
            "https://u:p@example.org:8080/a/b;c?d=e&f#g/h?",
            "urn:isbn:0451450523",
            "mailto:a@b.org",
            "file:///a/b",
            "a+b-c.1:",
            "http://[::1]:80/",
            "http://[v1.a:b]/",
            "x:%41%fF",
            "data:,",
            "http://a:/",
            "x:/a//b",
            "http:?q",
            "https://EXAMPLE.org/%7Eme",
        ];
        let bad = [
            "",
            "a",
            "/a",
            "//a",
            ":a",
            "1a:b",
            "a b:c",
            "http://a b",
            "http://a/ b",
            "x:%4",
            "x:%4g",
            "x:%",
            "x:ä",
            "http://[::1",
            "http://[::g]/",
            "http://[::1]80",
            "http://a:8x/",
            "x:a#b#c",
            "x:[",
            "x:<>",
            "x:\"",
            "x:\\",
            "x:^",
            "x:`",
            "x:{}",
            "x:|",
            "http://a@b@c/",
            "x:\u{7f}",
            "http://[v.a]/",
            "http://[v1.]/",
        ];
        table(is_uri, &good, &bad);
    }
}
