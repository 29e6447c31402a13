// AliasTable: which tensors of a trace look at one memory, so that a write into one of them is seen by all, although the
// trace only computes new values: what functionalization is.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "engine/ops/core/op_call.h"

namespace kerf::inline autograd {

/// One step from a base to a view of it: a view op with its arguments, the first of which the value before takes.
struct ViewStep {
  const OpInfo* op = nullptr;
  ValueList arguments;  ///< bound; the viewed argument's place is `viewed`
  std::size_t viewed = 0;
  int item = -1;  ///< which of the results (split, unbind); -1: the only one
};

/// Computes one step, or undoes it; given by the tracer, whose ops it calls.
class ViewCalls {
 public:
  virtual ~ViewCalls() = default;
  virtual Result<Tensor> view(const ViewStep& step, const Tensor& base) const = 0;
  /// `base` with what `step` looks at replaced by `view`.
  virtual Result<Tensor> unview(const ViewStep& step, const Tensor& base, const Tensor& view) const = 0;
};

/// Tensors are known by Tensor::traced. A tensor that nobody spoke of is a base of its own.
class AliasTable {
 public:
  explicit AliasTable(const ViewCalls& calls) : m_calls(calls) {}

  /// What a tensor holds now: itself, or the value that the last write left, seen through its steps.
  Result<Tensor> current(const Tensor& tensor);
  /// `result` is a view of `of`.
  void addView(const Tensor& of, ViewStep step, const Tensor& result);
  /// `tensor` now holds `value`, and so do all that look at its memory.
  Result<void> write(const Tensor& tensor, const Tensor& value);
  /// `tensor` now looks at its memory in another way (t_, unsqueeze_); `value` is what it sees.
  void restride(const Tensor& tensor, ViewStep step, const Tensor& value);
  /// Whether somebody wrote into the memory of a tensor, or changed how it looks at it.
  bool isWritten(const Tensor& tensor) const;
  bool isRestrided(const Tensor& tensor) const;
  /// Whether that may be true of any tensor.
  bool anyRestrided() const { return m_anyRestrided; }
  /// Number of the memory that a tensor looks at, the same for all views of it.
  int memoryOf(const Tensor& tensor) { return m_aliases[aliasOf(tensor)].base; }
  /// Whether a tensor looks at its memory through views.
  bool isView(const Tensor& tensor) { return m_aliases[aliasOf(tensor)].lastStep >= 0; }
  /// Every tensor that is named from now on is a base of its own.
  void forget();

 private:
  struct Base {
    Tensor value;
    int writes = 0;
  };
  struct Alias {
    int base = 0;
    int lastStep = -1;  ///< in m_steps; -1: the base itself
    Tensor value;
    int writes = 0;  ///< of the base, when `value` was made
    bool restrided = false;
  };
  /// A step behind another one. Views of views share the steps that they have in common.
  struct ChainedStep {
    ViewStep step;
    int before = -1;
  };
  std::size_t aliasOf(const Tensor& tensor);
  int addStep(ViewStep step, int before);
  /// From the base on.
  std::vector<const ViewStep*> stepsTo(int last) const;
  const Alias* find(const Tensor& tensor) const;

  const ViewCalls& m_calls;
  std::vector<int> m_aliasOf;  ///< by Tensor::traced; -1: none yet
  std::vector<Alias> m_aliases;
  std::deque<ChainedStep> m_steps;  ///< where they are they stay
  std::vector<Base> m_bases;
  bool m_anyRestrided = false;
};

}  // namespace kerf::inline autograd
