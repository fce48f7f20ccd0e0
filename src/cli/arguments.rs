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
pub use jobs::{Events, HandleEvent, JobFiles, JobsCommand, Monitor, Watch};
pub use layers::{Bootstrap, RoleCommand, RoleLayer, RoleRepository, Upgrade};
pub use ledger::{PersonaCommand, StateCommand, StateSource, TrackCommand};
pub use mcp::{Mcp, McpCommand, McpOptions};
pub use pipeline::{
    CheckStageName, LessonsCommand, PipelineArtifact, PipelineCommand, RunLocation, RunsLocation,
};
pub use plan::{ArtifactName, SchemaName, Simulate, Validate};
pub use prompt::{PromptCommand, RenderPrompt};
pub use repository::Repository;
pub use sandbox::{Maintainer, Sandbox};
pub use service::{Health, Serve};
pub use session::SessionCommand;
pub use setup::SetupCommand;
pub use tick::{ActionArguments, TickArguments};

/// Runs Google's Jules on a GitHub repository on a schedule, with its ledger in git.
#[derive(Debug, Parser)]
#[command(name = "phileas", version, max_term_width = 100)]
pub struct Arguments {
    /// End the command after this time [default: 10m]; `serve`, `mcp`, `monitor`, `watch`, `events` and `sandbox` run
    /// until a signal ends them
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
    /// Write the workflow, a plan and two personas into a repository without them; existing files stay
    Init(Init),
    /// Remove the files that `init` wrote and that are unchanged; the ledger stays
    Deinit(Deinit),
    /// Update the files of an earlier version that are unchanged
    Upgrade(Upgrade),
    /// Write the first files of the branch `jules` into a folder: readable copies of the layers' prompts, and the
    /// exchange
    Bootstrap(Bootstrap),
    /// List the roles of observers and innovators, and edit the roster
    Role {
        /// What to do with it.
        #[command(subcommand)]
        command: RoleCommand,
    },
    /// Do what is due in a repository, once
    Tick(TickArguments),
    /// Show what a tick would do and why everything else waits; writes nothing
    Explain(TickArguments),
    /// Run as a GitHub Action: one tick for the event, reported by outputs, annotations and a summary
    Action(ActionArguments),
    /// Show what the plan would do in the coming days, and its cost
    Simulate(Simulate),
    /// Show the status of each track, what is open, and the outcomes
    Status(Repository),
    /// Find everything that keeps phileas from working in a repository, and how to fix it
    Doctor(Doctor),
    /// Check the plan and the personas of a folder
    Validate(Validate),
    /// Check and show the exchange files of the layers: events, work items, proposals, memories
    Exchange {
        /// What to do with it.
        #[command(subcommand)]
        command: ExchangeCommand,
    },
    /// Check, write and archive the artifacts of a run, and show which agent runs next
    Pipeline {
        /// What to do with it.
        #[command(subcommand)]
        command: PipelineCommand,
    },
    /// Print the JSON Schema of a file that people or agents write, for editors and checkers
    Schema {
        /// Which file
        name: SchemaName,
    },
    /// The labels that people use to make requests
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
    /// Show, repair or rebuild the ledger's state file
    State {
        /// What to do with it.
        #[command(subcommand)]
        command: StateCommand,
    },
    /// List tracks, move their pointers, pause and resume them
    Track {
        /// What to do with it.
        #[command(subcommand)]
        command: TrackCommand,
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
    /// List personas and their outcomes, add some, and show their prompts and journals as Jules gets them
    Persona {
        /// What to do with it.
        #[command(subcommand)]
        command: PersonaCommand,
    },
    /// Compile the tools for Jules' machine into one script, and list the available ones
    Setup {
        /// What to do.
        #[command(subcommand)]
        command: SetupCommand,
    },
    /// Show the prompt of a layer as Jules gets it, and its sources
    Prompt {
        /// What to do with it.
        #[command(subcommand)]
        command: PromptCommand,
    },
    /// List, read, answer, approve, retry and cancel sessions
    Session {
        /// What to do with it.
        #[command(subcommand)]
        command: SessionCommand,
    },
    /// Pause the repository and archive all its live sessions
    Stop {
        /// Confirms that all sessions are meant; required
        #[arg(long, required = true)]
        all: bool,
        /// Which repository.
        #[command(flatten)]
        repository: Repository,
    },
    /// Resume a repository that `stop` or a person paused in its state
    Resume(Repository),
    /// Ask the real services the questions that their documentation leaves open
    Probe(Probe),
    /// Let your own agent use Jules: a server of the Model Context Protocol on standard input and output
    Mcp(Mcp),
    /// Run the webhook service for any number of repositories
    Serve(Serve),
    /// Check whether a running service is healthy
    Health(Health),
    /// List the deliveries that a service has stored
    Deliveries(Deliveries),
    /// Run a stored delivery again
    Replay(Replay),
    /// List repositories that a service has suspended, and resume them
    Suspended {
        /// What to do.
        #[command(subcommand)]
        command: SuspendedCommand,
    },
    /// Check the jobs of your own agent, and write an event when one needs the agent
    Monitor(Monitor),
    /// Start a program for each event of the monitor
    Watch(Watch),
    /// Handle one event, and print what an agent needs to know about it
    HandleEvent(HandleEvent),
    /// Print the events; `--follow` also prints new ones
    Events(Events),
    /// List the jobs of your own agent, register and retire them
    Jobs {
        /// What to do.
        #[command(subcommand)]
        command: JobsCommand,
    },
    /// Print completions for a shell
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page, of the program or of one command
    Man {
        /// The command, such as `session cancel`
        command: Vec<String>,
    },
}
