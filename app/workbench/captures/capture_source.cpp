#include "app/workbench/captures/capture_source.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "app/workbench/captures/exported_programs.h"
#include "app/workbench/captures/graph_source.h"
#include "app/workbench/captures/shared_page.h"
#include "app/workbench/captures/store_id.h"
#include "engine/capture/import_all.h"
#include "engine/process/temporary_folder.h"

namespace kerf::workbench {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t listedNames = 20;

/// "g3" → 2, if the capture has so many.
std::optional<std::size_t> numbered(const std::string& name, char letter, std::size_t count) {
  std::size_t number = 0;
  if (name.size() < 2 || name[0] != letter) return std::nullopt;
  const auto [end, problem] = std::from_chars(name.data() + 1, name.data() + name.size(), number);
  if (problem != std::errc() || end != name.data() + name.size() || number == 0 || number > count) return std::nullopt;
  return number - 1;
}

std::string listed(const std::vector<std::string>& names) {
  const auto shown = std::min(names.size(), listedNames);
  auto text = fmt::format("{}", fmt::join(names.begin(), names.begin() + std::ptrdiff_t(shown), ", "));
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

/// Says the original place of a file instead of the private folder's.
struct Renamed {
  fs::path root, original;

  void operator()(fs::path& file) const {
    if (file == root) {
      file = original;
      return;
    }
    const auto inside = file.lexically_relative(root);
    if (!inside.empty() && *inside.begin() != ".." && *inside.begin() != ".") file = original / inside;
  }

  /// Of nodes that come from the file itself, not from the user's code.
  void operator()(GraphModule& module) const {
    const std::vector<NodeId> order(module.graph.order().begin(), module.graph.order().end());
    for (const NodeId id : order) {
      const std::string& known = module.graph.node(id).meta().sourceFile;
      if (!known.starts_with(root.native())) continue;
      fs::path file(known);
      (*this)(file);
      NodeMeta meta = module.graph.node(id).meta();
      meta.sourceFile = file.string();
      module.graph.setMeta(id, std::move(meta));
    }
    if (module.submodules.empty()) return;
    for (auto& [path, submodule] : module.submodules.edit()) {
      if (!submodule.graph) continue;
      GraphModule nested = *submodule.graph;
      (*this)(nested);
      submodule.graph = std::make_shared<const GraphModule>(std::move(nested));
    }
  }

  void operator()(CapturedGraph& graph) const {
    (*this)(graph.origin.file);
    (*this)(graph.module);
    if (!graph.pending) return;
    graph.pending = [self = *this, load = graph.pending]() -> Result<CapturedGraph> {
      auto loaded = load();
      if (loaded) self(*loaded);
      return loaded;
    };
  }
};

/// Original places instead of the private folder's in what people read; ranges that are still read keep the latter.
void nameOriginals(Capture& capture, const fs::path& root, const fs::path& original) {
  const Renamed rename{root, original};
  for (auto& graph : capture.graphs) rename(graph);
  if (!capture.details) return;
  auto details = std::make_shared<CaptureDetails>(*capture.details);
  for (auto& record : details->records) rename(record.origin.file);
  for (auto& group : details->fusionGroups) rename(group.origin.file);
  capture.details = std::move(details);
}

std::shared_ptr<const void> held(TemporaryFolder folder) {
  return std::make_shared<TemporaryFolder>(std::move(folder));
}

/// A repro capture of the store: every graph has a text of its own.
Result<CaptureSourcePtr> openStoredTexts(Workbench& bench, const std::string& text, std::int64_t captureId) {
  KERF_TRY(auto* store, bench.store());
  KERF_TRY(const auto rows, store->graphs(captureId));
  KERF_TRY(const auto origin, store->capture(captureId));
  KERF_TRY(auto folder, TemporaryFolder::create());
  KERF_TRY(const auto exported, exportedTexts(*store, origin));
  std::optional<Capture> whole;
  for (const auto& row : rows) {
    KERF_TRY(const auto file, store->materialize(row.id, folder.path() / std::to_string(row.ordinal)));
    KERF_TRY(auto one, importCapture(file));
    if (one.graphs.empty()) return fail(ErrorCode::Internal, "graph c{}/g{} reads back empty", captureId, row.ordinal);
    one.graphs.front().name = row.name;
    nameOriginal(one.graphs.front(), file, origin.path);
    if (const auto text = exported.find(row.name); text != exported.end())
      applyExported(text->second, one.graphs.front());
    if (!whole)
      whole = std::move(one);
    else
      whole->graphs.push_back(std::move(one.graphs.front()));
  }
  if (!whole) whole.emplace();
  if (origin.kind == "program") whole->kind = origin.kind;
  whole->path = text;
  auto source = std::make_shared<const CaptureSource>(text, std::move(*whole), captureId, held(std::move(folder)));
  bench.keep(text, source);
  return source;
}

/// The files that a capture was read from.
std::set<fs::path> filesOf(const Capture& capture) {
  std::set<fs::path> files;
  for (const auto& file : capture.files) files.insert(file.lexically_normal());
  return files;
}

/// A log that lies in a folder's folder belongs to both; the folder with most logs keeps it, among equals the inner
/// one.
std::vector<Capture> withoutRepeats(std::vector<Capture> captures) {
  std::vector<std::set<fs::path>> files;
  for (const auto& capture : captures) files.push_back(filesOf(capture));
  const auto inside = [&](std::size_t i, std::size_t other) {
    if (i == other || files[i].empty() || captures[i].kind != captures[other].kind) return false;
    if (files[i] == files[other]) return captures[i].path.native().size() < captures[other].path.native().size();
    return std::ranges::includes(files[other], files[i]);
  };
  std::vector<Capture> kept;
  for (std::size_t i = 0; i < captures.size(); ++i) {
    bool repeated = false;
    for (std::size_t other = 0; other < captures.size(); ++other) repeated = repeated || inside(i, other);
    if (!repeated) kept.push_back(captures[i]);
  }
  return kept;
}

/// Tells how far reading is, and ends it when the job is stopped.
ImportProgress reading(const Job& job, const std::string& what) {
  return [&job, text = "reading " + what](double done) { return job.progress(text, done); };
}

Result<CaptureSourcePtr> openPath(Workbench& bench, const std::string& path, const Job& job) {
  if (auto known = bench.kept(path)) return known;
  KERF_TRY(const auto shared, openSharedPage(path));
  const fs::path root = shared ? shared->root : fs::path(path);
  KERF_TRY(auto capture, importCapture(root, {}, reading(job, path)));
  if (shared) nameOriginals(capture, root, path);
  auto source = std::make_shared<const CaptureSource>(path, std::move(capture), std::nullopt,
                                                      shared ? shared->folder : nullptr, root);
  bench.keep(path, source);
  return source;
}

/// A graph of the store as a capture of its own.
Result<CaptureSourcePtr> openStoredGraph(Workbench& bench, const std::string& text, const Job& job) {
  if (auto known = bench.kept(text)) return known;
  KERF_TRY(auto graph, resolveGraph(bench, {text}, job));
  auto capture = std::move(graph.capture);
  capture.graphs = {std::move(capture.graphs[graph.index])};
  capture.details = nullptr;
  capture.path = text;
  auto source = std::make_shared<const CaptureSource>(text, std::move(capture), std::nullopt, graph.keeps);
  bench.keep(text, source);
  return source;
}

Result<CaptureSourcePtr> openStored(Workbench& bench, const std::string& text, const StoreId& id, const Job& job) {
  if (!id.isWholeCapture()) return openStoredGraph(bench, text, job);
  if (auto known = bench.kept(text)) return known;
  KERF_TRY(auto* store, bench.store());
  KERF_TRY(const auto row, store->capture(id.number));
  return isKeptAsFiles(row) ? openStoredFiles(bench, row.id, job) : openStoredTexts(bench, text, row.id);
}

}  // namespace

bool isKeptAsFiles(const CaptureRow& row) { return row.fileCount > 0 && row.kind != "program"; }

void nameOriginal(CapturedGraph& graph, const fs::path& copy, const fs::path& original) {
  Renamed{copy, original}(graph.module);
}

Result<CaptureSourcePtr> openStoredFiles(Workbench& bench, std::int64_t captureId, const Job& job) {
  const auto text = fmt::format("c{}", captureId);
  if (auto known = bench.kept(text)) return known;
  KERF_TRY(auto* store, bench.store());
  KERF_TRY(const auto row, store->capture(captureId));
  KERF_TRY(auto folder, TemporaryFolder::create());
  KERF_TRY(const auto root, store->materializeFiles(captureId, folder.path()));
  KERF_TRY(auto capture, importCapture(root, {}, reading(job, text)));
  nameOriginals(capture, root, row.path);
  capture.path = text;
  auto source =
      std::make_shared<const CaptureSource>(text, std::move(capture), captureId, held(std::move(folder)), root);
  bench.keep(text, source);
  return source;
}

Result<CaptureSourcePtr> openCapture(Workbench& bench, const std::string& text, const Job& job) {
  std::error_code ignored;
  if (const auto id = parseStoreId(text)) return openStored(bench, text, *id, job);
  if (fs::exists(text, ignored)) return openPath(bench, text, job);
  return fail(ErrorCode::NotFound, Hint{Advice::ListCaptures}, "{} is neither a file nor a capture of the store", text);
}

Result<std::vector<CaptureSourcePtr>> openAll(Workbench& bench, const std::string& path, const Job& job) {
  std::error_code ignored;
  std::vector<CaptureSourcePtr> sources;
  KERF_TRY(const auto shared, openSharedPage(path));
  const fs::path root = shared ? shared->root : fs::path(path);
  if (fs::is_directory(root, ignored)) {
    KERF_TRY(auto captures, importAll(root, {}, reading(job, path)));
    for (auto& capture : withoutRepeats(std::move(captures))) {
      const auto text = capture.path.string();
      sources.push_back(std::make_shared<const CaptureSource>(text, std::move(capture), std::nullopt,
                                                              shared ? shared->folder : nullptr));
      bench.keep(text, sources.back());
    }
    return sources;
  }
  if (!fs::exists(path, ignored) && !parseStoreId(path)) return fail(ErrorCode::NotFound, "{} does not exist", path);
  KERF_TRY(sources.emplace_back(), openCapture(bench, path, job));
  return sources;
}

Result<std::size_t> chooseGraph(const Capture& capture, const std::string& text, const std::string& name) {
  const auto& graphs = capture.graphs;
  if (graphs.empty()) return fail(ErrorCode::BadInput, "{} holds no graph", text);
  if (name.empty() && graphs.size() == 1) return std::size_t{0};
  std::vector<std::string> all, alike;
  std::size_t lastAlike = 0;
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    if (!name.empty() && graphs[i].name == name) return i;
    all.push_back(graphs[i].name);
    if (graphs[i].origin.stage != name && graphs[i].origin.compileId != name) continue;
    alike.push_back(graphs[i].name);
    lastAlike = i;
  }
  if (const auto number = numbered(name, 'g', graphs.size())) return *number;
  if (!name.empty() && alike.size() == 1) return lastAlike;
  const auto& names = !name.empty() && alike.size() > 1 ? alike : all;
  const bool found = name.empty() || alike.size() > 1;
  return fail(found ? ErrorCode::BadUsage : ErrorCode::NotFound, "{}{} holds the graphs {}; choose one, as in {}#{}",
              found ? "" : fmt::format("there is no graph \"{}\": ", name), text, listed(names), text, names.front());
}

std::optional<std::size_t> findRecord(const Capture& capture, const std::string& name) {
  if (!capture.details) return std::nullopt;
  const auto& records = capture.details->records;
  if (const auto number = numbered(name, 'r', records.size())) return number;
  const auto found = std::ranges::find(records, name, &CaptureRecord::name);
  if (found == records.end()) return std::nullopt;
  return std::size_t(found - records.begin());
}

std::pair<std::string, std::string> splitAtHash(const std::string& text) {
  std::error_code ignored;
  const auto hash = fs::exists(text, ignored) ? std::string::npos : text.rfind('#');
  if (hash == std::string::npos) return {text, {}};
  return {text.substr(0, hash), text.substr(hash + 1)};
}

}  // namespace kerf::workbench
