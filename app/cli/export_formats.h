// The files that `kerf export` writes: one row per format. All of them appear whole or not at all.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "app/cli/context.h"
#include "app/cli/graph_source.h"

namespace kerf::cli {

struct ExportTarget {
  std::filesystem::path path;
  std::string values;  ///< safetensors: node names, "outputs", "inputs" or "all"
};

struct ExportFormat {
  std::string_view name;       ///< of --format
  std::string_view extension;  ///< ".zip"; of the output name that chooses this format
  std::string_view what;       ///< for people
  /// Writes; returns the path of what was written.
  Result<std::filesystem::path> (*write)(Context&, GraphSource&, const ExportTarget&);
};

std::span<const ExportFormat> exportFormats();
/// The format of `name`, or of the path's extension; a folder or no extension is a repro. BadUsage for an unknown one.
Result<const ExportFormat*> chooseFormat(const std::string& name, const std::filesystem::path& path);

/// repro.py and its storages as one zip that unpacks to a folder of the zip's name.
Result<std::filesystem::path> exportZip(Context& context, GraphSource& source, const ExportTarget& target);
/// Values computed by the interpreter as safetensors.
Result<std::filesystem::path> exportValues(Context& context, GraphSource& source, const ExportTarget& target);

}  // namespace kerf::cli
