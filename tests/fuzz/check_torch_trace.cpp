#include <cstdio>
#include <cstdlib>
#include <set>

#include <sys/mman.h>
#include <unistd.h>

#include "engine/capture/importers.h"
#include "engine/capture/torch_trace_follower.h"
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
    require(record.graph < static_cast<int>(graphs), "a record names a graph that is not there", record.kind);
    (void)details.stackOf(record);
  }
  for (const CompileEntry& entry : details.compiles) {
    for (const std::size_t index : entry.records) require(index < details.records.size(), "a wrong record", entry.id);
    for (const std::size_t index : entry.graphs) require(index < graphs, "a wrong graph", entry.id);
  }
  for (const TimelineEvent& event : details.timeline)
    require(event.durationUs >= 0 && event.depth >= 0, "a timeline event that ends before it begins", event.name);
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
  }
}

/// Read in two parts as it grows, a log has the same records.
void checkFollowing(std::string_view bytes, const Capture& whole) {
  MemoryFile file;
  auto follower = TorchTraceFollower::open(file.path(), limits);
  require(follower.has_value(), "an empty log cannot be followed", "");
  file.append(bytes.substr(0, bytes.size() / 2));
  (void)follower->poll();
  file.append(bytes.substr(bytes.size() / 2));
  for (const auto& step : {follower->poll(), follower->finish()})
    require(step.has_value(), "following fails where importing succeeds", step ? "" : step.error().text());
  const auto& followed = follower->capture().details->records;
  const auto& imported = whole.details->records;
  require(followed.size() == imported.size(), "following finds other records than importing",
          std::to_string(followed.size()) + " against " + std::to_string(imported.size()));
  for (std::size_t i = 0; i < followed.size(); ++i)
    require(followed[i].metadata == imported[i].metadata && followed[i].origin.line == imported[i].origin.line,
            "following finds a record elsewhere than importing", followed[i].metadata);
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
  checkGraphs(*capture);
  if (!bytes.starts_with("\x1f\x8b\x08")) checkFollowing(bytes, *capture);
  return true;
}

}  // namespace kerf::fuzz
