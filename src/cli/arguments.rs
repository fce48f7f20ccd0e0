//! The command line: one file for each family of commands.

mod adopt;
mod board;
mod deadline;
mod doctor;
mod exchange;
mod help;
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
mod values;
mod work;

use clap::{Parser, Subcommand};

use help::{FOLDER, LEDGER, ONLINE, PRINTS, command_end, program_template};

pub use adopt::Adopt;
pub use board::{BoardFolder, SprintCommand, TaskCommand};
pub use deadline::{CommandDeadline, DEADLINE};
pub use doctor::Doctor;
pub use exchange::{ExchangeCommand, ExchangeLocation};
pub use inbox::{Deliveries, InboxLocation, Replay, SuspendedCommand, SuspendedRepositories};
pub use init::{Deinit, Init, LabelsCommand, TargetArguments};
pub use jobs::{AgentCommand, Events, HandleEvent, JobFiles, JobsCommand, Monitor, Watch};
pub use layers::{Bootstrap, RoleCommand, RoleLayer, RoleNames, RoleRepository, Upgrade};
pub use ledger::{PersonaCommand, StateCommand, StateSource, TrackCommand};
pub use mcp::{Mcp, McpCommand, McpOptions};
pub use pause::Pause;
pub use pipeline::{LessonsCommand, PipelineCommand, RunLocation, RunsLocation};
pub use plan::{SchemaName, Simulate, Validate};
pub use prompt::{PromptCommand, PromptName, RenderPrompt};
pub use repository::Repository;
pub use sandbox::{Maintainer, Sandbox};
pub use service::{Health, Serve, ServiceCommand};
pub use session::SessionCommand;
pub use setup::SetupCommand;
pub use tick::{ActionArguments, TickArguments};
pub use work::{ListWork, OneRecord, WorkCommand};

/// Runs Google's Jules on a GitHub repository on a schedule, with its ledger in git.
#[derive(Debug, Parser)]
#[command(
    name = "phileas",
    version,
    max_term_width = 100,
    help_template = program_template(&Command::augment_subcommands(clap::Command::default()))
)]
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
    #[command(after_help = command_end("phileas sandbox --headless --until 6h", FOLDER))]
    Sandbox(Box<Sandbox>),
    /// Write the workflow, a plan and two personas into a repository; existing files stay
    #[command(after_help = command_end("phileas init --dry-run", ONLINE))]
    Init(Init),
    /// Show what became of Jules' pull requests in a repository, and which ideas came twice
    #[command(after_help = command_end("phileas adopt --repo acme/widget", ONLINE))]
    Adopt(Adopt),
    /// Check the plan and the personas of a folder
    #[command(after_help = command_end("phileas validate", ONLINE))]
    Validate(Validate),
    /// Show what the plan would do in the coming days, and its cost
    #[command(after_help = command_end("phileas simulate --days 14", ONLINE))]
    Simulate(Simulate),
    /// Do what is due in a repository, once
    #[command(after_help = command_end("phileas tick --repo acme/widget", LEDGER))]
    Tick(TickArguments),
    /// Show what a tick would do and why everything else waits; writes nothing
    #[command(after_help = command_end("phileas explain --repo acme/widget", LEDGER))]
    Explain(TickArguments),
    /// Show the status of each track, what is open, and the outcomes
    #[command(after_help = command_end("phileas status --repo acme/widget", LEDGER))]
    Status(Repository),
    /// Find what keeps phileas from working in a repository, and how to fix it
    #[command(after_help = command_end("phileas doctor --repo acme/widget", LEDGER))]
    Doctor(Doctor),
    /// List, read, answer, approve, retry and cancel sessions
    #[command(after_help = command_end("phileas session list --repo acme/widget", LEDGER))]
    Session {
        /// What to do with it.
        #[command(subcommand)]
        command: SessionCommand,
    },
    /// Pause a repository: phileas follows live sessions and starts no others
    #[command(after_help = command_end("phileas pause --repo acme/widget", LEDGER))]
    Pause(Pause),
    /// Resume a repository that `pause` or a person paused in its state
    #[command(after_help = command_end("phileas resume --repo acme/widget", LEDGER))]
    Resume(Repository),
    /// Run the webhook service for any number of repositories
    #[command(after_help = command_end("phileas serve --check", ONLINE))]
    Serve(Serve),
    /// List tracks, move their pointers, pause and resume them
    #[command(after_help = command_end("phileas track list --repo acme/widget", LEDGER))]
    Track {
        /// What to do with it.
        #[command(subcommand)]
        command: TrackCommand,
    },
    /// List personas and their outcomes, add some, and read their journals
    #[command(after_help = command_end("phileas persona list", LEDGER))]
    Persona {
        /// What to do with it.
        #[command(subcommand)]
        command: PersonaCommand,
    },
    /// Show the prompt of a persona or a layer as Jules gets it, and its sources
    #[command(after_help = command_end("phileas prompt render curator", FOLDER))]
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
    #[command(after_help = command_end("phileas labels sync --dry-run --repo acme/widget", ONLINE))]
    Labels {
        /// What to do with them.
        #[command(subcommand)]
        command: LabelsCommand,
    },
    /// List the roles of observers and innovators, and edit the roster
    #[command(after_help = command_end("phileas role list", FOLDER))]
    Role {
        /// What to do with it.
        #[command(subcommand)]
        command: RoleCommand,
    },
    /// Compile the tools for Jules' machine into one script, and list the available ones
    #[command(after_help = command_end("phileas setup gen", FOLDER))]
    Setup {
        /// What to do.
        #[command(subcommand)]
        command: SetupCommand,
    },
    /// Print the JSON Schema of a file that people or agents write
    #[command(after_help = command_end("phileas schema schedules", PRINTS))]
    Schema {
        /// Which file
        #[arg(value_parser = plan::schema_name())]
        name: SchemaName,
    },
    /// Check and show the exchange files of the layers
    #[command(after_help = command_end("phileas exchange check --strict", FOLDER))]
    Exchange {
        /// What to do with it.
        #[command(subcommand)]
        command: ExchangeCommand,
    },
    /// List, create, claim, move and check the tasks that personas leave for each other
    #[command(after_help = command_end("phileas task list", FOLDER))]
    Task {
        /// What to do with them.
        #[command(subcommand)]
        command: TaskCommand,
    },
    /// Show the sprint, begin the next one, write its files
    #[command(after_help = command_end("phileas sprint status --repo acme/widget", LEDGER))]
    Sprint {
        /// What to do with it.
        #[command(subcommand)]
        command: SprintCommand,
    },
    /// Check, write and archive the artifacts of a run, and show which agent runs next
    #[command(after_help = command_end("phileas pipeline status", FOLDER))]
    Pipeline {
        /// What to do with it.
        #[command(subcommand)]
        command: PipelineCommand,
    },
    /// Let your own agent use Jules: a server of the Model Context Protocol
    #[command(after_help = command_end("phileas mcp --read-only", ONLINE))]
    Mcp(Mcp),
    /// Watch the jobs of your own agent, and wake it when one needs it
    #[command(after_help = command_end("phileas agent monitor --once", LEDGER))]
    Agent {
        /// What to do.
        #[command(subcommand)]
        command: AgentCommand,
    },
    /// Check a running service, replay its deliveries, resume suspended repositories
    #[command(after_help = command_end("phileas service health --ready", FOLDER))]
    Service {
        /// What to do.
        #[command(subcommand)]
        command: ServiceCommand,
    },
    /// Show, repair or rebuild the ledger's state file
    #[command(after_help = command_end("phileas state show --repo acme/widget", LEDGER))]
    State {
        /// What to do with it.
        #[command(subcommand)]
        command: StateCommand,
    },
    /// List, show and rebuild the records of what pull requests did, and forget refusals
    #[command(after_help = command_end("phileas work list --repo acme/widget", LEDGER))]
    Work {
        /// What to do with them.
        #[command(subcommand)]
        command: WorkCommand,
    },
    /// Write the first files of the branch `jules` into a folder
    ///
    /// Readable copies of the layers' prompts, and the exchange.
    #[command(after_help = command_end("phileas bootstrap --output ledger", FOLDER))]
    Bootstrap(Bootstrap),
    /// Update the files of an earlier version that are unchanged
    #[command(after_help = command_end("phileas upgrade --dry-run", ONLINE))]
    Upgrade(Upgrade),
    /// Remove the files that `init` wrote and that are unchanged; the ledger stays
    #[command(after_help = command_end("phileas deinit --dry-run", ONLINE))]
    Deinit(Deinit),
    /// Print completions for a shell
    #[command(after_help = command_end("phileas completions bash", PRINTS))]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page, of the program or of one command
    #[command(hide = true)]
    #[command(after_help = command_end("phileas man session", PRINTS))]
    Man {
        /// The command, such as `session cancel`
        command: Vec<String>,
    },
    /// Run as a GitHub Action: one tick for the event, reported by outputs, annotations and a summary
    #[command(hide = true)]
    #[command(after_help = command_end("phileas action", LEDGER))]
    Action(ActionArguments),
    /// The same as `agent monitor`
    #[command(hide = true)]
    #[command(after_help = command_end("phileas monitor --once", LEDGER))]
    Monitor(Monitor),
    /// The same as `agent watch`
    #[command(hide = true)]
    #[command(after_help = command_end("phileas watch --once --command 'my-agent --wake'", LEDGER))]
    Watch(Watch),
    /// The same as `agent handle-event`
    #[command(hide = true)]
    #[command(after_help = command_end(r#"phileas handle-event --event '{"event": "question", "job_id": "15481661885092594092"}'"#, LEDGER))]
    HandleEvent(HandleEvent),
}
