// Texts and drawings of a graph: tables, code, Graphviz, JSON, and the code of its kernels.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>

#include <nlohmann/json.hpp>

#include "app/workbench/captures/graph_source.h"
#include "engine/capture/common/capture.h"
#include "engine/ir/graph_module.h"
#include "engine/support/result.h"

namespace kerf::workbench {

// A graph as text: PyTorch's own forms, Graphviz, JSON.

/// The graph in one of RenderRequest's forms. BadUsage for another, and for a signature that the graph does not have.
Result<std::string> renderGraph(const CapturedGraph& graph, const std::string& format, const Job& job);

// Graphviz: a graph as dot text, and drawn by the `dot` program in a child process.

/// Nodes coloured by what they are; labels carry name, op and shape.
std::string dotText(const Graph& graph, const std::string& title);
/// `format` is "svg" or "png". Environment when Graphviz is missing, fails or is too slow.
Result<std::string> renderDot(const std::string& dot, const std::string& format, std::chrono::milliseconds timeout,
                              std::stop_token stop);

// A graph as one JSON object, with names that scripts may rely on.

using Json = nlohmann::ordered_json;

/// name, nodes (name, op, target, args, kwargs, users, value, source), inputs, symbols, signature, origin.
Json graphJson(const CapturedGraph& graph);
/// inputs and outputs of an exported program, each with kind, name, target, persistent; null for other graphs.
Json signatureJson(const CapturedGraph& graph);

// The code of a graph's kernels, one after the other.

/// Whether `format` is "loop", "llvm", "asm", "cuda", "ptx" or "sass", or one of them followed by ".json".
bool isKernelFormat(std::string_view format);

/// Compiles the graph with the backend that makes code of this form, in a process of its own. Every kernel begins with
/// a comment that names its nodes. BadUsage for another format; Environment for what this machine has no program for.
Result<std::string> kernelTexts(const GraphSource& source, std::string_view format, const std::filesystem::path& cache,
                                const Job& job);

}  // namespace kerf::workbench
