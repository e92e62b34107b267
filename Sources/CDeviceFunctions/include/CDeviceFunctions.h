// The functions by which the audio thread drives a device it does not know by type.
//
// Swift 6.3 refuses both a generic function and a call through a Swift function value in what is
// marked @_noLocks. A call through a table of C functions can be marked: the table of each device is
// filled with functions that are marked and checked themselves.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define BLESSED __attribute__((swift_attr("@_noLocks"), always_inline)) static inline
#define MEMORY void *_Nonnull

/// A duplex device. What is returned by address is a value of a Swift type.
struct duplex_functions {
  uint64_t (*_Nonnull now)(MEMORY device);
  void (*_Nonnull wait)(MEMORY device, uint64_t nanoseconds, MEMORY status);
  void (*_Nonnull captured)(MEMORY device, long frames, MEMORY lent);
  void (*_Nonnull release)(MEMORY device, long frames);
  void (*_Nonnull room)(MEMORY device, long frames, MEMORY lent);
  void (*_Nonnull commit)(MEMORY device, long frames);
  void (*_Nonnull take_event)(MEMORY device, MEMORY event);
  void (*_Nonnull secondary)(MEMORY device, long index, MEMORY reading);
};

BLESSED uint64_t duplex_now(const struct duplex_functions *_Nonnull table, MEMORY device) {
  return table->now(device);
}

BLESSED void duplex_wait(
    const struct duplex_functions *_Nonnull table, MEMORY device, uint64_t nanoseconds,
    MEMORY status) {
  table->wait(device, nanoseconds, status);
}

BLESSED void duplex_captured(
    const struct duplex_functions *_Nonnull table, MEMORY device, long frames, MEMORY lent) {
  table->captured(device, frames, lent);
}

BLESSED void duplex_release(
    const struct duplex_functions *_Nonnull table, MEMORY device, long frames) {
  table->release(device, frames);
}

BLESSED void duplex_room(
    const struct duplex_functions *_Nonnull table, MEMORY device, long frames, MEMORY lent) {
  table->room(device, frames, lent);
}

BLESSED void duplex_commit(
    const struct duplex_functions *_Nonnull table, MEMORY device, long frames) {
  table->commit(device, frames);
}

BLESSED void duplex_take_event(
    const struct duplex_functions *_Nonnull table, MEMORY device, MEMORY event) {
  table->take_event(device, event);
}

BLESSED void duplex_secondary(
    const struct duplex_functions *_Nonnull table, MEMORY device, long index, MEMORY reading) {
  table->secondary(device, index, reading);
}

/// One direction of a device with a clock of its own.
struct stream_functions {
  void (*_Nonnull look)(MEMORY stream, uint64_t now, MEMORY state);
  void (*_Nonnull frames)(MEMORY stream, long frames, uint64_t now, MEMORY lent);
  bool (*_Nonnull commit)(MEMORY stream, long frames);
  void (*_Nonnull detach)(MEMORY stream, long silence);
  long (*_Nonnull reattach)(MEMORY stream, uint64_t now);
};

BLESSED void stream_look(
    const struct stream_functions *_Nonnull table, MEMORY stream, uint64_t now, MEMORY state) {
  table->look(stream, now, state);
}

BLESSED void stream_frames(
    const struct stream_functions *_Nonnull table, MEMORY stream, long frames, uint64_t now,
    MEMORY lent) {
  table->frames(stream, frames, now, lent);
}

BLESSED bool stream_commit(
    const struct stream_functions *_Nonnull table, MEMORY stream, long frames) {
  return table->commit(stream, frames);
}

BLESSED void stream_detach(
    const struct stream_functions *_Nonnull table, MEMORY stream, long silence) {
  table->detach(stream, silence);
}

BLESSED long stream_reattach(
    const struct stream_functions *_Nonnull table, MEMORY stream, uint64_t now) {
  return table->reattach(stream, now);
}

#undef MEMORY
#undef BLESSED
