//! Lists sessions and activities: order, pages, visibility.

use bytes::Bytes;
use http::{Response, StatusCode};
use jiff::Timestamp;

use super::filter;
use super::model::{Model, is_within};
use super::query;
use super::refusal::{Refusal, json_reply};
use super::request::{Call, text_reply};
use super::wire;
use crate::knobs::{Knobs, ListingOrder};

/// The default number of entries on a page (documented).
const SESSIONS_A_PAGE: usize = 30;
const ACTIVITIES_A_PAGE: usize = 50;

impl Model {
    pub(super) fn list_sessions(&mut self, call: &Call<'_>) -> Result<Response<Bytes>, Refusal> {
        let size = call.query.page_size(SESSIONS_A_PAGE, call.knobs)?;
        let wanted = call
            .query
            .filter
            .as_deref()
            .map(filter::parse_archived)
            .transpose()?;
        let (now, knobs) = (call.now, call.knobs);
        // A token holds the number of the session that comes next, so that newer sessions do not shift pages.
        let position = call.query.page_start("sessions")?;
        let mut listed: Vec<usize> = Vec::new();
        let next = match knobs.listing_order {
            ListingOrder::NewestFirst => {
                let below = position.map_or(usize::MAX, |position| position + 1);
                let mut next = None;
                for index in self.of_account[call.account].iter().rev().copied() {
                    if index >= below || !self.is_listed(index, wanted, now, knobs) {
                        continue;
                    }
                    if listed.len() == size {
                        next = Some(index);
                        break;
                    }
                    listed.push(index);
                }
                next
            }
            order => {
                let mut all: Vec<usize> = self.of_account[call.account]
                    .iter()
                    .copied()
                    .filter(|index| self.is_listed(*index, wanted, now, knobs))
                    .collect();
                match order {
                    ListingOrder::RecentlyUpdated => {
                        all.sort_by_key(|index| {
                            std::cmp::Reverse((self.sessions[*index].updated, *index))
                        });
                    }
                    // Ids are random, so their last digits give a random order.
                    _ => all.sort_by_cached_key(|index| {
                        self.sessions[*index].id().chars().rev().collect::<String>()
                    }),
                }
                let start = position.unwrap_or(0);
                listed.extend(all.iter().skip(start).take(size));
                (start + listed.len() < all.len()).then_some(start + listed.len())
            }
        };
        knobs.count_use(
            "listing-order",
            !listed.is_sorted_by(|one, next| one > next),
        );
        for index in &listed {
            self.sessions[*index].encode_session(true, now, knobs);
        }
        let token = next.map(|next| query::page_token("sessions", next));
        let entries = listed
            .iter()
            .map(|index| self.sessions[*index].last_encoding());
        Ok(text_reply(wire::list_page(
            "sessions",
            entries,
            token.as_deref(),
        )))
    }

    fn is_listed(
        &self,
        index: usize,
        archived: Option<bool>,
        now: Timestamp,
        knobs: &Knobs,
    ) -> bool {
        let session = &self.sessions[index];
        let wanted = match archived {
            Some(archived) => session.archived == archived,
            None => {
                let shown = session.archived && knobs.archived_listed;
                !session.archived || knobs.count_use("archived-listed", shown)
            }
        };
        let late = is_within(now, session.created, knobs.listing_lag_seconds);
        wanted && !session.deleted && !knobs.count_use("listing-lag-seconds", late)
    }

    pub(super) fn list_activities(
        &mut self,
        id: &str,
        call: &Call<'_>,
    ) -> Result<Response<Bytes>, Refusal> {
        self.usage[call.account].read_activities(call.now, call.knobs)?;
        let index = self.find_session(id, call)?;
        let session = &self.sessions[index];
        let fresh = is_within(
            call.now,
            session.created,
            call.knobs.fresh_activities_404_seconds,
        );
        if call.knobs.count_use("fresh-activities-404-seconds", fresh) {
            return Err(Refusal::not_found());
        }
        let size = call.query.page_size(ACTIVITIES_A_PAGE, call.knobs)?;
        let start = call.query.page_start("activities")?.unwrap_or(0);
        let newer = match &call.query.filter {
            Some(_)
                if call
                    .knobs
                    .count_use("activity-filter", !call.knobs.activity_filter) =>
            {
                return Err(Refusal::invalid_argument());
            }
            Some(text) => Some(filter::newer_than(text)?),
            None => None,
        };
        let entries: Vec<String> = session
            .activities
            .iter()
            .filter(|activity| newer.is_none_or(|newer| activity.at > newer))
            .skip(start)
            .take(size + 1)
            .map(|activity| activity.to_wire(id, call.knobs).to_string())
            .collect();
        let token = (entries.len() > size).then(|| query::page_token("activities", start + size));
        let page = entries.iter().take(size).map(String::as_str);
        Ok(text_reply(wire::list_page(
            "activities",
            page,
            token.as_deref(),
        )))
    }

    pub(super) fn get_activity(
        &mut self,
        id: &str,
        activity: &str,
        call: &Call<'_>,
    ) -> Result<Response<Bytes>, Refusal> {
        self.usage[call.account].read_activities(call.now, call.knobs)?;
        let index = self.find_session(id, call)?;
        let found = self.sessions[index]
            .activities
            .iter()
            .find(|known| known.id == activity);
        Ok(json_reply(
            StatusCode::OK,
            &found
                .ok_or_else(Refusal::not_found)?
                .to_wire(id, call.knobs),
        ))
    }
}
