//! Figures for people.

mod figures;
mod repository_view;
mod review;
mod yields;
