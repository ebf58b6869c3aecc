//! The short way to read the result of a tool: texts, and what is passed on as it stands.
//!
//! `None` says nothing but that the result has to go the long way, which reads everything and knows what is wrong.
//! Where this gives a result, deserialising gives the same one.

use alloc::vec::Vec;

use super::{CallToolResult, ContentBlock, RawJson, TextContent};
use crate::wire::quick::{Reader, once};

impl CallToolResult {
    /// Reads a result from its JSON: what deserialising gives, faster where the content is text.
    ///
    /// # Errors
    /// When the text is not JSON, or not such a result.
    pub fn from_json(json: &str) -> Result<Self, serde_json::Error> {
        Self::from_json_knowing(json, None)
    }

    /// As [`from_json`](Self::from_json), where the part that is its `_meta` is known to be an object.
    pub(crate) fn from_json_knowing(json: &str, meta: Option<&str>) -> Result<Self, serde_json::Error> {
        match usual(json, meta) {
            Some(result) => Ok(result),
            None => serde_json::from_str(json),
        }
    }
}

fn usual<'a>(json: &'a str, known: Option<&'a str>) -> Option<CallToolResult> {
    let mut reader = Reader::new(json);
    let (mut tag, mut content, mut result) = (None, None, CallToolResult::default());
    reader.object(|key, reader| match key {
        "resultType" => once(&mut tag, reader.string().filter(|tag| *tag == "complete")?),
        "content" => once(&mut content, blocks(reader)?),
        "structuredContent" => once(&mut result.structured_content, reader.raw()?.into()),
        "isError" => once(&mut result.is_error, reader.value()?),
        "_meta" => once(&mut result.meta, reader.raw_object_at(known)?.into()),
        _ => None,
    })?;
    reader.end()?;
    result.content = content?;
    Some(result)
}

fn blocks(reader: &mut Reader<'_>) -> Option<Vec<ContentBlock>> {
    let mut blocks = Vec::new();
    reader.array(|reader| {
        if blocks.is_empty() {
            // Mostly it is the only one.
            blocks.reserve_exact(1);
        }
        blocks.push(text(reader)?);
        Some(())
    })?;
    Some(blocks)
}

fn text(reader: &mut Reader<'_>) -> Option<ContentBlock> {
    let (mut tag, mut text, mut meta) = (None, None, None::<RawJson>);
    reader.object(|key, reader| match key {
        "type" => once(&mut tag, reader.string().filter(|tag| *tag == "text")?),
        "text" => once(&mut text, reader.text()?),
        "_meta" => once(&mut meta, reader.raw_object()?.into()),
        _ => None,
    })?;
    tag?;
    let mut content = TextContent::new(text?);
    content.meta = meta;
    Some(content.into())
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    const USUAL: [&str; 3] = [
        r#"{"resultType":"complete","content":[{"type":"text","text":"a \"quoted\" \u00e9\n"}],"_meta":{"a":[1]}}"#,
        r#" { "content" : [ ] , "isError" : true , "structuredContent" : [ null , { } ] } "#,
        r#"{"content":[{"text":"","type":"text"},{"type":"text","_meta":{},"text":"é"}],"isError":false}"#,
    ];

    fn agree(json: &str) -> bool {
        let long = serde_json::from_str::<CallToolResult>(json);
        let short = usual(json, None);
        if let Some(short) = &short {
            assert_eq!(Some(short), long.as_ref().ok(), "{json}");
            // Nor does it matter that the metadata is known, or something else of the text.
            let metadata = short
                .meta
                .as_ref()
                .and_then(|meta| json.rfind(meta.get()).map(|at| &json[at..][..meta.get().len()]));
            for known in [metadata, Some(&json[json.len() / 2..]), Some(json)] {
                assert_eq!(usual(json, known).as_ref(), Some(short), "{json}");
            }
        }
        short.is_some()
    }

    #[test]
    fn the_usual_forms_take_the_short_way() {
        for json in USUAL {
            assert!(agree(json), "{json}");
        }
    }

    #[test]
    fn every_end_and_every_byte_left_out_doubled_or_replaced() {
        for json in USUAL {
            for at in (0..json.len()).filter(|at| json.is_char_boundary(*at)) {
                let next = json[at..].chars().next().map_or(at, |it| at + it.len_utf8());
                let (head, tail) = (&json[..at], &json[next..]);
                agree(head);
                agree(&format!("{head}{tail}"));
                agree(&format!("{}{}", &json[..next], &json[at..]));
                for with in "{}[]:,\"\\ 0tnu\u{1}".chars() {
                    agree(&format!("{head}{with}{tail}"));
                }
            }
        }
    }

    #[test]
    fn other_values_and_members_that_stand_twice() {
        let values = ["null", "1", "true", "\"complete\"", "\"text\"", "[]", "{}", "[{}]", "[null]", "[1,]"];
        let block = |member: &str| format!(r#"{{"content":[{{"type":"text","text":"a"{member}}}]}}"#);
        for value in values {
            for key in ["resultType", "content", "isError", "structuredContent", "_meta", "type", "text", "x"]
            {
                let member = format!("\"{key}\":{value}");
                for json in [
                    format!("{{{member}}}"),
                    format!("{{\"content\":[],{member}}}"),
                    format!("{{\"content\":[],{member},{member}}}"),
                    block(&format!(",{member}")),
                    block(&format!(",{member},{member}")),
                    format!("{{\"content\":[{{{member}}}]}}"),
                ] {
                    agree(&json);
                }
            }
        }
        assert_eq!(CallToolResult::from_json("{}").map_err(|error| error.is_data()), Err(true));
        let image = r#"{"content":[{"type":"image","data":"","mimeType":"a/b"}]}"#;
        assert!(!agree(image));
        assert!(CallToolResult::from_json(image).is_ok_and(|result| result.content.len() == 1));
    }
}
