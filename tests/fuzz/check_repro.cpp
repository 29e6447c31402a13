#include <cstdio>
#include <cstdlib>

#include "engine/capture/repro/document.h"
#include "engine/capture/repro/writer.h"
#include "engine/ir/printer.h"
#include "tests/fuzz/checks.h"

namespace kerf::fuzz {
namespace {

constexpr ImportLimits limits{
    .fileBytes = 1 << 20, .lineBytes = 1 << 18, .nesting = 60, .nodes = 20000, .tensorBytes = 1 << 20};
constexpr std::int64_t loadedBytes = 8 << 20;

std::int64_t totalBytes(const CapturedGraph& graph) {
  std::int64_t total = 0;
  for (const StorageRef& storage : graph.storages) total += storage.bytes;
  return total;
}

/// What is no single repro may be a text with several, or with parts of one.
void checkDocument(std::string_view text) {
  const auto document = importReproText(text, {}, limits);
  if (!document) return require(exitCode(document.error().code) == 2, "bad input must end with exit code 2", "");
  for (std::size_t i = 0; i < document->graphs.size(); ++i) {
    const std::string written = reproText(*document, i);
    const auto again = importRepro(written, {}, limits);
    require(again.has_value(), "what was exported does not import", again ? "" : again.error().text() + "\n" + written);
    require(again->graphs[0].contentHash() == document->graphs[i].contentHash(),
            "export and import changed a graph of a document", written);
  }
}

}  // namespace

bool checkRepro(std::string_view text) {
  auto capture = importRepro(text, {}, limits);
  if (!capture) {
    checkDocument(text);
    require(!capture.error().message.empty(), "an error without a message", "");
    require(exitCode(capture.error().code) == 2, "bad input must end with exit code 2", capture.error().text());
    return false;
  }
  CapturedGraph& graph = capture->graphs.at(0);
  const auto lint = graph.module.graph.lint();
  require(lint.has_value(), "an imported graph breaks an invariant", lint ? "" : lint.error().text());
  (void)printGraphText(graph.module.graph);
  const std::string written = reproText(*capture, 0);
  const auto again = importRepro(written, {}, limits);
  require(again.has_value(), "what was exported does not import", again ? "" : again.error().text() + "\n" + written);
  require(again->graphs[0].contentHash() == graph.contentHash(), "export and import changed the graph or its inputs",
          written);
  checkExports(*capture, 0);
  (void)graph.annotateShapes();
  if (totalBytes(graph) <= loadedBytes) (void)graph.loadInputs(false, nullptr);
  return true;
}

}  // namespace kerf::fuzz
