// VariableTracker: a value of the traced program on the translator's stack or in its locals.
#pragma once

#include "engine/dynamo/source.h"
#include "engine/python/reference.h"

namespace kerf::inline dynamo {

/// What stands for a value while tracing: a real Python object that is safe to work on. Constants, functions, classes and
/// modules are themselves; a tensor is a proxy (tensor_proxy.h); lists, dicts, objects of the program are copies
/// (side_effects.h), so that CPython's own operations give their semantics and what changed is found at the end.
struct VariableTracker {
  Ref value;         ///< null: the NULL that CPython pushes before some calls
  SourcePtr source;  ///< where it came from; null for what tracing made
  /// Has a source whose guard is not there yet: the guard comes with the first use.
  bool lazy = false;

  PyObject* get() const { return value.get(); }
  explicit operator bool() const { return static_cast<bool>(value); }
};

}  // namespace kerf::inline dynamo
