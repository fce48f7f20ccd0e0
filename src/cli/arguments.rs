//! The command line: one file for each family of commands.

mod board;
mod deadline;
mod doctor;
mod exchange;
mod inbox;
mod init;
mod jobs;
mod layers;
mod ledger;
mod mcp;
mod pause;
mod pipeline;
mod plan;
mod prompt;
mod repository;
mod sandbox;
mod service;
mod session;
mod setup;
mod tick;

use clap::{Parser, Subcommand};

pub use board::{BoardFolder, KindName, SprintCommand, StateName, TaskCommand};
pub use deadline::{CommandDeadline, DEADLINE};
pub use doctor::{Doctor, Probe};
pub use exchange::{ExchangeCommand, ExchangeLocation};
pub use inbox::{Deliveries, InboxLocation, Replay, SuspendedCommand, SuspendedRepositories};
pub use init::{Deinit, Init, LabelsCommand, TargetArguments};
pub use jobs::{AgentCommand, Events, HandleEvent, JobFiles, JobsCommand, Monitor, Watch};
pub use layers::{Bootstrap, RoleCommand, RoleLayer, RoleRepository, Upgrade};
pub use ledger::{PersonaCommand, StateCommand, StateSource, TrackCommand};
pub use mcp::{Mcp, McpCommand, McpOptions};
pub use pause::Pause;
pub use pipeline::{
    CheckStageName, LessonsCommand, PipelineArtifact, PipelineCommand, RunLocation, RunsLocation,
};
pub use plan::{ArtifactName, SchemaName, Simulate, Validate};
pub use prompt::{PromptCommand, PromptName, RenderPrompt};
pub use repository::Repository;
pub use sandbox::{Maintainer, Sandbox};
pub use service::{Health, Serve, ServiceCommand};
pub use session::SessionCommand;
pub use setup::SetupCommand;
pub use tick::{ActionArguments, TickArguments};

/// Runs Google's Jules on a GitHub repository on a schedule, with its ledger in git.
#[derive(Debug, Parser)]
#[command(name = "phileas", version, max_term_width = 100)]
pub struct Arguments {
    /// End the command after this time [default: 10m]; `serve`, `mcp`, `sandbox`, and `monitor`, `watch` and `events` of
    /// `agent` run until a signal ends them
    #[arg(long, env = "PHILEAS_DEADLINE", value_name = "DURATION", value_parser = deadline::parse_deadline, global = true, display_order = 1000)]
    pub deadline: Option<CommandDeadline>,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Watch phileas work for days on models of GitHub and Jules: no key, no network
    Sandbox(Box<Sandbox>),
    /// Write the workflow, a plan and two personas into a repository; existing files stay
    Init(Init),
    /// Check the plan and the personas of a folder
    Validate(Validate),
    /// Show what the plan would do in the coming days, and its cost
    Simulate(Simulate),
    /// Do what is due in a repository, once
    Tick(TickArguments),
    /// Show what a tick would do and why everything else waits; writes nothing
    Explain(TickArguments),
    /// Show the status of each track, what is open, and the outcomes
    Status(Repository),
    /// Find what keeps phileas from working in a repository, and how to fix it
    Doctor(Doctor),
    /// List, read, answer, approve, retry and cancel sessions
    Session {
        /// What to do with it.
        #[command(subcommand)]
        command: SessionCommand,
    },
    /// Pause a repository: phileas follows live sessions and starts no others
    Pause(Pause),
    /// Resume a repository that `pause` or a person paused in its state
    Resume(Repository),
    /// Run the webhook service for any number of repositories
    Serve(Serve),
    /// List tracks, move their pointers, pause and resume them
    Track {
        /// What to do with it.
        #[command(subcommand)]
        command: TrackCommand,
    },
    /// List personas and their outcomes, add some, and read their journals
    Persona {
        /// What to do with it.
        #[command(subcommand)]
        command: PersonaCommand,
    },
    /// Show the prompt of a persona or a layer as Jules gets it, and its sources
    Prompt {
        /// What to do with it.
        #[command(subcommand)]
        command: PromptCommand,
    },
    /// Create the labels that people use to make requests
    ///
    /// A persona's label starts it. `phileas:retry` runs a finished turn again, resumes a turn that waits for a person,
    /// and on the open pull request of a session sends it the requested changes. `phileas:hold`,
    /// `phileas:approve-plan`, `phileas:merge` and `phileas:pause` do as they say. In a comment: `/phileas run
    /// PERSONA`, `/phileas retry` and so on.
    Labels {
        /// What to do with them.
        #[command(subcommand)]
        command: LabelsCommand,
    },
    /// List the roles of observers and innovators, and edit the roster
    Role {
        /// What to do with it.
        #[command(subcommand)]
        command: RoleCommand,
    },
    /// Compile the tools for Jules' machine into one script, and list the available ones
    Setup {
        /// What to do.
        #[command(subcommand)]
        command: SetupCommand,
    },
    /// Print the JSON Schema of a file that people or agents write
    Schema {
        /// Which file
        name: SchemaName,
    },
    /// Check and show the exchange files of the layers
    Exchange {
        /// What to do with it.
        #[command(subcommand)]
        command: ExchangeCommand,
    },
    /// List the tasks that personas leave for each other; create, claim, move and check them
    Task {
        /// What to do with them.
        #[command(subcommand)]
        command: TaskCommand,
    },
    /// Show the sprint, begin the next one, write its files
    Sprint {
        /// What to do with it.
        #[command(subcommand)]
        command: SprintCommand,
    },
    /// Check, write and archive the artifacts of a run, and show which agent runs next
    Pipeline {
        /// What to do with it.
        #[command(subcommand)]
        command: PipelineCommand,
    },
    /// Let your own agent use Jules: a server of the Model Context Protocol on standard input and output
    Mcp(Mcp),
    /// Watch the jobs of your own agent, and wake it when one needs it
    Agent {
        /// What to do.
        #[command(subcommand)]
        command: AgentCommand,
    },
    /// Check a running service, list and replay its deliveries, resume suspended repositories
    Service {
        /// What to do.
        #[command(subcommand)]
        command: ServiceCommand,
    },
    /// Show, repair or rebuild the ledger's state file
    State {
        /// What to do with it.
        #[command(subcommand)]
        command: StateCommand,
    },
    /// Write the first files of the branch `jules` into a folder
    ///
    /// Readable copies of the layers' prompts, and the exchange.
    Bootstrap(Bootstrap),
    /// Update the files of an earlier version that are unchanged
    Upgrade(Upgrade),
    /// Remove the files that `init` wrote and that are unchanged; the ledger stays
    Deinit(Deinit),
    /// Ask the real services the questions that their documentation leaves open
    Probe(Probe),
    /// Print completions for a shell
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page, of the program or of one command
    #[command(hide = true)]
    Man {
        /// The command, such as `session cancel`
        command: Vec<String>,
    },
    /// Run as a GitHub Action: one tick for the event, reported by outputs, annotations and a summary
    #[command(hide = true)]
    Action(ActionArguments),
    /// The same as `agent monitor`
    #[command(hide = true)]
    Monitor(Monitor),
    /// The same as `agent watch`
    #[command(hide = true)]
    Watch(Watch),
    /// The same as `agent handle-event`
    #[command(hide = true)]
    HandleEvent(HandleEvent),
}
