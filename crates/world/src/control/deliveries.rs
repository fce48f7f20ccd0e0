//! Hands webhook deliveries to a process that posts them, and takes its reports.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::error::ControlError;
use crate::world::World;

/// The report about a delivery.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Delivered {
    id: u64,
    #[serde(default)]
    status: Option<u16>,
}

pub(super) fn take_deliveries(world: &mut World) -> Value {
    world
        .take_due_deliveries()
        .into_iter()
        .map(|delivery| {
            let headers: Map<String, Value> = delivery
                .headers
                .iter()
                .filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.into())))
                .collect();
            json!({
                "id": delivery.id,
                "guid": delivery.guid,
                "event": delivery.event,
                "action": delivery.action,
                "url": delivery.url,
                "headers": headers,
                "body": String::from_utf8_lossy(&delivery.body),
                "due": delivery.due,
            })
        })
        .collect()
}

pub(super) fn report_delivery(
    world: &mut World,
    delivered: &Delivered,
) -> Result<Value, ControlError> {
    let Delivered { id, status } = *delivered;
    if world.github().deliveries().all(|known| known.id != id) {
        return Err(ControlError::missing(format!(
            "id: there is no delivery {id}"
        )));
    }
    world.delivery_done(id, status);
    Ok(json!({}))
}
