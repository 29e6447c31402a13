#include "engine/capture/repro/aoti_repro.h"

#include "engine/capture/pt2/import.h"
#include "engine/ir/python_expression.h"

namespace kerf::inline capture {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view load = "torch.export.load(";

/// The archive's path, as the script writes it.
std::string archivePath(std::string_view text) {
  const std::size_t at = text.find(load);
  if (at == std::string_view::npos) return {};
  PythonLexer lexer(text.substr(at + load.size(), 4096));
  const auto path = PythonParser(lexer).expression();
  return path && path->kind == PythonKind::String ? path->text : std::string();
}

bool isFile(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

/// The first of the places where the archive may be; empty if it is at none.
fs::path findArchive(const fs::path& named, const fs::path& script) {
  const fs::path folder = script.parent_path();
  const fs::path name = named.filename();
  for (const fs::path& place : {named.is_absolute() ? named : folder / named, folder / name,
                                folder / "checkpoints" / name, folder / "minifier" / "checkpoints" / name})
    if (isFile(place)) return place;
  return {};
}

}  // namespace

bool looksLikeAotiRepro(std::string_view text) {
  return text.find(load) != std::string_view::npos && text.find("torch._dynamo.repro.aoti") != std::string_view::npos &&
         text.find("run_repro(") != std::string_view::npos;
}

Result<Capture> importAotiRepro(std::string_view text, const fs::path& path, const ImportLimits& limits) {
  const std::string named = archivePath(text);
  if (named.empty())
    return fail(
        Error{ErrorCode::BadInput, "this AOTInductor repro loads no archive that it names", path.string(), 0, {}, {}});
  const fs::path archive = findArchive(named, path);
  if (archive.empty())
    return fail(Error{ErrorCode::NotFound,
                      fmt::format("this AOTInductor repro keeps its graph in '{}', which is not here: put {} beside "
                                  "the script, or open the archive itself",
                                  named, fs::path(named).filename().string()),
                      path.string(),
                      0,
                      {},
                      {}});
  KERF_TRY(Capture capture, importPt2(archive, limits, {}));
  capture.notes.push_back(fmt::format("{} loads its graph from {}", path.filename().string(), archive.string()));
  return capture;
}

}  // namespace kerf::inline capture
