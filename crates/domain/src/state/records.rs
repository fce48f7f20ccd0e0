//! The fields of every record. Each list is both its reader and its writer, so that the two cannot differ.
//!
//! | a field is | in the file |
//! |---|---|
//! | `required` | always; a file without it is refused |
//! | `always` | always; null, 0 or empty where it says nothing |
//! | `if_set` | left out where it says nothing |
//! | `if_set or` another | left out only where neither says anything |
//! | `timing` | as keys of the record itself |
//!
//! Keys stand in the order of the lists, which is that of the format's description. The keys of the shape that other
//! programs read (`persona_id`, `session_id`, `pr_number`, `created_at`, `track` of an entry; `persona_id`,
//! `session_id`, `pr_number`, `updated_at` of a track) are always there. One list serves every version, because keys were
//! only ever added; what differs between versions is in [`super::legacy`].

use super::fields::{Field, Fields};
use super::issues::{Issues, KeyPath};
use super::values::Value;
use super::written::{JsonObject, JsonValue};
use super::{
    Amendment, BudgetState, Cursors, DashboardState, Genesis, HistoryEntry, Intent, MergeState,
    NextCheck, Pause, PersonaState, PublishingState, PullAction, Refusal, RefusedEffect,
    RepeatedPlan, RequestState, STATE_VERSION, ScheduleState, State, StatusState, TrackState,
    TrackedPull, Turn, WorkFacts, WorkMark, WorkRefusal, WorkState,
};
use crate::json::{Node, Value as Json};

/// An object of the file.
pub(super) trait Record: Sized {
    fn from_fields(fields: Fields<'_, '_>) -> Option<Self>;

    fn write(&self) -> JsonValue<'_>;

    /// Reads what stands in the place of the object.
    fn from_node(node: &Node<'_>, path: &KeyPath<'_>, issues: &Issues<'_>) -> Option<Self> {
        Self::from_fields(Fields::from_node(node, path, issues)?)
    }
}

impl<T: Record> Value for T {
    fn read(node: &Node<'_>, path: &KeyPath<'_>, issues: &Issues<'_>) -> Option<Self> {
        T::from_node(node, path, issues)
    }

    fn to_json(&self) -> JsonValue<'_> {
        self.write()
    }
}

macro_rules! record {
    ($type:ident: $($field:ident $mode:ident $(or $other:ident)?),*) => {
        impl Record for $type {
            fn from_fields(mut fields: Fields<'_, '_>) -> Option<Self> {
                // Every field is read before the first that is missing ends it, so that all mistakes are reported.
                $(let $field = $mode::read(&mut fields, stringify!($field));)*
                let extra = fields.into_extra();
                Some(Self { $($field: $field?,)* extra })
            }

            fn write(&self) -> JsonValue<'_> {
                let mut out = JsonObject::default();
                $(record!(@write out, self.$field, $mode $(, self.$other)?);)*
                out.finish(&self.extra)
            }
        }
    };
    (@write $out:ident, $self:ident.$field:ident, $mode:ident) => {
        $mode::write(&mut $out, stringify!($field), &$self.$field)
    };
    (@write $out:ident, $self:ident.$field:ident, $mode:ident, $_self:ident.$other:ident) => {
        if $self.$other.is_set() {
            always::write(&mut $out, stringify!($field), &$self.$field);
        } else {
            $mode::write(&mut $out, stringify!($field), &$self.$field);
        }
    };
}

record! { Genesis:
    repository_id required,
    born_at required,
    nonce required
}

record! { HistoryEntry:
    persona_id required,
    session_id always,
    pr_number always,
    created_at always,
    track always,
    turn if_set,
    seq if_set,
    slot if_set,
    attempt if_set,
    base_sha if_set,
    outcome if_set,
    finished_at if_set,
    duplicates if_set or turn,
    zero_touch if_set,
    review_secs if_set,
    refused if_set,
    prompt if_set,
    note if_set
}

record! { Amendment:
    outcome if_set,
    pr_number if_set,
    finished_at if_set
}

record! { TrackState:
    persona_id always,
    session_id always,
    pr_number always,
    updated_at always,
    index if_set,
    seq always,
    passes always,
    last_started if_set,
    pass_stalled if_set,
    timing timing,
    base_shas if_set,
    refused if_set,
    idle_reason if_set,
    turns always,
    paused if_set
}

record! { Refusal:
    times always,
    until required,
    why always,
    notified if_set
}

record! { Turn:
    turn required,
    attempt required,
    persona_id required,
    history_key always,
    intent always,
    session_id always,
    pr_number always,
    nudges always,
    nudged_at if_set,
    reminded_at if_set,
    repeats if_set,
    listed_empty_at always,
    ambiguous if_set,
    late_finds if_set,
    failures if_set,
    refusals if_set,
    refusal if_set,
    not_before if_set,
    warned_at if_set,
    base_sha if_set,
    branch if_set,
    inputs if_set,
    cancel if_set,
    approved_by if_set,
    approved_at if_set,
    plan_shown if_set,
    approved_plan if_set,
    repeated_plan if_set
}

record! { RepeatedPlan:
    plan required,
    twin required,
    refused if_set,
    merged if_set,
    requested_at if_set,
    repeats if_set
}

record! { Intent:
    created_at required,
    not_after required,
    holder required,
    prompt_sha256 required
}

record! { ScheduleState:
    last_fired always,
    timing timing
}

record! { RequestState:
    kind required,
    subject if_set,
    digest if_set,
    actor if_set,
    actor_id if_set,
    thread if_set,
    persona if_set,
    command if_set,
    outcome if_set,
    answer if_set,
    reason if_set,
    turn if_set,
    number if_set,
    comment_id if_set,
    status if_set,
    merge if_set,
    reviews_of if_set,
    requested_at if_set,
    created_at if_set,
    finished_at if_set
}

record! { StatusState:
    digest required,
    stable_digest if_set,
    at required,
    notified if_set,
    repeats if_set
}

record! { MergeState:
    head required,
    sent_at if_set,
    attempts if_set,
    not_before if_set,
    deferrals if_set
}

record! { TrackedPull:
    session_id required,
    checks if_set,
    fix_rounds if_set,
    notified_heads if_set,
    reviews if_set,
    review_rounds if_set,
    conflicts if_set,
    conflict_rounds if_set,
    conflict_heads if_set,
    next_check if_set,
    retargeted if_set,
    draft_ready if_set,
    reminded if_set,
    closed_at if_set,
    archive_at if_set,
    archive_tries if_set,
    notice_opened_at if_set,
    notices_opened if_set
}

record! { NextCheck:
    head required,
    not_before required,
    waits if_set
}

record! { PullAction:
    head required,
    at required,
    notified if_set,
    repeats if_set
}

record! { PublishingState:
    at required,
    repeats if_set
}

record! { RefusedEffect:
    at required,
    times always
}

record! { DashboardState:
    requested if_set,
    digest if_set,
    before if_set,
    replaces if_set,
    comments_read if_set,
    at if_set,
    repeats if_set
}

record! { PersonaState:
    no_output_streak always,
    rests_until_pass always,
    rested_at if_set,
    rests_for if_set,
    rests_since if_set
}

record! { BudgetState:
    created always,
    paused_until always,
    reason always,
    quota_failures if_set
}

record! { Cursors:
    comments_since always,
    summarized_commit if_set
}

record! { WorkState:
    open always,
    remembered always,
    refused if_set,
    forgotten if_set,
    marks if_set,
    facts if_set,
    reverts if_set
}

record! { WorkFacts:
    head required,
    files if_set,
    added if_set,
    removed if_set,
    protected if_set,
    no_op if_set,
    white_space if_set,
    twin if_set,
    twin_outcome if_set
}

record! { WorkMark:
    head required,
    twin if_set,
    white_space if_set,
    label if_set,
    comment if_set,
    closes_at if_set,
    closing if_set
}

record! { WorkRefusal:
    reason required,
    never if_set,
    comment if_set,
    digest if_set,
    at if_set,
    closing if_set
}

/// People write a pause by hand: `true` or a reason will do.
impl Record for Pause {
    fn from_node(node: &Node<'_>, path: &KeyPath<'_>, issues: &Issues<'_>) -> Option<Self> {
        match &node.value {
            Json::Bool(truth) => (*truth).then(Self::default),
            Json::Text(reason) => Some(Self {
                reason: Some(reason.to_string()),
                ..Self::default()
            }),
            _ => Self::from_fields(Fields::from_node(node, path, issues)?),
        }
    }

    fn from_fields(mut fields: Fields<'_, '_>) -> Option<Self> {
        Some(Self {
            at: Field::take(&mut fields, "at"),
            by: Field::take(&mut fields, "by"),
            reason: Field::take(&mut fields, "reason"),
            extra: fields.into_extra(),
        })
    }

    fn write(&self) -> JsonValue<'_> {
        let mut out = JsonObject::default();
        if_set::write(&mut out, "at", &self.at);
        if_set::write(&mut out, "by", &self.by);
        if_set::write(&mut out, "reason", &self.reason);
        out.finish(&self.extra)
    }
}

/// Reads everything but `version`, `history` and `tracks`, whose shape depends on the version.
pub(super) fn read_state_fields(fields: &mut Fields<'_, '_>, state: &mut State) {
    state.genesis = Field::take(fields, "genesis");
    state.amendments = Field::take(fields, "amendments");
    state.schedules = Field::take(fields, "schedules");
    state.requests = Field::take(fields, "requests");
    state.pulls = Field::take(fields, "pulls");
    state.work = Field::take(fields, "work");
    state.personas = Field::take(fields, "personas");
    state.budget = Field::take(fields, "budget");
    state.cursors = Field::take(fields, "cursors");
    state.published = Field::take(fields, "published");
    state.publishing = Field::take(fields, "publishing");
    state.refused_effects = Field::take(fields, "refused_effects");
    state.dashboard_issue = Field::take(fields, "dashboard_issue");
    state.dashboard = Field::take(fields, "dashboard");
    state.sprint = Field::take(fields, "sprint");
    state.paused = Field::take(fields, "paused");
}

/// The whole state.
pub(super) fn write_state(state: &State) -> JsonValue<'_> {
    let mut out = JsonObject::default();
    out.put("version", STATE_VERSION);
    if_set::write(&mut out, "genesis", &state.genesis);
    out.put("history", JsonObject::table(&state.history, Record::write));
    if_set::write(&mut out, "amendments", &state.amendments);
    always::write(&mut out, "tracks", &state.tracks);
    always::write(&mut out, "schedules", &state.schedules);
    always::write(&mut out, "requests", &state.requests);
    if_set::write(&mut out, "pulls", &state.pulls);
    if_set::write(&mut out, "work", &state.work);
    always::write(&mut out, "personas", &state.personas);
    always::write(&mut out, "budget", &state.budget);
    always::write(&mut out, "cursors", &state.cursors);
    always::write(&mut out, "published", &state.published);
    if_set::write(&mut out, "publishing", &state.publishing);
    if_set::write(&mut out, "refused_effects", &state.refused_effects);
    always::write(&mut out, "dashboard_issue", &state.dashboard_issue);
    if_set::write(&mut out, "dashboard", &state.dashboard);
    always::write(&mut out, "sprint", &state.sprint);
    always::write(&mut out, "paused", &state.paused);
    out.finish(&state.extra)
}

mod required {
    use super::{Fields, JsonObject, Value};

    pub(super) fn read<T: Value>(fields: &mut Fields<'_, '_>, key: &str) -> Option<T> {
        fields.require(key)
    }

    pub(super) fn write<'s>(out: &mut JsonObject<'s>, key: &'static str, value: &'s impl Value) {
        out.put(key, value.to_json());
    }
}

mod always {
    use super::{Field, JsonObject};

    pub(super) use super::if_set::read;

    pub(super) fn write<'s>(out: &mut JsonObject<'s>, key: &'static str, value: &'s impl Field) {
        out.put(key, value.field_json());
    }
}

mod if_set {
    use super::{Field, Fields, JsonObject};

    /// Never `None`.
    pub(super) fn read<T: Field>(fields: &mut Fields<'_, '_>, key: &str) -> Option<T> {
        Some(T::take(fields, key))
    }

    pub(super) fn write<'s>(out: &mut JsonObject<'s>, key: &'static str, value: &'s impl Field) {
        out.put_if(key, value.field_json(), value.is_set());
    }
}

mod timing {
    use super::{Field, Fields, JsonObject, if_set};
    use crate::state::Timing;

    pub(super) fn read(fields: &mut Fields<'_, '_>, _key: &str) -> Option<Timing> {
        Some(Timing {
            expression: Field::take(fields, "expression"),
            since: Field::take(fields, "since"),
            missed: Field::take(fields, "missed"),
        })
    }

    pub(super) fn write<'s>(out: &mut JsonObject<'s>, _key: &'static str, timing: &'s Timing) {
        if_set::write(out, "expression", &timing.expression);
        if_set::write(out, "since", &timing.since);
        if_set::write(out, "missed", &timing.missed);
    }
}
