// Tensor-parallel styles: how a module's parameters are sharded, and what its inputs and outputs are placed like.
#pragma once

#include "engine/distributed/modules/module_run.h"

namespace kerf::inline distributed::inline modules {

struct ParallelStyle {
  enum class Kind : std::uint8_t { Colwise, Rowwise, Sequence, ModuleInput, ModuleOutput, ModuleInputOutput };
  Kind kind = Kind::Colwise;
  std::optional<Placement> input;          ///< of inputs that are ordinary tensors; none: they stay ordinary
  std::optional<Placement> desiredInput;   ///< none: that of the style
  std::optional<Placement> output;         ///< none: as it comes
  std::optional<Placement> desiredOutput;  ///< of ModuleOutput
  bool givesLocal = true;                  ///< the result is this rank's part, an ordinary tensor
  bool takesLocal = false;                 ///< of ModuleInput: the module sees parts
};

/// "ColwiseParallel", "RowwiseParallel", "SequenceParallel", "PrepareModuleInput", "PrepareModuleOutput",
/// "PrepareModuleInputOutput". NotFound for others.
Result<ParallelStyle::Kind> parallelStyleNamed(std::string_view name);

/// Applies a style to the module at `path`, over dimension `meshDim` of the mesh; along the others nothing is said, as
/// on a mesh of that dimension alone.
Result<void> parallelize(ModuleRun& run, const std::string& path, const ParallelStyle& style, std::size_t meshDim);

}  // namespace kerf::inline distributed::inline modules
