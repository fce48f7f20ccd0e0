//! Records effects that GitHub refused.

use crate::engine::output::builder::DecisionBuilder;
use crate::engine::output::limits::EFFECT_PAUSE_LIMIT;
use crate::state::RefusedEffect;

/// Records a refused effect.
pub(crate) fn record_refused_effect(builder: &mut DecisionBuilder<'_>, key: &str) {
    let now = builder.now();
    let known = builder.state.refused_effects.get(key);
    let one = RefusedEffect {
        at: now,
        times: known.map_or(0, |known| known.times).saturating_add(1),
        extra: known.map(|known| known.extra.clone()).unwrap_or_default(),
    };
    builder.state.refused_effects.insert(key.to_owned(), one);
    builder.add_headline(format!("GitHub refused {key}"), None);
}

/// Drops old refusals: their effects are no longer needed, or succeeded.
pub(crate) fn forget_refused(builder: &mut DecisionBuilder<'_>) {
    let now = builder.now();
    let kept = EFFECT_PAUSE_LIMIT + EFFECT_PAUSE_LIMIT;
    let known = &mut builder.state.refused_effects;
    known.retain(|_, one| now.duration_since(one.at) < kept);
}
