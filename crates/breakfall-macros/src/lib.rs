//! The `#[tool]` attribute of breakfall; use it through that crate, where it is documented.

mod expand;

use proc_macro::TokenStream;

/// Makes a tool of a function: its name, its doc comment as the description, its parameters as
/// the schema of the arguments.
///
/// ```ignore
/// /// Reads a file.
/// #[tool(effect = "read_only")]
/// async fn read_file(
///     /// The path, relative to the project.
///     path: String,
///     limit: Option<usize>,
/// ) -> Result<String, std::io::Error> {
///     std::fs::read_to_string(path).map(|text| text.lines().take(limit.unwrap_or(100)).collect())
/// }
///
/// let guard = Guard::builder().tool(read_file()).build()?;
/// ```
///
/// - `effect = "read_only" | "idempotent" | "once"`: may a call be repeated? Default `"once"`.
/// - `name = "…"`: another name than the function's.
/// - `isolated`: every call on a task of its own, for an async function that may block.
///
/// A parameter of the type `Progress` is no argument: with it the tool says that its work goes on,
/// and hears whether anybody still waits for it.
///
/// A function that is not `async` runs on a thread kept for work that blocks.
#[proc_macro_attribute]
pub fn tool(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expand::expand(attribute.into(), item.into())
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}
