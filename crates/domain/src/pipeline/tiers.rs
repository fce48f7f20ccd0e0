//! Agents: which there are, and which of them begins.

use super::values::{Complexity, Stage, Tier};

/// The tiers in which a stage has an agent, from the weakest.
pub(super) fn tiers_of(stage: Stage) -> &'static [Tier] {
    match stage {
        Stage::Plan | Stage::Debug => &[Tier::Standard, Tier::High],
        Stage::Implement | Stage::Review => &[Tier::Fast, Tier::Standard, Tier::High],
        Stage::Test => &[Tier::Fast, Tier::Standard],
        Stage::Git => &[Tier::Standard],
    }
}

/// The tier with which a stage begins.
pub(super) fn first_tier(stage: Stage, complexity: Option<Complexity>) -> Tier {
    match (complexity.unwrap_or(Complexity::Standard), stage) {
        (Complexity::Trivial, Stage::Implement | Stage::Test | Stage::Review) => Tier::Fast,
        (Complexity::Complex, Stage::Plan | Stage::Implement | Stage::Review | Stage::Debug) => {
            Tier::High
        }
        _ => Tier::Standard,
    }
}

/// The next tier of a stage.
pub(super) fn next_tier(stage: Stage, tier: Tier) -> Option<Tier> {
    tiers_of(stage)
        .iter()
        .copied()
        .find(|higher| *higher > tier)
}

/// The agent of a stage in a tier, or in the nearest one that has an agent.
pub(super) fn agent_name(stage: Stage, tier: Tier) -> String {
    let base = match stage {
        Stage::Plan => "jg-subplanner",
        Stage::Implement => "jg-worker",
        Stage::Test => "jg-tester",
        Stage::Debug => "jg-debugger",
        Stage::Review => "jg-reviewer",
        Stage::Git => "jg-git",
    };
    match tier {
        Tier::Fast if tiers_of(stage).contains(&Tier::Fast) => format!("{base}-fast"),
        Tier::High if tiers_of(stage).contains(&Tier::High) => format!("{base}-high"),
        _ => base.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_first_tier_has_an_agent_and_the_ladder_ends() {
        for stage in Stage::ALL {
            for complexity in [
                Complexity::Trivial,
                Complexity::Standard,
                Complexity::Complex,
            ] {
                assert!(
                    tiers_of(stage).contains(&first_tier(stage, Some(complexity))),
                    "{stage}"
                );
            }
            let top = tiers_of(stage).last().copied().unwrap();
            assert_eq!(next_tier(stage, top), None);
        }
        assert_eq!(agent_name(Stage::Implement, Tier::Fast), "jg-worker-fast");
        assert_eq!(agent_name(Stage::Test, Tier::High), "jg-tester");
        assert_eq!(agent_name(Stage::Plan, Tier::High), "jg-subplanner-high");
        assert_eq!(next_tier(Stage::Plan, Tier::Fast), Some(Tier::Standard));
    }
}
