#include "engine/distributed/sharding/placement.h"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "engine/ops/core/op_call.h"

namespace kerf::inline distributed::inline sharding {
namespace {

/// The first and the number of elements of part `index` as torch.chunk splits `size` into `count`.
std::pair<std::int64_t, std::int64_t> chunkRange(std::int64_t size, std::int64_t count, std::int64_t index) {
  const std::int64_t step = (size + count - 1) / count, start = std::min(size, step * index);
  return {start, std::min(size, start + step) - start};
}

std::optional<std::int64_t> number(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "0" of "(0)" and of "0".
std::string_view inner(std::string_view text) {
  if (text.starts_with('(') && text.ends_with(')')) return text.substr(1, text.size() - 2);
  return text;
}

constexpr std::string_view reductionNames[] = {"sum", "avg", "max", "min", "product", "band", "bor", "bxor"};

}  // namespace

Placement Placement::maskPartial(Sizes sizes, std::int64_t dim) {
  return {.kind = Kind::MaskPartial,
          .dim = dim,
          .reduction = "sum",
          .lookedUp = std::move(sizes),
          .mask = std::make_shared<MaskBuffer>()};
}

bool Placement::operator==(const Placement& other) const {
  if (kind != other.kind) return false;
  if (kind == Kind::Replicate) return true;
  if (isShard()) return dim == other.dim && splitFactor == other.splitFactor;
  if (kind == Kind::NormPartial) return norm == other.norm;
  if (kind == Kind::MaskPartial) return mask == other.mask && dim == other.dim && lookedUp == other.lookedUp;
  return reduction == other.reduction;
}

std::string Placement::text() const {
  switch (kind) {
    case Kind::Replicate:
      return "R";
    case Kind::Shard:
      return fmt::format("S({})", dim);
    case Kind::StridedShard:
      return fmt::format("_S({}, {})", dim, splitFactor);
    case Kind::Partial:
      return fmt::format("P({})", reduction);
    case Kind::NormPartial:
      return fmt::format("_NormPartial({})", norm);
    case Kind::MaskPartial:
      return fmt::format("_MaskPartial({})", reduction);
  }
  return {};
}

std::string placementsText(const Placements& placements) {
  std::vector<std::string> texts;
  for (const Placement& placement : placements) texts.push_back(placement.text());
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

Result<Placement> parsePlacement(std::string_view text) {
  const auto wrong = [&] {
    return fail(ErrorCode::BadInput,
                "'{}' is no placement: R (whole on every rank), S0 or S(0) (sharded along dimension 0), _S(0, 2) (in "
                "stripes), P or P({}) (parts of a reduction)",
                text, fmt::join(reductionNames, "|"));
  };
  if (text == "R") return Placement::replicate();
  if (text.starts_with("_S")) {
    const std::string_view rest = inner(text.substr(2));
    const std::size_t comma = rest.find(',');
    if (comma == std::string_view::npos) return wrong();
    const auto dim = number(rest.substr(0, comma)), factor = number(rest.substr(comma + 1));
    if (!dim || !factor || *factor < 1 || *factor > 4096) return wrong();
    return Placement::strided(*dim, *factor);
  }
  if (text.starts_with('S')) {
    const auto dim = number(inner(text.substr(1)));
    return dim ? Result<Placement>(Placement::shard(*dim)) : wrong();
  }
  if (!text.starts_with('P')) return wrong();
  const std::string_view op = text.size() == 1 ? "sum" : inner(text.substr(1));
  if (std::ranges::find(reductionNames, op) == std::end(reductionNames)) return wrong();
  return Placement::partial(op);
}

Result<Placements> parsePlacements(std::string_view text) {
  std::string_view left = text;
  if (left.starts_with('[') && left.ends_with(']')) left = left.substr(1, left.size() - 2);
  Placements placements;
  std::size_t start = 0;
  int depth = 0;
  for (std::size_t at = 0; at <= left.size(); ++at) {
    const char c = at < left.size() ? left[at] : ',';
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c != ',' || (depth > 0 && at < left.size())) continue;
    std::string_view one = left.substr(start, at - start);
    while (one.starts_with(' ')) one.remove_prefix(1);
    while (one.ends_with(' ')) one.remove_suffix(1);
    KERF_TRY(Placement placement, parsePlacement(one));
    placements.push_back(std::move(placement));
    start = at + 1;
  }
  return placements;
}

Result<Placements> normalized(Placements placements, std::int64_t dims) {
  for (Placement& placement : placements) {
    if (!placement.isShard()) continue;
    if (placement.dim < 0) placement.dim += dims;
    if (placement.dim < 0 || placement.dim >= std::max<std::int64_t>(dims, 1))
      return fail(ErrorCode::ShapeMismatch, "{} is out of range for a tensor of {} dimensions", placement.text(), dims);
  }
  return placements;
}

Sizes shardIndices(const Placement& placement, std::int64_t size, std::int64_t count, std::int64_t index) {
  Sizes result;
  const std::int64_t pieces = placement.kind == Placement::Kind::StridedShard ? placement.splitFactor : 1;
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    const auto [pieceStart, pieceSize] = chunkRange(size, pieces, piece);
    const auto [start, length] = chunkRange(pieceSize, count, index);
    for (std::int64_t i = 0; i < length; ++i) result.push_back(pieceStart + start + i);
  }
  return result;
}

std::int64_t shardSize(const Placement& placement, std::int64_t size, std::int64_t count, std::int64_t index) {
  if (placement.kind == Placement::Kind::Shard) return chunkRange(size, count, index).second;
  return std::int64_t(shardIndices(placement, size, count, index).size());
}

Result<Tensor> shardOf(const Tensor& tensor, const Placement& placement, std::int64_t count, std::int64_t index) {
  if (placement.dim >= tensor.dim())
    return fail(ErrorCode::ShapeMismatch, "{} of a tensor of {} dimensions", placement.text(), tensor.dim());
  const std::int64_t size = tensor.size(placement.dim);
  if (placement.kind == Placement::Kind::Shard) {
    const auto [start, length] = chunkRange(size, count, index);
    KERF_TRY(const Tensor part, callTensorOp("aten.slice.Tensor"_op, {tensor, placement.dim, start, start + length}));
    return part.clone();
  }
  const Sizes indices = shardIndices(placement, size, count, index);
  KERF_TRY(const Tensor positions, Tensor::zeros(DType::Int64, {std::int64_t(indices.size())}));
  std::ranges::copy(indices, positions.data<std::int64_t>());
  return callTensorOp("aten.index_select.default"_op, {tensor, placement.dim, positions});
}

}  // namespace kerf::inline distributed::inline sharding
