//! Reading the plan.
