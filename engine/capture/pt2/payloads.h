// readPayloads: what an archive says of its weights and constants, and where the bytes of each lie.
#pragma once

#include <unordered_map>

#include "engine/capture/pt2/archive.h"
#include "engine/capture/pt2/program.h"
#include "engine/capture/pt2/torch_file.h"

namespace kerf::inline capture::pt2 {

/// The storages of one graph, each file range or unpacked member once.
class StorageTable {
 public:
  StorageTable(std::vector<StorageRef>& storages, const ImportLimits& limits)
      : m_storages(storages), m_limits(limits) {}

  /// Index of the storage that holds a member's bytes; unpacks compressed members.
  Result<int> ofMember(const Pt2Archive& archive, const ZipMember& member, const TensorMeta& meta);
  /// Index of the storage of a tensor in a torch.save file that lies at `place` (or in memory, when that is unset and
  /// `keep` holds the bytes).
  Result<int> ofTorchFile(const TorchFile& file, const PickledTensor& tensor, const std::optional<FileRange>& place,
                          const StoragePtr& keep);
  /// A storage without data, to be made up when it is loaded.
  Result<int> missing(const TensorMeta& meta);

 private:
  int add(StorageRef reference, const std::string& key);
  std::vector<StorageRef>& m_storages;
  const ImportLimits& m_limits;
  std::unordered_map<std::string, int> m_known;
};

/// Reads `<folder><model>_<what>_config.json`, or the torch.save file of older layouts. Payloads that cannot be read
/// keep storage -1 and are explained in `notes`.
struct PayloadSource {
  std::string folder;                ///< "data/weights/"
  std::string config;                ///< member with the config
  const ZipMember* saved = nullptr;  ///< torch.save file of older layouts, if there is one
};
Result<std::vector<Pt2Payload>> readPayloads(const Pt2Archive& archive, const PayloadSource& source,
                                             StorageTable& storages, const ImportLimits& limits,
                                             std::vector<std::string>& notes);

/// Bytes that a tensor of this meta needs; TooLarge above `limit` or where that cannot be counted.
Result<std::int64_t> bytesNeeded(const TensorMeta& meta, std::int64_t limit);
/// The meta of a pickled tensor.
TensorMeta metaOf(const PickledTensor& tensor);

}  // namespace kerf::inline capture::pt2
