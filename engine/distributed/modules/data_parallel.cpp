#include "engine/distributed/modules/data_parallel.h"

#include "engine/ops/core/op_call.h"

namespace kerf::inline distributed::inline modules {
namespace {

Result<Tensor> flatOf(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> flat;
  for (const Tensor& tensor : tensors) {
    KERF_TRY(Tensor one, callTensorOp("aten.reshape.default"_op, {tensor, intList({-1})}));
    flat.push_back(std::move(one));
  }
  return callTensorOp("aten.cat.default"_op, {tensorList(std::move(flat)), std::int64_t{0}});
}

Result<Tensor> rowsOf(const Tensor& tensor, std::int64_t start, std::int64_t end) {
  return callTensorOp("aten.slice.Tensor"_op, {tensor, std::int64_t{0}, start, end});
}

/// More rows of zeros.
Result<Tensor> withRows(const Tensor& tensor, std::int64_t rows) {
  if (tensor.size(0) == rows) return tensor;
  Sizes padding(std::size_t(2 * tensor.dim()), 0);
  padding.back() = rows - tensor.size(0);
  return callTensorOp("aten.constant_pad_nd.default"_op, {tensor, intList(padding), 0.0});
}

/// A parameter among those that are gathered together.
struct Gathered {
  std::string path;
  Spec spec;              ///< of the shards
  Sizes whole;            ///< sizes that the module sees on this rank
  std::int64_t rows = 0;  ///< of each padded shard
};

/// The parameters of one module that is fully sharded.
class ShardedGroup {
 public:
  ShardedGroup(ModuleRun& run, FullyShardOptions options) : m_run(run), m_options(options) {}
  Result<void> add(const std::string& path);
  Result<void> gather() const;
  void release() const {
    for (const Gathered& one : m_items) m_run.takeBack(one.path);
  }

 private:
  const DTensorOps& ops() const { return m_run.ops(); }
  Group group() const { return ops().rank().group(m_options.shardDim); }
  /// Whether the module's parameters are sharded along other dimensions of the mesh too.
  bool isSharded() const {
    for (const Gathered& one : m_items)
      for (std::size_t i = 0; i < one.spec.placements.size(); ++i)
        if (i != m_options.shardDim && one.spec.placements[i].isShard()) return true;
    return false;
  }
  Result<Tensor> packed() const;
  Result<ValueList> scatter(const ValueList& grads) const;
  Result<Tensor> gradientOf(const Value& value, const Gathered& item) const;

  ModuleRun& m_run;
  FullyShardOptions m_options;
  std::vector<Gathered> m_items;
};

Result<void> ShardedGroup::add(const std::string& path) {
  KERF_TRY(const Tensor now, m_run.parameter(path));
  const Spec* known = ops().specOf(now);
  Spec spec = known != nullptr ? *known : Spec{Placements(ops().mesh().dims()), now.sizes(), now.dtype()};
  Tensor whole = now;
  if (known != nullptr) {
    KERF_TRY(whole, ops().full(now));
  }
  Spec without = spec;
  std::int64_t factor = 1;
  for (std::size_t i = 0; i < spec.placements.size(); ++i)
    if (i != m_options.shardDim && spec.placements[i].isShardOf(0)) factor *= ops().mesh().size(i);
  spec.placements[m_options.shardDim] = factor > 1 ? Placement::strided(0, factor) : Placement::shard(0);
  without.placements[m_options.shardDim] = Placement::replicate();
  const Sizes sizes = localSizes(without, ops().mesh(), ops().rank().coordinate);
  const std::int64_t ranks = ops().mesh().size(m_options.shardDim);
  KERF_TRY(const Tensor part, ops().distribute(whole, spec.placements));
  KERF_CHECK(m_run.replaceParameter(path, part));
  m_items.push_back({path, spec, sizes, (sizes[0] + ranks - 1) / ranks});
  return {};
}

Result<Tensor> ShardedGroup::packed() const {
  std::vector<Tensor> shards;
  for (const Gathered& item : m_items) {
    KERF_TRY(const Tensor parameter, m_run.parameter(item.path));
    KERF_TRY(Tensor padded, withRows(ops().local(parameter), item.rows));
    shards.push_back(std::move(padded));
  }
  return flatOf(shards);
}

Result<void> ShardedGroup::gather() const {
  KERF_TRY(const Tensor own, packed());
  ++ops().rank().issued["c10d._allgather_base_"];
  KERF_TRY(const Tensor all, allGather(ops().rank().ranks, group(), own));
  KERF_TRY(const Tensor table, callTensorOp("aten.view.default"_op, {all, intList({group().size(), own.numel()})}));
  ValueList inputs, results;
  std::int64_t at = 0;
  for (const Gathered& item : m_items) {
    Sizes rows = item.whole;
    rows[0] = item.rows;
    std::int64_t count = 1;
    for (const std::int64_t size : rows) count *= size;
    rows[0] *= group().size();
    KERF_TRY(const Tensor columns, callTensorOp("aten.slice.Tensor"_op, {table, std::int64_t{1}, at, at + count}));
    at += count;
    KERF_TRY(const Tensor padded, callTensorOp("aten.reshape.default"_op, {columns, intList(rows)}));
    KERF_TRY(const Tensor view, rowsOf(padded, 0, item.whole[0]));
    KERF_TRY(const Tensor whole, view.clone());
    Placements placements = item.spec.placements;
    placements[m_options.shardDim] = Placement::replicate();
    const Tensor seen = isSharded() ? ops().fromLocal(whole, metaTensor(whole.dtype(), item.spec.sizes), placements)
                                    : ops().asLocal(whole);
    KERF_TRY(const Tensor parameter, m_run.parameter(item.path));
    inputs.emplace_back(parameter);
    results.emplace_back(seen);
    m_run.lend(item.path, seen);
  }
  ops().note(inputs, results, [this](const ValueList& grads) { return scatter(grads); });
  return {};
}

/// This rank's gradient of what was gathered.
Result<Tensor> ShardedGroup::gradientOf(const Value& value, const Gathered& item) const {
  if (!value.isTensor()) return Tensor::zeros(item.spec.dtype, item.whole);
  const Tensor& gradient = value.tensor();
  const Spec* spec = ops().specOf(gradient);
  if (spec == nullptr) return gradient;
  Placements wanted = item.spec.placements;
  wanted[m_options.shardDim] = Placement::replicate();
  return redistribute(ops().rank(), ops().local(gradient), *spec, wanted);
}

Result<ValueList> ShardedGroup::scatter(const ValueList& grads) const {
  MeshRank& rank = ops().rank();
  std::vector<Tensor> wholes, rows;
  for (std::size_t i = 0; i < m_items.size(); ++i) {
    KERF_TRY(const Tensor whole, gradientOf(grads[i], m_items[i]));
    KERF_TRY(Tensor padded, withRows(whole, m_items[i].rows * group().size()));
    wholes.push_back(std::move(padded));
  }
  for (int member = 0; member < group().size(); ++member) {
    std::vector<Tensor> shards;
    for (std::size_t i = 0; i < m_items.size(); ++i) {
      KERF_TRY(Tensor own, rowsOf(wholes[i], m_items[i].rows * member, m_items[i].rows * (member + 1)));
      shards.push_back(std::move(own));
    }
    KERF_TRY(Tensor flat, flatOf(shards));
    rows.push_back(std::move(flat));
  }
  KERF_TRY(const Tensor all, callTensorOp("aten.cat.default"_op, {tensorList(std::move(rows)), std::int64_t{0}}));
  ++rank.issued["c10d._reduce_scatter_base_"];
  KERF_TRY(Tensor own, reduceScatter(rank.ranks, group(), all, "avg"));
  if (m_options.replicateDim) {
    ++rank.issued["c10d.allreduce_"];
    KERF_TRY(own, allReduce(rank.ranks, rank.group(*m_options.replicateDim), own, "avg"));
  }
  ValueList gradients;
  std::int64_t at = 0;
  for (const Gathered& item : m_items) {
    Sizes sizes = localSizes(item.spec, ops().mesh(), rank.coordinate);
    Sizes padded = sizes;
    padded[0] = item.rows;
    std::int64_t count = 1;
    for (const std::int64_t size : padded) count *= size;
    KERF_TRY(const Tensor flat, rowsOf(own, at, at + count));
    at += count;
    KERF_TRY(const Tensor shaped, callTensorOp("aten.reshape.default"_op, {flat, intList(padded)}));
    KERF_TRY(const Tensor view, rowsOf(shaped, 0, sizes[0]));
    KERF_TRY(const Tensor part, view.clone());
    gradients.emplace_back(ops().fromLocal(part, metaTensor(part.dtype(), item.spec.sizes), item.spec.placements));
  }
  return gradients;
}

}  // namespace

Result<void> fullyShard(ModuleRun& run, const std::string& path, const FullyShardOptions& options) {
  const auto group = std::make_shared<ShardedGroup>(run, options);
  for (const std::string& name : run.parametersOf(path)) KERF_CHECK(group->add(name));
  run.before(path, [group](const Value& value) -> Result<Value> {
    KERF_CHECK(group->gather());
    return value;
  });
  run.after(path, [group](const Value& value) -> Result<Value> {
    group->release();
    return value;
  });
  return {};
}

Result<std::vector<Tensor>> averagedGradients(MeshRank& rank, std::size_t meshDim,
                                              const std::vector<Tensor>& gradients) {
  if (gradients.empty()) return gradients;
  KERF_TRY(const Tensor flat, flatOf(gradients));
  ++rank.issued["c10d.allreduce_"];
  KERF_TRY(const Tensor mean, allReduce(rank.ranks, rank.group(meshDim), flat, "avg"));
  std::vector<Tensor> result;
  std::int64_t at = 0;
  for (const Tensor& gradient : gradients) {
    KERF_TRY(const Tensor own, rowsOf(mean, at, at + gradient.numel()));
    at += gradient.numel();
    KERF_TRY(Tensor shaped, callTensorOp("aten.reshape.default"_op, {own, intList(gradient.sizes())}));
    result.push_back(std::move(shaped));
  }
  return result;
}

}  // namespace kerf::inline distributed::inline modules
