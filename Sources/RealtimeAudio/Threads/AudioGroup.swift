/// The group of users who may open sound cards.
package enum AudioGroup {
  /// What a user does who may not.
  package static let remedy =
    "Add this user to the group audio (sudo usermod -aG audio $USER), then log in again."
}
