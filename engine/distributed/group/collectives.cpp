#include "engine/distributed/group/collectives.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "engine/ops/core/op_call.h"

namespace kerf::inline distributed::inline group {
namespace {

struct Reduction {
  std::string_view name;
  OpId op;
};

const std::vector<Reduction>& reductions() {
  static const std::vector<Reduction> all{
      {"sum", "aten.add.Tensor"_op},          {"avg", "aten.add.Tensor"_op},
      {"product", "aten.mul.Tensor"_op},      {"prod", "aten.mul.Tensor"_op},
      {"min", "aten.minimum.default"_op},     {"max", "aten.maximum.default"_op},
      {"band", "aten.bitwise_and.Tensor"_op}, {"bor", "aten.bitwise_or.Tensor"_op},
      {"bxor", "aten.bitwise_xor.Tensor"_op},
  };
  return all;
}

Value listOf(const std::vector<Tensor>& tensors) {
  ValueList items;
  for (const Tensor& tensor : tensors) items.emplace_back(tensor);
  return Value(std::move(items));
}

Result<Tensor> narrowed(const Tensor& tensor, std::int64_t dim, std::int64_t start, std::int64_t length) {
  KERF_TRY(const Tensor part, callTensorOp("aten.slice.Tensor"_op, {tensor, dim, start, start + length}));
  return part.clone();
}

Result<Tensor> joined(const std::vector<Tensor>& parts, std::int64_t dim) {
  return callTensorOp("aten.cat.default"_op, {listOf(parts), dim});
}

std::string_view dtypeText(const Tensor& tensor) {
  std::string_view name = dtypeInfo(tensor.dtype()).torchName;
  if (name.starts_with("torch.")) name.remove_prefix(6);
  return name;
}

/// What must agree where sizes along `dim` may differ.
std::string describeBut(const Tensor& tensor, std::int64_t dim) {
  std::string sizes;
  for (std::int64_t d = 0; d < tensor.dim(); ++d)
    sizes += fmt::format("{}{}", d == 0 ? "" : ", ", d == dim ? std::string("*") : std::to_string(tensor.size(d)));
  return fmt::format("{} [{}]", dtypeText(tensor), sizes);
}

Result<Tensor> sizesTensor(const Sizes& sizes) {
  KERF_TRY(Tensor tensor, Tensor::zeros(DType::Int64, {std::int64_t(sizes.size())}));
  std::ranges::copy(sizes, tensor.data<std::int64_t>());
  return tensor;
}

}  // namespace

std::string describe(const Tensor& tensor) {
  return fmt::format("{} [{}]", dtypeText(tensor), fmt::join(tensor.sizes(), ", "));
}

Result<Tensor> reduceTensors(std::string_view op, const std::vector<Tensor>& tensors) {
  const auto found = std::ranges::find(reductions(), op, &Reduction::name);
  if (found == reductions().end())
    return fail(ErrorCode::BadInput, "there is no reduction '{}': sum, avg, product, min, max, band, bor and bxor are",
                op);
  Tensor result = tensors[0];
  for (std::size_t i = 1; i < tensors.size(); ++i) {
    KERF_TRY(result, callTensorOp(found->op, {result, tensors[i]}));
  }
  if (op != "avg") return result;
  const OpId divide =
      isFloating(result.dtype()) || isComplex(result.dtype()) ? "aten.div.Scalar"_op : "aten.floor_divide.default"_op;
  const Value count = divide == "aten.div.Scalar"_op
                          ? Value(double(tensors.size()))
                          : Value(Tensor::scalarInt(std::int64_t(tensors.size()), result.dtype()));
  return callTensorOp(divide, {result, count});
}

CollectiveCall allReduceCall(const Tensor& tensor, std::string_view op) {
  return {"all_reduce", fmt::format("{} {}", op, describe(tensor))};
}
CollectiveCall allGatherCall(const Tensor& tensor, std::int64_t dim) {
  return {"all_gather_into_tensor", describeBut(tensor, dim)};
}
CollectiveCall reduceScatterCall(const Tensor& tensor, std::string_view op) {
  return {"reduce_scatter_tensor", fmt::format("{} {}", op, describe(tensor))};
}
CollectiveCall allToAllCall(const Tensor& tensor) { return {"all_to_all_single", describeBut(tensor, 0)}; }
CollectiveCall broadcastCall(const Tensor& tensor, int source) {
  return {"broadcast", fmt::format("{} from {}", describe(tensor), source)};
}

Result<Tensor> chunkOf(const Tensor& tensor, std::int64_t dim, std::int64_t count, std::int64_t index) {
  const std::int64_t size = tensor.size(dim), step = (size + count - 1) / count;
  const std::int64_t start = std::min(size, step * index), end = std::min(size, start + step);
  return narrowed(tensor, dim, start, end - start);
}

Result<Tensor> allReduce(Communicator& ranks, const Group& group, const Tensor& tensor, std::string_view op) {
  const CollectiveCall call = allReduceCall(tensor, op);
  if (OwnCollectives* const own = ranks.own()) {
    KERF_TRY(std::optional<Tensor> reduced, own->allReduce(group, call, tensor, op));
    if (reduced) return std::move(*reduced);
  }
  KERF_TRY(const auto all, ranks.gather(group, call, tensor));
  KERF_TRY(const Tensor result, reduceTensors(op, all));
  return result.storage() == tensor.storage() ? result.clone() : Result<Tensor>(result);
}

Result<Tensor> allGather(Communicator& ranks, const Group& group, const Tensor& tensor, std::int64_t dim) {
  KERF_TRY(const auto all, ranks.gather(group, allGatherCall(tensor, dim), tensor));
  return joined(all, dim);
}

Result<Tensor> reduceScatter(Communicator& ranks, const Group& group, const Tensor& tensor, std::string_view op,
                             std::int64_t dim) {
  const CollectiveCall call = reduceScatterCall(tensor, op);
  if (OwnCollectives* const own = ranks.own(); own != nullptr && tensor.size(dim) % group.size() == 0) {
    std::vector<Tensor> pieces;
    for (int i = 0; i < group.size(); ++i) {
      KERF_TRY(Tensor piece, chunkOf(tensor, dim, group.size(), i));
      pieces.push_back(std::move(piece));
    }
    KERF_TRY(std::optional<Tensor> reduced, own->reduceScatter(group, call, pieces, op));
    if (reduced) return std::move(*reduced);
  }
  KERF_TRY(const auto all, ranks.gather(group, call, tensor));
  std::vector<Tensor> parts;
  for (const Tensor& one : all) {
    KERF_TRY(Tensor part, chunkOf(one, dim, group.size(), group.indexOf(ranks.rank())));
    parts.push_back(std::move(part));
  }
  return reduceTensors(op, parts);
}

namespace {

std::unexpected<Error> wrongRows(int rank, std::int64_t expected, int from, std::int64_t sent) {
  return fail(ErrorCode::BadInput, "all_to_all: rank {} expects {} rows of rank {}, which sends {}", rank, expected,
              from, sent);
}

/// The rows of each member, in its own words.
Result<Tensor> exchangedRows(Communicator& ranks, const Group& group, const Tensor& tensor, const Sizes& parts,
                             const Sizes& received) {
  std::vector<Tensor> pieces;
  std::int64_t at = 0;
  for (const std::int64_t rows : parts) {
    KERF_TRY(Tensor piece, narrowed(tensor, 0, at, rows));
    at += rows;
    pieces.push_back(std::move(piece));
  }
  KERF_TRY(const std::vector<Tensor> rows, ranks.own()->exchange(group, allToAllCall(tensor), pieces));
  for (std::size_t i = 0; i < received.size(); ++i)
    if (rows[i].size(0) != received[i]) return wrongRows(ranks.rank(), received[i], group.ranks[i], rows[i].size(0));
  return joined(rows, 0);
}

}  // namespace

Result<Tensor> allToAll(Communicator& ranks, const Group& group, const Tensor& tensor, const Sizes& received,
                        const Sizes& sent) {
  const auto members = std::size_t(group.size()), me = std::size_t(group.indexOf(ranks.rank()));
  if (tensor.dim() == 0) return fail(ErrorCode::BadInput, "all_to_all needs a dimension to exchange");
  Sizes parts = sent;
  if (parts.empty()) parts.assign(members, tensor.size(0) / std::int64_t(members));
  const std::int64_t total = std::accumulate(parts.begin(), parts.end(), std::int64_t{0});
  if (parts.size() != members || total != tensor.size(0) || (!received.empty() && received.size() != members))
    return fail(ErrorCode::BadInput, "all_to_all: split sizes [{}] do not match the {} rows of rank {}",
                fmt::join(parts, ", "), tensor.size(0), ranks.rank());
  if (ranks.own() != nullptr) return exchangedRows(ranks, group, tensor, parts, received);
  KERF_TRY(const Tensor mine, sizesTensor(parts));
  KERF_TRY(const auto splits, ranks.gather(group, {"all_to_all_single", "its split sizes"}, mine));
  KERF_TRY(const auto all, ranks.gather(group, allToAllCall(tensor), tensor));
  std::vector<Tensor> rows;
  for (std::size_t i = 0; i < members; ++i) {
    const auto* from = splits[i].data<std::int64_t>();
    const std::int64_t start = std::accumulate(from, from + me, std::int64_t{0});
    if (!received.empty() && received[i] != from[me])
      return wrongRows(ranks.rank(), received[i], group.ranks[i], from[me]);
    KERF_TRY(Tensor part, narrowed(all[i], 0, start, from[me]));
    rows.push_back(std::move(part));
  }
  return joined(rows, 0);
}

Result<Tensor> exchangeShards(Communicator& ranks, const Group& group, const Tensor& tensor, std::int64_t from,
                              std::int64_t to) {
  KERF_TRY(const auto all, ranks.gather(group, {"shard_dim_alltoall", describeBut(tensor, from)}, tensor));
  KERF_TRY(const Tensor whole, joined(all, from));
  return chunkOf(whole, to, group.size(), group.indexOf(ranks.rank()));
}

Result<Tensor> broadcast(Communicator& ranks, const Group& group, const Tensor& tensor, int source) {
  if (source < 0 || source >= group.size())
    return fail(ErrorCode::BadInput, "broadcast: group '{}' has no rank {}", group.name, source);
  const CollectiveCall call = broadcastCall(tensor, source);
  if (OwnCollectives* const own = ranks.own()) return own->broadcast(group, call, tensor, source);
  KERF_TRY(const auto all, ranks.gather(group, call, tensor));
  return all[std::size_t(source)].clone();
}

namespace {

Result<Tensor> permutedBy(OwnCollectives& own, const Group& group, const CollectiveCall& call, const Tensor& tensor,
                          const std::vector<int>& to, int me) {
  KERF_TRY(const Tensor nothing, Tensor::zeros(tensor.dtype(), {0}));
  std::vector<Tensor> pieces(std::size_t(group.size()), nothing);
  if (std::size_t(me) < to.size() && to[std::size_t(me)] >= 0 && to[std::size_t(me)] < group.size())
    pieces[std::size_t(to[std::size_t(me)])] = tensor;
  KERF_TRY(const std::vector<Tensor> come, own.exchange(group, call, pieces));
  for (std::size_t i = 0; i < to.size() && i < come.size(); ++i)
    if (to[i] == me) return come[i];
  return Tensor::zeros(tensor.dtype(), tensor.sizes());
}

}  // namespace

Result<Tensor> permute(Communicator& ranks, const Group& group, const Tensor& tensor, const std::vector<int>& to) {
  const CollectiveCall call{"permute_tensor", describe(tensor)};
  const int me = group.indexOf(ranks.rank());
  if (OwnCollectives* const own = ranks.own()) return permutedBy(*own, group, call, tensor, to, me);
  KERF_TRY(const auto all, ranks.gather(group, call, tensor));
  for (std::size_t i = 0; i < to.size() && i < all.size(); ++i)
    if (to[i] == me) return all[i].clone();
  return Tensor::zeros(tensor.dtype(), tensor.sizes());
}

Result<std::vector<std::string>> allGatherObject(Communicator& ranks, const Group& group, const std::string& json) {
  KERF_TRY(const Tensor bytes, Tensor::zeros(DType::UInt8, {std::int64_t(json.size())}));
  std::memcpy(bytes.data<std::uint8_t>(), json.data(), json.size());
  KERF_TRY(const auto all, ranks.gather(group, {"all_gather_object", ""}, bytes));
  std::vector<std::string> result;
  for (const Tensor& one : all)
    result.emplace_back(reinterpret_cast<const char*>(one.data<std::uint8_t>()), std::size_t(one.numel()));
  return result;
}

Result<void> barrier(Communicator& ranks, const Group& group) {
  KERF_TRY(const Tensor nothing, Tensor::zeros(DType::UInt8, {1}));
  KERF_CHECK(ranks.gather(group, {"barrier", ""}, nothing));
  return {};
}

}  // namespace kerf::inline distributed::inline group
