//! What phileas writes for people.

mod commit_texts;
mod dashboard;
mod notices;
mod work_items;
