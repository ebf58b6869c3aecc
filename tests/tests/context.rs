//! What a request's own context holds, and who finds it.
#![allow(missing_docs, clippy::unused_async)]

use std::rc::Rc;

use sansio_mcp_sdk::Local;
use sansio_mcp_sdk::server::{Context, NoArguments, Server};
use sansio_mcp_tests::{Bench, rows, tool};
use serde_json::json;

rows! {
    a_value_that_may_not_leave_its_thread_stays_on_it: all;
}

async fn a_value_that_may_not_leave_its_thread_stays_on_it(b: Bench) {
    let server = Server::local("t", "1")
        .context(|cx: Context<(), Local>| async move {
            cx.set(1_u32);
            cx.set_local(2_u32);
            cx.set_local(Rc::new(3));
            Ok(())
        })
        .tool("here", |_: NoArguments, cx: Context<(), Local>| async move {
            Ok(format!("{:?} {:?}", cx.get::<u32>(), cx.get::<Rc<i32>>()))
        })
        .blocking_tool("there", |_: NoArguments, cx| {
            Ok(format!("{:?} {:?}", cx.get::<u32>(), cx.get::<Rc<i32>>()))
        })
        .build()
        .unwrap();
    let mut wire = b.serve(server).wire();
    for (id, name, want) in [(1, "here", "Some(2) Some(3)"), (2, "there", "Some(1) None")] {
        let pool = b.lab.external();
        wire.send(&tool(id, name, &json!({}))).await;
        assert_eq!(wire.answer(id).await["result"]["content"][0]["text"], want);
        drop(pool);
    }
}
