// readSamples: the example inputs saved with an exported program, as leaves in the order of its user inputs.
#pragma once

#include "engine/capture/pt2/archive.h"
#include "engine/capture/pt2/torch_file.h"

namespace kerf::inline capture::pt2 {

struct Samples {
  std::optional<TorchFile> file;      ///< unset: none were saved
  std::optional<FileRange> place;     ///< of the file in the archive; unset if it was compressed
  StoragePtr keep;                    ///< its bytes then
  std::vector<std::uint32_t> leaves;  ///< indices into file->pickle.values
};

/// Flattens (args, kwargs) as torch.utils._pytree does; keyword arguments in the order that `moduleCallGraph` (JSON)
/// gives them. BadInput where the file is no plain structure of tensors and numbers.
Result<Samples> readSamples(const Pt2Archive& archive, const ZipMember& member, std::string_view moduleCallGraph,
                            const ImportLimits& limits);

}  // namespace kerf::inline capture::pt2
