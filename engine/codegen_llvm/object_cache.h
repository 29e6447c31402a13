// ObjectCache: object code of kernels in a folder, by what it was made of.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/support/hash.h"

namespace kerf::inline codegen_llvm {

/// Object code of one LLVM module, and the texts of its functions where they were kept.
struct CachedObject {
  std::string object;
  std::vector<std::string> texts;
};

/// A file an entry, written whole or not at all, with a checksum: an entry that is damaged, cut short or of another
/// version counts as missing and is removed. Since entries are machine code, a folder or file that somebody else owns
/// or may write to is not used. Several processes may share a folder.
class ObjectCache {
 public:
  /// An empty path: nothing is kept. The folder is made when the first entry is stored.
  explicit ObjectCache(std::filesystem::path folder) : m_folder(std::move(folder)) {}

  std::optional<CachedObject> find(const Hash128& key) const;
  /// Failures are logged, not told: the next compilation does the work again. Entries that were not used for the longest
  /// time go when the folder grows beyond `maximumBytes`.
  void store(const Hash128& key, const CachedObject& entry) const;

  static constexpr std::int64_t maximumBytes = 512LL << 20;

 private:
  std::filesystem::path pathOf(const Hash128& key) const;
  bool isOurs() const;
  void shrink() const;
  std::filesystem::path m_folder;
};

}  // namespace kerf::inline codegen_llvm
