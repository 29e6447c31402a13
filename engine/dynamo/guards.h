// Guards: what must hold of a frame's inputs for its compiled code to be right.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/dynamo/source.h"
#include "engine/tensor/tensor.h"

namespace kerf::inline dynamo {

struct Guard {
  std::string kind;         ///< as the guard's maker is called: "TENSOR_MATCH", "CONSTANT_MATCH"
  std::string leaf;         ///< as the checked leaf is printed: "EQUALS_MATCH: L['n'] == 3"
  SourcePtr source;         ///< null: of the state of torch
  std::string about;        ///< what it is about, where that is not `source`: the attribute that hasattr() asked for
  bool isInternal = false;  ///< PyTorch has none of this kind: it is checked, and not told
  std::string userLine;     ///< line that asked for it: "file.py:3 in f"
  /// Whether the object is still as it was. `scope` for guards that look at several sources.
  std::function<bool(PyObject* object, const FrameScope& scope)> check;
  /// What failed, as PyTorch says it; empty: the leaf.
  std::function<std::string(PyObject* object, const FrameScope& scope)> failure;
};

class GuardSet {
 public:
  /// Adds it unless the same leaf is there; one that is told makes the other told, too.
  void add(Guard guard);
  const std::vector<Guard>& all() const { return m_guards; }
  /// The first guard that fails; null where all hold.
  const Guard* firstFailure(const FrameScope& scope) const;
  /// Nanoseconds that the check of a guard that holds takes: the least of a few.
  static double cost(const Guard& guard, const FrameScope& scope);

 private:
  /// A source, and the place of its base among the steps; -1: none. In one check each is evaluated once.
  struct Step {
    SourcePtr source;
    int base = -1;
  };
  void plan() const;

  std::vector<Guard> m_guards;
  std::unordered_map<std::string, std::size_t> m_leaves;  ///< places in m_guards
  mutable std::vector<Step> m_steps;                      ///< bases before what is found on them
  mutable std::vector<int> m_stepOf;                      ///< by guard; -1: it has no source
};

/// The guard that a constant, function, class, module or other unchanging object needs.
Guard constantGuard(PyObject* object, const SourcePtr& source);
Guard typeGuard(PyObject* object, const SourcePtr& source);
/// Type and number of items of a list or tuple.
Guard lengthGuard(PyObject* object, const SourcePtr& source);
/// All keys of a dict, in their order. `walked`: the program goes over them, not only to some of them.
Guard keysGuard(PyObject* dict, const SourcePtr& source, bool walked);
/// Whether a dict has a key.
Guard containsGuard(const SourcePtr& source, const Ref& key, bool present);
/// What hasattr() says.
Guard hasAttributeGuard(const SourcePtr& source, const std::string& name, bool present);
/// A module without hooks: a dict that stays empty.
Guard emptyHooksGuard(const SourcePtr& source);
/// Whether an object has an attribute in its own dict.
Guard presenceGuard(const SourcePtr& source, const Ref& key, bool present);
/// Sizes that `fake` has as symbols may differ.
Guard tensorGuard(PyObject* tensor, const Tensor& fake, const SourcePtr& source);
/// The reason of a recompile: "len(xs) == 3", "tensor 'x' size mismatch at index 0. expected 3, actual 5".
std::string failureText(const Guard& guard, const FrameScope& scope);
Guard gradModeGuard();

}  // namespace kerf::inline dynamo
