//! Tools from typed functions: schemars gives the schema, serde the arguments.

use std::future::ready;
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{BoxFuture, Context, Entry, IntoOutput, Progress, Tool, ToolSpec};
use crate::attempt::on_a_blocking_thread;
use crate::{Arguments, Detail, Failure, FailureKind, IntoFailure, Outcome, Problem};

/// A tool from an async function of one argument struct.
///
/// ```
/// # use breakfall::{function, Failure};
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Add { a: i64, b: i64 }
///
/// let add = function("add", "Adds two numbers.", |Add { a, b }| async move {
///     a.checked_add(b).ok_or_else(|| Failure::invalid("b", "the sum must fit 64 bits"))
/// });
/// assert_eq!(add.spec().input_schema["required"], serde_json::json!(["a", "b"]));
/// ```
pub fn function<A, T, E, Fut>(
    name: impl Into<String>,
    description: impl Into<String>,
    function: impl Fn(A) -> Fut + Send + Sync + 'static,
) -> Entry
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    T: IntoOutput + 'static,
    E: IntoFailure + 'static,
    Fut: Future<Output = Result<T, E>> + Send + 'static,
{
    let function = move |arguments, _: Context<'_>| function(arguments);
    ToolSpec::new(name, description)
        .schema(schema_of::<A>())
        .tool(Function { function, types: PhantomData })
}

/// A tool from an async function that also says that its work goes on: each [`Progress::tick`]
/// starts the attempt's time anew.
pub fn function_with<A, T, E, Fut>(
    name: impl Into<String>,
    description: impl Into<String>,
    function: impl Fn(A, Progress) -> Fut + Send + Sync + 'static,
) -> Entry
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    T: IntoOutput + 'static,
    E: IntoFailure + 'static,
    Fut: Future<Output = Result<T, E>> + Send + 'static,
{
    let function = move |arguments, context: Context<'_>| function(arguments, context.progress());
    ToolSpec::new(name, description)
        .schema(schema_of::<A>())
        .tool(Function { function, types: PhantomData })
}

/// A tool from an ordinary function that may block: each call runs on a thread kept for such
/// work, so that it holds up nobody. Needs a Tokio runtime.
pub fn blocking<A, T, E>(
    name: impl Into<String>,
    description: impl Into<String>,
    function: impl Fn(A) -> Result<T, E> + Clone + Send + Sync + 'static,
) -> Entry
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    T: IntoOutput + 'static,
    E: IntoFailure + 'static,
{
    blocking_with(name, description, move |arguments, _| function(arguments))
}

/// A tool from an ordinary function that also says that its work goes on, and may stop when
/// nobody waits for it any more ([`Progress::is_wanted`]).
pub fn blocking_with<A, T, E>(
    name: impl Into<String>,
    description: impl Into<String>,
    function: impl Fn(A, Progress) -> Result<T, E> + Clone + Send + Sync + 'static,
) -> Entry
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    T: IntoOutput + 'static,
    E: IntoFailure + 'static,
{
    ToolSpec::new(name, description)
        .schema(schema_of::<A>())
        .tool(Blocking { function, types: PhantomData })
}

fn schema_of<A: JsonSchema>() -> Value {
    schemars::SchemaGenerator::default().into_root_schema_for::<A>().to_value()
}

struct Function<F, A, T, E> {
    function: F,
    types: PhantomData<fn(A) -> (T, E)>,
}

impl<F, A, T, E, Fut> Tool for Function<F, A, T, E>
where
    F: Fn(A, Context<'_>) -> Fut + Send + Sync + 'static,
    A: DeserializeOwned + Send + 'static,
    T: IntoOutput + 'static,
    E: IntoFailure + 'static,
    Fut: Future<Output = Result<T, E>> + Send + 'static,
{
    fn call<'a>(
        &'a self,
        arguments: &'a Arguments,
        context: Context<'a>,
    ) -> BoxFuture<'a, Outcome> {
        // What is boxed is the function's own work, without what it was given.
        let work = match typed(arguments) {
            Ok(arguments) => (self.function)(arguments, context),
            Err(failure) => return Box::pin(ready(Err(failure))),
        };
        Box::pin(async { work.await.map_err(IntoFailure::into_failure)?.into_output() })
    }
}

struct Blocking<F, A, T, E> {
    function: F,
    types: PhantomData<fn(A) -> (T, E)>,
}

impl<F, A, T, E> Tool for Blocking<F, A, T, E>
where
    F: Fn(A, Progress) -> Result<T, E> + Clone + Send + Sync + 'static,
    A: DeserializeOwned + Send + 'static,
    T: IntoOutput + 'static,
    E: IntoFailure + 'static,
{
    fn call<'a>(
        &'a self,
        arguments: &'a Arguments,
        context: Context<'a>,
    ) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let arguments = typed(arguments)?;
            let function = self.function.clone();
            let progress = context.progress();
            on_a_blocking_thread(progress.clone(), move || {
                function(arguments, progress)
                    .map_err(IntoFailure::into_failure)
                    .and_then(IntoOutput::into_output)
            })
            .await
        })
    }
}

/// The schema accepted these arguments; serde has the last word. What nobody has read yet is read
/// into the type at once.
#[inline]
fn typed<A: DeserializeOwned>(arguments: &Arguments) -> Result<A, Failure> {
    match arguments.unread().and_then(typed_from_text) {
        Some(typed) => Ok(typed),
        None => A::deserialize(arguments.value()).map_err(|error| refused(&error)),
    }
}

#[inline(never)]
fn typed_from_text<A: DeserializeOwned>(text: &str) -> Option<A> {
    serde_json::from_str(text).ok()
}

#[cold]
fn refused(error: &serde_json::Error) -> Failure {
    let problem = Problem { remark: Some(error.to_string()), ..Problem::default() };
    Failure::found(
        FailureKind::InvalidArguments,
        Detail::Arguments { problems: vec![problem], correction: None },
    )
}
