// Guards: what must hold of a frame's inputs for its compiled code to be right.
#pragma once

#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

#include "engine/dynamo/source.h"

namespace kerf::inline dynamo {

struct Guard {
  std::string kind;      ///< as the guard's maker is called: "TENSOR_MATCH", "CONSTANT_MATCH"
  std::string leaf;      ///< as the checked leaf is printed: "EQUALS_MATCH: L['n'] == 3"
  SourcePtr source;      ///< null: of the state of torch
  std::string userLine;  ///< line that asked for it: "file.py:3 in f"
  /// Whether the object is still as it was. `scope` for guards that look at several sources.
  std::function<bool(PyObject* object, const FrameScope& scope)> check;
};

class GuardSet {
 public:
  /// Adds it unless the same leaf is there.
  void add(Guard guard);
  const std::vector<Guard>& all() const { return m_guards; }
  /// The first guard that fails; null where all hold.
  const Guard* firstFailure(const FrameScope& scope) const;

 private:
  std::vector<Guard> m_guards;
  std::unordered_set<std::string> m_leaves;
};

/// The guard that a constant, function, class, module or other unchanging object needs.
Guard constantGuard(PyObject* object, const SourcePtr& source);
Guard typeGuard(PyObject* object, const SourcePtr& source);
/// Number of items of a list, tuple, dict or set.
Guard lengthGuard(PyObject* object, const SourcePtr& source);
/// Whether a dict has a key, or an object an attribute in its own dict.
Guard presenceGuard(const SourcePtr& source, const Ref& key, bool present);
Guard tensorGuard(PyObject* tensor, const SourcePtr& source);
Guard gradModeGuard();

}  // namespace kerf::inline dynamo
