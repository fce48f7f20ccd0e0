//! The command line as it is typed: a file for each family of commands.

mod beginning;
mod board;
mod deadline;
mod doctor;
mod exchange;
mod inbox;
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

pub use beginning::{Deinit, Init, LabelsCommand, Where};
pub use board::{BoardPlace, KindName, SprintCommand, StateName, TaskCommand};
pub use deadline::{CommandDeadline, DEADLINE};
pub use doctor::{Doctor, Probe};
pub use exchange::{ExchangeCommand, ExchangePlace};
pub use inbox::{Deliveries, Kept, Park, ParkCommand, Replay};
pub use jobs::{Events, HandleEvent, JobPlaces, JobsCommand, Monitor, Watch};
pub use layers::{Bootstrap, RoleCommand, RoleLayer, RolePlace, Upgrade};
pub use ledger::{PersonaCommand, StateCommand, StateSource, TrackCommand};
pub use mcp::{Mcp, McpCommand, McpDesk};
pub use pipeline::{
    CheckStageName, LessonsCommand, PipelineArtifact, PipelineCommand, RunPlace, RunsPlace,
};
pub use plan::{ArtifactName, SchemaName, Simulate, Validate};
pub use prompt::{PromptCommand, RenderPrompt};
pub use repository::Repository;
pub use sandbox::{Maintainer, Sandbox};
pub use service::{Health, Serve};
pub use session::SessionCommand;
pub use setup::SetupCommand;
pub use tick::{ActionArguments, TickArguments};

/// Keeps Google's Jules working on a GitHub repository by the clock, with its ledger in git.
#[derive(Debug, Parser)]
#[command(
    name = "phileas",
    version,
    max_term_width = 100,
    arg_required_else_help = true
)]
pub struct Arguments {
    /// End after this time at the latest, whatever GitHub and Jules do [default: 10m]; `serve`, `mcp`, `monitor`, `watch`,
    /// `events` and `sandbox` go on until they are told to end
    #[arg(long, env = "PHILEAS_DEADLINE", value_name = "DURATION", value_parser = deadline::parse, global = true, display_order = 1000)]
    pub deadline: Option<CommandDeadline>,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Watch whole days of work go by on models of GitHub and Jules: no key, no network
    Sandbox(Box<Sandbox>),
    /// Write the workflow, a plan and two personas into a repository that has none; changes nothing that is there
    Init(Init),
    /// Take away what `init` wrote, as far as nobody has changed it; the ledger stays
    Deinit(Deinit),
    /// Write the files of this version over those of an earlier one, as far as nobody has changed them
    Upgrade(Upgrade),
    /// Write what the branch `jules` begins with into a folder: readable copies of what layers are told, and the exchange
    Bootstrap(Bootstrap),
    /// List the roles of observers and innovators, and look after those that work
    Role {
        /// What to do with it.
        #[command(subcommand)]
        command: RoleCommand,
    },
    /// Do what is due in a repository, once
    Tick(TickArguments),
    /// Say what a tick would do and why everything else waits; writes nothing
    Explain(TickArguments),
    /// Run as a GitHub Action: one tick for the event at hand, told by outputs, annotations and a summary
    Action(ActionArguments),
    /// Show what the plan would do in the coming days, and what it would cost
    Simulate(Simulate),
    /// Show where each track stands, what is open, and what became of the work
    Status(Repository),
    /// Look for everything that keeps phileas from working in a repository, and say how to mend it
    Doctor(Doctor),
    /// Check the plan and the personas of a folder
    Validate(Validate),
    /// Look at what the layers hand to one another: events, work items, proposals, memories
    Exchange {
        /// What to do with it.
        #[command(subcommand)]
        command: ExchangeCommand,
    },
    /// Check, write and put away what the agents of a run hand to one another, and say who comes next
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
    /// The labels by which people speak to phileas
    ///
    /// A persona's label starts it; `phileas:retry` asks again for what is over, lets go on what waits for a person, and on
    /// the open pull request of a session tells it what reviewers want changed; `phileas:hold`, `phileas:approve-plan`,
    /// `phileas:merge` and `phileas:pause` do as they say. In a comment: `/phileas run PERSONA`, `/phileas retry` and so on.
    Labels {
        /// What to do with them.
        #[command(subcommand)]
        command: LabelsCommand,
    },
    /// Look at the ledger's state file, and mend it
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
    /// List the tasks that personas leave for one another, write some down, take and move them, and check them
    Task {
        /// What to do with them.
        #[command(subcommand)]
        command: TaskCommand,
    },
    /// Show the sprint, begin the next one, write its papers
    Sprint {
        /// What to do with it.
        #[command(subcommand)]
        command: SprintCommand,
    },
    /// List personas and what became of their work, add some, and read their prompts and journals as Jules would
    Persona {
        /// What to do with it.
        #[command(subcommand)]
        command: PersonaCommand,
    },
    /// Compile the tools that Jules' machine needs into one script, and list those that there are
    Setup {
        /// What to do.
        #[command(subcommand)]
        command: SetupCommand,
    },
    /// Read the prompt of a layer as Jules would, and what went into it
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
    /// Pause the repository and archive every live session of ours
    Stop {
        /// Really all of them; without it nothing is done
        #[arg(long, required = true)]
        all: bool,
        /// Which repository.
        #[command(flatten)]
        repository: Repository,
    },
    /// Let a repository go on that `stop` or a person paused in its state
    Resume(Repository),
    /// Ask the real services the questions that their documentation leaves open
    Probe(Probe),
    /// Let your own agent hire Jules: a server of the Model Context Protocol on standard input and output
    Mcp(Mcp),
    /// Serve the webhook of any number of repositories, and keep what it tells
    Serve(Serve),
    /// Ask a running service whether it is well
    Health(Health),
    /// List the deliveries that a service has stored
    Deliveries(Deliveries),
    /// Run a stored delivery again
    Replay(Replay),
    /// List repositories that a service has given up on, and let them go on
    Park {
        /// What to do.
        #[command(subcommand)]
        command: ParkCommand,
    },
    /// Look at the jobs of your own agent, and write down what is worth waking it for
    Monitor(Monitor),
    /// Start a program for each event that the monitor writes down
    Watch(Watch),
    /// Deal with one event, and print what an agent needs to know of it
    HandleEvent(HandleEvent),
    /// Print the events, and go on with what comes
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
