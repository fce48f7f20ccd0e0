//! Figures for people.

mod figures;
mod yields;
