//! Which model serves which role.

use session_model::json::{ObjectBuilder, RawJson};

/// Models by role, in the order the roles were first given one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelRoles(pub(super) Vec<(String, String)>);

/// The role of the model that answers.
pub(super) const DEFAULT_ROLE: &str = "default";

impl ModelRoles {
    /// Returns a role's model as `provider/model`.
    pub fn get(&self, role: &str) -> Option<&str> {
        self.iter().find(|(known, _)| *known == role).map(|(_, model)| model)
    }

    /// Returns the model that answers, as `provider/model`.
    pub fn default_model(&self) -> Option<&str> {
        self.get(DEFAULT_ROLE)
    }

    /// Returns all roles with their models.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(role, model)| (&**role, &**model))
    }

    /// Tells whether no role has a model.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns an object of roles and models.
    pub fn to_json(&self) -> RawJson {
        let add = |out: ObjectBuilder, (role, model)| out.string(role, model);
        self.iter().fold(ObjectBuilder::new(), add).build()
    }
}
