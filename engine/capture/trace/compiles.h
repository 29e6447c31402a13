// The compile ids of a trace: frames, metrics, failures, and in the end the status of each.
#pragma once

#include <unordered_map>

#include "engine/capture/common/details.h"
#include "engine/capture/trace/graph.h"
#include "engine/capture/trace/header.h"

namespace kerf::inline capture::trace {

/// Keeps CaptureDetails::compiles while records arrive. Entries are told apart by log, rank and id.
class CompileTable {
 public:
  static constexpr std::size_t none = std::size_t(-1);

  /// The entry of a record, made at its first record; `none` for records without compile id and stack.
  std::size_t entryOf(std::size_t log, int rank, const TraceHeader& header, CaptureDetails& details);
  /// Takes what a record says about its compilation (dynamo_start, metrics, artifacts' names, symbols).
  void take(std::size_t entry, const TraceHeader& header, const CaptureRecord& record,
            const std::map<std::int64_t, std::string>& files, CaptureDetails& details);
  /// Takes the guards on symbols from the text of a compiled frame's guards: dynamo_guards and dynamo_cpp_guards_str.
  void takeGuardText(std::size_t entry, const TraceHeader& header, std::string_view rawPayload, int line,
                     CaptureDetails& details) const;
  /// Sets the status of every entry from what is known now; may be called again later.
  void setStatus(CaptureDetails& details) const;
  std::shared_ptr<SymbolHints> symbolsOf(std::size_t entry) const { return m_states[entry].symbols; }

 private:
  struct State {
    std::string frameKey;  ///< log, rank and id without attempt
    std::int64_t attempt = 0;
    bool hasFrame = false;  ///< the id has a frame compile number: Dynamo writes metrics for it
    bool hasMetrics = false, failed = false, cacheHit = false, wroteGraph = false;
    double operators = 0;  ///< graph_op_count
    std::shared_ptr<SymbolHints> symbols = std::make_shared<SymbolHints>();
  };
  void takeMetrics(State& state, CompileEntry& entry, const TraceHeader& header);
  /// What all attempts at one frame say together.
  struct Attempts {
    std::int64_t last = 0;
    bool hasMetrics = false, failed = false;
    double operators = 0;
  };
  CompileEntry::Status statusOf(const State& state, const Attempts& attempts, const CompileEntry& entry) const;

  std::unordered_map<std::string, std::size_t> m_byKey;
  std::size_t m_metricCount = 0;
  std::vector<State> m_states;  ///< as CaptureDetails::compiles
};

/// "file.py:12 in forward" for one frame {"line": 12, "name": "forward", "filename": 1}; empty if it is none.
std::string frameText(std::string_view frame, const std::map<std::int64_t, std::string>& files);

}  // namespace kerf::inline capture::trace
