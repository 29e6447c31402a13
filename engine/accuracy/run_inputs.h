// What one run of a comparison gets of the values that all of its runs share.
#pragma once

#include "engine/accuracy/run_results.h"
#include "engine/support/hash.h"

namespace kerf::inline accuracy {

/// Whether a run needs memory of its own for each input: the graph may write into it, or into one with which it shares
/// its storage.
std::vector<bool> needOwnMemory(const ValueList& inputs, const ResultNames& names);

/// Inputs for one run: copies of those that need memory of their own (aliasing between them is kept), the others as
/// they are. A graph that writes nothing costs no memory here.
Result<ValueList> inputsForRun(const ValueList& inputs, const ResultNames& names);

/// Watches over inputs that several runs share: a compiled side that writes where the graph does not would spoil the
/// runs after it.
class SharedInputs {
 public:
  /// `own` as needOwnMemory() gives it: those inputs are not watched.
  SharedInputs(const ValueList& inputs, const std::vector<bool>& own);
  /// Positions of the inputs whose bytes are no longer what they were.
  std::vector<std::size_t> changed() const;

 private:
  std::vector<Hash128> digests() const;

  const ValueList& m_inputs;
  std::vector<const Storage*> m_storages;  ///< each once
  std::vector<Hash128> m_before;           ///< their contents
};

/// `tensor` in float64, with its strides; elements that share memory stay so. Others than floats are returned as they
/// are.
Result<Tensor> inFloat64(const Tensor& tensor);

}  // namespace kerf::inline accuracy
