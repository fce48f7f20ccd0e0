//! The view of the front page: all repositories, those that need a person first.

use std::collections::BTreeMap;

use jiff::Timestamp;
use phileas_domain::model::{RepositoryId, RepositoryName};

use crate::server::admin::dashboard::board::{Board, BriefSummary, RepositoryStatus};
use crate::server::admin::dashboard::format::{self, Moment};

/// The most rows of a page.
pub const PAGE: usize = 60;

/// The front page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrontView {
    /// How many repositories have each status: its name, its class, the number.
    pub tally: Vec<(&'static str, &'static str, usize)>,
    /// The rows of this page.
    pub rows: Vec<RowView>,
    /// The search.
    pub query: String,
    /// The number of this page, from 1.
    pub page: usize,
    /// The number of pages.
    pub pages: usize,
    /// How many repositories match the search.
    pub total: usize,
}

/// One repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowView {
    /// GitHub's number of it.
    pub id: u64,
    /// Its owner.
    pub owner: String,
    /// Its name.
    pub name: String,
    /// The class of its status.
    pub class: &'static str,
    /// The name of its status.
    pub status: &'static str,
    /// A few words about it.
    pub brief: BriefSummary,
    /// When it was last checked.
    pub seen: Option<Moment>,
}

/// Builds the front page of these repositories.
#[must_use]
pub fn front_view(
    members: &BTreeMap<RepositoryId, RepositoryName>,
    suspended: &BTreeMap<RepositoryId, String>,
    board: &Board,
    query: &str,
    page: usize,
    now: Timestamp,
) -> FrontView {
    let wanted = query.trim().to_lowercase();
    let mut tally: BTreeMap<RepositoryStatus, usize> = BTreeMap::new();
    let mut rows = Vec::new();
    for (id, name) in members {
        let known = board.brief_summary(*id);
        let mut said = known.map_or_else(BriefSummary::not_checked, |words| (*words).clone());
        if let Some(because) = suspended.get(id) {
            said.status = RepositoryStatus::Attention;
            said.problem = Some(format!("suspended: {because}"));
        }
        *tally.entry(said.status).or_default() += 1;
        let text = name.to_string();
        if text.to_lowercase().contains(&wanted) {
            rows.push((said.status, text.to_lowercase(), *id, name, said));
        }
    }
    rows.sort_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
    let found = rows.len();
    let pages = found.div_ceil(PAGE).max(1);
    let page = page.clamp(1, pages);
    let shown = rows.into_iter().skip((page - 1) * PAGE).take(PAGE);
    FrontView {
        tally: [
            RepositoryStatus::Attention,
            RepositoryStatus::Working,
            RepositoryStatus::Waiting,
            RepositoryStatus::Unseen,
        ]
        .into_iter()
        .map(|standing| {
            let (word, class) = of_standing(standing);
            let count = tally.get(&standing).copied().unwrap_or(0);
            let word = match (standing, count) {
                (RepositoryStatus::Attention, 2..) => "need you",
                _ => word,
            };
            (word, class, count)
        })
        .collect(),
        rows: shown
            .map(|(standing, _, id, name, said)| row_view(standing, id, name, said, now))
            .collect(),
        query: query.trim().to_owned(),
        page,
        pages,
        total: found,
    }
}

fn row_view(
    standing: RepositoryStatus,
    id: RepositoryId,
    name: &RepositoryName,
    brief: BriefSummary,
    now: Timestamp,
) -> RowView {
    let (word, class) = of_standing(standing);
    RowView {
        id: id.0,
        owner: name.owner.clone(),
        name: name.name.clone(),
        class,
        status: word,
        seen: brief.at.map(|at| format::format_moment(at, now)),
        brief,
    }
}

/// The name and the class of a status.
#[must_use]
pub fn of_standing(standing: RepositoryStatus) -> (&'static str, &'static str) {
    match standing {
        RepositoryStatus::Attention => ("needs you", "attention"),
        RepositoryStatus::Working => ("at work", "working"),
        RepositoryStatus::Waiting => ("waiting", "waiting"),
        RepositoryStatus::Unseen => ("not checked yet", "unseen"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches_query(query: &str, page: usize, count: u64) -> FrontView {
        let board = Board::default();
        board.store_failure(RepositoryId(2), "no key");
        let members = (1..=count)
            .map(|id| (RepositoryId(id), format!("Acme/r{id:03}").parse().unwrap()))
            .collect();
        let suspended = BTreeMap::from([(RepositoryId(3), "it panicked".to_owned())]);
        front_view(
            &members,
            &suspended,
            &board,
            query,
            page,
            Timestamp::UNIX_EPOCH,
        )
    }

    #[test]
    fn who_needs_a_person_comes_first() {
        let page = matches_query("", 1, 4);
        let rows: Vec<_> = page
            .rows
            .iter()
            .map(|row| (row.id, row.status, row.brief.text()))
            .collect();
        assert_eq!(rows[0], (2, "needs you", "no key"));
        assert_eq!(rows[1], (3, "needs you", "suspended: it panicked"));
        assert_eq!((rows[2].0, rows[2].1), (1, "not checked yet"));
        assert_eq!(page.tally[0], ("need you", "attention", 2));
    }

    #[test]
    fn pages_end_and_searches_ignore_case() {
        let page = matches_query("", 99, 130);
        assert_eq!((page.page, page.pages, page.rows.len()), (3, 3, 10));
        let found = matches_query(" aCME/R12", 1, 130);
        assert_eq!(
            (found.total, found.pages, found.query.as_str()),
            (10, 1, "aCME/R12")
        );
        let none = matches_query("unknown", 1, 3);
        assert_eq!((none.total, none.page, none.rows.len()), (0, 1, 0));
    }
}
