// Views: each dimension of the result as a function of the operand's, and where shards go with it.
#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>

#include "engine/distributed/sharding/rules.h"

namespace kerf::inline distributed::inline sharding {
namespace {

/// One dimension of a view's result: a dimension of the operand, the first of several that are flattened, the first or
/// a later part of what is split. Without a dimension: new, repeated, or a later part.
struct ViewDim {
  Sizes from;             ///< dimensions of the operand that it is made of
  std::int64_t size = 0;  ///< of this part, where the operand's are split
  bool isSplit = false;
  bool isFirst = true;  ///< the first part of a split
  bool repeats = false;
};
using ViewDims = std::vector<ViewDim>;

ViewDim same(std::int64_t dim) { return {.from = {dim}}; }

/// The groups of dimensions that a reshape flattens and splits again.
ViewDims reshaped(const Sizes& from, const Sizes& to) {
  ViewDims result;
  std::size_t f = 0, t = 0;
  while (f < from.size() || t < to.size()) {
    Sizes group, parts;
    std::int64_t have = 1, want = 1;
    if (f < from.size()) {
      have = from[f];
      group.push_back(std::int64_t(f++));
    }
    if (t < to.size()) {
      want = to[t++];
      parts.push_back(want);
    }
    if (have == 1 && want != 1) {
      t -= parts.size();
      parts.clear();
    } else if (have != 1 && want == 1) {
      f -= group.size();
      group.clear();
    }
    while (!parts.empty() && !group.empty() && have != want) {
      if (have < want && f < from.size()) {
        have *= from[f];
        group.push_back(std::int64_t(f++));
      } else if (t < to.size()) {
        want *= to[t];
        parts.push_back(to[t++]);
      } else {
        break;
      }
    }
    Sizes real;
    for (const std::int64_t part : parts)
      if (part != 1) real.push_back(part);
    bool first = true;
    for (const std::int64_t part : parts) {
      if (group.empty() || (part == 1 && parts.size() > 1)) {
        result.push_back({});
        continue;
      }
      result.push_back({.from = group, .size = part, .isSplit = real.size() > 1, .isFirst = first});
      first = false;
    }
  }
  return result;
}

struct ViewPlan {
  Placements operand, result;
};

class ViewPlanner {
 public:
  ViewPlanner(const ShardingCall& call, const ViewDims& dims, bool isStrict)
      : m_call(call), m_spec(call.spec(0)), m_isStrict(isStrict) {
    for (const ViewDim& dim : dims)
      for (const std::int64_t from : dim.from) m_seen[std::size_t(from)] = true;
  }

  Result<ViewPlan> plan(const ViewDims& dims) {
    for (std::size_t i = 0; i < m_shardable.size(); ++i) m_shardable[i] = m_seen[i];
    for (std::size_t i = 0; i < dims.size(); ++i) {
      KERF_TRY(const auto from, shardedBy(dims[i]));
      if (from) m_places[std::size_t(*from)] = std::int64_t(i);
    }
    ViewPlan plan{m_spec.placements, {}};
    for (Placement& placement : plan.operand)
      if (placement.isShard() && !(m_shardable[std::size_t(placement.dim)] && m_places[std::size_t(placement.dim)]))
        placement = Placement::replicate();
    plan.result = plan.operand;
    for (Placement& placement : plan.result)
      if (placement.isShard()) placement = placement.onDim(*m_places[std::size_t(placement.dim)]);
    return plan;
  }

 private:
  /// Which dimension of the operand may shard this one of the result.
  Result<std::optional<std::int64_t>> shardedBy(const ViewDim& dim) {
    if (dim.from.empty()) return std::nullopt;
    if (dim.repeats) {
      m_shardable[std::size_t(dim.from[0])] = false;
      return std::nullopt;
    }
    for (std::size_t i = 1; i < dim.from.size() && dim.isFirst; ++i) KERF_CHECK(forbid(dim.from[i], inner));
    const std::int64_t first = dim.from[0];
    if (dim.from.size() > 1 && dim.isFirst && !isEven(first)) KERF_CHECK(forbid(first, uneven));
    if (!dim.isSplit) return first;
    if (!dim.isFirst) return std::nullopt;
    if (dim.size % shards(first) != 0) KERF_CHECK(forbid(first, split));
    return first;
  }

  static constexpr const char *inner = "flatten a sharded dimension into the one before it",
                              *uneven = "flatten an unevenly sharded dimension", *split = "split a sharded dimension";

  Result<void> forbid(std::int64_t dim, const char* what) {
    m_shardable[std::size_t(dim)] = false;
    const bool isSharded = std::ranges::any_of(m_spec.placements, [&](const Placement& p) { return p.isShardOf(dim); });
    if (!m_isStrict || !isSharded) return {};
    return fail(ErrorCode::UnsupportedOp,
                "{} would {} (dimension {} of {}), which needs another placement: redistribute before the view",
                m_call.args.opName(), what, dim, placementsText(m_spec.placements));
  }
  std::int64_t shards(std::int64_t dim) const {
    std::int64_t count = 1;
    for (std::size_t i = 0; i < m_spec.placements.size(); ++i)
      if (m_spec.placements[i].isShardOf(dim)) count *= m_call.mesh.size(i);
    return count;
  }
  bool isEven(std::int64_t dim) const { return m_spec.sizes[std::size_t(dim)] % shards(dim) == 0; }

  const ShardingCall& m_call;
  const Spec& m_spec;
  bool m_isStrict;
  std::vector<bool> m_seen = std::vector<bool>(m_spec.sizes.size(), false), m_shardable = m_seen;
  std::vector<std::optional<std::int64_t>> m_places = std::vector<std::optional<std::int64_t>>(m_spec.sizes.size());
};

Result<Strategies> planned(const ShardingCall& call, const ViewDims& dims, bool isStrict = false) {
  KERF_TRY(const ViewPlan plan, ViewPlanner(call, dims, isStrict).plan(dims));
  return Strategies{{{plan.result}, {plan.operand}, {}}};
}

Result<Strategies> view(const ShardingCall& call) {
  return planned(call, reshaped(call.spec(0).sizes, call.outputs[0].sizes()), true);
}

ViewDims allDims(std::int64_t rank) {
  ViewDims dims;
  for (std::int64_t d = 0; d < rank; ++d) dims.push_back(same(d));
  return dims;
}

Result<Strategies> permute(const ShardingCall& call) {
  ViewDims dims;
  for (const std::int64_t dim : call.args.sizes(1)) dims.push_back(same(dim < 0 ? dim + call.spec(0).dims() : dim));
  return planned(call, dims);
}

Result<Strategies> transpose(const ShardingCall& call) {
  const std::int64_t rank = call.spec(0).dims();
  if (rank == 0) return planned(call, {});
  ViewDims dims = allDims(rank);
  std::swap(dims[std::size_t(call.dimension("dim0", rank))], dims[std::size_t(call.dimension("dim1", rank))]);
  return planned(call, dims);
}

Result<Strategies> t(const ShardingCall& call) {
  ViewDims dims = allDims(call.spec(0).dims());
  std::ranges::reverse(dims);
  return planned(call, dims);
}

Result<Strategies> unsqueeze(const ShardingCall& call) {
  ViewDims dims = allDims(call.spec(0).dims());
  dims.insert(dims.begin() + call.dimension("dim", call.spec(0).dims() + 1), ViewDim{});
  return planned(call, dims);
}

Result<Strategies> squeeze(const ShardingCall& call) {
  const Spec& spec = call.spec(0);
  Sizes chosen;
  const Value given = call.named("dim");
  if (given.isList()) chosen = call.args.sizes(1);
  if (given.as<std::int64_t>()) chosen = {*given.as<std::int64_t>()};
  for (std::int64_t& dim : chosen) dim += dim < 0 ? spec.dims() : 0;
  ViewDims dims;
  for (std::int64_t d = 0; d < spec.dims(); ++d) {
    const bool isChosen = given.isNone() || std::ranges::find(chosen, d) != chosen.end();
    if (spec.sizes[std::size_t(d)] != 1 || !isChosen) dims.push_back(same(d));
  }
  return planned(call, dims);
}

Result<Strategies> expand(const ShardingCall& call) {
  const Spec& spec = call.spec(0);
  const Sizes to = call.outputs[0].sizes();
  const auto added = std::int64_t(to.size()) - spec.dims();
  ViewDims dims;
  for (std::int64_t d = 0; d < std::int64_t(to.size()); ++d) {
    const std::int64_t from = d - added;
    const bool isKept = from >= 0 && spec.sizes[std::size_t(from)] == to[std::size_t(d)];
    dims.push_back(isKept ? same(from) : ViewDim{});
  }
  return planned(call, dims);
}

Result<Strategies> repeat(const ShardingCall& call) {
  const Spec& spec = call.spec(0);
  const Sizes times = call.args.sizes(1);
  const auto added = std::int64_t(times.size()) - spec.dims();
  ViewDims dims;
  for (std::int64_t d = 0; d < std::int64_t(times.size()); ++d) {
    ViewDim dim = d < added ? ViewDim{} : same(d - added);
    dim.repeats = times[std::size_t(d)] != 1;
    dims.push_back(dim);
  }
  return planned(call, dims);
}

/// The dimension that is selected goes; it must be whole.
Result<Strategies> select(const ShardingCall& call) {
  const Spec& spec = call.spec(0);
  const std::int64_t dim = call.dimension("dim", spec.dims());
  const Placements input = withoutShardOf(spec.placements, dim);
  return Strategies{{{shiftedAfterRemove(input, dim)}, {input}, {}}};
}

Result<Strategies> unbind(const ShardingCall& call) {
  const Spec& spec = call.spec(0);
  const std::int64_t dim = call.dimension("dim", spec.dims());
  if (std::ranges::any_of(spec.placements, [&](const Placement& p) { return p.isShardOf(dim); }))
    return fail(ErrorCode::UnsupportedOp, "{} along the sharded dimension {} needs another placement",
                call.args.opName(), dim);
  return Strategies{{{shiftedAfterRemove(spec.placements, dim)}, {spec.placements}, {}}};
}

Result<Strategies> slice(const ShardingCall& call) {
  const Spec& spec = call.spec(0);
  const std::int64_t dim = call.dimension("dim", spec.dims());
  const bool keepsAll = call.outputs[0].sizes() == spec.sizes;
  const Placements input = keepsAll ? spec.placements : withoutShardOf(spec.placements, dim);
  return Strategies{{{input}, {input}, {}}};
}

Result<Strategies> split(const ShardingCall& call) {
  const Spec& spec = call.spec(0);
  const Placements input = withoutShardOf(spec.placements, call.dimension("dim", spec.dims()));
  return Strategies{{{input}, {input}, {}}};
}

Result<Strategies> selectBackward(const ShardingCall& call) {
  const std::int64_t dim = call.dimension("dim", call.outputs[0].dim());
  return Strategies{{{shiftedAfterInsert(call.spec(0).placements, dim)}, {call.spec(0).placements}, {}}};
}

Result<Strategies> sliceBackward(const ShardingCall& call) {
  const Placements input = withoutShardOf(call.spec(0).placements, call.dimension("dim", call.outputs[0].dim()));
  return Strategies{{{input}, {input}, {}}};
}

constexpr ShardingRow rows[] = {
    {"aten.view.default", view},
    {"aten._unsafe_view.default", view},
    {"aten.reshape.default", view},
    {"aten.permute.default", permute},
    {"aten.transpose.int", transpose},
    {"aten.t.default", t},
    {"aten.unsqueeze.default", unsqueeze},
    {"aten.squeeze.default", squeeze},
    {"aten.squeeze.dim", squeeze},
    {"aten.squeeze.dims", squeeze},
    {"aten.squeeze_.dim", squeeze},
    {"aten.expand.default", expand},
    {"aten.repeat.default", repeat},
    {"aten.select.int", select},
    {"aten.unbind.int", unbind},
    {"aten.slice.Tensor", slice},
    {"aten.split.Tensor", split},
    {"aten.split_with_sizes.default", split},
    {"aten.split_with_sizes_copy.default", split},
    {"aten.select_backward.default", selectBackward},
    {"aten.slice_backward.default", sliceBackward},
};
const ShardingRegistration registration(rows);

}  // namespace
}  // namespace kerf::inline distributed::inline sharding
