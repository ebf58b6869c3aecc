//! The specification's methods, each with the type of its result.

use std::sync::Arc;

use sansio_mcp::client::{Answer, CallSpec, Refused};
use sansio_mcp::model::{
    CompleteParams, CompleteResult, DiscoverResult, GetPromptResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, Prompt, ReadResourceResult, Resource,
    ResourceTemplate, Tool,
};
use serde::Serialize;

use super::call::{self, Call};
use super::error::CallError;
use super::{Client, listing};

impl Client {
    fn typed<T>(
        &self,
        spec: Result<CallSpec, Refused>,
        decode: fn(Answer) -> Result<T, CallError>,
    ) -> Call<T> {
        Call::new(Arc::clone(&self.handle), spec, decode)
    }

    /// Asks what the server speaks and offers (server/discover).
    pub fn discover(&self) -> Call<DiscoverResult> {
        self.typed(Ok(CallSpec::discover()), call::decode)
    }

    /// Lists one page of the tools, from the beginning or from the `next_cursor` of an earlier page.
    pub fn list_tools_page(&self, cursor: Option<&str>) -> Call<ListToolsResult> {
        self.typed(Ok(CallSpec::list_tools(cursor)), call::decode)
    }

    /// Lists all tools, page by page.
    ///
    /// # Errors
    /// A page could not be had, a cursor was given twice, or there are more than 1,000 pages or 100,000 items. The
    /// same holds for the other lists.
    pub async fn list_tools(&self) -> Result<Vec<Tool>, CallError> {
        listing::all(self, Self::list_tools_page).await
    }

    /// Lists one page of the prompts (server/prompts, "Listing Prompts").
    pub fn list_prompts_page(&self, cursor: Option<&str>) -> Call<ListPromptsResult> {
        self.typed(Ok(CallSpec::list_prompts(cursor)), call::decode)
    }

    /// Lists all prompts, page by page.
    ///
    /// # Errors
    /// Those of [`list_tools`](Self::list_tools).
    pub async fn list_prompts(&self) -> Result<Vec<Prompt>, CallError> {
        listing::all(self, Self::list_prompts_page).await
    }

    /// Gets a prompt, filled in with arguments that serialise to an object of strings (server/prompts, "Getting a
    /// Prompt"). The server may ask for input first.
    pub fn get_prompt(&self, name: &str, arguments: &(impl Serialize + ?Sized)) -> Call<GetPromptResult> {
        self.typed(CallSpec::prompt(name, arguments), call::decode)
    }

    /// Lists one page of the resources (server/resources, "Listing Resources").
    pub fn list_resources_page(&self, cursor: Option<&str>) -> Call<ListResourcesResult> {
        self.typed(Ok(CallSpec::list_resources(cursor)), call::decode)
    }

    /// Lists all resources, page by page.
    ///
    /// # Errors
    /// Those of [`list_tools`](Self::list_tools).
    pub async fn list_resources(&self) -> Result<Vec<Resource>, CallError> {
        listing::all(self, Self::list_resources_page).await
    }

    /// Lists one page of the resource templates (server/resources, "Resource Templates").
    pub fn list_resource_templates_page(&self, cursor: Option<&str>) -> Call<ListResourceTemplatesResult> {
        self.typed(Ok(CallSpec::list_resource_templates(cursor)), call::decode)
    }

    /// Lists all resource templates, page by page.
    ///
    /// # Errors
    /// Those of [`list_tools`](Self::list_tools).
    pub async fn list_resource_templates(&self) -> Result<Vec<ResourceTemplate>, CallError> {
        listing::all(self, Self::list_resource_templates_page).await
    }

    /// Reads a resource (server/resources, "Reading Resources"). The server may ask for input first.
    pub fn read_resource(&self, uri: &str) -> Call<ReadResourceResult> {
        self.typed(Ok(CallSpec::read_resource(uri)), call::decode)
    }

    /// Asks what an argument that a person is typing could become (server/utilities/completion). Not to be called at
    /// every key: wait until they pause. Metadata among the params is left out; [`Call::meta`] adds some.
    pub fn complete(&self, params: &CompleteParams) -> Call<CompleteResult> {
        self.typed(Ok(CallSpec::complete(params)), call::decode)
    }
}
