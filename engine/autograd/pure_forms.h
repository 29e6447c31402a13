// Pure forms: for each op that writes into its arguments the op that gives the written values as results.
#pragma once

#include <vector>

#include "engine/ops/core/op_call.h"

namespace kerf::inline autograd {

/// What a call that writes becomes.
struct PureForm {
  const OpInfo* op = nullptr;
  ValueList arguments;  ///< bound to `op`
  struct Write {
    std::size_t argument;  ///< of the writing op: the tensor, or list of tensors, that is written
    std::size_t result;    ///< of the pure op: its new values
  };
  std::vector<Write> writes;
  std::vector<std::size_t> results;  ///< of the pure op that the call itself gives; empty: what it wrote into
  bool restrides = false;            ///< changes how its argument looks at its memory, not what that holds (t_)
};

/// Whether a call may write: by its schema, its traits, or as batch norms move their statistics.
bool mayWrite(const OpInfo& op);
/// UnsupportedOp, with the reason, for what has no pure form: set_, resize_, ops whose schema has no counterpart.
Result<PureForm> pureFormOf(const BoundArguments& call);

}  // namespace kerf::inline autograd
