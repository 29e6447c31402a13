#include <algorithm>

#include "engine/capture/audit/auditor.h"
#include "engine/capture/common/capture.h"
#include "engine/capture/repro/export_checks.h"
#include "engine/capture/repro/export_text.h"
#include "engine/ir/printer.h"
#include "tests/fuzz/checks.h"

namespace kerf::fuzz {
namespace {

/// Refused is what a capture says; Kerf's own auditor never finds a fault of Kerf's.
template <class T>
bool isWritten(const Result<T>& result, const std::string& detail) {
  if (!result)
    require(exitCode(result.error().code) == 2, "an export that Kerf's own auditor refuses",
            result.error().text() + "\n" + detail);
  return result.has_value();
}

void checkRepro(const Capture& capture, std::size_t index) {
  const GraphModule& module = capture.graphs[index].module;
  const auto text = exportText(capture, index, {});
  if (!isWritten(text, printPythonCode(module))) return;
  const auto audited = auditExport(*text);
  require(audited.has_value(), "an export that does not pass the auditor",
          audited ? "" : audited.error().text() + *text);
  const auto again = importRepro(*text, {});
  require(again.has_value(), "an export that does not import", again ? "" : again.error().text() + "\n" + *text);
  const std::string before = printGraphText(withoutUnreadTexts(module).graph);
  const std::string after = printGraphText(again->graphs[0].module.graph);
  require(before == after, "an export is another graph", before + "\n" + after + "\n" + *text);
  const auto twice = exportText(*again, 0, {});
  require(twice.has_value(), "an export that cannot be exported", twice ? "" : twice.error().text() + "\n" + *text);
  const std::vector<std::string> notes = leftOutNotes(*again, 0);  // also of ops that exist only while Dynamo compiles
  require(std::ranges::all_of(notes, [](const auto& note) { return note.starts_with("stock PyTorch cannot run"); }),
          "an export of which something is left out", *text);
}

}  // namespace

void checkExports(const Capture& capture, std::size_t index) {
  checkRepro(capture, index);
  PythonCodeOptions annotated;
  annotated.annotateValues = annotated.includeStride = annotated.includeDevice = true;
  for (const std::string_view form : {"code", "readable", "text"}) {
    const auto graph = exportableGraph(capture, index, form);
    if (!isWritten(graph, "")) continue;
    std::string text = form == "code"       ? printPythonCode(graph->module)
                       : form == "readable" ? printReadable(graph->module, annotated)
                                            : printGraphText(graph->module.graph) + "\n";
    const std::string detail = text;
    (void)isWritten(auditedForm(form, std::move(text), graph->module, capture), detail);
  }
}

}  // namespace kerf::fuzz
