// A graph as one JSON object, with names that scripts may rely on.
#pragma once

#include <nlohmann/json.hpp>

#include "engine/capture/common/capture.h"

namespace kerf::workbench {

using Json = nlohmann::ordered_json;

/// name, nodes (name, op, target, args, kwargs, users, value, source), inputs, symbols, signature, origin.
Json graphJson(const CapturedGraph& graph);
/// inputs and outputs of an exported program, each with kind, name, target, persistent; null for other graphs.
Json signatureJson(const CapturedGraph& graph);

}  // namespace kerf::workbench
