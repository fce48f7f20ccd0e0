//! What the tests of one service have, for several.

#[path = "../it/fleet/clock.rs"]
mod clock;
#[path = "../it/fleet/fatal.rs"]
pub(crate) mod fatal;
#[path = "../it/fleet/rig.rs"]
pub(crate) mod rig;
#[path = "../it/fleet/stage.rs"]
pub(crate) mod stage;
#[path = "../it/fleet/way.rs"]
mod way;
