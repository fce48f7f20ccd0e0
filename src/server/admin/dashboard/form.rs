//! The forms of the dashboard, taken only with the token of the visitor's session.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts as _, Request};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use phileas_domain::model::RepositoryId;

use super::access::Visitor;
use super::context::DashboardContext;
use super::handlers::{self, Number, repository_of};
use super::request_guard::RequestId;
use crate::runtime::inbox::{Inbox, InboxError};
use crate::server::admin::audit::AuditEntry;

/// The longest field of a form, in bytes.
const MAX_FIELD: usize = 512;

/// Returns one field of a form.
pub(super) fn form_field(form: &[u8], name: &str) -> Option<String> {
    form_urlencoded::parse(form)
        .find(|(known, _)| known == name)
        .map(|(_, value)| value.into_owned())
        .filter(|value| value.len() <= MAX_FIELD)
}

/// Refuses a form without a valid token, such as one from before a restart of the service.
pub(super) async fn refuse_form<I: Inbox>(
    context: &DashboardContext<I>,
    visitor: Option<&Visitor>,
) -> Response {
    let text = "The form is from before the service was restarted, or from another page. Go back, reload the page and try again.";
    handlers::message_page(
        context,
        visitor,
        StatusCode::FORBIDDEN,
        "This form is too old",
        text.to_owned(),
    )
    .await
}

pub(super) fn inbox_unavailable(error: &InboxError) -> Response {
    tracing::error!("{error}");
    (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")).into_response()
}

impl<I> DashboardContext<I> {
    pub(super) fn is_own_form(&self, visitor: Option<&Visitor>, form: &[u8]) -> bool {
        let given = form_field(form, "csrf");
        self.dashboard.access.is_own_form(visitor, given.as_deref())
    }

    pub(super) fn record_action(
        &self,
        who: &str,
        what: &str,
        about: Option<&str>,
        result: &str,
        id: &RequestId,
    ) {
        self.dashboard.audit.record_entry(&AuditEntry {
            at: self.current_time(),
            who,
            what,
            about,
            result,
            request: &id.0,
        });
    }
}

/// A form with a valid token.
pub(super) struct OwnForm<I> {
    pub(super) context: Arc<DashboardContext<I>>,
    pub(super) visitor: Visitor,
    pub(super) request: RequestId,
    body: Bytes,
}

impl<I> OwnForm<I> {
    /// Returns one field.
    pub(super) fn field(&self, name: &str) -> Option<String> {
        form_field(&self.body, name)
    }

    /// Writes the action of the visitor into the audit log.
    pub(super) fn record(&self, what: &str, about: Option<&str>, result: &str) {
        let who = self.visitor.audit_name();
        self.context
            .record_action(&who, what, about, result, &self.request);
    }
}

impl<I: Inbox + 'static> FromRequest<Arc<DashboardContext<I>>> for OwnForm<I> {
    type Rejection = Response;

    async fn from_request(
        request: Request,
        context: &Arc<DashboardContext<I>>,
    ) -> Result<Self, Response> {
        let missing = || StatusCode::INTERNAL_SERVER_ERROR.into_response();
        let visitor = request.extensions().get::<Visitor>().cloned();
        let id = request.extensions().get::<RequestId>().cloned();
        let (visitor, id) = visitor.zip(id).ok_or_else(missing)?;
        let body = Bytes::from_request(request, context)
            .await
            .map_err(|rejection| rejection.into_response())?;
        if !context.is_own_form(Some(&visitor), &body) {
            return Err(refuse_form(context, Some(&visitor)).await);
        }
        Ok(Self {
            context: Arc::clone(context),
            visitor,
            request: id,
            body,
        })
    }
}

/// A form of a repository's page, with a valid token.
pub(super) struct RepositoryForm<I> {
    pub(super) form: OwnForm<I>,
    pub(super) repository: RepositoryId,
}

impl<I> RepositoryForm<I> {
    pub(super) fn record(&self, what: &str, result: &str) {
        self.form
            .record(what, Some(&self.repository.0.to_string()), result);
    }

    /// Returns to the page of the repository, which shows the result of that name.
    pub(super) fn redirect(&self, result: &str) -> Response {
        Redirect::to(&format!(
            "/repositories/{}?done={result}",
            self.repository.0
        ))
        .into_response()
    }
}

impl<I: Inbox + 'static> FromRequest<Arc<DashboardContext<I>>> for RepositoryForm<I> {
    type Rejection = Response;

    async fn from_request(
        request: Request,
        context: &Arc<DashboardContext<I>>,
    ) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        let number = Number::from_request_parts(&mut parts, context).await;
        let form = OwnForm::from_request(Request::from_parts(parts, body), context).await?;
        let repository = number.ok().as_ref().and_then(repository_of);
        let repository = repository.ok_or_else(|| StatusCode::NOT_FOUND.into_response())?;
        Ok(Self { form, repository })
    }
}
