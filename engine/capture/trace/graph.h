// Which payloads of a trace are graphs, and how to read one of them.
#pragma once

#include <mutex>

#include "engine/capture/common/capture.h"
#include "engine/capture/common/log_bytes.h"

namespace kerf::inline capture::trace {

enum class GraphForm {
  None,
  Text,      ///< print_readable, "graph():" or a table, from the payload's start
  Exported,  ///< str(ExportedProgram): an indented class, then the signature
  Repro,     ///< a standalone program with load_args
};

/// Decides by the payload, tabs included. Output code is never a graph, whatever it quotes.
GraphForm graphFormOf(std::string_view kind, std::string_view rawPayload);

/// Values at which symbols were traced, and their ranges; shared by the graphs of one compile id, filled while the log is read.
struct SymbolHints {
  std::mutex mutex;
  std::map<std::string, std::int64_t, std::less<>> values;
  std::map<std::string, SymbolRange, std::less<>> ranges;
};

struct LogSource {
  std::filesystem::path path;                ///< of the log
  std::shared_ptr<const LogBytes> unpacked;  ///< of a compressed log; null: the file is mapped when asked
};

struct GraphPlace {
  std::shared_ptr<const LogSource> source;
  std::int64_t offset = 0, length = 0;  ///< of the raw payload, bytes
  int line = 0;                         ///< 1-based, of the payload's first line
  GraphForm form = GraphForm::None;
  std::shared_ptr<SymbolHints> symbols;
  ImportLimits limits;
};

/// Reads the graph: module, inputs from its placeholders' annotations (or load_args), hints of its symbols. Errors
/// carry the log's path and line.
Result<CapturedGraph> loadTraceGraph(const GraphPlace& place);

/// The same over a payload that is at hand (tabs included).
Result<CapturedGraph> parseTraceGraph(std::string_view rawPayload, const GraphPlace& place);

}  // namespace kerf::inline capture::trace
