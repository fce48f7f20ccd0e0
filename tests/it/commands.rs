//! The command line as a person and a script meet it: the built program, the models over TCP, exit codes, both
//! streams, and verdicts from the models' own books.

mod action;
mod adopt;
mod bench;
mod board;
mod doctor;
mod empty;
mod examples;
mod fresh;
mod full_disk;
mod init;
mod init_refused;
mod labels;
mod layers;
mod migrate;
mod pause;
mod personas;
mod pipeline;
mod probe;
mod repository;
mod requests;
mod schema;
mod secrets;
mod serve;
mod session;
mod show;
mod simulate;
mod sprints;
mod state;
mod status;
mod subfolders;
mod terminal;
mod track;
mod work;
mod world_only;
