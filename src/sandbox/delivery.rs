//! Posts the deliveries of a world to a webhook over HTTP, and reports the responses to the model.

use std::sync::Arc;
use std::time::Duration;

use http::{Method, Request};
use phileas_world::WebhookDelivery;

use super::virtual_time::SharedWorld;
use crate::adapters::transport::Transport;
use crate::server::Shutdown;

/// How often the sandbox checks for webhooks to deliver.
const ROUND: Duration = Duration::from_millis(40);
/// How long a webhook may take, as GitHub waits.
/// <https://docs.github.com/en/webhooks/using-webhooks/best-practices-for-using-webhooks>
const PATIENCE: Duration = Duration::from_secs(10);

/// Posts every delivery to `url` when its time has come, until the shutdown. Deliveries that the
/// model loses are never posted; those that it doubles or delays are posted twice or late.
pub async fn deliver_webhooks(
    shared: SharedWorld,
    transport: Arc<dyn Transport>,
    url: String,
    mut ending: Shutdown,
) {
    loop {
        tokio::select! {
            () = ending.wait_for_shutdown() => return,
            () = tokio::time::sleep(ROUND) => {}
        }
        let due = shared.lock_world().take_due_deliveries();
        for delivery in due {
            let id = delivery.id;
            let status = post_delivery(&*transport, &url, delivery).await;
            shared.lock_world().delivery_done(id, status);
        }
    }
}

async fn post_delivery(
    transport: &dyn Transport,
    url: &str,
    delivery: WebhookDelivery,
) -> Option<u16> {
    let mut request = Request::builder().method(Method::POST).uri(url);
    if let Some(headers) = request.headers_mut() {
        *headers = delivery.headers;
    }
    let request = request.body(delivery.body).ok()?;
    let answer = tokio::time::timeout(PATIENCE, transport.send(request)).await;
    Some(answer.ok()?.ok()?.status().as_u16())
}
