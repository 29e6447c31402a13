// Readers of recordings, one a format. Nothing in a file is executed, and no size that a file tells is believed.
#pragma once

#include <filesystem>

#include "engine/align/run_recording.h"
#include "engine/ir/graph_module.h"

namespace kerf::inline align {

/// Longest log that is read, in bytes, and most steps of a recording.
inline constexpr std::size_t mostLogBytes = std::size_t(1) << 30;
inline constexpr std::size_t mostSteps = 2'000'000;

/// What DebugMode.save_logs writes: `{"format": "torch.utils._debug_mode.DebugMode.logs", "version": 1, "logs": […]}`.
bool isDebugModeJson(std::string_view head);
Result<RunRecording> readDebugModeJson(std::string_view text);

/// What DebugMode.debug_string() gives.
bool isDebugModeText(std::string_view head);
Result<RunRecording> readDebugModeText(std::string_view text);

/// torchtitan's numerics log: `Total captured activations: 2`, then blocks `[layers.0.wq/op_0_mm]` with figures. Inputs
/// have the dtype of what gave them, or of the result: the log does not tell it. Figures have seven digits.
bool isTorchtitanLog(std::string_view head);
Result<RunRecording> readTorchtitanLog(std::string_view text);

/// Which of the two values of a node a recording of `kerf record` is read for.
enum class RecordSide { Compiled, Eager };
/// The rows of values.jsonl: an input step for each input, a step for each node, call after call. `values` is the folder
/// with the values themselves, where the recording has them.
Result<RunRecording> readValueRows(std::string_view rows, const std::filesystem::path& values, RecordSide side);

/// A step for each tensor of the file, in the order of its header.
Result<RunRecording> readNamedValues(const std::filesystem::path& file);

/// What the graph knows of steps that are named after its nodes: op, line, and which steps give what they take. Nodes
/// between them that have no step of their own are told as parts. `graph` is in front of the names ("0_0-forward/").
void addStructure(RunRecording& recording, const GraphModule& module, std::string_view graph);

}  // namespace kerf::inline align
