#include "app/workbench/captures/shared_page.h"

#include "engine/support/atomic_file.h"
#include "engine/support/digest.h"
#include "engine/tensor/mapped_file.h"
#include "engine/tensor/zip_directory.h"

namespace kerf::workbench {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view pageBegin = "<!DOCTYPE html>";
constexpr std::size_t mostMembers = 100'000;
constexpr std::int64_t mostBytes = 256LL << 20;  // as a page that is written has at most

Result<void> unpack(std::string_view archive, const fs::path& folder) {
  KERF_TRY(const auto directory, ZipDirectory::read(std::as_bytes(std::span(archive)), mostMembers));
  std::int64_t left = mostBytes;
  for (const auto& member : directory.members()) {
    KERF_TRY(const auto text, directory.read(member, left));
    left -= std::ssize(text);
    const fs::path place = folder / member.name;
    std::error_code problem;
    fs::create_directories(place.parent_path(), problem);  // writing says what is wrong
    KERF_CHECK(writeTextFile(text, place));
  }
  return {};
}

fs::path onlyThingIn(const fs::path& folder) {
  std::vector<fs::path> things;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) things.push_back(entry.path());
  return things.size() == 1 ? things.front() : folder;
}

}  // namespace

Result<std::optional<SharedFiles>> openSharedPage(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return std::nullopt;
  const auto mapped = mapFile(path);
  if (!mapped) return std::nullopt;  // the reader of captures says why
  const auto bytes = (*mapped)->view();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with(pageBegin)) return std::nullopt;
  const std::size_t begin = text.find(sharedDataBegin);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::size_t data = begin + sharedDataBegin.size(), end = text.find(sharedDataEnd, data);
  const auto archive = end == std::string_view::npos ? std::nullopt : fromBase64(text.substr(data, end - data));
  if (!archive) return fail(ErrorCode::BadInput, "{}: the data in the page is damaged", path.string());
  KERF_TRY(auto folder, TemporaryFolder::create());
  KERF_CHECK(unpack(*archive, folder.path()));
  auto kept = std::make_shared<TemporaryFolder>(std::move(folder));
  return SharedFiles{kept, onlyThingIn(kept->path())};
}

}  // namespace kerf::workbench
