/// The group of users who may open sound cards.
package enum AudioGroup {
  /// A hint for a user who may not open sound cards.
  package static let remedy =
    "Add this user to the group audio (sudo usermod -aG audio $USER), then log in again."
}
