//! Identifies the caller of a request and checks its permissions.

use data_encoding::{BASE64, BASE64URL_NOPAD};
use http::{HeaderMap, header};
use jiff::Timestamp;
use serde_json::Value;

use super::{Call, Refusal};
use crate::github::account::{Access, Permissions};
use crate::github::{Identity, Model, RepoId, Repository, Role, TokenKind};

/// A JWT may live this many seconds at most (GitHub's documentation: 10 minutes).
const MAX_JWT_SECONDS: i64 = 600;
/// Clocks may differ by this many seconds.
const JWT_SKEW_SECONDS: i64 = 60;

/// The access that a route requires of its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequiredAccess {
    /// Nothing.
    Nothing,
    /// Any credentials.
    SignedIn,
    /// An App's JWT.
    App,
    /// Reading a repository with this permission.
    Read(&'static str),
    /// Reading what even a public repository shows to its collaborators only.
    Collaborate(&'static str),
    /// Opening issues and commenting, which every reader may do.
    Participate(&'static str),
    /// Labels and states of issues and pull requests.
    Triage(&'static str),
    /// Writing a repository.
    Write(&'static str),
    /// Administering a repository.
    Admin(&'static str),
}

impl RequiredAccess {
    fn required_permission(self) -> Option<(&'static str, Access, Role)> {
        Some(match self {
            Self::Nothing | Self::SignedIn | Self::App => return None,
            Self::Read(name) | Self::Collaborate(name) => (name, Access::Read, Role::Read),
            Self::Participate(name) => (name, Access::Write, Role::Read),
            Self::Triage(name) => (name, Access::Write, Role::Triage),
            Self::Write(name) => (name, Access::Write, Role::Write),
            Self::Admin(name) => (name, Access::Write, Role::Admin),
        })
    }
}

impl Model {
    /// The caller of a request; none without credentials, a refusal for wrong ones.
    pub(crate) fn identify_caller(
        &self,
        headers: &HeaderMap,
        now: Timestamp,
    ) -> Result<Option<Identity>, Refusal> {
        let Some(value) = headers
            .get(header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok())
        else {
            return Ok(None);
        };
        let bad = || Refusal::new(401, "Bad credentials");
        let (scheme, rest) = value.split_once(' ').ok_or_else(bad)?;
        let token = match scheme.to_ascii_lowercase().as_str() {
            "bearer" | "token" => rest.trim().to_owned(),
            "basic" => {
                let text = BASE64
                    .decode(rest.trim().as_bytes())
                    .ok()
                    .and_then(|bytes| String::from_utf8(bytes).ok());
                text.and_then(|text| text.split_once(':').map(|(_, token)| token.to_owned()))
                    .ok_or_else(bad)?
            }
            _ => return Err(bad()),
        };
        if self.refused.iter().any(|start| token.starts_with(start)) {
            return Err(bad());
        }
        if let Some(identity) = self.tokens.get(&token) {
            if identity.expires_at.is_some_and(|end| end <= now) {
                return Err(bad());
            }
            if let TokenKind::Installation { installation, .. } = &identity.kind
                && self
                    .installations
                    .get(installation)
                    .is_none_or(|i| i.suspended_at.is_some())
            {
                return Err(Refusal::new(403, "This installation has been suspended"));
            }
            return Ok(Some(identity.clone()));
        }
        if token.starts_with("eyJ") && token.split('.').count() == 3 {
            return self.identify_app(&token, now).map(Some);
        }
        Err(bad())
    }

    fn identify_app(&self, token: &str, now: Timestamp) -> Result<Identity, Refusal> {
        let refuse = |text: &str| Refusal::new(401, text);
        let undecodable = || refuse("A JSON web token could not be decoded");
        let parts: Vec<&str> = token.split('.').collect();
        let read = |part: &str| -> Option<Value> {
            serde_json::from_slice(&BASE64URL_NOPAD.decode(part.as_bytes()).ok()?).ok()
        };
        let (head, claims) = (
            parts
                .first()
                .and_then(|part| read(part))
                .ok_or_else(undecodable)?,
            parts
                .get(1)
                .and_then(|part| read(part))
                .ok_or_else(undecodable)?,
        );
        if head["alg"] != "RS256" {
            return Err(undecodable());
        }
        let seconds = now.as_second();
        let instant = |name: &str| {
            claims[name]
                .as_i64()
                .or_else(|| claims[name].as_f64().map(|at| at as i64))
        };
        let Some(end) = instant("exp").filter(|end| *end > seconds) else {
            return Err(refuse(
                "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
            ));
        };
        if end > seconds + MAX_JWT_SECONDS + JWT_SKEW_SECONDS {
            return Err(refuse(
                "'Expiration time' claim ('exp') is too far in the future",
            ));
        }
        if instant("iat").is_some_and(|begin| begin > seconds + JWT_SKEW_SECONDS) {
            return Err(refuse(
                "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
            ));
        }
        let issuer = match &claims["iss"] {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => return Err(refuse("'Issuer' claim ('iss') must be an Integer")),
        };
        let app = self
            .apps
            .values()
            .find(|app| app.id.to_string() == issuer || app.client_id == issuer)
            .ok_or_else(|| Refusal::new(404, "Integration not found"))?;
        if let Some(key) = &app.public_key {
            let signed = token.rsplit_once('.').map_or("", |(signed, _)| signed);
            let signature = parts
                .get(2)
                .and_then(|part| BASE64URL_NOPAD.decode(part.as_bytes()).ok())
                .ok_or_else(undecodable)?;
            aws_lc_rs::signature::UnparsedPublicKey::new(
                &aws_lc_rs::signature::RSA_PKCS1_2048_8192_SHA256,
                key,
            )
            .verify(signed.as_bytes(), &signature)
            .map_err(|_| undecodable())?;
        }
        Ok(Identity {
            account: app.account,
            kind: TokenKind::App { app: app.id },
            expires_at: None,
            name: format!("app:{}", app.slug),
        })
    }

    /// Checks that an identity may do this in a repository. The error is the reply.
    pub(crate) fn check_access(
        &self,
        identity: Option<&Identity>,
        repo: RepoId,
        need: RequiredAccess,
    ) -> Result<(), Refusal> {
        let Some((permission, access, role)) = need.required_permission() else {
            return Ok(());
        };
        let Some(repository) = self.repository(repo) else {
            return Err(Refusal::not_found());
        };
        let inside = matches!(need, RequiredAccess::Collaborate(_));
        let public_read = !repository.private && access == Access::Read && !inside;
        let writes = access == Access::Write;
        let result = match identity {
            None if public_read => Ok(()),
            None if repository.private => Err(Refusal::not_found()),
            None => Err(Refusal::new(401, "Requires authentication")),
            Some(identity) => match &identity.kind {
                TokenKind::Person { scopes } => {
                    self.check_person(identity.account, scopes.as_deref(), repository, need, role)
                }
                TokenKind::FineGrained { permissions } => {
                    let known = repository.owner == identity.account
                        || repository.collaborators.contains_key(&identity.account);
                    let able = self.role(repo, identity.account) >= role;
                    token_permits(
                        known && able,
                        public_read,
                        repository.private && !known,
                        permissions,
                        permission,
                        access,
                    )
                    .map_err(|refusal| match refusal.status {
                        403 => {
                            Refusal::new(403, "Resource not accessible by personal access token")
                        }
                        _ => refusal,
                    })
                }
                TokenKind::Actions {
                    repository: own,
                    permissions,
                } => token_permits(
                    *own == repo,
                    public_read,
                    repository.private,
                    permissions,
                    permission,
                    access,
                ),
                TokenKind::Installation {
                    installation,
                    repositories,
                    permissions,
                    ..
                } => {
                    let reached = self
                        .installations
                        .get(installation)
                        .is_some_and(|i| self.installation_reaches(i, repo))
                        && repositories
                            .as_ref()
                            .is_none_or(|chosen| chosen.contains(&repo));
                    token_permits(
                        reached,
                        public_read,
                        repository.private,
                        permissions,
                        permission,
                        access,
                    )
                }
                TokenKind::App { .. } => Err(Refusal::new(
                    401,
                    "A JSON web token could not be used here; authenticate as an installation",
                )),
            },
        };
        result?;
        if repository.archived && writes {
            return Err(Refusal::new(
                403,
                "Repository was archived so is read-only.",
            ));
        }
        Ok(())
    }

    /// Checks that a person may do this in a repository with a classic token of these scopes.
    fn check_person(
        &self,
        account: u64,
        scopes: Option<&[String]>,
        repository: &Repository,
        need: RequiredAccess,
        role: Role,
    ) -> Result<(), Refusal> {
        let scoped = |name: &str| {
            scopes.is_none_or(|scopes: &[String]| scopes.iter().any(|scope| scope == name))
        };
        let inside = matches!(need, RequiredAccess::Collaborate(_));
        let reads = matches!(
            need,
            RequiredAccess::Read(_) | RequiredAccess::Collaborate(_)
        );
        let open = !repository.private && (reads || scoped("public_repo"));
        if !scoped("repo") && !open {
            // A repository outside a token's scopes is answered 404.
            return Err(Refusal::not_found());
        }
        let has = self.role(repository.id, account);
        let known = repository.owner == account || repository.collaborators.contains_key(&account);
        if inside && !known {
            Err(Refusal::new(
                403,
                "Resource not accessible by personal access token",
            ))
        } else if has >= role {
            Ok(())
        } else if has == Role::None || role == Role::Admin {
            Err(Refusal::not_found())
        } else {
            Err(Refusal::new(403, "Must have push access to repository"))
        }
    }
}

fn token_permits(
    reached: bool,
    public_read: bool,
    private: bool,
    permissions: &Permissions,
    permission: &str,
    access: Access,
) -> Result<(), Refusal> {
    let has = |name: &str| permissions.get(name).is_some_and(|given| *given >= access);
    // Issues and pull requests share comments and labels; either permission opens them.
    let enough = permission
        .split('|')
        .any(|name| (name == "metadata" && access == Access::Read) || has(name));
    match (reached, enough) {
        (true, true) => Ok(()),
        _ if public_read => Ok(()),
        (false, _) if private => Err(Refusal::not_found()),
        _ => Err(Refusal::new(403, "Resource not accessible by integration")),
    }
}

impl Call<'_> {
    /// Finds the repository of the path and checks that the caller may use the route.
    pub(crate) fn admit_caller(&mut self, need: RequiredAccess) -> Result<(), Refusal> {
        match (need, self.identity.as_ref().map(|identity| &identity.kind)) {
            (RequiredAccess::Nothing, _) | (RequiredAccess::App, Some(TokenKind::App { .. })) => {
                return Ok(());
            }
            (RequiredAccess::App, _) => {
                return Err(Refusal::new(401, "A JSON web token could not be decoded"));
            }
            (RequiredAccess::SignedIn, None) => {
                return Err(Refusal::new(401, "Requires authentication"));
            }
            (RequiredAccess::SignedIn, Some(_)) => return Ok(()),
            _ => {}
        }
        let (owner, name) = (
            self.path_param("owner").to_owned(),
            self.path_param("repo").to_owned(),
        );
        let Some(repo) = self.model.repository_by_name(&owner, &name) else {
            let Some(repo) = self.model.repository_by_former_name(&owner, &name) else {
                return Err(Refusal::not_found());
            };
            self.model.check_access(
                self.identity.as_ref(),
                repo,
                RequiredAccess::Read("metadata"),
            )?;
            let rest = self
                .path
                .splitn(5, '/')
                .nth(4)
                .map_or_else(String::new, |rest| format!("/{rest}"));
            let mut location = format!("{}/repositories/{repo}{rest}", self.model.api_url);
            if !self.query.is_empty() {
                let query = form_urlencoded::Serializer::new(String::new())
                    .extend_pairs(&self.query)
                    .finish();
                location = format!("{location}?{query}");
            }
            let status = if matches!(need, RequiredAccess::Read(_)) {
                301
            } else {
                307
            };
            let message = if status == 301 {
                "Moved Permanently"
            } else {
                "Temporary Redirect"
            };
            return Err(Refusal {
                location: Some(location),
                ..Refusal::new(status, message)
            });
        };
        self.model
            .check_access(self.identity.as_ref(), repo, need)?;
        self.repo = Some(repo);
        Ok(())
    }
}
