//! From a function to a function that returns the tool's entry.

use proc_macro2::TokenStream;
use quote::quote;
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
    let (docs, other): (Vec<_>, Vec<_>) =
        attributes.into_iter().partition(|attribute| attribute.path().is_ident("doc"));
    function.attrs = other;

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
    let given = tells.then(|| quote!(, progress: ::breakfall::Progress));
    let fields = asked.iter().map(|PatType { attrs, pat, ty, .. }| quote!(#(#attrs)* #pat: #ty));
    let names = asked.iter().map(|parameter| &parameter.pat);
    let passed = parameters.iter().map(|parameter| {
        let name = &parameter.pat;
        if is_progress(parameter) { quote!(progress.clone()) } else { quote!(#name) }
    });

    Ok(quote! {
        #(#docs)*
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

            #make(#name, #description, |parameters: __Parameters #given| {
                let __Parameters { #(#names,)* } = parameters;
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
    let mut parameters = Vec::new();
    for input in &mut signature.inputs {
        let FnArg::Typed(parameter) = input else {
            return Err(Error::new(input.span(), "a tool is a function without `self`"));
        };
        if !matches!(&*parameter.pat, Pat::Ident(pat) if pat.by_ref.is_none()) {
            return Err(Error::new(parameter.pat.span(), "a parameter of a tool is a plain name"));
        }
        if let syn::Type::Reference(reference) = &*parameter.ty {
            return Err(Error::new(
                reference.span(),
                "a tool owns its arguments: take `String` instead of `&str`",
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

/// The doc comment without the space that stands before each line.
fn description(function: &ItemFn) -> String {
    let lines = function.attrs.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => text(&pair.value).ok(),
        _ => None,
    });
    let lines: Vec<String> = lines
        .map(|line| line.value().strip_prefix(' ').map_or_else(|| line.value(), ToOwned::to_owned))
        .collect();
    lines.join("\n").trim().to_owned()
}

fn unraw(ident: &Ident) -> String {
    let name = ident.to_string();
    name.strip_prefix("r#").map_or(name.clone(), ToOwned::to_owned)
}

fn ident(name: &str) -> Ident {
    Ident::new(name, proc_macro2::Span::call_site())
}
