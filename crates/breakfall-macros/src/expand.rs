//! From a function to a function that returns the tool's entry.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::Parser;
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprLit, FnArg, Ident, ItemFn, Lit, LitStr, Meta, Pat, PatType, Result};

/// What stands in the parentheses of the attribute.
struct Options {
    name: Option<LitStr>,
    effect: Ident,
    isolated: bool,
}

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let options = options(attribute)?;
    let mut function: ItemFn = syn::parse2(item)?;
    let parameters = parameters(&mut function)?;
    let description = description(&function);
    let ident = function.sig.ident.clone();
    let visibility = std::mem::replace(&mut function.vis, syn::Visibility::Inherited);
    let attributes = std::mem::take(&mut function.attrs);
    // What is said of the item goes with the one that others see; the rest is the function's own.
    let (outside, inside): (Vec<_>, Vec<_>) = attributes.into_iter().partition(|attribute| {
        ["doc", "cfg", "deprecated"].iter().any(|name| attribute.path().is_ident(name))
    });
    function.attrs = inside;

    let name = options.name.map_or_else(|| unraw(&ident), |name| name.value());
    let effect = options.effect;
    let isolated = options.isolated.then(|| quote!(.isolated()));
    let asked: Vec<_> = parameters.iter().filter(|parameter| !is_progress(parameter)).collect();
    let tells = asked.len() < parameters.len();
    let make = match (function.sig.asyncness.is_some(), tells) {
        (true, false) => quote!(::breakfall::function),
        (true, true) => quote!(::breakfall::function_with),
        (false, false) => quote!(::breakfall::blocking),
        (false, true) => quote!(::breakfall::blocking_with),
    };
    let given = tells.then(|| quote!(, __progress: ::breakfall::Progress));
    let fields = asked.iter().map(|PatType { attrs, pat, ty, .. }| quote!(#(#attrs)* #pat: #ty));
    // A parameter may be named as the function is: nothing is bound under a name of the user's.
    let passed = parameters.iter().map(|parameter| {
        let name = &parameter.pat;
        if is_progress(parameter) { quote!(__progress.clone()) } else { quote!(__parameters.#name) }
    });

    Ok(quote! {
        #(#outside)*
        #visibility fn #ident() -> ::breakfall::Entry {
            #[derive(
                ::breakfall::macros::serde::Deserialize,
                ::breakfall::macros::schemars::JsonSchema,
            )]
            #[serde(crate = "::breakfall::macros::serde", deny_unknown_fields)]
            #[schemars(crate = "::breakfall::macros::schemars")]
            struct __Parameters { #(#fields,)* }

            // A tool that never waits or never fails is still a tool, and it owns its arguments.
            #[allow(
                clippy::unused_async,
                clippy::unnecessary_wraps,
                clippy::needless_pass_by_value
            )]
            #function

            #make(#name, #description, |__parameters: __Parameters #given| {
                #ident(#(#passed,)*)
            })
            .effect(::breakfall::Effect::#effect)
            #isolated
        }
    })
}

fn options(attribute: TokenStream) -> Result<Options> {
    let mut options = Options { name: None, effect: ident("Once"), isolated: false };
    let metas =
        syn::punctuated::Punctuated::<Meta, syn::Token![,]>::parse_terminated.parse2(attribute)?;
    for meta in metas {
        match &meta {
            Meta::NameValue(pair) if pair.path.is_ident("name") => {
                options.name = Some(text(&pair.value)?);
            }
            Meta::NameValue(pair) if pair.path.is_ident("effect") => {
                options.effect = effect(&text(&pair.value)?)?;
            }
            Meta::Path(path) if path.is_ident("isolated") => options.isolated = true,
            other => {
                return Err(Error::new(
                    other.span(),
                    "accepted: `name = \"…\"`, `effect = \"…\"`, `isolated`",
                ));
            }
        }
    }
    Ok(options)
}

fn effect(text: &LitStr) -> Result<Ident> {
    match text.value().as_str() {
        "read_only" => Ok(ident("ReadOnly")),
        "idempotent" => Ok(ident("Idempotent")),
        "once" => Ok(ident("Once")),
        _ => Err(Error::new(text.span(), "accepted: `read_only`, `idempotent`, `once`")),
    }
}

fn text(value: &Expr) -> Result<LitStr> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Ok(text.clone()),
        other => Err(Error::new(other.span(), "expected a string")),
    }
}

/// The parameters with their attributes, which move from the function to the schema.
fn parameters(function: &mut ItemFn) -> Result<Vec<PatType>> {
    let signature = &mut function.sig;
    if !signature.generics.params.is_empty() {
        return Err(Error::new(signature.generics.span(), "a tool has no generic parameters"));
    }
    if let Some(unsafety) = &signature.unsafety {
        return Err(Error::new(
            unsafety.span(),
            "a tool is a safe function: any model may call it",
        ));
    }
    let mut parameters = Vec::new();
    for input in &mut signature.inputs {
        let FnArg::Typed(parameter) = input else {
            return Err(Error::new(input.span(), "a tool is a function without `self`"));
        };
        let plain = |pat: &syn::PatIdent| pat.by_ref.is_none() && pat.subpat.is_none();
        if !matches!(&*parameter.pat, Pat::Ident(pat) if plain(pat)) {
            return Err(Error::new(parameter.pat.span(), "a parameter of a tool is a plain name"));
        }
        if let syn::Type::Reference(reference) = &*parameter.ty {
            return Err(Error::new(
                reference.span(),
                "a tool owns its arguments: take `String` instead of `&str`",
            ));
        }
        if let syn::Type::ImplTrait(anything) = &*parameter.ty {
            return Err(Error::new(
                anything.span(),
                "a tool names the types of its arguments: take `String` instead of `impl Into<String>`",
            ));
        }
        let mut field = parameter.clone();
        if let Pat::Ident(pat) = &mut *field.pat {
            pat.mutability = None;
        }
        parameters.push(field);
        parameter.attrs.clear();
    }
    Ok(parameters)
}

/// Whether a parameter is the tool's line to who waits for it, and no argument.
fn is_progress(parameter: &PatType) -> bool {
    matches!(&*parameter.ty, syn::Type::Path(path)
        if path.path.segments.last().is_some_and(|last| last.ident == "Progress"))
}

/// The doc comment as an expression, since a part of it may be a file that is included.
fn description(function: &ItemFn) -> TokenStream {
    let parts = function.attrs.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => Some(match text(&pair.value) {
            Ok(text) => undecorated(&text.value()).into_token_stream(),
            Err(_) => pair.value.to_token_stream(),
        }),
        _ => None,
    });
    quote!(::core::concat!(#(#parts, "\n"),*).trim())
}

/// A line without the space before it; of a block what stands before all its lines goes.
fn undecorated(text: &str) -> String {
    let Some((first, rest)) = text.split_once('\n') else {
        return text.strip_prefix(' ').unwrap_or(text).to_owned();
    };
    let told = || rest.lines().filter(|line| !line.trim().is_empty());
    let starred = told().all(|line| line.trim_start().starts_with('*'));
    let margin = told().map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    let lines = rest.lines().map(|line| match line.trim_start().strip_prefix('*') {
        Some(after) if starred => after.strip_prefix(' ').unwrap_or(after),
        _ => line.get(margin..).unwrap_or_default(),
    });
    std::iter::once(first.trim_start()).chain(lines).collect::<Vec<_>>().join("\n")
}

fn unraw(ident: &Ident) -> String {
    let name = ident.to_string();
    name.strip_prefix("r#").map_or(name.clone(), ToOwned::to_owned)
}

fn ident(name: &str) -> Ident {
    Ident::new(name, proc_macro2::Span::call_site())
}
