// TorchFile: a torch.save file inside an archive: its tensors described, their bytes left where they are.
#pragma once

#include "engine/capture/common/capture.h"
#include "engine/capture/pt2/pickle.h"
#include "engine/tensor/zip_directory.h"

namespace kerf::inline capture::pt2 {

struct TorchFile {
  Pickle pickle;
  std::span<const std::byte> bytes;  ///< the whole file
  ZipDirectory directory;
  std::string root;  ///< folder of the members, with its slash

  /// The bytes of a tensor's storage and their place in `bytes`. BadInput if they are missing, compressed, or fewer
  /// than the pickle says; also if the tensor reaches beyond them.
  Result<std::span<const std::byte>> storageOf(const PickledTensor& tensor) const;
};

/// Reads the directory and the pickle of a torch.save file (zip form); runs nothing. The bytes must outlive it.
Result<TorchFile> readTorchFile(std::span<const std::byte> bytes);

/// Whether a tensor of these sizes lies within `storageBytes` bytes.
bool fits(DType dtype, const Sizes& sizes, const Sizes& strides, std::int64_t offset, std::int64_t storageBytes);

}  // namespace kerf::inline capture::pt2
