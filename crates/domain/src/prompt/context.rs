//! Provides the variables of a template, computed on first use.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use minijinja::value::Object;
use minijinja::{Environment, Error, ErrorKind, Value};
use uuid::Uuid;

use super::environment::Page;
use super::files::Refusal;
use super::limits::PARTIAL_DEPTH_LIMIT;

/// Names that are computed on use.
const DERIVED: [&str; 2] = ["password", "empty_queue_celebration"];

/// The variables of one prompt. A partial is rendered on first use, so that a broken one affects only its users.
#[derive(Debug)]
pub(super) struct Context {
    environment: Environment<'static>,
    id: String,
    values: BTreeMap<String, Value>,
    partials: BTreeMap<String, String>,
    read: Mutex<BTreeSet<String>>,
    rendering: Mutex<Vec<String>>,
    rendered: Mutex<BTreeMap<String, Value>>,
}

impl Context {
    pub(super) fn new(
        environment: Environment<'static>,
        id: String,
        values: BTreeMap<String, Value>,
        partials: BTreeMap<String, String>,
    ) -> Arc<Self> {
        Arc::new(Self {
            environment,
            id,
            values,
            partials,
            read: Mutex::default(),
            rendering: Mutex::default(),
            rendered: Mutex::default(),
        })
    }

    /// Renders a template of the environment.
    pub(super) fn render_template(self: &Arc<Self>, template: &str) -> Result<String, Error> {
        let mut page = Page::default();
        self.environment
            .get_template(template)?
            .render_captured_to(Value::from_dyn_object(Arc::clone(self)), &mut page)?;
        Ok(page.into_text())
    }

    /// Whether a template has used a name.
    pub(super) fn was_read(&self, name: &str) -> bool {
        lock_mutex(&self.read).contains(name)
    }

    /// All names.
    pub(super) fn value_names(&self) -> impl Iterator<Item = &str> {
        self.values
            .keys()
            .chain(self.partials.keys())
            .map(String::as_str)
            .chain(DERIVED)
    }

    fn find_value(self: &Arc<Self>, name: &str) -> Option<Value> {
        let found = if let Some(value) = self.values.get(name) {
            value.clone()
        } else if let Some(path) = self.partials.get(name) {
            self.partial_value(name, path)
        } else if name == "empty_queue_celebration" {
            return self.find_value("celebration");
        } else if name == "password" {
            let derived = Uuid::new_v5(&Uuid::NAMESPACE_DNS, self.id.as_bytes());
            Value::from(derived.to_string())
        } else {
            return None;
        };
        lock_mutex(&self.read).insert(name.to_owned());
        Some(found)
    }

    /// A partial's text, or a value that fails on use, with the partial's own position.
    fn partial_value(self: &Arc<Self>, name: &str, path: &str) -> Value {
        if let Some(done) = lock_mutex(&self.rendered).get(name) {
            return done.clone();
        }
        if let Err(refusal) = self.enter_partial(name) {
            return Value::from(Error::from(refusal));
        }
        let text = self.render_template(path);
        lock_mutex(&self.rendering).pop();
        let value = match text {
            Ok(text) => Value::from(text),
            Err(error) => Value::from(
                Error::new(ErrorKind::BadInclude, format!("error in `{name}`")).with_source(error),
            ),
        };
        lock_mutex(&self.rendered).insert(name.to_owned(), value.clone());
        value
    }

    fn enter_partial(&self, name: &str) -> Result<(), Refusal> {
        let mut rendering = lock_mutex(&self.rendering);
        if rendering.iter().any(|above| above == name) {
            return Err(Refusal::new(
                format!("`{name}` uses itself: {} -> {name}", rendering.join(" -> ")),
                "break the circle",
            ));
        }
        if rendering.len() >= PARTIAL_DEPTH_LIMIT {
            return Err(Refusal::new(
                format!(
                    "partials use each other more than {PARTIAL_DEPTH_LIMIT} levels deep: {} -> {name}",
                    rendering.join(" -> ")
                ),
                "include the inner ones by path",
            ));
        }
        rendering.push(name.to_owned());
        Ok(())
    }
}

impl Object for Context {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.find_value(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        self.find_value(key)
    }
}

fn lock_mutex<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
