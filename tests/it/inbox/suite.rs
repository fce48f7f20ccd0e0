//! The list of cases, which every inbox passes.

macro_rules! suite {
    ($open:path: $($module:ident: $($case:ident $(($room:ident))?),+;)+) => {
        $($(
            #[tokio::test]
            async fn $case() {
                let room = [$(Room::$room,)? Room::Plenty][0];
                let Stand { inbox, _beside } = $open(room).await;
                $module::$case(&inbox).await;
            }
        )+)+
    };
}

macro_rules! conformance {
    ($name:ident, $open:path) => {
        mod $name {
            use super::*;

            suite! {
                $open:
                leases:
                    the_earliest_due_time_wins,
                    a_hundred_triggers_are_one_tick,
                    a_wake_during_a_tick_leads_to_another,
                    a_later_wake_postpones_nothing,
                    a_holder_that_was_taken_over_changes_nothing,
                    a_heartbeat_keeps_a_lease_and_tells_of_its_loss,
                    a_lease_that_is_given_back_is_not_counted,
                    no_two_holders_share_a_lease,
                    the_longest_overdue_comes_first,
                    the_next_time_of_a_tick_is_kept,
                    what_is_forgotten_is_not_due,
                    a_wake_during_an_abandoned_lease_is_not_lost,
                    news_comes_with_each_wake;
                faults:
                    own_faults_suspend_in_the_end,
                    a_handler_that_never_comes_back_is_suspended,
                    outages_never_suspend,
                    outages_between_do_not_hide_faults,
                    patience_is_kept_within_reason,
                    traffic_does_not_revive_what_is_suspended,
                    a_suspended_repository_is_tried_once_a_day,
                    a_person_resumes_what_is_suspended,
                    a_pause_ends_when_what_was_waited_for_has_come,
                    a_clock_that_was_set_back_stops_no_repository,
                    who_was_put_off_a_moment_ago_is_not_called_back,
                    what_a_clock_that_was_ahead_has_heard_hides_nothing,
                    those_that_went_down_together_come_back_apart,
                    two_power_cuts_suspend_no_repository,
                    faults_before_a_death_do_not_make_it_worse,
                    a_repository_whose_process_dies_alone_is_suspended,
                    only_deaths_since_the_last_finished_tick_count,
                    a_process_that_claims_again_has_not_died;
                keeping:
                    r3_a_delivery_is_stored_once,
                    r3_a_failed_delivery_runs_again,
                    what_came_during_a_tick_is_still_pending,
                    deliveries_without_a_repository_wake_none,
                    all_facts_come_back,
                    pages_run_both_ways,
                    a_delivery_is_run_again_on_demand,
                    r3_facts_are_kept_for_a_month,
                    a_full_inbox_refuses_and_is_well_again(Little),
                    the_last_room_is_for_those_that_wake(Little),
                    the_figures_are_right;
            }
        }
    };
}

pub(crate) use {conformance, suite};
