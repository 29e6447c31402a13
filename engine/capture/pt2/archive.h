// Pt2Archive: an opened .pt2: its members below the root folder, mapped, and the layouts that PyTorch has used.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "engine/capture/common/capture.h"
#include "engine/tensor/storage.h"
#include "engine/tensor/zip_directory.h"

namespace kerf::inline capture::pt2 {

class Pt2Archive {
 public:
  /// Maps the file and checks its directory; reads no data. BadInput if this is no archive of torch.export.
  static Result<Pt2Archive> open(const std::filesystem::path& path);
  /// The same over bytes in memory, which `bytes` keeps alive; FileRanges then name `path` all the same.
  static Result<Pt2Archive> open(StoragePtr bytes, const std::filesystem::path& path);

  /// A member by its name below the root folder; null if there is none.
  const ZipMember* find(std::string_view name) const;
  const ZipDirectory& directory() const { return m_directory; }
  /// A member's name without the root folder.
  std::string_view localName(const ZipMember& member) const;
  /// Names of the exported programs in it ("model").
  std::vector<std::string> models() const;
  /// Member with a model's JSON, weights of older layouts (one torch.save file for all), constants, sample inputs.
  const ZipMember* program(const std::string& model) const;
  const ZipMember* savedWeights(const std::string& model) const;
  const ZipMember* savedConstants(const std::string& model) const;
  const ZipMember* sampleInputs(const std::string& model) const;

  /// Where a stored member's bytes lie in the file; nullopt if it is compressed.
  std::optional<FileRange> range(const ZipMember& member) const;
  /// A member's bytes: in place, or unpacked into `unpacked`.
  Result<std::string_view> text(const ZipMember& member, std::int64_t limit, std::string& unpacked) const;
  const std::filesystem::path& path() const { return m_path; }
  bool oldest() const { return m_oldest; }

 private:
  StoragePtr m_bytes;
  std::filesystem::path m_path;
  ZipDirectory m_directory;
  std::string m_root;     ///< with its slash; empty in the oldest layout
  bool m_oldest = false;  ///< serialized_exported_program.json at the top
};

/// importPt2 over bytes in memory; what refers to the file names `path`.
Result<Capture> importPt2Bytes(std::span<const std::byte> bytes, const std::filesystem::path& path,
                               const ImportLimits& limits);

/// Whether the names at the start of a zip file are those of torch.export's archives.
bool isPt2Name(std::string_view name);

}  // namespace kerf::inline capture::pt2
