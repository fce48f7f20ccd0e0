//! `phileas sandbox --world-only`: the two models, served, and nothing else.

use std::io::Write;

use super::arguments::Sandbox;
use super::exit::{Exit, Stopped};
use super::output::Screen;
use crate::sandbox::Scene;

pub(super) async fn run(
    _arguments: &Sandbox,
    _scene: Scene,
    _screen: &mut Screen<impl Write>,
) -> Result<Exit, Stopped> {
    Err(Stopped::fault("x"))
}
