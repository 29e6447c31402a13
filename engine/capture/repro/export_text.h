// The text of a repro.py for other people's machines: what Kerf understood of the capture, and nothing else.
#pragma once

#include <string>
#include <string_view>

#include "engine/capture/common/capture.h"

namespace kerf::inline capture {

/// The repro of graph `index` for export: lines around the graph that are not on the auditor's lists are commented out,
/// annotations that are not understood left out, and the whole is audited. BadInput naming the node and its target, or
/// else the line, where the capture says what may not be written; Internal where Kerf itself wrote such. `reproText`
/// (the store's text) has all lines as they were.
Result<std::string> exportText(const Capture& capture, std::size_t index, const ExportOptions& options);

/// What exportText leaves out of what the capture says, for people: a line each, none for most captures.
std::vector<std::string> leftOutNotes(const Capture& capture, std::size_t index);

/// The graph as another form may write it: without annotations that are not understood. For forms that name what is
/// called in a way that other tools act on (all but JSON and pictures) the errors are those of exportText.
Result<CapturedGraph> exportableGraph(const Capture& capture, std::size_t index, std::string_view form);

/// Audits a text of the module in the form "code", "readable", "text", "table" or "dot"; other forms (JSON, pictures)
/// pass. BadInput where names, targets and annotations of the capture make it another text than a graph's. With
/// --allow-call, what Python reads gets a warning in front.
Result<std::string> auditedForm(std::string_view form, std::string text, const GraphModule& module,
                                const Capture& capture);

}  // namespace kerf::inline capture
