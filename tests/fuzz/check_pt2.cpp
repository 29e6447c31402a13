#include <cstdio>
#include <cstdlib>

#include "engine/capture/common/import_source.h"
#include "engine/capture/pt2/archive.h"
#include "engine/capture/pt2/audit.h"
#include "engine/capture/pt2/graph_reader.h"
#include "engine/capture/pt2/graph_writer.h"
#include "engine/capture/pt2/import.h"
#include "engine/ir/printer.h"
#include "tests/fuzz/checks.h"

namespace kerf::fuzz {
namespace {

constexpr ImportLimits limits{
    .fileBytes = 1 << 20, .lineBytes = 1 << 18, .nesting = 100, .nodes = 20000, .tensorBytes = 1 << 20};

/// What can be written must read back as the same graph.
void checkWriting(const CapturedGraph& graph) {
  const auto written = pt2::pt2GraphJson(graph.module, graph.program.get());
  if (!written) return require(!written.error().message.empty(), "an error without a message", "");
  const auto audited = pt2::auditProgramJson(R"({"graph_module": {"graph": )" + written->json + "}}", {});
  require(audited || exitCode(audited.error().code) == 2, "the audit of a program failed", written->json);
  std::vector<std::string> names;
  for (const NodeId id : graph.module.graph.placeholders()) names.push_back(graph.module.graph.node(id).name());
  JsonCursor json(written->json, "graph", limits.nesting + 100);
  Pt2Program program;
  pt2::GraphReading reading{limits, {}, written->json.size(), program};
  const auto again = pt2::readPt2Graph(json, reading, names);
  require(again.has_value(), "what was written does not read",
          again ? "" : again.error().text() + "\n" + written->json);
  require(printGraphText(again->graph) == printGraphText(graph.module.graph), "writing changed the graph",
          printGraphText(graph.module.graph) + "\n" + printGraphText(again->graph));
}

}  // namespace

bool checkPt2(std::string_view bytes) {
  const auto capture = pt2::importPt2Bytes(std::as_bytes(std::span(bytes.data(), bytes.size())), "input.pt2", limits);
  (void)looksLikePt2(bytes.substr(0, recognitionBytes));
  if (!capture) {
    require(!capture.error().message.empty(), "an error without a message", "");
    require(exitCode(capture.error().code) == 2, "bad input must end with exit code 2", capture.error().text());
    return false;
  }
  for (std::size_t i = 0; i < capture->graphs.size(); ++i) {
    const CapturedGraph& graph = capture->graphs[i];
    const auto lint = graph.module.graph.lint();
    require(lint.has_value(), "an imported graph breaks an invariant", lint ? "" : lint.error().text());
    require(graph.inputs.size() == graph.module.graph.placeholders().size(), "inputs and placeholders differ", "");
    for (const StorageRef& storage : graph.storages)
      if (storage.file)
        require(storage.file->offset >= 0 && storage.file->length >= 0 &&
                    storage.file->offset + storage.file->length <= std::int64_t(bytes.size()),
                "a storage lies outside the file", "");
    (void)printPythonCode(graph.module);
    (void)graph.contentHash();
    checkWriting(graph);
    checkExports(*capture, i);
  }
  return true;
}

}  // namespace kerf::fuzz
