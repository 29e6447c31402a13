#include "app/workbench/ranks/rank_sharding.h"

#include <fstream>

#include <nlohmann/json.hpp>

#include "app/workbench/protocol/rank_files.h"
#include "engine/support/read_json.h"
#include "engine/support/result.h"

namespace kerf::workbench {

namespace {

using ShardingJson = nlohmann::json;

constexpr std::uintmax_t mostShardingBytes = 64'000'000;

/// Placements that are not to be read (of masked lookups, of norms) are not known.
std::optional<Placements> placementsIn(const ShardingJson& text, const DeviceMesh& mesh) {
  if (!text.is_string()) return std::nullopt;
  auto placements = parsePlacements(text.get_ref<const std::string&>());
  if (!placements || placements->size() != mesh.dims()) return std::nullopt;
  return std::move(*placements);
}

Result<DeviceMesh> meshIn(const ShardingJson& object) {
  Sizes sizes;
  for (const ShardingJson& size : object.value("mesh", ShardingJson::array())) {
    if (!size.is_number_integer()) return fail(ErrorCode::BadInput, "its mesh has a size that is no integer");
    sizes.push_back(size.get<std::int64_t>());
  }
  if (sizes.empty()) return fail(ErrorCode::BadInput, "it has no mesh");
  return DeviceMesh::ofSizes(sizes);
}

Result<RankSharding> readSharding(const std::filesystem::path& path) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  if (error || bytes > mostShardingBytes)
    return fail(ErrorCode::BadInput, "{} cannot be read, or is too large", path.string());
  std::ifstream file(path, std::ios::binary);
  const ShardingJson object = readJson<ShardingJson>(file);
  if (!object.is_object()) return fail(ErrorCode::BadInput, "{} is no JSON object", path.string());
  RankSharding sharding;
  auto mesh = meshIn(object);
  if (!mesh) return fail(ErrorCode::BadInput, "{}: {}", path.string(), mesh.error().message);
  sharding.mesh = std::move(*mesh);
  for (const ShardingJson& node : object.value("nodes", ShardingJson::array())) {
    if (!node.is_object() || !node.value("name", ShardingJson()).is_string()) continue;
    const bool isInput = node.value("target", ShardingJson()) == ShardingJson("placeholder");
    auto placements = placementsIn(node.value("placements", ShardingJson()), sharding.mesh);
    if (placements) (isInput ? sharding.inputs : sharding.nodes).insert_or_assign(node["name"], std::move(*placements));
  }
  for (const ShardingJson& output : object.value("outputs", ShardingJson::array()))
    sharding.outputs.push_back(placementsIn(output, sharding.mesh));
  return sharding;
}

/// What the caller says is true; what followed from other placements is no longer known.
Result<void> takeAsked(const std::vector<std::string>& texts, RankSharding& sharding) {
  KERF_TRY(const auto asked, namedPlacements(texts));
  for (const auto& [name, placements] : asked) {
    if (placements.size() != sharding.mesh.dims())
      return fail(ErrorCode::BadUsage, "input '{}' needs {} placements, one for each dimension of the mesh {}", name,
                  sharding.mesh.dims(), sharding.mesh.text());
    const auto known = sharding.inputs.find(name);
    if (known == sharding.inputs.end() || known->second != placements) {
      sharding.nodes.clear();
      sharding.outputs.clear();
    }
    sharding.inputs.insert_or_assign(name, placements);
    sharding.asked.push_back(name);
  }
  return {};
}

}  // namespace

const Placements* RankSharding::find(const std::string& name) const {
  for (const auto* known : {&nodes, &inputs})
    if (const auto found = known->find(name); found != known->end()) return &found->second;
  return nullptr;
}

std::set<std::int64_t> RankSharding::splitFactors() const {
  std::set<std::int64_t> factors;
  for (const auto* known : {&nodes, &inputs})
    for (const auto& [name, placements] : *known)
      for (const Placement& placement : placements)
        if (placement.kind == Placement::Kind::StridedShard) factors.insert(placement.splitFactor);
  return factors;
}

Result<std::map<std::string, Placements>> namedPlacements(const std::vector<std::string>& texts) {
  std::map<std::string, Placements> result;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail(ErrorCode::BadUsage, "\"{}\" is not an INPUT=PLACEMENT, such as x=S0", text);
    const std::string name = text.substr(0, equals);
    auto placements = parsePlacements(std::string_view(text).substr(equals + 1));
    if (!placements) return fail(ErrorCode::BadUsage, "input '{}': {}", name, placements.error().message);
    result.insert_or_assign(name, std::move(*placements));
  }
  return result;
}

Result<RankSharding> shardingOfRanks(const std::filesystem::path& folder, int ranks, const Sizes& mesh,
                                     const std::vector<std::string>& placements) {
  RankSharding sharding;
  const std::filesystem::path file = folder / shardingFile;
  std::error_code ignored;
  const bool isThere = std::filesystem::exists(file, ignored);
  if (isThere) {
    KERF_TRY(sharding, readSharding(file));
  }
  if (!mesh.empty() && (!isThere || mesh != sharding.mesh.sizes())) {
    sharding = {};
    KERF_TRY(sharding.mesh, DeviceMesh::ofSizes(mesh));
  } else if (!isThere) {
    KERF_TRY(sharding.mesh, DeviceMesh::ofSizes({std::int64_t(ranks)}));
  }
  if (sharding.mesh.ranks() != ranks)
    return fail(ErrorCode::BadUsage, "the mesh {} has {} ranks, {} has files of {}", sharding.mesh.text(),
                sharding.mesh.ranks(), folder.string(), ranks);
  KERF_CHECK(takeAsked(placements, sharding));
  return sharding;
}

std::string shardingText(const RankSharding& sharding) {
  ShardingJson nodes = ShardingJson::array();
  for (const auto& [name, placements] : sharding.inputs)
    nodes.push_back({{"name", name}, {"target", "placeholder"}, {"placements", placementsText(placements)}});
  for (const auto& [name, placements] : sharding.nodes)
    nodes.push_back({{"name", name}, {"target", ""}, {"placements", placementsText(placements)}});
  const ShardingJson object{{"mesh", sharding.mesh.sizes()}, {"nodes", nodes}};
  return object.dump(2) + "\n";
}

}  // namespace kerf::workbench
