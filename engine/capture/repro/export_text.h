// The text of a repro.py for other people's machines: what Kerf understood of the capture, and nothing else.
#pragma once

#include <string>

#include "engine/capture/common/capture.h"

namespace kerf::inline capture {

/// The repro of graph `index` for export: lines around the graph that are not on the auditor's lists are commented out,
/// and the whole is audited. BadInput naming the node and its target, or else the line, where something may not be
/// written; `reproText` (the store's text) has all lines as they were.
Result<std::string> exportText(const Capture& capture, std::size_t index, const ExportOptions& options);

/// The lines with those blocks commented out that an export may not hold; `before` stands above each as its context.
std::vector<std::string> sievedLines(const std::vector<std::string>& lines, const std::string& before = {});

}  // namespace kerf::inline capture
