#include "app/workbench/export/exporting.h"

#include <algorithm>
#include <vector>

#include <fmt/ranges.h>

#include "app/workbench/export/render.h"
#include "engine/capture/pt2/writer.h"
#include "engine/capture/repro/export_text.h"
#include "engine/ir/printer.h"
#include "engine/support/atomic_file.h"
#include "engine/symbolic/symbolic.h"

namespace kerf::workbench {

namespace {

namespace fs = std::filesystem;

using Written = Result<fs::path>;

Written exportRepros(const GraphSource& source, const ExportTarget& target, const Job& job) {
  ExportOptions options;
  options.stop = job.stop;
  options.command = target.runCommand;
  if (!target.accuracy.empty()) options.accuracy = target.accuracy;
  fs::path directory = target.path;
  if (directory.extension() == ".py") {
    options.fileName = directory.filename().string();
    directory = directory.has_parent_path() ? directory.parent_path() : fs::path(".");
  }
  return exportRepro(source.capture, source.index, directory, options);
}

/// A form that RenderRequest has too. Shapes make pictures and texts better; without them the rest is still right.
template <const char* form>
Written exportRendered(const GraphSource& source, const ExportTarget& target, const Job& job) {
  const ShapedGraph shapes = shapedAsRecorded(source, job);
  KERF_TRY(const auto clean, exportableGraph(shapes.capture, shapes.index, form));
  KERF_TRY(auto text, renderGraph(clean, form, job));
  KERF_TRY(text, auditedForm(form, std::move(text), clean.module, source.capture));
  KERF_CHECK(writeTextFile(text, target.path));
  return target.path;
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
Written exportProgram(const GraphSource& source, const ExportTarget& target, const Job& job) {
  GraphSource written = source;
  if (!source.graph().program) {
    written = shapedAsRecorded(std::move(written), job);
    auto& graph = written.graph().module.graph;
    const std::vector<NodeId> order(graph.order().begin(), graph.order().end());
    for (const auto id : order) graph.setValueMeta(id, withStrides(graph.node(id).meta().value));
  }
  KERF_TRY(const auto clean, exportableGraph(written.capture, written.index, "pt2"));
  Pt2ExportOptions options;
  options.allowedCalls = source.capture.allowedCalls;
  std::vector<std::string> rewrites;
  options.notes = &rewrites;
  KERF_CHECK(exportPt2(clean, target.path, options));
  for (std::string& rewrite : rewrites) job.note(std::move(rewrite));
  return target.path;
}

constexpr char readable[] = "readable", text[] = "text", table[] = "table", code[] = "code", dot[] = "dot",
               svg[] = "svg", png[] = "png", json[] = "json";

constexpr ExportFormatDoc formats[] = {
    {"repro", ".py", "repro.py and storages/, for stock PyTorch"},
    {"zip", ".zip", "the same as one archive"},
    {"pt2", ".pt2", "for torch.export.load"},
    {readable, ".txt", "print_readable() text with shapes"},
    {text, ".graph", "str(graph) text"},
    {table, ".tab", "print_tabular() text"},
    {code, ".code", "the code of forward()"},
    {dot, ".dot", "Graphviz text"},
    {svg, ".svg", "drawing"},
    {png, ".png", "drawing"},
    {json, ".json", "nodes and inputs as a JSON document"},
    {"safetensors", ".safetensors", "values that the interpreter computes"},
    {"issue", ".md", "a minified failure as an issue in Markdown, with its repro and the closest graph that passes"},
};

/// The writer of each format, in the same order.
using Writer = Written (*)(const GraphSource&, const ExportTarget&, const Job&);
constexpr Writer writers[] = {
    exportRepros,         exportZip,
    exportProgram,        exportRendered<readable>,
    exportRendered<text>, exportRendered<table>,
    exportRendered<code>, exportRendered<dot>,
    exportRendered<svg>,  exportRendered<png>,
    exportRendered<json>, exportValues,
    exportIssue,
};
static_assert(std::size(writers) == std::size(formats));

}  // namespace

std::span<const ExportFormatDoc> exportFormats() { return formats; }

Result<fs::path> writeAs(std::string_view format, const GraphSource& source, const ExportTarget& target,
                         const Job& job) {
  const auto* row = std::ranges::find(formats, format, &ExportFormatDoc::name);
  if (row == std::end(formats)) return fail(ErrorCode::BadUsage, "there is no format \"{}\"", format);
  return writers[row - std::begin(formats)](source, target, job);
}

Result<std::string_view> chooseFormat(const std::string& name, const fs::path& path) {
  const auto extension = path.extension().string();
  const bool isText = path.filename().string().ends_with(".graph.txt");
  for (const auto& format : formats) {
    if (name.empty() ? (isText ? format.name == text : format.extension == extension) : format.name == name)
      return format.name;
  }
  if (!name.empty()) return fail(ErrorCode::BadUsage, "there is no format \"{}\"", name);
  std::error_code ignored;
  if (extension.empty() || !path.has_filename() || fs::is_directory(path, ignored)) return formats[0].name;
  std::vector<std::string_view> known;
  for (const auto& format : formats) known.push_back(format.extension);
  return fail(ErrorCode::BadUsage, Hint{Advice::ChooseFormat}, "no format has the extension {}; the known ones are {}",
              extension, fmt::join(known, ", "));
}

}  // namespace kerf::workbench
