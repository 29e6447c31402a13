// exportRepro: repro.py and its content store on disk, all of it or nothing.
#include <algorithm>
#include <array>
#include <unordered_set>

#include <unistd.h>

#include "engine/capture/common/storage_directory.h"
#include "engine/capture/common/storage_names.h"
#include "engine/capture/pt2/audit.h"
#include "engine/capture/repro/export_text.h"
#include "engine/capture/repro/writer.h"
#include "engine/support/atomic_file.h"
#include "engine/tensor/mapped_file.h"
#include "engine/tensor/torch_zip.h"

namespace kerf::inline capture {
namespace {

namespace fs = std::filesystem;

std::unexpected<Error> cannot(std::string_view what, const fs::path& path, const std::error_code& problem) {
  Error error{ErrorCode::Environment, fmt::format("cannot {}: {}", what, problem.message()), {}, 0, {}, {}};
  return fail(std::move(error.atFile(path.string())));
}

Result<void> makeDirectory(const fs::path& path) {
  std::error_code problem;
  fs::create_directories(path, problem);
  if (problem) return cannot("create the folder", path, problem);
  return {};
}

Result<void> writeText(const fs::path& path, std::string_view text) {
  const std::array pieces{std::as_bytes(std::span(text.data(), text.size()))};
  return writeFileAtomically(path, pieces);
}

/// Files written so far, removed again unless everything succeeded.
class WrittenFiles {
 public:
  WrittenFiles() = default;
  WrittenFiles(const WrittenFiles&) = delete;
  WrittenFiles& operator=(const WrittenFiles&) = delete;
  ~WrittenFiles() {
    std::error_code ignored;
    for (auto path = m_paths.rbegin(); path != m_paths.rend(); ++path) fs::remove(*path, ignored);
  }
  void add(fs::path path) { m_paths.push_back(std::move(path)); }
  void keep() { m_paths.clear(); }

 private:
  std::vector<fs::path> m_paths;
};

/// The bytes of a storage, or null where the capture does not have them: PyTorch replaces these as Kerf does.
Result<StoragePtr> bytesOf(const CapturedGraph& graph, const StorageRef& storage) {
  std::error_code ignored;
  if (storage.file) return mapCheckedRange(storage);
  if (storage.data) return storage.data;
  if (!fs::exists(graph.storageDirectory / storage.hash, ignored)) return nullptr;
  return readNamedStorage(graph, storage, storage.bytes);
}

/// The device as torch.save names it: an accelerator with its index.
std::string locationOf(const StorageRef& storage) {
  const Device& device = storage.device;
  return device.type != "cpu" && device.index < 0 ? device.type + ":0" : device.text();
}

/// Whether the file at `target` has these bytes for that device, and nothing beside them that PyTorch would build or run.
bool isWritten(const fs::path& target, const Storage& bytes, std::string_view location) {
  std::error_code ignored;
  if (!fs::is_regular_file(target, ignored)) return false;
  const auto file = mapFile(target);
  if (!file || !pt2::isPlainTorchFile((*file)->view())) return false;
  const auto known = readTorchStorage((*file)->view(), bytes.bytes());
  return known && std::ranges::equal((*known)->view(), bytes.view()) && checkWhole(**file, target) &&
         loadsOnto((*file)->view(), location);
}

/// One storage into `target`; whether there is a new file. Written anew, also over an older one and over the capture's
/// own: beside its bytes a stranger's file has a pickle, which older versions of PyTorch would run.
Result<bool> writeStorage(const CapturedGraph& graph, const StorageRef& storage, const fs::path& target) {
  std::error_code ignored;
  KERF_TRY(const StoragePtr bytes, bytesOf(graph, storage));
  if (bytes == nullptr || isWritten(target, *bytes, locationOf(storage))) return false;
  const bool isNew = !fs::exists(target, ignored);
  KERF_CHECK(writeTorchStorage(target, *bytes, locationOf(storage)));
  return isNew;
}

bool isMissing(const CapturedGraph& graph, const StorageRef& storage) {
  std::error_code ignored;
  return !storage.data && !storage.file && !fs::exists(graph.storageDirectory / storage.hash, ignored);
}

Result<void> writeStoragesInto(const CapturedGraph& graph, const fs::path& directory, WrittenFiles& written,
                               std::vector<std::string>* notes, const std::stop_token& stop) {
  std::unordered_set<std::string_view> done;
  for (const StorageRef& storage : graph.storages) {
    if (storage.hash.empty() || !done.insert(storage.hash).second) continue;
    if (stop.stop_requested()) return fail(ErrorCode::Cancelled, "stopped while writing the storages");
    const fs::path target = directory / storage.hash;
    KERF_TRY(const bool wrote, writeStorage(graph, storage, target));
    if (wrote) written.add(target);
    if (notes != nullptr && isMissing(graph, storage))
      notes->push_back(fmt::format("the storage {} is missing, so it is not copied", storage.hash));
  }
  return {};
}

bool needsStore(const CapturedGraph& graph) {
  for (const StorageRef& storage : graph.storages)
    if (!storage.hash.empty()) return true;
  return false;
}

Result<void> writeInto(const fs::path& directory, const CapturedGraph& graph, const ExportOptions& options,
                       std::string_view text) {
  WrittenFiles written;
  std::error_code ignored;
  if (needsStore(graph)) {
    if (!fs::exists(directory / "storages", ignored)) written.add(directory / "storages");
    KERF_CHECK(makeDirectory(directory / "storages"));
    KERF_CHECK(writeStoragesInto(graph, directory / "storages", written, nullptr, options.stop));
  }
  KERF_CHECK(writeText(directory / options.fileName, text));
  written.keep();
  return {};
}

/// A new folder appears whole: it is filled under another name and renamed.
Result<void> writeNewDirectory(const fs::path& directory, const CapturedGraph& graph, const ExportOptions& options,
                               std::string_view text) {
  fs::path parent = directory.parent_path();
  if (!parent.empty()) KERF_CHECK(makeDirectory(parent));
  const fs::path temporary = fmt::format("{}.{}.tmp", directory.string(), ::getpid());
  std::error_code problem;
  fs::remove_all(temporary, problem);
  KERF_CHECK(makeDirectory(temporary));
  Result<void> done = writeInto(temporary, graph, options, text);
  if (done) {
    fs::rename(temporary, directory, problem);
    if (!problem) return {};
    done = cannot("create the folder", directory, problem);
  }
  fs::remove_all(temporary, problem);
  return done;
}

}  // namespace

Result<void> writeStorages(const CapturedGraph& graph, const fs::path& directory, std::vector<std::string>* notes) {
  WrittenFiles written;
  KERF_CHECK(makeDirectory(directory));
  KERF_CHECK(writeStoragesInto(graph, directory, written, notes, {}));
  written.keep();
  return {};
}

Result<fs::path> exportRepro(const Capture& capture, std::size_t index, const fs::path& directory,
                             const ExportOptions& options) {
  if (index < capture.graphs.size() && hasUnnamedStorages(capture.graphs[index])) {
    CapturedGraph named = capture.graphs[index];
    KERF_CHECK(nameStorages(named));
    return exportRepro(makeCapture(std::move(named), capture), 0, directory, options);
  }
  if (index >= capture.graphs.size())
    return fail(ErrorCode::NotFound, "the capture has {} graphs, there is none with number {}", capture.graphs.size(),
                index);
  const bool plainName = !options.fileName.empty() && fs::path(options.fileName).filename() == options.fileName;
  if (!plainName) return fail(ErrorCode::BadUsage, "'{}' is not a file name", options.fileName);
  KERF_TRY(const std::string text, exportText(capture, index, options));
  fs::path target = directory.lexically_normal();
  if (!target.has_filename()) target = target.parent_path();  // "out/" names the folder "out"
  std::error_code ignored;
  const bool exists = target.empty() || fs::exists(target, ignored);
  KERF_CHECK((exists ? writeInto : writeNewDirectory)(target, capture.graphs[index], options, text));
  return target / options.fileName;
}

}  // namespace kerf::inline capture
