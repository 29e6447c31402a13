// Placements: how a tensor lies on one dimension of a device mesh, in DTensor's terms.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/support/result.h"
#include "engine/tensor/tensor.h"

namespace kerf::inline distributed::inline sharding {

/// Which rows of a masked lookup are this rank's; filled by the step that makes the values partial.
struct MaskBuffer {
  std::optional<Tensor> mask;
};

struct Placement {
  enum class Kind : std::uint8_t { Replicate, Shard, StridedShard, Partial, NormPartial, MaskPartial };
  Kind kind = Kind::Replicate;
  std::int64_t dim = 0;          ///< of shards; of a MaskPartial the dimension that indices look up
  std::int64_t splitFactor = 1;  ///< of a StridedShard
  std::string reduction;         ///< of partials: sum, avg, max, min, product
  double norm = 2;               ///< of a NormPartial
  Sizes lookedUp;                ///< of a MaskPartial: sizes of the tensor that is looked up
  std::shared_ptr<MaskBuffer> mask;

  static Placement replicate() { return {}; }
  static Placement shard(std::int64_t dim) { return {.kind = Kind::Shard, .dim = dim}; }
  static Placement strided(std::int64_t dim, std::int64_t factor) {
    return {.kind = Kind::StridedShard, .dim = dim, .splitFactor = factor};
  }
  static Placement partial(std::string_view op = "sum") {
    return {.kind = Kind::Partial, .reduction = std::string(op)};
  }
  static Placement normPartial(double norm) { return {.kind = Kind::NormPartial, .reduction = "sum", .norm = norm}; }
  static Placement maskPartial(Sizes sizes, std::int64_t dim);

  bool isReplicate() const { return kind == Kind::Replicate; }
  bool isShard() const { return kind == Kind::Shard || kind == Kind::StridedShard; }
  bool isShardOf(std::int64_t d) const { return isShard() && dim == d; }
  bool isPartial() const { return kind >= Kind::Partial; }
  /// A plain Partial of that reduction.
  bool isPartialOf(std::string_view op) const { return kind == Kind::Partial && reduction == op; }
  /// A shard of another dimension, split the same way.
  Placement onDim(std::int64_t d) const {
    Placement other = *this;
    other.dim = d;
    return other;
  }
  /// "R", "S(0)", "_S(0, 2)", "P(sum)".
  std::string text() const;
  bool operator==(const Placement& other) const;
};

using Placements = std::vector<Placement>;

/// "S(0)", "S0", "R", "P", "P(max)", "Pmax", "_S(0, 2)". BadInput for other texts.
Result<Placement> parsePlacement(std::string_view text);
/// One for each dimension of a mesh: "S0,R", "[S(0), R]". BadInput, saying which forms there are, for other texts.
Result<Placements> parsePlacements(std::string_view text);
/// "[S(0), R]".
std::string placementsText(const Placements& placements);
/// Negative dimensions counted from `dims`. ShapeMismatch where one is out of range.
Result<Placements> normalized(Placements placements, std::int64_t dims);

/// Which elements along the sharded dimension of size `size` are those of part `index` of `count`.
Sizes shardIndices(const Placement& placement, std::int64_t size, std::int64_t count, std::int64_t index);
/// How many.
std::int64_t shardSize(const Placement& placement, std::int64_t size, std::int64_t count, std::int64_t index);
/// That part of a tensor, as a tensor of its own.
Result<Tensor> shardOf(const Tensor& tensor, const Placement& placement, std::int64_t count, std::int64_t index);

}  // namespace kerf::inline distributed::inline sharding
