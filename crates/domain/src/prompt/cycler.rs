//! Implements `cycler(…)`, which returns its items in rotation.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use minijinja::value::{Enumerator, Object, ObjectRepr, from_args};
use minijinja::{Error, ErrorKind, State, Value};

use super::call_error::invalid_call;

#[derive(Debug)]
struct Cycler {
    items: Vec<Value>,
    place: AtomicUsize,
}

/// A new cycler. The one of minijinja-contrib has neither `current` nor `reset()`.
pub(super) fn new_cycler(items: Vec<Value>) -> Result<Value, Error> {
    if items.is_empty() {
        return Err(invalid_call("`cycler` takes at least one value"));
    }
    let place = AtomicUsize::new(0);
    Ok(Value::from_object(Cycler { items, place }))
}

impl Cycler {
    fn current_item(&self) -> Value {
        self.items[self.place.load(Ordering::Relaxed) % self.items.len()].clone()
    }
}

impl Object for Cycler {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        (key.as_str() == Some("current")).then(|| self.current_item())
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::NonEnumerable
    }

    fn call_method(
        self: &Arc<Self>,
        _: &mut State<'_, '_>,
        method: &str,
        arguments: &[Value],
    ) -> Result<Value, Error> {
        let () = from_args(arguments)?;
        match method {
            "next" => {
                let current = self.current_item();
                self.place.fetch_add(1, Ordering::Relaxed);
                Ok(current)
            }
            "reset" => {
                self.place.store(0, Ordering::Relaxed);
                Ok(Value::from(()))
            }
            _ => Err(Error::from(ErrorKind::UnknownMethod)),
        }
    }
}
