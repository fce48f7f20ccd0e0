//! Sets the limits of this process.

#[cfg(unix)]
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

#[cfg(unix)]
use super::limits::{MEMORY_LIMIT_BYTES, PROCESSOR_LIMIT_SECS};

/// The open files: standard input, output and errors.
#[cfg(unix)]
const OPEN_FILES: u64 = 3;
/// The processor time of the start is ignored.
#[cfg(unix)]
const SLIGHT_NANOS: i64 = 100_000_000;

/// Removes from this process what rendering does not need.
#[cfg(unix)]
pub(super) fn limit_this_process() -> Result<(), String> {
    lower_limit(Resource::Core, 0)?;
    lower_limit(Resource::Fsize, 0)?;
    lower_limit(Resource::Nofile, OPEN_FILES)?;
    lower_limit(Resource::Nproc, 0)?;
    if cfg!(target_os = "linux") {
        lower_limit(Resource::Data, MEMORY_LIMIT_BYTES)?;
    } else {
        // These systems may refuse or ignore the limits; the wall-clock limit remains.
        for resource in [Resource::Data, Resource::As] {
            let _unknown = lower_limit(resource, MEMORY_LIMIT_BYTES);
        }
    }
    limit_processor_time()
}

/// Allows this process the processor time of one more prompt. Whole seconds are counted, so after other prompts it
/// may be up to one second more.
#[cfg(unix)]
pub(super) fn limit_processor_time() -> Result<(), String> {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    let begun = u64::from(used.tv_nsec >= SLIGHT_NANOS);
    let used = u64::try_from(used.tv_sec).unwrap_or(0) + begun;
    let known = getrlimit(Resource::Cpu);
    let wanted = used + PROCESSOR_LIMIT_SECS;
    let limit = Rlimit {
        current: Some(known.maximum.map_or(wanted, |most| most.min(wanted))),
        maximum: known.maximum,
    };
    setrlimit(Resource::Cpu, limit).map_err(|error| format!("RLIMIT_CPU cannot be set: {error}"))
}

/// Lowers the hard limit too, so that it cannot be raised again.
#[cfg(unix)]
fn lower_limit(resource: Resource, most: u64) -> Result<(), String> {
    let most = getrlimit(resource)
        .maximum
        .map_or(most, |known| known.min(most));
    let limit = Rlimit {
        current: Some(most),
        maximum: Some(most),
    };
    setrlimit(resource, limit)
        .map_err(|error| format!("the limit {resource:?} cannot be set: {error}"))
}

/// This system has no such limits; the parent's wall clock remains.
#[cfg(not(unix))]
pub(super) fn limit_this_process() -> Result<(), String> {
    Ok(())
}

/// This system has no such limits; the parent's wall clock remains.
#[cfg(not(unix))]
pub(super) fn limit_processor_time() -> Result<(), String> {
    Ok(())
}
