//! The words that knobs are written with.

use super::policy::{
    AdvanceOn, Automation, CatchUp, Driver, MainRed, Merge, Mode, NoveltyMode, PlanApproval,
    Priority, RefusalsFor, Tier,
};

/// A knob with a fixed list of words.
pub(super) trait Keyword: Copy + 'static {
    /// Every word and what it stands for, the default first.
    const WORDS: &'static [(&'static str, Self)];

    /// What a word stands for.
    fn of(word: &str) -> Option<Self> {
        let found = Self::WORDS.iter().find(|(known, _)| *known == word);
        found.map(|(_, value)| *value)
    }

    /// The words alone.
    fn all() -> Vec<&'static str> {
        Self::WORDS.iter().map(|(word, _)| *word).collect()
    }
}

macro_rules! words {
    ($($type:ident { $($word:literal => $variant:ident),+ $(,)? })+) => {
        $(impl Keyword for $type {
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, Self::$variant)),+];
        })+
    };
}

words! {
    Mode { "act" => Act, "observe" => Observe }
    AdvanceOn { "pr_open" => PrOpen, "completed" => Completed, "merged" => Merged }
    PlanApproval { "auto" => Auto, "writers" => Writers, "never" => Never }
    Automation { "pull_request" => PullRequest, "none" => None }
    CatchUp { "one" => One, "none" => None, "all" => All }
    Priority { "normal" => Normal, "high" => High, "critical" => Critical }
    Merge { "off" => Off, "green" => Green }
    Tier { "free" => Free, "pro" => Pro, "ultra" => Ultra }
    MainRed { "ignore" => Ignore, "critical_only" => CriticalOnly }
    NoveltyMode { "prompt" => Prompt, "off" => Off, "label" => Label, "close" => Close }
    RefusalsFor { "persona" => Persona, "all" => All }
    Driver { "any" => Any, "action" => Action, "server" => Server }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_comes_first() {
        fn check<W: Keyword + Default + PartialEq + std::fmt::Debug>() {
            assert_eq!(W::WORDS[0].1, W::default());
            for (word, value) in W::WORDS {
                assert_eq!(W::of(word), Some(*value));
            }
        }
        check::<Mode>();
        check::<AdvanceOn>();
        check::<PlanApproval>();
        check::<Automation>();
        check::<CatchUp>();
        check::<Priority>();
        check::<Merge>();
        check::<Tier>();
        check::<MainRed>();
        check::<Driver>();
        check::<NoveltyMode>();
        check::<RefusalsFor>();
    }
}
