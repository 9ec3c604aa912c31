//! Where a request stands in a trace: W3C's trace context in `_meta`, read and passed on.

use breakfall::Trace;
use serde_json::value::RawValue;

use crate::fields::{Fields, raw};

const PARENT: &str = "traceparent";
const STATE: &str = "tracestate";

/// Where the client stands, if it says so.
pub(crate) fn of(meta: Option<&RawValue>) -> Option<Trace> {
    let meta = meta.filter(|meta| meta.get().contains(PARENT))?;
    let meta = Fields::of(Some(meta));
    Trace::parse(&meta.text(PARENT)?, meta.text(STATE).as_deref())
}

/// Puts an attempt's place into the request that goes to a server. What else the client says there
/// stays as it is.
pub(crate) fn pass_on(params: &mut Fields, trace: &Trace) {
    let mut meta = Fields::of(params.get("_meta"));
    meta.set(PARENT, raw(&trace.traceparent()));
    match trace.state() {
        Some(state) => meta.set(STATE, raw(&state)),
        // It belongs to a trace that we could not read.
        None => meta.remove(STATE),
    }
    params.set("_meta", meta.raw());
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    fn params(meta: &str) -> Fields {
        Fields::of(Some(&RawValue::from_string(format!(r#"{{"_meta":{meta}}}"#)).unwrap()))
    }

    #[test]
    fn a_place_is_read_from_meta_and_passed_on_beside_all_else() {
        let meta =
            format!(r#"{{"traceparent":"{PARENT}","tracestate":"a=1","baggage":"b=2","x":[ 1 ]}}"#);
        let mut params = params(&meta);
        let trace = of(params.get("_meta")).unwrap();
        assert_eq!((trace.traceparent().as_str(), trace.state()), (PARENT, Some("a=1")));
        pass_on(&mut params, &trace.attempt(1));
        let ours = trace.attempt(1).traceparent();
        assert_eq!(params.raw().get(), format!(r#"{{"_meta":{}}}"#, meta.replace(PARENT, &ours)));
    }

    #[test]
    fn what_is_no_place_is_ignored_and_its_state_does_not_go_on() {
        for meta in [
            "{}",
            "7",
            r#"{"traceparent":7}"#,
            r#"{"traceparent":"00-1-2-3","tracestate":"a=1"}"#,
            r#"{"traceparent":null,"tracestate":["a"]}"#,
        ] {
            assert_eq!(of(params(meta).get("_meta")), None);
            let mut params = params(meta);
            let trace = Trace::parse(PARENT, None).unwrap();
            pass_on(&mut params, &trace);
            assert_eq!(params.raw().get(), format!(r#"{{"_meta":{{"traceparent":"{PARENT}"}}}}"#));
        }
    }
}
