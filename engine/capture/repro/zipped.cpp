// A repro with its storages as one zip: what `kerf export -o repro.zip` writes, or a folder that somebody zipped.
#include "engine/capture/repro/zipped.h"

#include <algorithm>

#include "engine/tensor/torch_zip.h"
#include "engine/tensor/zip_directory.h"

namespace kerf::inline capture {
namespace {

constexpr std::size_t maxMembers = 100'000;
constexpr std::int64_t headerRoom = 1 << 20;  ///< what torch.save adds to the bytes of a storage, at most

std::string_view fileNameOf(std::string_view member) { return member.substr(member.rfind('/') + 1); }

std::unexpected<Error> failAt(ErrorCode code, const ImportSource& source, std::string message) {
  return fail(Error{code, std::move(message), source.path.string(), 0, {}, {}});
}

/// repro.py and minifier_launcher.py win over other names.
Result<const ZipMember*> scriptOf(const ZipDirectory& zip, const ImportSource& source) {
  std::vector<const ZipMember*> scripts;
  for (const ZipMember& member : zip.members())
    if (member.name.ends_with(".py")) scripts.push_back(&member);
  for (const std::string_view preferred : {"repro.py", "minifier_launcher.py"})
    for (const ZipMember* script : scripts)
      if (fileNameOf(script->name) == preferred) return script;
  if (scripts.size() == 1) return scripts.front();
  return failAt(
      ErrorCode::BadInput, source,
      fmt::format("the archive holds {} Python files and none is called repro.py; unpack it and name the file",
                  scripts.size()));
}

/// Reads the storages that lie beside the script; the others stay missing, as in a folder.
Result<void> readStorages(const ZipDirectory& zip, std::string_view script, CapturedGraph& graph,
                          const ImportLimits& limits) {
  const std::string folder = std::string(script.substr(0, script.size() - fileNameOf(script).size())) + "storages/";
  std::int64_t left = limits.fileBytes;
  for (StorageRef& storage : graph.storages) {
    const ZipMember* member = storage.hash.empty() ? nullptr : zip.find(folder + storage.hash);
    if (member == nullptr) continue;
    const std::int64_t room = std::min(left, headerRoom + std::min(storage.bytes, limits.tensorBytes));
    KERF_TRY(const std::string bytes, zip.read(*member, room));
    left -= std::int64_t(bytes.size());
    KERF_TRY(storage.data, readTorchStorage(std::as_bytes(std::span(bytes)), storage.bytes));
  }
  return {};
}

}  // namespace

bool isZippedRepro(const ImportSource& source) {
  if (source.compressed || !source.text.starts_with("PK\x03\x04")) return false;
  const auto names = leadingZipNames(source.text.substr(0, recognitionBytes));
  return std::ranges::any_of(names, [](std::string_view name) {
    return name.ends_with(".py") || name.find("storages/") != std::string_view::npos;
  });
}

Result<Capture> openZippedRepro(const ImportSource& source, const ImportLimits& limits,
                                const ImportProgress& progress) {
  const auto bytes = std::as_bytes(std::span(source.text));
  auto zip = ZipDirectory::read(bytes, maxMembers);
  if (!zip) return fail(std::move(zip.error().atFile(source.path.string(), 0)));
  KERF_TRY(const ZipMember* script, scriptOf(*zip, source));
  const auto text = zip->read(*script, limits.fileBytes);
  if (!text) return failAt(text.error().code, source, fmt::format("{}: {}", script->name, text.error().message));
  if (progress && !progress(0.2)) return failAt(ErrorCode::Cancelled, source, "import cancelled");
  KERF_TRY(Capture capture, importRepro(*text, source.path, limits));
  for (CapturedGraph& graph : capture.graphs)
    if (auto read = readStorages(*zip, script->name, graph, limits); !read)
      return failAt(read.error().code, source, "storages: " + read.error().message);
  if (progress && !progress(1.0)) return failAt(ErrorCode::Cancelled, source, "import cancelled");
  return capture;
}

}  // namespace kerf::inline capture
