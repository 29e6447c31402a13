#include "ui/session/worker_jobs.h"

#include <unordered_set>

#include <QFileInfo>
#include <QTemporaryDir>

#include "engine/capture/importers.h"
#include "engine/pipeline/compile_fx.h"
#include "storage/stores/store.h"
#include "ui/session/capture_doc.h"
#include "ui/session/graph_doc.h"

namespace kerf::ui::inline session {
namespace {

QString text(const std::string& value) { return QString::fromStdString(value); }
std::filesystem::path fsPath(const QString& path) { return std::filesystem::path(path.toStdString()); }
double milliseconds(std::chrono::nanoseconds time) { return double(time.count()) / 1e6; }

CaptureDocPtr refused(const QString& path, const Error& error) {
  auto doc = std::make_shared<CaptureDoc>();
  doc->path = path;
  doc->error = text(error.text());
  return doc;
}

QStringList namesMissing(const Graph& from, const Graph& in) {
  QStringList names;
  for (const NodeId id : from.order())
    if (!in.find(from.node(id).name())) names << text(from.node(id).name());
  return names;
}

PassDoc passDoc(const PassRecord& record) {
  PassDoc doc{record.index,
              text(record.name),
              text(std::string(stageName(record.stage))),
              int(record.nodesBefore),
              int(record.nodesAfter),
              milliseconds(record.time),
              record.changed,
              {},
              {}};
  if (record.changed && record.before && record.after) {
    doc.added = namesMissing(*record.after, *record.before);
    doc.removed = namesMissing(*record.before, *record.after);
  }
  return doc;
}

QStringList names(const std::vector<std::string>& values) {
  QStringList list;
  for (const auto& value : values) list << text(value);
  return list;
}

QString textOf(const KernelInfo& kernel, std::string_view format) { return text(std::string(kernel.text(format))); }

void fillCompiled(CompileDoc& doc, const CompiledGraph& compiled) {
  for (const auto& kernel : compiled.kernels())
    doc.kernels.push_back({text(kernel.name), text(kernel.kind), text(kernel.reason), textOf(kernel, "loop"),
                           textOf(kernel, "llvm"), names(kernel.nodes), names(kernel.capturedNodes)});
  for (const auto& stage : compiled.stageTimes()) doc.stages.emplace_back(text(stage.stage), milliseconds(stage.time));
  doc.plannedBytes = compiled.artifacts().plannedBytes;
  doc.unplannedBytes = compiled.artifacts().unplannedBytes;
}

/// Passes without code generation: what can still be shown of a graph that does not compile.
std::vector<PassRecord> passesOnly(const GraphModule& module) {
  std::vector<PassRecord> records;
  (void)PassManager(defaultPasses()).run(module, &records);
  return records;
}

}  // namespace

std::vector<OpenedCapture> openCaptures(const QString& path, const Percent& percent, std::stop_token stop) {
  const auto progress = [&](double done) {
    percent->store(int(done * 100));
    return !stop.stop_requested();
  };
  std::vector<OpenedCapture> opened;
  if (!QFileInfo(path).isDir()) {
    auto imported = importCapture(fsPath(path), {}, progress);
    if (!imported) return {{refused(path, imported.error()), nullptr}};
    auto doc = buildCaptureDoc(0, path, *imported);
    opened.push_back({std::move(doc), std::make_shared<const Capture>(std::move(*imported))});
    return opened;
  }
  auto all = importAll(fsPath(path), {}, progress);
  if (!all) return {{refused(path, all.error()), nullptr}};
  for (auto& capture : *all) {
    auto doc = buildCaptureDoc(0, text(capture.path.string()), capture);
    opened.push_back({std::move(doc), std::make_shared<const Capture>(std::move(capture))});
  }
  return opened;
}

LoadedGraph loadGraph(const Capture& capture, int graph) {
  LoadedGraph loaded;
  auto captured = std::make_shared<CapturedGraph>(capture.graphs.at(std::size_t(graph)));
  if (const auto read = captured->ensureLoaded(); !read) {
    loaded.error = text(read.error().text());
    return loaded;
  }
  if (captured->origin.file.empty()) captured->origin.file = capture.path;
  if (const auto shapes = captured->annotateShapes(); !shapes) loaded.notes << "Shapes: " + text(shapes.error().text());
  loaded.document = buildGraphDoc(captured->module, text(captured->name), text(captured->origin.file.string()));
  loaded.captured = std::move(captured);
  return loaded;
}

CompiledView compileForView(const CapturedGraph& captured, std::stop_token stop) {
  const GraphModule& module = captured.module;
  auto doc = std::make_shared<CompileDoc>();
  CompiledView view;
  if (auto compiled = compileFx(module, {}, stop)) {
    view.records = (*compiled)->passRecords();
    fillCompiled(*doc, **compiled);
  } else {
    doc->error = text(compiled.error().text());
    doc->errorNode = text(compiled.error().node);
    view.records = passesOnly(module);
  }
  std::erase_if(view.records, [](const PassRecord& record) { return !record.path.empty(); });
  for (const auto& record : view.records) doc->passes.push_back(passDoc(record));
  view.document = doc;
  return view;
}

GraphDocPtr passGraph(const CapturedGraph& captured, const PassRecord& record) {
  GraphModule module = captured.module;
  if (record.after) module.graph = *record.after;
  return buildGraphDoc(module, text(captured.name) + " after " + text(record.name),
                       text(captured.origin.file.string()));
}

ExportOutcome exportGraph(const Capture& capture, const CapturedGraph& graph, const QString& directory) {
  Capture one{capture.kind, capture.path, capture.torchVersion, {graph}, capture.envelope, nullptr, {}, {}};
  const auto written = exportRepro(one, 0, fsPath(directory));
  if (!written) return {{}, text(written.error().text())};
  return {text(written->string()), {}};
}

ExportOutcome copyRepro(const QString& from, const QString& directory) {
  std::error_code error;
  const auto options = std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing;
  std::filesystem::copy(fsPath(from), fsPath(directory), options, error);
  if (error) return {{}, directory + ": " + text(error.message())};
  return {directory + "/repro.py", {}};
}

std::vector<StepDoc> readSteps(const QString& path, qint64 reduction) {
  std::vector<StepDoc> steps;
  auto store = Store::open(fsPath(path));
  if (!store) return steps;
  const auto rows = store->steps(reduction);
  if (!rows) return steps;
  for (const auto& row : *rows)
    steps.push_back({row.id, row.index, row.test, row.nodes, row.outputs, row.inputBytes, text(row.reduction),
                     text(row.fingerprint)});
  return steps;
}

StepGraph readStep(const QString& path, qint64 step, const QString& title) {
  auto store = Store::open(fsPath(path));
  if (!store) return {nullptr, text(store.error().text())};
  const QTemporaryDir directory;
  const auto file = store->materializeStep(step, fsPath(directory.path()));
  if (!file) return {nullptr, text(file.error().text())};
  auto capture = importCapture(*file);
  if (!capture) return {nullptr, text(capture.error().text())};
  if (capture->graphs.empty()) return {nullptr, "The step holds no graph"};
  (void)capture->graphs[0].annotateShapes();
  return {buildGraphDoc(capture->graphs[0].module, title), {}};
}

}  // namespace kerf::ui::inline session
