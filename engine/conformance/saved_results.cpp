#include "engine/conformance/saved_results.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace kerf::inline conformance {
namespace {

struct SavedResults {
  std::string_view op;  ///< every overload
  std::size_t from;     ///< this result and those behind it
};

constexpr SavedResults saved[] = {
    {"aten::_embedding_bag", 1},
    {"aten::log_sigmoid_forward", 1},
};

constexpr std::string_view constants[] = {"aten::detach", "aten::linspace", "aten::logspace", "aten::bincount"};

struct UndifferentiatedArgument {
  std::string_view op;  ///< empty: every op
  std::string_view argument;
};
constexpr UndifferentiatedArgument undifferentiated[] = {
    {"", "running_mean"},
    {"", "running_var"},
    {"aten::igamma", "self"},
    {"aten::igammac", "self"},
    {"aten::special_zeta", "self"},
    {"aten::nll_loss_forward", "weight"},
    {"aten::nll_loss2d_forward", "weight"},
    {"aten::nll_loss_backward", "weight"},
    {"aten::nll_loss_backward", "total_weight"},
    {"aten::nll_loss2d_backward", "weight"},
    {"aten::nll_loss2d_backward", "total_weight"},
    {"aten::soft_margin_loss", "target"},
    {"aten::soft_margin_loss_backward", "target"},
    {"aten::rrelu_with_noise_backward", "noise"},
};

/// Their argument 0.
constexpr std::string_view symmetric[] = {"aten::cholesky",     "aten::linalg_cholesky_ex", "aten::linalg_cholesky",
                                          "aten::_linalg_eigh", "aten::linalg_eigh",        "aten::linalg_eigvalsh"};

/// Ops whose argument 1 names places within each plane of the last `dims` dimensions.
struct PlaceOp {
  std::string_view op;
  std::int64_t dims;
};
constexpr PlaceOp placeOps[] = {{"aten::max_unpool2d", 2}, {"aten::max_unpool3d", 3}};

}  // namespace

bool isSavedResult(const OpInfo& op, std::size_t result) {
  const auto* found = std::ranges::find(saved, op.schema.name, &SavedResults::op);
  return found != std::end(saved) && result >= found->from;
}

bool isConstantByDefinition(const OpInfo& op) {
  return std::ranges::find(constants, op.schema.name) != std::end(constants);
}

bool isUndifferentiated(const OpInfo& op, std::size_t argument) {
  return std::ranges::any_of(undifferentiated, [&](const UndifferentiatedArgument& row) {
    return (row.op.empty() || row.op == op.schema.name) && row.argument == op.schema.arguments[argument].name;
  });
}

bool isSymmetric(const OpInfo& op, std::size_t argument) {
  return argument == 0 && std::ranges::find(symmetric, op.schema.name) != std::end(symmetric);
}

bool readsPadding(const BoundArguments& call) {
  if (call.op->schema.name != "aten::embedding" || call.integer(2) < 0) return false;
  const Tensor& rows = call.tensor(1);
  for (std::int64_t i = 0; i < rows.numel(); ++i)
    if (rows.itemAsInt(i) == call.integer(2)) return true;
  return false;
}

bool writesPlaceTwice(const BoundArguments& call) {
  const auto* found = std::ranges::find(placeOps, call.op->schema.name, &PlaceOp::op);
  if (found == std::end(placeOps)) return false;
  const Tensor& places = call.tensor(1);
  std::int64_t plane = 1;
  for (std::int64_t d = 0; d < found->dims; ++d) plane *= places.size(places.dim() - 1 - d);
  std::set<std::pair<std::int64_t, std::int64_t>> seen;
  for (std::int64_t i = 0; i < places.numel(); ++i)
    if (!seen.emplace(i / plane, places.itemAsInt(i)).second) return true;
  return false;
}

}  // namespace kerf::inline conformance
