// The data in a page that `share` wrote.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "engine/process/temporary_folder.h"

namespace kerf::workbench {

/// What stands around the data: an archive in base64.
inline constexpr std::string_view sharedDataBegin = "<script id=\"kerf-data\" type=\"application/zip;base64\">";
inline constexpr std::string_view sharedDataEnd = "</script>";

struct SharedFiles {
  std::shared_ptr<const TemporaryFolder> folder;
  std::filesystem::path root;  ///< the one thing in the folder, or the folder
};

/// Unpacks the data of a page. Nothing where the file is no such page; BadInput where its data is damaged, TooLarge where
/// it unpacks to more than 1 GiB.
Result<std::optional<SharedFiles>> openSharedPage(const std::filesystem::path& path);

}  // namespace kerf::workbench
