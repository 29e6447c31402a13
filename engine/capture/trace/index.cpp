#include "engine/capture/trace/index.h"

#include <algorithm>
#include <charconv>

#include "engine/capture/common/json.h"
#include "engine/capture/trace/record_directions.h"
#include "engine/support/thread_pool.h"
#include "engine/support/utf8.h"

namespace kerf::inline capture::trace {
namespace {

constexpr std::size_t versionHead = 64 << 10;  ///< bytes of a program that may hold its torch version
constexpr std::size_t batchRecords = 8192;     ///< prepared at once
constexpr std::int64_t recordsPerTask = 512;
constexpr std::size_t longestPath = 4096;          ///< bytes of a file name that frames refer to
constexpr std::size_t provenanceLimit = 64 << 20;  ///< bytes of provenance maps in one capture

/// A name that may stand behind '#' on a command line.
std::string plainName(std::string_view text) {
  std::string name(text);
  for (char& character : name)
    if (std::isalnum(static_cast<unsigned char>(character)) == 0 && character != '_' && character != '.' &&
        character != '-')
      character = '_';
  return name;
}

std::string versionIn(std::string_view program) {
  constexpr std::string_view mark = "# torch version: ";
  const std::string_view head = program.substr(0, versionHead);
  const std::size_t found = head.find(mark);
  if (found == std::string_view::npos) return {};
  const std::string_view rest = head.substr(found + mark.size());
  return std::string(rest.substr(0, rest.find_first_of(" \r\n")));
}

void count(std::int64_t& number, int& first, int line) {
  if (number++ == 0) first = line;
}

std::string lastLine(const std::string& text) {
  const std::size_t end = text.find_last_not_of(" \r\n");
  if (end == std::string::npos) return {};
  const std::size_t start = text.rfind('\n', end);
  return text.substr(start == std::string::npos ? 0 : start + 1,
                     end - (start == std::string::npos ? 0 : start + 1) + 1);
}

}  // namespace

int rankOfFileName(std::string_view name) {
  constexpr std::string_view mark = "rank_";
  const std::size_t found = name.find(mark);
  if (found == std::string_view::npos) return -1;
  int rank = -1;
  const char* begin = name.data() + found + mark.size();
  const auto [end, problem] = std::from_chars(begin, name.data() + name.size(), rank);
  return problem == std::errc() && end != begin && rank >= 0 ? rank : -1;
}

TraceIndex::TraceIndex(const std::filesystem::path& path, const ImportLimits& limits)
    : m_limits(limits), m_details(std::make_shared<CaptureDetails>()) {
  m_capture.kind = "torch_trace";
  m_capture.path = path;
  m_capture.details = m_details;
}

std::size_t TraceIndex::addLog(const std::filesystem::path& path, std::shared_ptr<const LogBytes> unpacked) {
  Log log;
  log.rank = rankOfFileName(path.filename().string());
  log.source = std::make_shared<const LogSource>(LogSource{path, unpacked});
  if (unpacked) m_details->keepAlive.push_back(std::move(unpacked));
  m_logs.push_back(std::move(log));
  m_capture.files.push_back(path);
  return m_logs.size() - 1;
}

Result<void> TraceIndex::add(std::size_t log, std::string_view text, std::int64_t base,
                             const std::vector<RawRecord>& records, const std::vector<char>& matches,
                             bool lastIsTentative, const ImportProgress& progress) {
  m_details->records.reserve(m_details->records.size() + records.size());
  std::vector<PreparedRecord> batch;
  for (std::size_t begin = 0; begin < records.size(); begin += batch.size()) {
    batch.clear();
    batch.resize(std::min(batchRecords, records.size() - begin));
    const std::filesystem::path& path = m_logs[log].source->path;
    const int rank = m_logs[log].rank;
    parallelFor(std::int64_t(batch.size()), recordsPerTask, [&](std::int64_t first, std::int64_t end) {
      for (auto i = std::size_t(first); i < std::size_t(end); ++i)
        batch[i] = prepareRecord(text, records[begin + i], base, path, rank);
    });
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const RawRecord& raw = records[begin + i];
      if (matches[begin + i] == 0) count(m_logs[log].mismatches, m_logs[log].firstMismatch, raw.line);
      addRecord(log, batch[i], raw, lastIsTentative && begin + i + 1 == records.size());
    }
    if (progress && !progress(double(begin + batch.size()) / double(records.size())))
      return fail(ErrorCode::Cancelled, "import cancelled");
  }
  return {};
}

void TraceIndex::addRecord(std::size_t logIndex, PreparedRecord& prepared, const RawRecord& raw, bool tentative) {
  Log& log = m_logs[logIndex];
  if (!prepared.good) return count(log.malformed, log.firstMalformed, raw.line);
  const TraceHeader& header = prepared.header;
  CaptureRecord& record = prepared.record;
  if (raw.payloadLine > 0 && !header.announcesPayload) count(log.unannounced, log.firstUnannounced, raw.line);
  if (header.kind == "str") internString(log, header.value);
  const std::size_t compile = m_compiles.entryOf(logIndex, record.origin.rank, header, *m_details);
  if (prepared.form != GraphForm::None)
    addGraph(log, prepared.payload, {prepared.form, compile, raw.payloadLine, tentative}, record);
  readPayload(log, prepared.payload, header, record);
  if (compile != CompileTable::none) {
    m_compiles.take(compile, header, record, log.files, *m_details);
    m_compiles.takeGuardText(compile, header, prepared.payload, record.origin.line, *m_details);
    CompileEntry& entry = m_details->compiles[compile];
    entry.records.push_back(m_details->records.size());
    if (record.graph >= 0) entry.graphs.push_back(std::size_t(record.graph));
    if (record.name == "dynamo_error" && entry.failure == record.name)
      entry.failure = lastLine(withoutTabs(prepared.payload));
  }
  m_details->records.push_back(std::move(record));
}

/// Indexes the graph. The last record of a log that may still be growing must parse to count as one.
void TraceIndex::addGraph(const Log& log, std::string_view rawPayload, const GraphFacts& facts, CaptureRecord& record) {
  GraphPlace place;
  place.source = log.source;
  place.offset = record.payload.offset;
  place.length = record.payload.length;
  place.line = facts.line;
  place.form = facts.form;
  place.limits = m_limits;
  if (facts.compile != CompileTable::none) place.symbols = m_compiles.symbolsOf(facts.compile);
  if (facts.tentative && !parseTraceGraph(rawPayload, place)) return;
  if (facts.form == GraphForm::Repro && m_capture.torchVersion.empty()) m_capture.torchVersion = versionIn(rawPayload);
  record.graph = int(m_capture.graphs.size());
  CapturedGraph graph;
  graph.origin = record.origin;
  graph.pending = [place = std::move(place)] { return loadTraceGraph(place); };
  m_capture.graphs.push_back(std::move(graph));
  m_baseNames.push_back(plainName(
      record.kind == "artifact" || record.name == record.kind ? record.name : record.kind + "_" + record.name));
}

void TraceIndex::readPayload(Log& log, std::string_view rawPayload, const TraceHeader& header,
                             const CaptureRecord& record) {
  if (header.kind == "compilation_metrics" && m_capture.torchVersion.empty())
    m_capture.torchVersion = jsonString(jsonMember(header.value, "pytorch_version")).value_or("");
  bool good = true;
  if (header.kind == "chromium_event") {
    good = log.timeline.add(rawPayload, record.origin.compileId, record.origin.rank, m_details->timeline);
  } else if (header.kind == "artifact" && isProvenanceArtifact(record.name)) {
    const std::string prefix = record.origin.compileId + " ";
    m_provenanceBytes += rawPayload.size();
    good = m_provenanceBytes <= provenanceLimit &&
           addProvenance(rawPayload, record.name, record.origin, prefix, *m_details, m_names);
  }
  if (!good) count(log.badPayloads, log.firstBadPayload, record.origin.line);
}

/// {"str": ["/path/file.py", 3]}: frames call the file 3 from now on.
void TraceIndex::internString(Log& log, std::string_view value) {
  JsonWalker elements(value);
  if (!elements.nextElement()) return;
  auto name = jsonString(elements.value());
  if (!name || !elements.nextElement()) return;
  if (name->size() > longestPath) name = validUtf8(name->substr(0, longestPath));
  if (const auto number = jsonInteger(elements.value())) log.files.insert_or_assign(*number, std::move(*name));
}

/// Kinds that Inductor writes for forward and for backward say which, where a compilation has both.
std::vector<std::string> TraceIndex::directedNames() const {
  std::vector<std::string> names = m_baseNames;
  const auto twin = [&](std::size_t i) {
    const GraphOrigin& origin = m_capture.graphs[i].origin;
    return fmt::format("{} {} {} {}", m_baseNames[i], origin.compileId, origin.rank, origin.file.string());
  };
  std::unordered_map<std::string, int> twins;
  for (std::size_t i = 0; i < names.size(); ++i) ++twins[twin(i)];
  if (std::ranges::none_of(twins, [](const auto& entry) { return entry.second > 1; })) return names;
  const std::vector<std::string> directions = recordDirections(*m_details);
  for (std::size_t r = 0; r < directions.size(); ++r) {
    const int graph = m_details->records[r].graph;
    if (graph < 0 || directions[r].empty() || twins[twin(std::size_t(graph))] < 2) continue;
    if (!names[std::size_t(graph)].contains(directions[r])) names[std::size_t(graph)] += "_" + directions[r];
  }
  return names;
}

/// A graph's kind alone while it is the only one; else with compile id, rank and, if that is not enough, a number.
void TraceIndex::nameGraphs() {
  std::unordered_map<std::string, int> kinds, uses;
  std::unordered_set<std::string> taken;
  const std::vector<std::string> names = directedNames();
  for (const std::string& base : names) ++kinds[base];
  for (std::size_t i = 0; i < names.size(); ++i) {
    CapturedGraph& graph = m_capture.graphs[i];
    std::string name = names[i];
    if (kinds[name] > 1) {
      name += graph.origin.compileId;
      if (m_logs.size() > 1 && graph.origin.rank >= 0) name += fmt::format("@rank{}", graph.origin.rank);
    }
    graph.name = name;
    while (!taken.insert(graph.name).second) graph.name = fmt::format("{}.{}", name, ++uses[name] + 1);
  }
}

void TraceIndex::note(std::size_t log, const std::string& text) {
  m_fixedNotes.push_back(m_logs[log].source->path.filename().string() + ": " + text);
}

void TraceIndex::note(std::size_t log, const ScanReport& report) {
  if (report.orphanLines > 0)
    note(log, fmt::format("{} payload lines from line {} on belong to no record and were skipped", report.orphanLines,
                          report.firstOrphan));
  if (report.noiseLines > 0)
    note(log, fmt::format("{} lines that are not trace records were skipped, the first is line {}", report.noiseLines,
                          report.firstNoise));
}

void TraceIndex::noteCut(std::size_t log, int line) {
  m_details->cutLogs.insert_or_assign(m_logs[log].source->path, line);
}

void TraceIndex::noteCounts() {
  m_capture.notes = m_fixedNotes;
  const auto add = [this](const Log& log, std::int64_t number, int line, std::string_view what) {
    if (number > 0)
      m_capture.notes.push_back(
          fmt::format("{}: {} {}, the first at line {}", log.source->path.filename().string(), number, what, line));
  };
  for (const Log& log : m_logs) {
    add(log, log.malformed, log.firstMalformed, "records with malformed JSON were skipped");
    add(log, log.mismatches, log.firstMismatch, "payloads do not match their checksum");
    add(log, log.unannounced, log.firstUnannounced, "records have a payload that they do not announce");
    add(log, log.badPayloads, log.firstBadPayload, "payloads are not the JSON they should be, or beyond what is read");
  }
}

void TraceIndex::update(bool last) {
  if (last)
    for (std::size_t i = 0; i < m_logs.size(); ++i)
      if (const std::size_t open = m_logs[i].timeline.closeOpen(m_details->timeline))
        note(i, fmt::format("{} timeline events were begun and not ended; they are shown up to the last event", open));
  for (const Log& log : m_logs) m_details->internedFiles[log.source->path] = log.files;
  nameGraphs();
  m_compiles.setStatus(*m_details);
  sortTimeline(m_details->timeline);
  noteCounts();
}

}  // namespace kerf::inline capture::trace
