//! What the tools' schemas want of the headers, compiled once for each state of the list.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use sansio_mcp_sdk::server::ConfigError;
use sansio_mcp_sdk::{Engine, Tools};

use crate::mirror::{AnnotationError, ParamHeaders};

pub(super) struct Rules(RwLock<Compiled>);

struct Compiled {
    generation: u64,
    /// Tools without such headers are not in it.
    of: BTreeMap<Box<str>, Arc<ParamHeaders>>,
}

impl Rules {
    /// # Errors
    /// Names the tool whose annotations break a rule.
    pub(super) fn new(engine: &Engine) -> Result<Self, ConfigError> {
        let compiled = compile(&engine.tools(), &mut |tool, error| {
            Err(ConfigError::new("tool.input_schema", format!("of {tool:?}: {error}")))
        })?;
        Ok(Self(RwLock::new(compiled)))
    }

    /// Those of a tool, if it has any.
    pub(super) fn of(&self, engine: &Engine, tool: &str) -> Option<Arc<ParamHeaders>> {
        {
            let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
            if known.generation == engine.tools_generation() {
                return known.of.get(tool).cloned();
            }
        }
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        // Another may have been here meanwhile.
        if known.generation != engine.tools_generation() {
            let refuse: Result<Compiled, ConfigError> = compile(&engine.tools(), &mut |tool, error| {
                // It is listed already. Clients leave it out.
                tracing::error!(code = "INVALID_TOOL", tool, %error, "a tool's x-mcp-header breaks a rule: no client will call it");
                Ok(())
            });
            if let Ok(compiled) = refuse {
                *known = compiled;
            }
        }
        known.of.get(tool).cloned()
    }
}

fn compile<E>(
    tools: &Tools,
    invalid: &mut dyn FnMut(&str, AnnotationError) -> Result<(), E>,
) -> Result<Compiled, E> {
    let mut of = BTreeMap::new();
    for tool in tools.tools.iter() {
        match ParamHeaders::compile(&tool.input_schema) {
            Ok(rules) if rules.is_empty() => {}
            Ok(rules) => drop(of.insert(tool.name.as_str().into(), Arc::new(rules))),
            Err(error) => invalid(&tool.name, error)?,
        }
    }
    Ok(Compiled { generation: tools.generation, of })
}
