//! Lists what must never happen in any reachable state.

use stateright::{Model, Property};

use crate::steps::{Protocol, Step};
use crate::world::World;

/// A turn has two running sessions.
pub(crate) const DOUBLE: &str = "two live sessions of one turn";

impl Model for Protocol {
    type State = World;
    type Action = Step;

    fn init_states(&self) -> Vec<World> {
        vec![self.init()]
    }

    fn actions(&self, world: &World, steps: &mut Vec<Step>) {
        if world.broken.is_none() {
            self.possible(world, steps);
        }
    }

    fn next_state(&self, world: &World, step: Step) -> Option<World> {
        self.after(world, step)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        // Further checks are in `watch` and `steps`: two sessions of one attempt, an attempt that rises without proof,
        // a commit that breaks an invariant, a live turn that no wake-up time covers, a notice without a reason.
        let mut properties = vec![
            Property::always("no step breaks a rule", |_, world: &World| {
                world.broken.is_none()
            }),
            Property::always("left alone, everything settles", |model: &Self, world| {
                model.settles(world)
            }),
        ];
        if self.beyond_grace {
            properties.push(Property::sometimes(DOUBLE, |_, world: &World| {
                world.doubles() > 0
            }));
        } else {
            properties.push(Property::always(
                "at most one live session a turn",
                |_, world: &World| world.doubles() == 0,
            ));
            properties.push(Property::always(
                "no session exists or is on its way of an attempt that was given up",
                |_, world: &World| !world.is_given_up_in_vain(),
            ));
        }
        properties
    }
}
