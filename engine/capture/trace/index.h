// TraceIndex: turns the records of one or more logs into a Capture whose graphs are parsed when somebody asks.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "engine/capture/common/capture.h"
#include "engine/capture/trace/compiles.h"
#include "engine/capture/trace/fusion.h"
#include "engine/capture/trace/record.h"
#include "engine/capture/trace/scanner.h"
#include "engine/capture/trace/timeline.h"

namespace kerf::inline capture::trace {

class TraceIndex {
 public:
  explicit TraceIndex(const std::filesystem::path& path, const ImportLimits& limits);

  /// Announces a log; its number for add(). `unpacked` is set for a compressed one.
  std::size_t addLog(const std::filesystem::path& path, std::shared_ptr<const LogBytes> unpacked);

  /// Takes records of log `log` found in `text`, which starts `base` bytes into it. `matches` tells for each record
  /// whether its payload fits its checksum. A tentative last record is a graph only if it parses: its log may be cut
  /// there.
  /// Cancelled when `progress` says so; the index is of no use then.
  Result<void> add(std::size_t log, std::string_view text, std::int64_t base, const std::vector<RawRecord>& records,
                   const std::vector<char>& matches, bool lastIsTentative, const ImportProgress& progress = {});

  /// Adds a note about a log.
  void note(std::size_t log, const std::string& text);
  void note(std::size_t log, const ScanReport& report);
  /// Says that a log ends in the middle, with the line of the last record that it begins.
  void noteCut(std::size_t log, int line);

  /// Names, statuses and order for what has been read so far; `last`: nothing will follow.
  void update(bool last);

  Capture& capture() { return m_capture; }
  const Capture& capture() const { return m_capture; }
  std::size_t recordCount() const { return m_details->records.size(); }

 private:
  struct Log {
    std::shared_ptr<const LogSource> source;
    int rank = -1;
    TimelineReader timeline;
    std::map<std::int64_t, std::string> files;
    std::int64_t mismatches = 0, malformed = 0, unannounced = 0, badPayloads = 0;
    int firstMismatch = 0, firstMalformed = 0, firstUnannounced = 0, firstBadPayload = 0;
  };
  struct GraphFacts {
    GraphForm form = GraphForm::None;
    std::size_t compile = CompileTable::none;
    int line = 0;
    bool tentative = false;
  };
  void addRecord(std::size_t log, PreparedRecord& prepared, const RawRecord& raw, bool tentative);
  void addGraph(const Log& log, std::string_view rawPayload, const GraphFacts& facts, CaptureRecord& record);
  void readPayload(Log& log, std::string_view rawPayload, const TraceHeader& header, const CaptureRecord& record);
  void internString(Log& log, std::string_view value);
  std::vector<std::string> directedNames() const;
  void nameGraphs();
  void noteCounts();

  ImportLimits m_limits;
  Capture m_capture;
  std::shared_ptr<CaptureDetails> m_details;
  CompileTable m_compiles;
  std::vector<Log> m_logs;
  std::vector<std::string> m_baseNames;  ///< of the graphs
  std::vector<std::string> m_fixedNotes;
  std::size_t m_provenanceBytes = 0;
  NameByteBudget m_names;  ///< of provenance maps
};

/// N of "…_rank_<N>_…"; -1 if the name has none.
int rankOfFileName(std::string_view name);

}  // namespace kerf::inline capture::trace
