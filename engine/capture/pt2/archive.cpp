#include "engine/capture/pt2/archive.h"

#include <algorithm>
#include <array>

#include "engine/capture/common/import_source.h"
#include "engine/capture/pt2/import.h"
#include "engine/tensor/mapped_file.h"

namespace kerf::inline capture {
namespace pt2 {
namespace {

constexpr std::size_t maxMembers = 1'000'000;  // a model has some thousand weights
constexpr std::string_view oldestProgram = "serialized_exported_program.json";
constexpr std::string_view modelsFolder = "models/", jsonSuffix = ".json";
constexpr auto pt2Folders = std::to_array<std::string_view>(
    {"data/weights/", "data/constants/", "data/sample_inputs/", "data/aotinductor/", "data/executorch/", "models/"});
constexpr auto pt2Files = std::to_array<std::string_view>({"archive_format", "archive_version"});

std::string_view below(std::string_view name, std::string_view root) {
  return name.starts_with(root) ? name.substr(root.size()) : name;
}

Result<void> checkText(const Pt2Archive& archive, std::string_view name, std::string_view wanted,
                       std::string_view what) {
  const ZipMember* member = archive.find(name);
  if (member == nullptr) return {};
  KERF_TRY(const std::string text, archive.directory().read(*member, 64));
  std::string_view trimmed = text;
  while (!trimmed.empty() && (trimmed.back() == '\n' || trimmed.back() == '\r')) trimmed.remove_suffix(1);
  if (trimmed == wanted) return {};
  return fail(ErrorCode::BadInput, "{}: '{}' says '{}', only '{}' is supported", what, name, trimmed, wanted);
}

}  // namespace

bool isPt2Name(std::string_view name) {
  if (name == oldestProgram) return true;
  const std::string_view local = name.substr(name.find('/') + 1);  // npos + 1 is 0
  return std::ranges::any_of(pt2Folders, [&](std::string_view folder) { return local.starts_with(folder); }) ||
         std::ranges::find(pt2Files, local) != pt2Files.end();
}

Result<Pt2Archive> Pt2Archive::open(const std::filesystem::path& path) {
  KERF_TRY(StoragePtr bytes, mapFile(path));
  return open(std::move(bytes), path);
}

Result<Pt2Archive> Pt2Archive::open(StoragePtr bytes, const std::filesystem::path& path) {
  Pt2Archive archive;
  archive.m_path = path;
  archive.m_bytes = std::move(bytes);
  KERF_TRY(archive.m_directory, ZipDirectory::read(archive.m_bytes->view(), maxMembers));
  archive.m_oldest = archive.m_directory.find(oldestProgram) != nullptr;
  if (!archive.m_oldest && !archive.m_directory.members().empty()) {
    const std::string_view first = archive.m_directory.members().front().name;
    archive.m_root = first.substr(0, first.find('/') + 1);
  }
  if (archive.models().empty())
    return fail(ErrorCode::BadInput,
                "the archive holds no exported program (models/*.json); torch.export.save writes one");
  KERF_CHECK(checkText(archive, "archive_format", "pt2", "the archive's format"));
  KERF_CHECK(checkText(archive, "archive_version", "0", "the archive's version"));
  KERF_CHECK(checkText(archive, "byteorder", "little", "the archive's byte order"));
  return archive;
}

const ZipMember* Pt2Archive::find(std::string_view name) const { return m_directory.find(m_root + std::string(name)); }

std::string_view Pt2Archive::localName(const ZipMember& member) const { return below(member.name, m_root); }

std::vector<std::string> Pt2Archive::models() const {
  if (m_oldest) return {"model"};
  std::vector<std::string> names;
  for (const ZipMember& member : m_directory.members()) {
    const std::string_view name = localName(member);
    if (name.starts_with(modelsFolder) && name.ends_with(jsonSuffix) &&
        name.size() > modelsFolder.size() + jsonSuffix.size())
      names.emplace_back(name.substr(modelsFolder.size(), name.size() - modelsFolder.size() - jsonSuffix.size()));
  }
  return names;
}

const ZipMember* Pt2Archive::program(const std::string& model) const {
  return m_oldest ? find(oldestProgram) : find(fmt::format("models/{}.json", model));
}

const ZipMember* Pt2Archive::savedWeights(const std::string& model) const {
  if (m_oldest) return find("serialized_state_dict.pt");
  const ZipMember* member = find(fmt::format("data/weights/{}.pt", model));
  return member != nullptr ? member : find(fmt::format("data/weights/{}.data", model));
}

const ZipMember* Pt2Archive::savedConstants(const std::string& model) const {
  if (m_oldest) return find("serialized_constants.pt");
  const ZipMember* member = find(fmt::format("data/constants/{}.pt", model));
  return member != nullptr ? member : find(fmt::format("data/constants/{}.data", model));
}

const ZipMember* Pt2Archive::sampleInputs(const std::string& model) const {
  return m_oldest ? find("serialized_example_inputs.pt") : find(fmt::format("data/sample_inputs/{}.pt", model));
}

std::optional<FileRange> Pt2Archive::range(const ZipMember& member) const {
  if (!member.stored) return std::nullopt;
  return FileRange{m_path, member.offset, member.bytes};
}

Result<std::string_view> Pt2Archive::text(const ZipMember& member, std::int64_t limit, std::string& unpacked) const {
  if (!member.stored) {
    KERF_TRY(unpacked, m_directory.read(member, limit));
    return std::string_view(unpacked);
  }
  if (member.bytes > limit)
    return fail(ErrorCode::TooLarge, "'{}' holds {} bytes, the limit is {}", member.name, member.bytes, limit);
  const auto bytes = m_directory.view(member);
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace pt2

bool looksLikePt2(std::string_view head) {
  const std::vector<std::string_view> names = leadingZipNames(head);
  return std::ranges::any_of(names, pt2::isPt2Name);
}

}  // namespace kerf::inline capture
