#include "engine/capture/repro/cut_repro.h"

#include "engine/capture/inputs/annotation_inputs.h"

namespace kerf::inline capture {
namespace {

constexpr int mostCuts = 8;

/// The lines before this one (1-based).
std::string_view linesBefore(std::string_view text, int line) {
  std::size_t end = 0;
  for (int number = 1; number < line && end < text.size(); ++number)
    end = std::min(text.find('\n', end), text.size() - 1) + 1;
  return text.substr(0, end);
}

}  // namespace

Result<std::string_view> closedStatements(std::string_view text, const ImportLimits& limits) {
  for (int cut = 0;; ++cut) {
    const auto source = scanSource(text, limits);
    if (source) return text;
    const int line = source.error().line;
    if (source.error().code != ErrorCode::BadInput || line <= 1 || cut == mostCuts) return fail(Error(source.error()));
    text = linesBefore(text, line);
  }
}

Result<LoaderContents> parseCutLoader(const SourceText& source, LineRange lines, const Symbols& symbols,
                                      const ImportLimits& limits, int& cutLine) {
  auto contents = parseLoader(source, lines, symbols, limits);
  if (contents || contents.error().code != ErrorCode::BadInput) return contents;
  const int line = contents.error().line;
  if (line <= int(lines.first) + 1 || line > int(lines.last)) return contents;
  cutLine = line;
  return parseLoader(source, {lines.first, std::size_t(line) - 1}, symbols, limits);
}

std::size_t addUnsaidInputs(CapturedGraph& graph) {
  AnnotationInputs made = inputsFromAnnotations(graph.module);
  const std::size_t said = graph.inputs.size();
  for (std::size_t i = said; i < made.inputs.size(); ++i) {
    GraphInput input = std::move(made.inputs[i]);
    if (input.storageIndex >= 0) {
      graph.storages.push_back(std::move(made.storages[std::size_t(input.storageIndex)]));
      input.storageIndex = int(graph.storages.size()) - 1;
    }
    graph.inputs.push_back(std::move(input));
  }
  return graph.inputs.size() - said;
}

}  // namespace kerf::inline capture
