// What the parts of a recording share: JSON values as arguments, saved tensors, comparisons.
#pragma once

#include <map>

#include <nlohmann/json.hpp>

#include "engine/distributed/sharding/placement.h"
#include "engine/ir/op_caller.h"
#include "engine/tensor/safetensors.h"

namespace kerf::inline distributed::inline recorded {

using Json = nlohmann::json;

/// The file's tensors by name.
class SavedTensors {
 public:
  static Result<SavedTensors> read(const std::filesystem::path& path);
  /// Null where there is none.
  const Tensor* find(const std::string& name) const;
  /// What follows `prefix` in the names that begin with it, sorted.
  std::vector<std::string> namesAfter(const std::string& prefix) const;

 private:
  SafetensorsFile m_file;
  std::map<std::string, const Tensor*, std::less<>> m_byName;
};

/// A value of a call: "$0" is `inputs[0]`, "dtype:float64" a dtype, {"float": "inf"} a number.
Result<Value> readValue(const Json& json, const ValueList& inputs);
Result<ValueList> readValues(const Json& json, const ValueList& inputs);
Result<KeywordValues> readKeywords(const Json& json, const ValueList& inputs);
Result<Sizes> readSizes(const Json& json);
/// Normalized for a tensor of `dims` dimensions.
Result<sharding::Placements> readPlacements(const Json& json, std::int64_t dims);
/// The nodes of a rank's graph: its own, or the first rank's with changes.
Json nodesOf(const Json& own, const Json& first);
/// As recordings write them.
std::vector<std::string> placementTexts(const sharding::Placements& placements);

/// Empty where the tensors agree within what rounding in another order may change.
std::string difference(const Tensor& own, const Tensor& recorded);
std::string difference(const Value& own, const Value& recorded);
/// Empty where each kind was issued as often as recorded, or less often.
std::string commsDifference(const std::map<std::string, int>& issued, const Json& recorded);

}  // namespace kerf::inline distributed::inline recorded
