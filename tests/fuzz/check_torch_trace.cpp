#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <tuple>

#include <sys/mman.h>
#include <unistd.h>

#include "engine/capture/common/import_source.h"
#include "engine/capture/trace/compile_answer.h"
#include "engine/capture/trace/follower.h"
#include "engine/capture/trace/header.h"
#include "engine/capture/trace/scanner.h"
#include "engine/capture/trace/torch_trace.h"
#include "engine/support/hash.h"
#include "tests/fuzz/checks.h"

namespace kerf::fuzz {
namespace {

constexpr ImportLimits limits{
    .fileBytes = 4 << 20, .lineBytes = 1 << 18, .nesting = 60, .nodes = 20000, .tensorBytes = 1 << 20};
constexpr std::size_t graphsToLoad = 20;

void requireRefusal(const Error& error) {
  require(!error.message.empty(), "an error without a message", "");
  require(exitCode(error.code) == 2, "bad input must end with exit code 2", error.text());
}

/// A file in memory.
class MemoryFile {
 public:
  MemoryFile() : m_number(::memfd_create("trace", MFD_CLOEXEC)) {}
  ~MemoryFile() { ::close(m_number); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  void append(std::string_view bytes) {
    require(::write(m_number, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()), "cannot write", "");
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(m_number); }

 private:
  int m_number;
};

void checkRecords(const CaptureDetails& details, std::size_t graphs) {
  for (const CaptureRecord& record : details.records) {
    const auto text = record.text();
    require(text.has_value(), "an indexed payload cannot be read", text ? "" : text.error().text());
    require(record.graph < int(graphs), "a record names a graph that is not there", record.kind);
    (void)details.stackOf(record);
  }
  for (const CompileEntry& entry : details.compiles) {
    for (const std::size_t index : entry.records) require(index < details.records.size(), "a wrong record", entry.id);
    for (const std::size_t index : entry.graphs) require(index < graphs, "a wrong graph", entry.id);
  }
  for (const TimelineEvent& event : details.timeline)
    require(event.durationUs >= 0 && event.depth >= 0, "a timeline event that ends before it begins", event.name);
}

/// Whatever the records hold, the log of their compilations can be read, and answers.
void checkCompileLog(const Capture& capture) {
  const auto log = readCompileLog(capture);
  require(log.has_value(), "the log of the compilations cannot be read", log ? "" : log.error().text());
  require(log->compiles.size() == capture.details->compiles.size(), "a compile id without a story", "");
  require(log->directions.size() == capture.details->records.size(), "a record without a direction", "");
  for (const CompileStory& story : log->compiles) {
    for (const LoggedCode& code : story.codes)
      require(code.record < capture.details->records.size(), "a wrong record of code", code.name);
    for (const KernelOrigin& kernel : story.kernels)
      require(kernel.code < std::int64_t(capture.details->records.size()), "a wrong record of a kernel", kernel.kernel);
  }
  for (const AnswerLine& line : compileAnswer(*log, *capture.details, rankTable(*log, *capture.details)))
    require(!line.text.empty(), "an empty answer", line.section);
}

void checkGraphs(Capture& capture) {
  std::set<std::string> names;
  for (const CapturedGraph& graph : capture.graphs)
    require(names.insert(graph.name).second, "two graphs of one name", graph.name);
  for (std::size_t i = 0; i < std::min(capture.graphs.size(), graphsToLoad); ++i) {
    const auto loaded = capture.graphs[i].ensureLoaded();
    if (!loaded) {
      requireRefusal(loaded.error());
      continue;
    }
    const auto lint = capture.graphs[i].module.graph.lint();
    require(lint.has_value(), "an imported graph breaks an invariant", lint ? "" : lint.error().text());
    checkExports(capture, i);
  }
}

/// Whether each payload is the one that its record announces. Lines that nobody announced may come at any time: a log
/// that holds such does not always read the same while it grows.
bool isHonest(std::string_view bytes, const CaptureDetails& details) {
  return std::ranges::all_of(details.records, [&](const CaptureRecord& record) {
    const auto header = trace::parseTraceHeader(record.metadata);
    const auto raw = bytes.substr(std::size_t(record.payload.offset), std::size_t(record.payload.length));
    return raw.empty() || (header && trace::payloadMatches(raw, header->checksum));
  });
}

void requireSameRecords(const CaptureDetails& followed, const CaptureDetails& imported, bool honest) {
  require(followed.records.size() == imported.records.size(), "following finds other records than importing",
          std::to_string(followed.records.size()) + " against " + std::to_string(imported.records.size()));
  for (std::size_t i = 0; i < imported.records.size(); ++i) {
    const CaptureRecord &one = followed.records[i], &other = imported.records[i];
    require(one.metadata == other.metadata && one.origin.line == other.origin.line,
            "following finds a record elsewhere than importing", one.metadata);
    if (!honest) continue;
    require(one.payload.length == other.payload.length && one.payload.offset == other.payload.offset,
            "following finds another payload than importing", one.metadata);
    require(one.graph == other.graph, "following finds another graph than importing", one.metadata);
  }
}

void requireSameDetails(const CaptureDetails& followed, const CaptureDetails& imported) {
  const auto compile = [](const CompileEntry& entry) {
    return std::tie(entry.id, entry.rank, entry.status, entry.failure, entry.frame, entry.graphs, entry.records,
                    entry.metrics, entry.restartReasons, entry.symbols);
  };
  const auto event = [](const TimelineEvent& item) {
    return std::tie(item.name, item.compileId, item.rank, item.thread, item.beginUs, item.durationUs, item.depth);
  };
  const auto group = [](const RecordedFusionGroup& item) {
    return std::tie(item.kernel, item.origin.line, item.buffers, item.postGradNodes, item.preGradNodes);
  };
  const auto same = [](const auto& projection) {
    return [&](const auto& one, const auto& other) { return projection(one) == projection(other); };
  };
  require(std::ranges::equal(followed.compiles, imported.compiles, same(compile)),
          "following finds other compilations than importing", "");
  require(std::ranges::equal(followed.timeline, imported.timeline, same(event)),
          "following finds another timeline than importing", "");
  require(std::ranges::equal(followed.fusionGroups, imported.fusionGroups, same(group)),
          "following finds other fusion groups than importing", "");
  require(followed.preToPost == imported.preToPost && followed.postToPre == imported.postToPre,
          "following finds other provenance than importing", "");
}

/// Read in parts as it grows, a log has the same records, graphs, compilations and events.
void checkFollowing(std::string_view bytes, const Capture& whole, const std::vector<std::size_t>& cuts) {
  MemoryFile file;
  auto follower = TorchTraceFollower::open(file.path(), limits);
  require(follower.has_value(), "an empty log cannot be followed", "");
  std::size_t at = 0;
  for (const std::size_t cut : cuts) {
    file.append(bytes.substr(at, cut - at));
    at = cut;
    (void)follower->poll();
  }
  file.append(bytes.substr(at));
  for (const auto& step : {follower->poll(), follower->finish()})
    require(step.has_value(), "following fails where importing succeeds", step ? "" : step.error().text());
  const Capture& followed = follower->capture();
  const bool honest = isHonest(bytes, *whole.details);
  requireSameRecords(*followed.details, *whole.details, honest);
  if (!honest) return;
  requireSameDetails(*followed.details, *whole.details);
  require(std::ranges::equal(followed.graphs, whole.graphs, {}, &CapturedGraph::name, &CapturedGraph::name),
          "following names graphs otherwise than importing", "");
}

/// Some places to cut at, always the same ones for the same bytes.
std::vector<std::size_t> someCuts(std::string_view bytes) {
  std::vector<std::size_t> cuts;
  std::uint64_t state = hashText(bytes).low;
  for (int i = 0; i < 4; ++i, state = state * 6364136223846793005u + 1442695040888963407u)
    cuts.push_back(std::size_t((state >> 20) % (bytes.size() + 1)));
  std::ranges::sort(cuts);
  return cuts;
}

}  // namespace

bool checkTorchTrace(std::string_view bytes) {
  (void)looksLikeTorchTrace(bytes.substr(0, recognitionBytes));
  MemoryFile file;
  file.append(bytes);
  auto capture = importTorchTrace(file.path(), limits, {});
  if (!capture) {
    requireRefusal(capture.error());
    return false;
  }
  checkRecords(*capture->details, capture->graphs.size());
  checkCompileLog(*capture);
  checkGraphs(*capture);
  if (!bytes.starts_with("\x1f\x8b\x08")) {
    checkFollowing(bytes, *capture, {bytes.size() / 2});
    checkFollowing(bytes, *capture, someCuts(bytes));
  }
  return true;
}

}  // namespace kerf::fuzz
