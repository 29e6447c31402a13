#include "app/cli/export_formats.h"

#include <algorithm>
#include <vector>

#include "app/cli/dot.h"
#include "app/cli/graph_json.h"
#include "app/cli/output_file.h"
#include "engine/capture/pt2/writer.h"
#include "engine/ir/printer.h"
#include "engine/ir/symbolic.h"

namespace kerf::cli {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto drawingTime = 60s;

Result<fs::path> writeText(const ExportTarget& target, std::string text) {
  if (!text.ends_with('\n')) text += '\n';
  KERF_CHECK(emit(text, target.path.string()));
  return target.path;
}

Result<fs::path> exportRepros(Context& context, GraphSource& source, const ExportTarget& target) {
  ExportOptions options;
  options.stop = context.stop();
  fs::path directory = target.path;
  if (directory.extension() == ".py") {
    options.fileName = directory.filename().string();
    directory = directory.has_parent_path() ? directory.parent_path() : fs::path(".");
  }
  return exportRepro(source.capture, source.index, directory, options);
}

/// Shapes make drawings and readable text better; without them the rest is still right.
void annotate(const Context& context, GraphSource& source) {
  if (const auto shapes = annotateShapes(source); !shapes && context.verbose)
    warn(fmt::format("shapes are not complete: {}", shapes.error().text()));
}

Result<fs::path> exportReadable(Context& context, GraphSource& source, const ExportTarget& target) {
  annotate(context, source);
  PythonCodeOptions options;
  options.annotateValues = options.includeStride = options.includeDevice = true;
  return writeText(target, printReadable(source.graph().module, options));
}

Result<fs::path> exportGraphText(Context&, GraphSource& source, const ExportTarget& target) {
  return writeText(target, printGraphText(source.graph().module.graph));
}

Result<fs::path> exportTable(Context&, GraphSource& source, const ExportTarget& target) {
  return writeText(target, printTabular(source.graph().module.graph));
}

Result<fs::path> exportCode(Context&, GraphSource& source, const ExportTarget& target) {
  return writeText(target, printPythonCode(source.graph().module));
}

Result<fs::path> exportJson(Context& context, GraphSource& source, const ExportTarget& target) {
  annotate(context, source);
  return writeText(target, graphJson(source.graph()).dump(2, ' ', false, Json::error_handler_t::replace));
}

Result<fs::path> exportDot(Context& context, GraphSource& source, const ExportTarget& target) {
  annotate(context, source);
  return writeText(target, dotText(source.graph().module.graph, source.graph().name));
}

Result<fs::path> exportDrawing(Context& context, GraphSource& source, const ExportTarget& target, std::string format) {
  annotate(context, source);
  const auto dot = dotText(source.graph().module.graph, source.graph().name);
  KERF_TRY(const auto picture, renderDot(dot, format, drawingTime, context.stop()));
  KERF_CHECK(emit(picture, target.path.string()));
  return target.path;
}

Result<fs::path> exportSvg(Context& context, GraphSource& source, const ExportTarget& target) {
  return exportDrawing(context, source, target, "svg");
}

Result<fs::path> exportPng(Context& context, GraphSource& source, const ExportTarget& target) {
  return exportDrawing(context, source, target, "png");
}

std::string sizeText(const Dim& dim) { return dim.text.empty() ? fmt::format("{}", dim.hint.value_or(1)) : dim.text; }

/// a * b, as text where one of them is.
Dim product(const Dim& a, const Dim& b) {
  Dim result;
  std::int64_t value = 0;
  const bool known = a.hint && b.hint && !__builtin_mul_overflow(*a.hint, *b.hint, &value);
  if (known) result.hint = value;
  if (a.text.empty() && b.text.empty()) return result;
  const auto first = Symbolic::parse(sizeText(a)), second = Symbolic::parse(sizeText(b));
  result.text = first && second ? (*first * *second).text() : sizeText(a) + "*" + sizeText(b);
  return result;
}

/// Texts often leave strides out where they are the contiguous ones.
ValueMeta withStrides(ValueMeta meta) {
  auto* tensor = std::get_if<TensorMeta>(&meta.value);
  if (tensor == nullptr || tensor->strides.size() == tensor->sizes.size()) return meta;
  tensor->strides.assign(tensor->sizes.size(), dim(1));
  for (std::size_t i = tensor->sizes.size(); i-- > 1;)
    tensor->strides[i - 1] = product(tensor->strides[i], tensor->sizes[i]);
  return meta;
}

/// A graph that came from no archive needs shapes and strides for every node.
Result<fs::path> exportProgram(Context& context, GraphSource& source, const ExportTarget& target) {
  if (!source.graph().program) {
    annotate(context, source);
    auto& graph = source.graph().module.graph;
    const std::vector<NodeId> order(graph.order().begin(), graph.order().end());
    for (const auto id : order) graph.setValueMeta(id, withStrides(graph.node(id).meta().value));
  }
  KERF_CHECK(exportPt2(source.graph(), target.path));
  return target.path;
}

constexpr ExportFormat formats[] = {
    {"repro", ".py", "repro.py and storages/, for stock PyTorch", exportRepros},
    {"zip", ".zip", "the same as one archive", exportZip},
    {"pt2", ".pt2", "for torch.export.load", exportProgram},
    {"readable", ".txt", "print_readable() text with shapes", exportReadable},
    {"text", ".graph", "str(graph) text", exportGraphText},
    {"table", ".tab", "print_tabular() text", exportTable},
    {"code", ".code", "the code of forward()", exportCode},
    {"dot", ".dot", "Graphviz text", exportDot},
    {"svg", ".svg", "drawing", exportSvg},
    {"png", ".png", "drawing", exportPng},
    {"json", ".json", "nodes and inputs, as `kerf show --json`", exportJson},
    {"safetensors", ".safetensors", "values that the interpreter computes", exportValues},
};

}  // namespace

std::span<const ExportFormat> exportFormats() { return formats; }

Result<const ExportFormat*> chooseFormat(const std::string& name, const fs::path& path) {
  const auto extension = path.extension().string();
  const bool isText = path.filename().string().ends_with(".graph.txt");
  for (const auto& format : formats) {
    if (name.empty() ? (isText ? format.name == "text" : format.extension == extension) : format.name == name)
      return &format;
  }
  if (name.empty()) {
    std::error_code ignored;
    if (extension.empty() || !path.has_filename() || fs::is_directory(path, ignored)) return &formats[0];
    std::vector<std::string_view> known;
    for (const auto& format : formats) known.push_back(format.extension);
    return fail(ErrorCode::BadUsage, "no format is known by the extension {}; name one with --format, or use one of {}",
                extension, fmt::join(known, ", "));
  }
  return fail(ErrorCode::BadUsage, "there is no format \"{}\"", name);
}

}  // namespace kerf::cli
