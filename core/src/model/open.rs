//! Open objects: structs for the members the specification names, and a place for all others.
//!
//! [`open_object!`](open_object) turns a table of members into the struct, its reader and its two writers. A reader
//! written out by hand is needed because unknown members are kept as raw text, which serde's `flatten`, `untagged`
//! and internally tagged forms cannot do.
//!
//! A line of the table is `mode "wireName" => field: Type`. The modes:
//!
//! | mode | type | absent | `null` | written |
//! | --- | --- | --- | --- | --- |
//! | `required` | `T` | error | error, unless a `T` | always |
//! | `optional` | `Option<T>` | `None` | `None` | if `Some` |
//! | `defaulted` | `T` | default | default | always |
//! | `number` | `f64` | error | error | always, whole numbers without fraction |
//! | `maybe_number` | `Option<f64>` | `None` | `None` | if `Some`, as above |
//! | `millis` | `u64` | 0 | 0 | always; negative is read as 0 |
//! | `object` | `Option<RawJson>` | `None` | `None` | if `Some`; an error unless an object |
//! | `any` | `Option<RawJson>` | `None` | `Some` | if `Some` |
//!
//! After the struct's name a table may name a tag, a member of fixed value that is not a field (`, tag "type" =
//! "text"`, or `maybe_tag` if it may be absent when read), and a last check (`, check function`).

/// See the [module](self).
macro_rules! open_object {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident
            $(, tag $tag:literal = $fixed:literal)?
            $(, maybe_tag $maybe_tag:literal = $maybe_fixed:literal)?
            $(, check $check:ident)?
        {
            $($(#[$doc:meta])* $mode:ident $wire:literal => $field:ident: $type:ty,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        $vis struct $name {
            $($(#[$doc])* pub $field: $type,)*
            /// Members beyond those named above, verbatim and in the order they came. They are written after the
            /// others; one that has the name of a field is not written.
            pub extra: $crate::model::RawMembers,
        }

        const _: () = {
            use $crate::model::open::member;
            use $crate::model::source::{Known, Source};
            use $crate::model::write_json::{close, member_name, WriteJson};

            #[allow(non_camel_case_types)]
            enum Key {
                $($field,)*
                $(#[doc = $tag] tag__,)?
                $(#[doc = $maybe_tag] tag__,)?
            }

            impl Known for Key {
                fn find(name: &str) -> Option<Self> {
                    match name {
                        $($wire => Some(Self::$field),)*
                        $($tag => Some(Self::tag__),)?
                        $($maybe_tag => Some(Self::tag__),)?
                        _ => None,
                    }
                }
            }

            impl $name {
                pub(in $crate::model) fn read<'de, A: serde::de::MapAccess<'de>>(
                    mut source: Source<A>,
                ) -> Result<Self, A::Error> {
                    $(let mut $field: Option<$type> = None;)*
                    let mut extra = $crate::model::RawMembers::new();
                    while let Some(name) = source.name::<Key>()? {
                        match name {
                            $(Ok(Key::$field) => {
                                if $field.is_some() {
                                    return Err(serde::de::Error::duplicate_field($wire));
                                }
                                $field = Some(member!(read $mode source $wire));
                            })*
                            $(Ok(Key::tag__) => source.tag($tag, $fixed)?,)?
                            $(Ok(Key::tag__) => source.tag($maybe_tag, $maybe_fixed)?,)?
                            Err(name) => {
                                let value = source.value(&name)?;
                                extra.push(name, value);
                            }
                        }
                    }
                    if let Some(name) = extra.repeated() {
                        return Err(serde::de::Error::custom(format_args!("duplicate field `{name}`")));
                    }
                    $(source.tagged($tag)?;)?
                    let value = Self { $($field: member!(finish $mode $field $wire),)* extra };
                    $($check(&value).map_err(serde::de::Error::custom)?;)?
                    Ok(value)
                }

                /// Appends the members, each followed by a comma.
                pub(in $crate::model) fn put(&self, out: &mut alloc::vec::Vec<u8>, with_meta: bool) {
                    $(if with_meta || $wire != "_meta" {
                        member!(put $mode out $wire, &self.$field);
                    })*
                    for (name, value) in self.extra.iter() {
                        if Key::find(name).is_none() {
                            member_name(out, name);
                            value.write_json(out);
                            out.push(b',');
                        }
                    }
                }

                /// Appends the object as JSON on one line: what serialising gives, faster.
                $vis fn write(&self, out: &mut alloc::vec::Vec<u8>) {
                    out.push(b'{');
                    $(out.extend_from_slice(concat!('"', $tag, "\":\"", $fixed, "\",").as_bytes());)?
                    $(out.extend_from_slice(concat!('"', $maybe_tag, "\":\"", $maybe_fixed, "\",").as_bytes());)?
                    self.put(out, true);
                    close(out, b'}');
                }
            }

            impl WriteJson for $name {
                fn write_json(&self, out: &mut alloc::vec::Vec<u8>) {
                    self.write(out);
                }
            }

            impl serde::ser::Serialize for $name {
                fn serialize<S: serde::ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    use serde::ser::SerializeMap as _;
                    let mut map = serializer.serialize_map(None)?;
                    $(map.serialize_entry($tag, $fixed)?;)?
                    $(map.serialize_entry($maybe_tag, $maybe_fixed)?;)?
                    $(member!(emit $mode map $wire, &self.$field);)*
                    for (name, value) in self.extra.iter() {
                        if Key::find(name).is_none() {
                            map.serialize_entry(name, value)?;
                        }
                    }
                    map.end()
                }
            }

            impl<'de> serde::de::Deserialize<'de> for $name {
                fn deserialize<D: serde::de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    struct Wire;
                    impl<'de> serde::de::Visitor<'de> for Wire {
                        type Value = $name;
                        fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                            f.write_str(concat!("an object (", stringify!($name), ")"))
                        }
                        fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<$name, A::Error> {
                            $name::read(Source::new(map))
                        }
                    }
                    deserializer.deserialize_map(Wire)
                }
            }
        };
    };
}

/// What each mode does when its member is read, when the object ends, and when it is written.
macro_rules! member {
    (read required $source:ident $wire:literal) => { $source.value($wire)? };
    (read optional $source:ident $wire:literal) => { $source.value($wire)? };
    (read defaulted $source:ident $wire:literal) => {
        Option::unwrap_or_default($source.value::<Option<_>>($wire)?)
    };
    (read number $source:ident $wire:literal) => { $source.value::<f64>($wire)? };
    (read maybe_number $source:ident $wire:literal) => { $source.value::<Option<f64>>($wire)? };
    (read millis $source:ident $wire:literal) => {
        Option::unwrap_or_default($source.value::<Option<$crate::model::source::Millis>>($wire)?).0
    };
    (read object $source:ident $wire:literal) => { $source.object($wire)? };
    (read any $source:ident $wire:literal) => { Some($source.value($wire)?) };

    (finish required $field:ident $wire:literal) => {
        $field.ok_or_else(|| serde::de::Error::missing_field($wire))?
    };
    (finish number $field:ident $wire:literal) => { member!(finish required $field $wire) };
    (finish $mode:ident $field:ident $wire:literal) => { $field.unwrap_or_default() };

    (emit required $map:ident $wire:literal, $value:expr) => { $map.serialize_entry($wire, $value)? };
    (emit defaulted $map:ident $wire:literal, $value:expr) => { $map.serialize_entry($wire, $value)? };
    (emit millis $map:ident $wire:literal, $value:expr) => { $map.serialize_entry($wire, $value)? };
    (emit number $map:ident $wire:literal, $value:expr) => {
        $map.serialize_entry($wire, &$crate::model::source::Plain(*$value))?
    };
    (emit maybe_number $map:ident $wire:literal, $value:expr) => {
        if let Some(value) = $value {
            $map.serialize_entry($wire, &$crate::model::source::Plain(*value))?;
        }
    };
    (emit $mode:ident $map:ident $wire:literal, $value:expr) => {
        if let Some(value) = $value {
            $map.serialize_entry($wire, value)?;
        }
    };

    (put required $out:ident $wire:literal, $value:expr) => {
        $out.extend_from_slice(concat!('"', $wire, "\":").as_bytes());
        WriteJson::write_json($value, $out);
        $out.push(b',');
    };
    (put defaulted $out:ident $wire:literal, $value:expr) => { member!(put required $out $wire, $value) };
    (put millis $out:ident $wire:literal, $value:expr) => { member!(put required $out $wire, $value) };
    (put number $out:ident $wire:literal, $value:expr) => { member!(put required $out $wire, $value) };
    (put $mode:ident $out:ident $wire:literal, $value:expr) => {
        if let Some(value) = $value {
            member!(put required $out $wire, value);
        }
    };
}

/// Setters that take `self` and give it back, for optional members.
macro_rules! setters {
    ($name:ident { $($(#[$doc:meta])* $setter:ident => $field:ident: $type:ty,)* }) => {
        impl $name {
            $($(#[$doc])*
            #[must_use]
            pub fn $setter(mut self, $field: impl Into<$type>) -> Self {
                self.$field = Some($field.into());
                self
            })*
        }
    };
}

pub(in crate::model) use {member, open_object, setters};
