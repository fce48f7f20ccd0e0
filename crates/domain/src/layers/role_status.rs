//! Determines which roles of a layer run now, and why the others do not.

use super::Catalogue;
use crate::plan::Roster;

/// A role of the roster, and whether it runs now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleStatus {
    /// The role.
    pub role: String,
    /// Why it does not run; `None` if it does.
    pub held: Option<HoldReason>,
}

/// Why a role of the roster does not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HoldReason {
    /// It is disabled.
    Disabled,
    /// It has no file.
    Unknown,
    /// Its file is broken, or has unfilled blanks.
    Broken,
    /// Its findings should not be public, the repository is public, and the configuration does not allow it by name.
    Sensitive,
}

impl HoldReason {
    /// The reason, and how to change it, as a fragment.
    #[must_use]
    pub fn explanation(self) -> &'static str {
        match self {
            Self::Disabled => "it is turned off: `enabled = false` in .jlo/config.toml",
            Self::Unknown => "nothing says what it is to do: there is no role.yml of that name",
            Self::Broken => {
                "its role.yml is broken or not filled in; phileas validate names the mistakes"
            }
            Self::Sensitive => {
                "the ledger of a public repository is public, too: write `sensitive = true` beside its name in .jlo/config.toml if that is meant"
            }
        }
    }
}

impl Catalogue {
    /// The roles of a layer in the roster's order. A layer without roles has none.
    #[must_use]
    pub fn role_statuses(&self, roster: &Roster, layer: &str, public: bool) -> Vec<RoleStatus> {
        let members = roster.of(layer).iter();
        let standing = members.map(|member| {
            let role = self.role(layer, &member.role);
            let held = match role {
                _ if !member.enabled => Some(HoldReason::Disabled),
                None => Some(HoldReason::Unknown),
                Some(role) if !role.sound => Some(HoldReason::Broken),
                Some(role) if role.sensitive && public && !member.sensitive => {
                    Some(HoldReason::Sensitive)
                }
                Some(_) => None,
            };
            RoleStatus {
                role: member.role.clone(),
                held,
            }
        });
        standing.collect()
    }
}
