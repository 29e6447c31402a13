#include <cstdio>
#include <cstdlib>

#include "engine/capture/common/capture.h"
#include "engine/capture/repro/writer.h"
#include "engine/capture/text/capture.h"
#include "engine/ir/printer.h"
#include "tests/fuzz/checks.h"

namespace kerf::fuzz {
namespace {

constexpr ImportLimits limits{
    .fileBytes = 1 << 20, .lineBytes = 1 << 18, .nesting = 60, .nodes = 20000, .tensorBytes = 1 << 20};

}  // namespace

bool checkGraphText(std::string_view text) {
  (void)looksLikeGraphText(text);
  auto capture = importGraphText(text, "pasted.txt", limits);
  if (!capture) {
    require(!capture.error().message.empty(), "an error without a message", "");
    require(exitCode(capture.error().code) == 2, "bad input must end with exit code 2", capture.error().text());
    return false;
  }
  for (std::size_t i = 0; i < capture->graphs.size(); ++i) {
    const CapturedGraph& graph = capture->graphs[i];
    const auto lint = graph.module.graph.lint();
    require(lint.has_value(), "an imported graph breaks an invariant", lint ? "" : lint.error().text());
    (void)printGraphText(graph.module.graph);
    (void)printTabular(graph.module.graph);
    const std::string written = reproText(*capture, i);
    const auto again = importRepro(written, {}, limits);
    require(again.has_value(), "what was exported does not import", again ? "" : again.error().text() + "\n" + written);
    require(again->graphs[0].contentHash() == graph.contentHash(), "export and import changed the graph", written);
    checkExports(*capture, i);
  }
  return true;
}

}  // namespace kerf::fuzz
