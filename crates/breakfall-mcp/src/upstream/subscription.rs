//! What a server says in a subscription, and to which of ours it belongs.

use serde_json::value::RawValue;

use crate::fields::Fields;
use crate::origin::Origin;

/// Who a notification of a subscription belongs to.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// What a subscription says, under the id by which the client knows it; `None` where it says it
/// again.
pub(crate) fn of_subscription(
    method: &str,
    params: Option<&RawValue>,
    origin: &Origin,
) -> Option<Box<RawValue>> {
    if method == "notifications/subscriptions/acknowledged" && !origin.acknowledge() {
        return None;
    }
    let mut fields = Fields::of(params);
    let mut meta = Fields::of(fields.get("_meta"));
    meta.set(SUBSCRIPTION, origin.id.clone());
    fields.set("_meta", meta.raw());
    Some(fields.raw())
}

/// The number of ours under which a subscription speaks.
pub(super) fn subscription(params: Option<&RawValue>) -> Option<u64> {
    params.filter(|params| params.get().contains(SUBSCRIPTION))?;
    let meta = Fields::of(Fields::of(params).get("_meta")).get(SUBSCRIPTION)?.get().to_owned();
    meta.trim_matches('"').parse().ok()
}
