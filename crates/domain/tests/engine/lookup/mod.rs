//! Figures for people.

mod figures;
mod repository_view;
mod yields;
