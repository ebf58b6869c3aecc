//! Sealed continuation state under attack (promise M7, rows 30 to 32 of the list of edge cases), and what it keeps.
#![cfg(feature = "seal")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;

use sansio_mcp::limits::{MAX_ROUNDS, MAX_STATE, STATE_LIFE};
use sansio_mcp::model::RawJson;
use sansio_mcp::server::continuation::{
    Bound, Continuation, KeyRing, NoEntropy, NotAKey, Questions, Reason, RoundsExceeded, SealError, SealKey,
    Sealer, open_state, seal_state,
};
use sealing::{Counting, LIFE, accept, asking, call, day, digest, key, refused, request, ring, seal};
use serde_json::json;
use short::{META, ServerExt, call as call_line, code, request as line, server};

#[path = "support/sealing.rs"]
mod sealing;
#[path = "support/short.rs"]
mod short;

const REFUND: &str = r#""name":"refund","arguments":{"invoice":7,"lines":[{"sku":"a","n":2}],"note":"ok"}"#;
const ALPHABET: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// One answer, one question pending, something of the handler's.
fn second_round() -> Continuation {
    let own = RawJson::from_text(r#"{"step": 1.0}"#).unwrap();
    let mut continuation = Continuation::first().next_round(asking(&[("sure", 40)]), None).unwrap();
    continuation.absorb(&json!({"sure": accept("yes")}).to_string());
    continuation.next_round(asking(&[("why", 1)]), Some(own)).unwrap()
}

#[test]
fn edge_31_each_character_changed_is_refused() {
    // Three lengths, so that the last character carries two, four and six bits.
    for padding in ["", "x", "xx"] {
        let ring = ring(1);
        let bound = call(REFUND);
        let own = RawJson::from_value(padding).unwrap();
        let continuation = Continuation::first().next_round(Questions::new(), Some(own)).unwrap();
        let sealed = seal(&ring, &bound, &continuation, day(0));
        assert_eq!(open_state(&ring, &sealed, &bound, day(0)), Ok(continuation));
        for (at, character) in sealed.char_indices() {
            // Another character of the alphabet for every bit; all of them at the last place.
            let place = ALPHABET.find(character).unwrap();
            let last = at + 1 == sealed.len();
            let bits = (0..6).map(|bit| place ^ (1 << bit));
            let others = if last {
                (0..64).filter(|other| *other != place).collect()
            } else {
                bits.collect::<Vec<_>>()
            };
            for other in others {
                let mut changed = sealed.clone();
                changed.replace_range(at..=at, &ALPHABET[other..=other]);
                let why = refused(&ring, &changed, &bound, day(0));
                assert!(
                    matches!(why, Reason::Tampered | Reason::Version | Reason::UnknownKey),
                    "{at}: {why:?}"
                );
            }
            for other in ["=", "+", "/", " ", "\n", "\0", "é"] {
                let mut changed = sealed.clone();
                changed.replace_range(at..=at, other);
                assert_eq!(refused(&ring, &changed, &bound, day(0)), Reason::Tampered);
            }
        }
    }
}

#[test]
fn edge_31_truncated_or_lengthened_at_any_place_is_refused() {
    let (ring, bound) = (ring(1), call(REFUND));
    let sealed = seal(&ring, &bound, &second_round(), day(0));
    for len in 0..sealed.len() {
        refused(&ring, &sealed[..len], &bound, day(0));
        refused(&ring, &sealed[len + 1..], &bound, day(0));
        let (front, back) = sealed.split_at(len);
        for more in ["A", "AAAA", "="] {
            refused(&ring, &format!("{front}{more}{back}"), &bound, day(0));
        }
    }
    for more in ["A", "AA", "AAA", "AAAA", "=", "==", " "] {
        refused(&ring, &format!("{sealed}{more}"), &bound, day(0));
    }
}

#[test]
fn edge_31_parts_of_two_states_do_not_make_a_third() {
    let (ring, bound) = (ring(1), call(REFUND));
    let [one, two] = [(); 2].map(|()| seal(&ring, &bound, &second_round(), day(0)));
    // Equal content: nonce, and with it everything after the key's id, differs.
    assert_ne!(one, two);
    for at in 1..one.len() {
        let spliced = [&one[..at], &two[at..]].concat();
        if spliced != one && spliced != two {
            refused(&ring, &spliced, &bound, day(0));
        }
    }
}

#[test]
fn edge_31_state_on_another_tool_is_refused() {
    let ring = ring(1);
    let sealed = seal(&ring, &call(REFUND), &second_round(), day(0));
    let other = call(&REFUND.replace("refund", "order"));
    assert_eq!(refused(&ring, &sealed, &other, day(0)), Reason::OtherRequest);
    // Nor is the same tool by another method the same.
    let method = Bound::of(&request("x/ask", REFUND), b"alice");
    assert_eq!(refused(&ring, &sealed, &method, day(0)), Reason::OtherMethod);
}

#[test]
fn edge_31_state_with_other_arguments_is_refused() {
    let ring = ring(1);
    let sealed = seal(&ring, &call(REFUND), &second_round(), day(0));
    for (from, to) in [
        ("7", "8"),
        ("7", "\"7\""),
        ("7", "7.0000000000000000001"),
        ("\"n\":2", "\"n\":3"),
        ("\"n\":2", "\"m\":2"),
        ("\"n\":2", "\"n\":2,\"m\":null"),
        ("[{\"sku\":\"a\",\"n\":2}]", "[]"),
        ("[{", "[{},{"),
        ("\"ok\"", "\"ok \""),
        ("\"ok\"", "null"),
        (",\"note\":\"ok\"", ""),
        ("\"arguments\":{\"invoice\":7,", "\"invoice\":7,\"arguments\":{"),
    ] {
        let changed = REFUND.replacen(from, to, 1);
        assert_ne!(changed, REFUND);
        assert_eq!(refused(&ring, &sealed, &call(&changed), day(0)), Reason::OtherRequest, "{changed}");
    }
    // Whatever else a handler could read counts too.
    assert_eq!(
        refused(&ring, &sealed, &call(&format!(r#"{REFUND},"more":1"#)), day(0)),
        Reason::OtherRequest
    );
}

#[test]
fn edge_31_the_same_arguments_written_differently_are_accepted() {
    let ring = ring(1);
    let sealed = seal(&ring, &call(REFUND), &second_round(), day(0));
    for same in [
        r#""arguments":{"note":"ok","lines":[{"n":2,"sku":"a"}],"invoice":7},"name":"refund""#,
        r#""name":"refund","arguments":{ "invoice" : 7.0 , "lines":[ {"sku":"a","n":20e-1} ],"note":"\u006fk"}"#,
        r#""name":"r\u0065fund","arguments":{"\u0069nvoice":0.7e1,"lines":[{"sku":"a","n":2}],"note":"ok"}"#,
    ] {
        assert_eq!(open_state(&ring, &sealed, &call(same), day(0)), Ok(second_round()), "{same}");
    }
    // As do the members that belong to one attempt alone.
    let retry = format!(r#"{REFUND},"inputResponses":{{"why":{{}}}},"requestState":"{sealed}""#);
    assert_eq!(open_state(&ring, &sealed, &call(&retry), day(0)), Ok(second_round()));
}

#[test]
fn edge_31_state_of_another_caller_is_refused() {
    let (ring, request) = (ring(1), request("tools/call", REFUND));
    let bounds =
        [&b""[..], b"alice", b"alice ", b"bob", &[0], &[0xff, 0]].map(|caller| Bound::of(&request, caller));
    for (at, one) in bounds.iter().enumerate() {
        let sealed = seal(&ring, one, &second_round(), day(0));
        for (other, two) in bounds.iter().enumerate() {
            if at == other {
                assert_eq!(open_state(&ring, &sealed, two, day(0)), Ok(second_round()));
            } else {
                assert_eq!(refused(&ring, &sealed, two, day(0)), Reason::OtherCaller);
            }
        }
    }
}

#[test]
fn edge_31_state_under_another_key_is_refused() {
    let bound = call(REFUND);
    let sealed = seal(&ring(1), &bound, &second_round(), day(0));
    assert_eq!(refused(&ring(2), &sealed, &bound, day(0)), Reason::UnknownKey);
    // The key's id is no key: a state relabelled as ours does not open.
    let ours = seal(&ring(2), &bound, &second_round(), day(0));
    let relabelled = [&ours[..12], &sealed[12..]].concat();
    assert_eq!(refused(&ring(2), &relabelled, &bound, day(0)), Reason::Tampered);
}

#[test]
fn edge_31_expired_state_is_refused() {
    let (ring, bound) = (ring(1), call(REFUND));
    let sealed = seal(&ring, &bound, &second_round(), day(0));
    assert_eq!(STATE_LIFE, LIFE);
    assert!(open_state(&ring, &sealed, &bound, day(3599)).is_ok());
    assert_eq!(refused(&ring, &sealed, &bound, day(3600)), Reason::Expired);
    let short = seal_state(&ring, &bound, &second_round(), day(0), LIFE / 60).unwrap();
    assert!(open_state(&ring, &short, &bound, day(59)).is_ok());
    assert_eq!(refused(&ring, &short, &bound, day(60)), Reason::Expired);
    let ever = seal_state(&ring, &bound, &second_round(), day(0), std::time::Duration::MAX).unwrap();
    assert!(open_state(&ring, &ever, &bound, day(1_000_000_000)).is_ok());
}

#[test]
fn edge_31_state_from_the_future_is_refused() {
    let (ring, bound) = (ring(1), call(REFUND));
    let sealed = seal(&ring, &bound, &second_round(), day(61));
    assert_eq!(refused(&ring, &sealed, &bound, day(0)), Reason::FromTheFuture);
    // Clocks of replicas may differ by a minute.
    assert!(open_state(&ring, &sealed, &bound, day(1)).is_ok());
}

#[test]
fn a_rotated_key_opens_until_it_is_removed() {
    let bound = call(REFUND);
    let mut ring = ring(1);
    let old = seal(&ring, &bound, &second_round(), day(0));
    ring.rotate(key(2));
    let new = seal(&ring, &bound, &second_round(), day(0));
    for sealed in [&old, &new] {
        assert_eq!(open_state(&ring, sealed, &bound, day(0)), Ok(second_round()));
    }
    // The newest seals.
    assert_eq!(refused(&sealing::ring(1), &new, &bound, day(0)), Reason::UnknownKey);
    assert_eq!(ring.key_ids().collect::<Vec<_>>(), [key(2).id(), key(1).id()]);
    // A replica that is one step behind: it seals with the old key, and opens what the new one sealed.
    let behind = sealing::ring(1).opening(key(2));
    assert!(open_state(&behind, &new, &bound, day(0)).is_ok());
    assert!(open_state(&ring, &seal(&behind, &bound, &second_round(), day(0)), &bound, day(0)).is_ok());
    // Removed: refused, and the sealing key cannot be.
    assert!(ring.remove(key(1).id()) && !ring.remove(key(1).id()) && !ring.remove(key(2).id()));
    assert_eq!(refused(&ring, &old, &bound, day(0)), Reason::UnknownKey);
    assert!(open_state(&ring, &new, &bound, day(0)).is_ok());
}

#[test]
fn the_round_travels_inside_and_only_dropping_the_state_resets_it() {
    let (ring, bound) = (ring(1), call(REFUND));
    let mut states = Vec::new();
    let mut continuation = Continuation::first();
    for round in 1..=3_u8 {
        continuation = continuation.next_round(asking(&[(&format!("q{round}"), 1)]), None).unwrap();
        states.push(seal(&ring, &bound, &continuation, day(0)));
        continuation = open_state(&ring, states.last().unwrap(), &bound, day(0)).unwrap();
        continuation.absorb(&json!({format!("q{round}"): accept("yes")}).to_string());
    }
    // As if it were the first attempt: without answers. It goes on at its own round, with the answers it has.
    let third = open_state(&ring, &states[2], &bound, day(0)).unwrap();
    assert_eq!(third.round(), 3);
    assert!(third.answer("q1", &digest("q1", 1)).is_some() && third.answer("q2", &digest("q2", 1)).is_some());
    assert_eq!(third.unanswered().collect::<Vec<_>>(), ["q3"]);
    assert_eq!(third.next_round(Questions::new(), None).unwrap().round(), 4);
    // As the first attempt of something else: refused.
    let other = call(&REFUND.replace('7', "8"));
    assert_eq!(refused(&ring, &states[2], &other, day(0)), Reason::OtherRequest);
    // An earlier state again, within its life: at its own round, and it knows nothing of what came later.
    let first = open_state(&ring, &states[0], &bound, day(0)).unwrap();
    assert_eq!((first.round(), first.answer("q2", &digest("q2", 1))), (1, None));
    // Without state: the count starts anew.
    assert_eq!(Continuation::first().round(), 0);
}

#[test]
fn the_eighth_round_is_asked_and_the_ninth_is_not() {
    let (ring, bound) = (ring(1), call(REFUND));
    let mut continuation = Continuation::first();
    for round in 1..=MAX_ROUNDS {
        // Also when rounds carry only state.
        let questions = if round % 2 == 0 { Questions::new() } else { asking(&[("q", round.into())]) };
        continuation = continuation.next_round(questions, None).unwrap();
        assert_eq!(continuation.round(), round);
        let sealed = seal(&ring, &bound, &continuation, day(0));
        continuation = open_state(&ring, &sealed, &bound, day(0)).unwrap();
        continuation.absorb(&json!({"q": accept(&round.to_string())}).to_string());
    }
    assert_eq!(MAX_ROUNDS, 8);
    // The answer to the last question that was asked is there.
    assert_eq!(continuation.answer("q", &digest("q", 7)).unwrap().get(), accept("7").to_string());
    assert_eq!(continuation.clone().next_round(Questions::new(), None), Err(RoundsExceeded));
    assert_eq!(continuation.next_round(asking(&[("q", 9)]), None), Err(RoundsExceeded));
}

#[test]
fn state_on_a_method_that_takes_none_is_refused_alike() {
    let ring = ring(1);
    let sealed = seal(&ring, &call(REFUND), &second_round(), day(0));
    let opaque = open_state(&ring, "", &call(REFUND), day(0)).unwrap_err().reply().message;
    for state in [sealed.as_str(), "", "x"] {
        for method in ["tools/list", "server/discover"] {
            let answer = server().answers(line("1", method, &format!(r#""requestState":"{state}""#)));
            assert_eq!((code(&answer), answer["error"]["message"].as_str()), (-32602, Some(opaque)));
        }
        // A tool call brings it to whoever can open it; so does a method of an extension.
        server().asked(line("1", "tools/call", &format!(r#""name":"t","requestState":"{state}""#)));
    }
    // Null is absent, answers are merely not needed.
    let answer = server().answers(line("1", "server/discover", r#""requestState":null,"inputResponses":{}"#));
    assert!(answer["result"].is_object());
    request("x/ask", &format!(r#""requestState":"{sealed}""#));
    let text = call_line("1").replace(META, &format!(r#""inputResponses":[],{META}"#));
    assert_eq!(code(&server().answers(text)), -32602);
}

/// Would be asked only about what is short enough.
struct NeverAsked;
impl Sealer for NeverAsked {
    fn seal(&self, _: &[u8]) -> Result<String, SealError> {
        panic!("asked to seal")
    }
    fn open(&self, _: &str) -> Result<Vec<u8>, sansio_mcp::server::continuation::OpenError> {
        panic!("asked to open")
    }
}

#[test]
fn a_state_that_is_too_long_is_neither_sealed_nor_read() {
    let (ring, bound) = (ring(1), call(REFUND));
    let round = |bytes: usize| {
        let own = RawJson::from_value(&"x".repeat(bytes)).unwrap();
        Continuation::first().next_round(Questions::new(), Some(own)).unwrap()
    };
    let empty = seal(&ring, &bound, &round(0), day(0)).len() * 3 / 4;
    let longest = MAX_STATE / 4 * 3 - empty;
    let fits = seal(&ring, &bound, &round(longest), day(0));
    assert_eq!(fits.len(), MAX_STATE);
    assert!(open_state(&ring, &fits, &bound, day(0)).is_ok());
    let too_long = seal_state(&ring, &bound, &round(longest + 1), day(0), LIFE);
    assert_eq!(too_long, Err(SealError::TooLong));

    let why = open_state(&NeverAsked, &"A".repeat(MAX_STATE + 1), &bound, day(0)).unwrap_err();
    assert_eq!(why.reason(), Reason::TooLong);
    let sealed = seal_state(&NeverAsked, &bound, &round(MAX_STATE), day(0), LIFE);
    assert_eq!(sealed, Err(SealError::TooLong));
    assert_eq!(
        seal_state(&NeverAsked, &bound, &Continuation::first(), day(0), LIFE),
        Err(SealError::NothingAsked)
    );
}

#[test]
fn edge_31_what_our_key_sealed_and_is_no_state_is_refused() {
    let (ring, bound) = (ring(1), call(REFUND));
    for (plain, why) in [
        (&b""[..], Reason::Form),
        (&[1], Reason::Form),
        (&[2, 1], Reason::Version),
        (&[1, 0], Reason::Round),
        (&[1, 9], Reason::Round),
        (&[1, 8, 0], Reason::Form),
    ] {
        assert_eq!(refused(&ring, &ring.seal(plain).unwrap(), &bound, day(0)), why);
    }
}

#[test]
fn a_key_is_read_from_64_hexadecimal_digits_and_from_nothing_else() {
    let mut bytes = [0; 32];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::try_from(at * 8 + 1).unwrap();
    }
    let text = bytes.map(|byte| format!("{byte:02x}")).concat();
    for spelled in [text.clone(), text.to_uppercase(), format!(" {text}\n")] {
        assert_eq!(
            SealKey::from_hex(&spelled).map(|key| key.id()),
            Ok(SealKey::new(bytes).id()),
            "{spelled}"
        );
    }
    let wrong = [
        &text[1..],
        &text[2..],
        &format!("{text}0"),
        &format!("{text}00"),
        &text.replacen('0', "g", 1),
        "",
        "é",
    ];
    for text in wrong {
        assert_eq!(SealKey::from_hex(text).map(|key| key.id()), Err(NotAKey), "{text}");
    }
    assert_eq!(NotAKey.to_string(), "a key is 64 hexadecimal digits");
}

#[test]
fn without_randomness_nothing_is_sealed() {
    let bound = call(REFUND);
    let none = |_: &mut [u8]| Err(NoEntropy);
    let ring = KeyRing::new(key(1), none);
    let sealed = seal_state(&ring, &bound, &second_round(), day(0), LIFE);
    assert_eq!(sealed, Err(SealError::NoEntropy(NoEntropy)));
    assert_eq!(SealKey::random(&none).map(|key| key.id()), Err(NoEntropy));
}

#[test]
fn no_nonce_comes_twice_and_keys_are_random() {
    let (ring, bound) = (ring(1), call(REFUND));
    let sealed: BTreeSet<_> = (0..100).map(|_| seal(&ring, &bound, &second_round(), day(0))).collect();
    assert_eq!(sealed.len(), 100);
    let entropy = Counting::default();
    let ids: BTreeSet<_> = (0..100).map(|_| SealKey::random(&entropy).unwrap().id()).collect();
    assert_eq!(ids.len(), 100);
}

#[test]
fn nothing_of_a_key_or_a_reason_is_shown() {
    let mut ring = ring(0xab);
    ring.rotate(key(0xcd));
    let (one, two) = (key(0xcd).id(), key(0xab).id());
    let shown = format!("KeyRing {{ sealing: SealKey({one:016x}), opening: [SealKey({two:016x})], .. }}");
    assert_eq!(format!("{ring:?}"), shown);
    // Nothing of what is sealed can be read in the text, nor in its bytes' obvious forms.
    let own = RawJson::from_value("a secret of the handler's").unwrap();
    let continuation = Continuation::first().next_round(asking(&[("secret", 1)]), Some(own)).unwrap();
    let sealed = seal(&ring, &call(REFUND), &continuation, day(0));
    assert!(sealed.chars().all(|character| ALPHABET.contains(character)));
    // "secret" at its three places in base64.
    for piece in ["c2VjcmV", "NlY3Jld", "zZWNyZX"] {
        assert!(!sealed.contains(piece));
    }
}

#[test]
fn edge_32_extra_answers_are_ignored_malformed_ones_missing_and_the_latest_counts() {
    let mut continuation = Continuation::first().next_round(asking(&[("a", 1), ("b", 1)]), None).unwrap();
    for malformed in ["1", "null", "\"yes\"", "[]", "true", "[{}]"] {
        continuation.absorb(&format!(r#"{{"a":{malformed},"c":{{"action":"accept"}},"A":{{}}}}"#));
        assert_eq!(continuation.unanswered().collect::<Vec<_>>(), ["a", "b"], "{malformed}");
    }
    for nonsense in ["", "null", "[]", "7", "{", r#"{"a""#, r#"{"a":}"#] {
        continuation.absorb(nonsense);
        assert_eq!(continuation.unanswered().count(), 2, "{nonsense}");
    }
    continuation.absorb(r#"{"a":{"n":1},"\u0061":{"n":2},"c":{}}"#);
    assert_eq!(continuation.unanswered().collect::<Vec<_>>(), ["b"]);
    assert_eq!(continuation.answer("a", &digest("a", 1)).unwrap().get(), r#"{"n":2}"#);
    assert_eq!(continuation.answer("c", &digest("c", 1)), None);
    // A malformed one does not take the place of a good one.
    continuation.absorb(r#"{"a":null}"#);
    assert_eq!(continuation.answer("a", &digest("a", 1)).unwrap().get(), r#"{"n":2}"#);
    // Nor does anything under a key that is not asked now.
    let mut next = continuation.next_round(asking(&[("b", 1)]), None).unwrap();
    next.absorb(r#"{"a":{"n":3},"b":{"n":4}}"#);
    assert_eq!(next.answer("a", &digest("a", 1)).unwrap().get(), r#"{"n":2}"#);
    assert_eq!(next.answer("b", &digest("b", 1)).unwrap().get(), r#"{"n":4}"#);
}

#[test]
fn an_answer_counts_for_its_own_question_alone() {
    let mut continuation = Continuation::first().next_round(asking(&[("sure", 40)]), None).unwrap();
    continuation.absorb(&json!({"sure": accept("yes")}).to_string());
    assert!(continuation.answer("sure", &digest("sure", 40)).is_some());
    // Another amount, another wording, another key, another method.
    assert_eq!(continuation.answer("sure", &digest("sure", 41)), None);
    assert_eq!(continuation.answer("sure", &digest("really", 40)), None);
    assert_eq!(continuation.answer("really", &digest("sure", 40)), None);
    // Asked again, the old answer is gone.
    let asked_again = continuation.next_round(asking(&[("sure", 41)]), None).unwrap();
    for amount in [40, 41] {
        assert_eq!(asked_again.answer("sure", &digest("sure", amount)), None);
    }
}

#[test]
fn answers_without_state_count_only_for_who_adopts_them() {
    let responses = json!({"sure": accept("yes"), "other": accept("no")}).to_string();
    let mut continuation = Continuation::first();
    continuation.absorb(&responses);
    assert_eq!(continuation.answer("sure", &digest("sure", 40)), None);
    continuation.adopt(&asking(&[("sure", 40)]), &responses);
    assert!(continuation.answer("sure", &digest("sure", 40)).is_some());
    assert_eq!(continuation.answer("other", &digest("other", 1)), None);
}
