// How graphs are written: one function per export format. Everything appears whole or not at all.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "app/workbench/graph_source.h"

namespace kerf::workbench {

struct ExportTarget {
  std::filesystem::path path;
  std::string values;  ///< safetensors: node names, "outputs", "inputs" or "all"
};

/// Writes the graph in a format of exportFormats(); the path of what was written. BadUsage for another format.
Result<std::filesystem::path> writeAs(std::string_view format, GraphSource& source, const ExportTarget& target,
                                      const Job& job);
/// Name of the format that `name` or, if that is empty, the path's extension means; a folder or no extension is a
/// repro.
Result<std::string_view> chooseFormat(const std::string& name, const std::filesystem::path& path);

/// repro.py and its storages as one zip that unpacks to a folder of the zip's name.
Result<std::filesystem::path> exportZip(GraphSource& source, const ExportTarget& target, const Job& job);
/// Values computed by the interpreter as safetensors.
Result<std::filesystem::path> exportValues(GraphSource& source, const ExportTarget& target, const Job& job);

}  // namespace kerf::workbench
