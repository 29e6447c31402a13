// Code that stores into inputs where it computes (storeCopies) is right as long as these share no memory with anything
// else that it is given; for runs in which they do there is other code, which copies when the graph says so.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "engine/backend/backend.h"

namespace kerf::inline backend {

/// What a program is given: which inputs its kernels store into, and its constants.
struct GivenMemory {
  std::vector<bool> stored;  ///< by input
  std::vector<Tensor> constants;
  static GivenMemory of(const Program& program);

  bool anyStored() const;
  /// Whether some input that is stored into may lie where another one, or a constant, does.
  bool isShared(const ValueList& inputs) const;
};

using MakeExecutable = std::function<Result<std::unique_ptr<Executable>>(std::stop_token)>;

/// Runs `apart`, or what `makeOther` gives for inputs that share memory; that is called at most once.
std::unique_ptr<Executable> forAnyInputs(std::unique_ptr<Executable> apart, GivenMemory memory,
                                         MakeExecutable makeOther);

}  // namespace kerf::inline backend
