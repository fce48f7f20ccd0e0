//! Effects that GitHub refused, in the state.

use crate::engine::output::builder::Draft;
use crate::engine::output::limits::EFFECT_PAUSE_LIMIT;
use crate::state::RefusedEffect;

/// Remembers what GitHub refused.
pub(crate) fn refused(draft: &mut Draft<'_>, key: &str) {
    let now = draft.now();
    let known = draft.state.refused_effects.get(key);
    let one = RefusedEffect {
        at: now,
        times: known.map_or(0, |known| known.times).saturating_add(1),
        extra: known.map(|known| known.extra.clone()).unwrap_or_default(),
    };
    draft.state.refused_effects.insert(key.to_owned(), one);
    draft.headline(format!("GitHub refused {key}"), None);
}

/// Forgets what was refused long ago: it is not wanted any more, or it was done.
pub(crate) fn forget_refused(draft: &mut Draft<'_>) {
    let now = draft.now();
    let kept = EFFECT_PAUSE_LIMIT + EFFECT_PAUSE_LIMIT;
    let known = &mut draft.state.refused_effects;
    known.retain(|_, one| now.duration_since(one.at) < kept);
}
