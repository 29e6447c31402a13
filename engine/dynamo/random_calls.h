// Draws of Python's module random: made anew in each run of the compiled code, and inputs of the graph.
#pragma once

#include <optional>
#include <vector>

#include "engine/dynamo/variable_tracker.h"

namespace kerf::inline dynamo {

class FrameTracer;

/// One draw: random.randint(1, 6).
struct TracedDraw {
  Ref function, args, kwargs;
  /// A number, or null with a Python exception set.
  Ref draw() const;
};

/// The draw as a tensor without dimensions (int64 or float64), whose source is random_value_<n>; it leaves the graph as a
/// number. Nothing for other callables, where an argument is no constant, and where an int may need more than 64 bits.
std::optional<VariableTracker> callRandom(FrameTracer& tracer, PyObject* callable, PyObject* args, PyObject* kwargs);

/// The numbers of a run, in order; nothing with a Python exception set.
std::optional<std::vector<Ref>> drawAll(const std::vector<TracedDraw>& calls);
/// What the graph gets of one: an int64 or float64 tensor without dimensions. Null with a Python exception set.
Ref tensorOfDraw(PyObject* number);

}  // namespace kerf::inline dynamo
