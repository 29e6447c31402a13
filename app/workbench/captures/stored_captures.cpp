// Captures on their way into the store: a repro as its text and the bytes of its storages, everything else as the files
// that it was read from.
#include <algorithm>
#include <set>

#include "app/workbench/captures/capture_rows.h"
#include "app/workbench/captures/graph_source.h"
#include "engine/capture/common/storage_directory.h"
#include "engine/capture/common/storage_names.h"
#include "engine/capture/repro/writer.h"
#include "engine/distributed/doctor/flight_recorder.h"
#include "engine/tensor/file_pieces.h"
#include "engine/tensor/mapped_file.h"
#include "engine/tensor/torch_zip.h"

namespace kerf::workbench {

namespace {

namespace fs = std::filesystem;

std::unexpected<Error> inGraph(Error error) {
  error.while_("reading a storage of the graph");
  return fail(std::move(error));
}

/// The file of a storage that is not in memory; empty when there is none (such a storage is drawn anew at every run).
fs::path fileOf(const CapturedGraph& graph, const StorageRef& storage) {
  const auto file = graph.storageDirectory / storage.hash;
  std::error_code ignored;
  const bool there = !storage.data && !storage.file && !storage.hash.empty() && fs::is_regular_file(file, ignored);
  return there ? file : fs::path();
}

/// Bytes that are in memory, or can be mapped; null when there are none.
Result<StoragePtr> bytesOf(const CapturedGraph& graph, const StorageRef& storage) {
  if (storage.data) return storage.data;
  if (storage.file) return mapCheckedRange(storage);
  if (fileOf(graph, storage).empty()) return StoragePtr();
  return readNamedStorage(graph, storage, -1);
}

/// What is stored of a storage, if anything: the place in its file where that can be read piece by piece.
Result<std::optional<StoredBlob>> blobOf(const CapturedGraph& graph, const StorageRef& storage, StorableGraph& stored) {
  if (storage.hash.empty()) return std::nullopt;
  if (!fileOf(graph, storage).empty()) {
    KERF_TRY(const auto place, locateNamedStorage(graph, storage));
    if (place) return StoredBlob{storage.hash, {}, FilePart{place->path, place->offset, place->length}};
  }
  KERF_TRY(auto bytes, bytesOf(graph, storage));
  if (!bytes) return std::nullopt;
  stored.keep.push_back(bytes);
  return StoredBlob{storage.hash, bytes->view()};
}

Result<void> checkStorages(const CapturedGraph& graph, const std::vector<StorageRef>& storages) {
  for (const auto& storage : storages)
    if (auto checked = checkNamedStorage(graph, storage, -1); !checked) return inGraph(std::move(checked.error()));
  return {};
}

std::string identityOf(const NewGraph& graph) {
  std::string text = graph.name + "\n" + graph.hash + "\n" + graph.reproText;
  for (const auto& blob : graph.blobs) text += fmt::format("\n{} {}", blob.name, blob.size());
  return text;
}

std::string absolutePath(const fs::path& path) {
  std::error_code ignored;
  const auto full = fs::weakly_canonical(path, ignored);
  return full.empty() ? path.string() : full.string();
}

Result<std::int64_t> storeTexts(Store& store, const Capture& capture, const StoreProgress& progress) {
  NewCapture row{capture.kind, absolutePath(capture.path), capture.torchVersion, {}, {}};
  std::vector<StoragePtr> keep;
  std::string identity;
  for (std::size_t i = 0; i < capture.graphs.size(); ++i) {
    KERF_TRY(auto stored, storableGraph(capture, i));
    identity += identityOf(stored.row);
    row.graphs.push_back(std::move(stored.row));
    keep.insert(keep.end(), stored.keep.begin(), stored.keep.end());
  }
  row.contentHash = hashText(identity).hex();
  return store.addCapture(row, progress);
}

NewGraph fileGraph(const CapturedGraph& graph) {
  NewGraph row{graph.name, {}, -1, {}, {}};
  if (!graph.pending) {
    row.hash = graph.contentHash().hex();
    row.nodes = int(graph.module.graph.size());
  }
  row.source = sourceRow(graph.origin);
  return row;
}

/// Hash of a file's bytes, and its place where it is not copied.
std::string identityOf(const NewFile& file) {
  const auto place = file.copy ? std::string() : file.source.string() + " ";
  return fmt::format("{} {}{}\n", file.name, place, file.hash->hex());
}

/// The files of a capture under names below its own folder ("trace/rank0.log").
class FileList {
 public:
  FileList(const fs::path& path, bool copy)
      : m_root(absolutePath(path)), m_path(fs::absolute(path, m_ignored)), m_copy(copy) {
    m_isFolder = fs::is_directory(m_root, m_ignored);
    m_path = m_path.lexically_normal();
  }

  bool isFolder() const { return m_isFolder; }
  /// A file that lies elsewhere is left out.
  void add(const fs::path& path) { addAs(path, nameBelow(path)); }
  void addAs(const fs::path& path, const std::string& name) {
    if (name.empty() || !m_seen.insert(name).second) return;
    const fs::path file = absolutePath(path);
    if (fs::is_regular_file(file, m_ignored)) m_files.push_back({name, file, m_copy});
  }
  /// Storages of a graph, also those in another folder: they are found again beside the graph's file.
  void addStorages(const CapturedGraph& graph) {
    for (const auto& storage : graph.storages) {
      const auto file = graph.storageDirectory / storage.hash;
      if (storage.hash.empty() || !fs::is_regular_file(file, m_ignored)) continue;
      const auto name = nameBelow(file);
      const auto beside = nameBelow(graph.origin.file.parent_path() / "storages" / storage.hash);
      addAs(file, name.empty() ? beside : name);
    }
  }
  std::vector<NewFile> take() { return std::move(m_files); }

 private:
  std::string nameBelow(const fs::path& file) {
    const auto base = m_root.filename();
    if (!m_isFolder) return absolutePath(file) == m_root.string() ? base.string() : std::string();
    for (const auto& [inner, outer] : {std::pair(fs::absolute(file, m_ignored).lexically_normal(), m_path),
                                       std::pair(fs::path(absolutePath(file)), m_root)}) {
      const auto inside = inner.lexically_relative(outer);
      if (!inside.empty() && *inside.begin() != ".." && *inside.begin() != ".") return (base / inside).string();
    }
    return {};
  }

  std::error_code m_ignored;
  fs::path m_root, m_path;  ///< canonical; as the user named it
  bool m_isFolder = false, m_copy = true;
  std::set<std::string> m_seen;
  std::vector<NewFile> m_files;
};

Result<std::vector<NewFile>> filesOf(const Capture& capture, KeptFiles kept) {
  FileList list(capture.path, kept == KeptFiles::Copied);
  for (const auto& file : capture.files) list.add(file);
  if (!list.isFolder()) list.add(capture.path);
  if (list.isFolder() && capture.kind == "torch_trace")
    for (const auto& record : flightRecordsIn(capture.path)) list.add(record);  // what ran, beside what was compiled
  for (const auto& graph : capture.graphs) {
    if (list.isFolder()) list.addStorages(graph);
  }
  auto files = list.take();
  if (!files.empty()) return files;
  return fail(ErrorCode::Internal, "the importer of {} did not say which files it read", capture.path.string());
}

Result<std::int64_t> storeFiles(Store& store, const Capture& capture, const StoreProgress& progress, KeptFiles kept) {
  NewCapture row{capture.kind, absolutePath(capture.path), capture.torchVersion, {}, {}};
  KERF_TRY(row.files, filesOf(capture, kept));
  std::string identity = capture.kind + "\n";
  for (auto& file : row.files) {
    KERF_TRY(const auto sum, sumOfFile({file.source}, [&](std::int64_t) { return !progress || progress(0); }));
    file.hash = sum.hash;
    identity += identityOf(file);
  }
  row.contentHash = hashText(identity).hex();
  for (const auto& graph : capture.graphs) row.graphs.push_back(fileGraph(graph));
  if (capture.details) {
    row.records = recordRows(*capture.details);
    row.compiles = compileRows(*capture.details);
  }
  return store.addCapture(row, progress);
}

/// A graph that exists nowhere as a file (after a pass, a step of a reduction) as a repro of its own.
Result<Capture> detached(const GraphSource& source) {
  auto graph = source.graph();
  KERF_CHECK(nameStorages(graph));
  auto capture = makeCapture(std::move(graph), source.capture);
  capture.kind = "repro";
  return capture;
}

}  // namespace

Result<StorableGraph> storableGraph(const Capture& capture, std::size_t index) {
  const auto& graph = capture.graphs.at(index);
  StorableGraph stored;
  stored.row.name = graph.name;
  stored.row.hash = graph.contentHash().hex();
  stored.row.nodes = int(graph.module.graph.size());
  stored.row.reproText = reproText(capture, index, {.stackTraces = true});
  stored.row.source = sourceRow(graph.origin);
  std::set<std::string> seen;
  std::vector<StorageRef> inFiles;
  for (const auto& storage : graph.storages) {
    if (!seen.insert(storage.hash).second) continue;
    auto blob = blobOf(graph, storage, stored);
    if (!blob) return inGraph(std::move(blob.error()));
    if (!*blob) continue;
    if ((*blob)->file) inFiles.push_back(storage);
    stored.row.blobs.push_back(std::move(**blob));
  }
  if (!inFiles.empty())
    stored.row.check = [&graph, inFiles = std::move(inFiles)] { return checkStorages(graph, inFiles); };
  return stored;
}

Result<std::int64_t> storeCapture(Store& store, const Capture& capture, const StoreProgress& progress,
                                  KeptFiles files) {
  const bool asTexts = capture.kind == "repro" || capture.kind == "program";  // what no file holds as it is
  return asTexts ? storeTexts(store, capture, progress) : storeFiles(store, capture, progress, files);
}

Result<std::int64_t> storedGraphId(Store& store, const GraphSource& source) {
  if (source.graphId) {
    KERF_TRY(const auto row, store.graphById(*source.graphId));
    if (row.nodes >= 0) return row.id;
    const auto nodes = int(source.graph().module.graph.size());
    KERF_CHECK(store.completeGraph(row.id, source.graph().contentHash().hex(), nodes));
    return row.id;
  }
  KERF_TRY(const auto capture, source.edited ? detached(source) : Result<Capture>(source.capture));
  KERF_TRY(const auto captureId, storeCapture(store, capture));
  KERF_TRY(const auto row, store.graph(captureId, source.edited ? 1 : int(source.index) + 1));
  if (row.nodes >= 0) return row.id;
  const auto nodes = int(source.graph().module.graph.size());
  KERF_CHECK(store.completeGraph(row.id, source.graph().contentHash().hex(), nodes));
  return row.id;
}

}  // namespace kerf::workbench
