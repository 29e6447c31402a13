// histogramdd: the edges of every dimension's bins, and the counts between them.
#include "engine/ops/core/composite.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

KeywordValues keywordsOf(const BoundArguments& args, std::initializer_list<std::string_view> names) {
  KeywordValues keywords;
  for (const std::string_view name : names) keywords.emplace_back(name, args.values[args.position(name)]);
  return keywords;
}

/// `bins` is a list of numbers, one for each coordinate of a sample.
Result<Value> countedBins(const BoundArguments& args, const OpRunner& run, const Value& bins) {
  const KeywordValues keywords = keywordsOf(args, {"range", "weight", "density"});
  KERF_TRY(const Value edges, run.value("aten._histogramdd_bin_edges.default"_op, {args.values[0], bins}, keywords));
  KERF_TRY(const Value counts,
           run.value("aten._histogramdd_from_bin_cts.default"_op, {args.values[0], bins}, keywords));
  return Value(ValueList{counts, edges});
}

Result<Value> listedBinsProgram(const BoundArguments& args, const OpRunner& run) {
  return countedBins(args, run, args.values[1]);
}

/// One number for all coordinates.
Result<Value> sameBinsProgram(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  if (self.dim() < 2) return mismatch(args, "argument 'self' needs at least 2 dimensions, got {}", self.dim());
  const std::int64_t dims{self.symSizes().back()};
  constexpr std::int64_t most = 1 << 10;
  if (dims > most) return fail(ErrorCode::TooLarge, "{}: samples of {} coordinates", args.opName(), dims);
  return countedBins(args, run, Value(ValueList(std::size_t(dims), args.values[1])));
}

/// The edges are given; a range has nothing to say then.
Result<Value> givenEdgesProgram(const BoundArguments& args, const OpRunner& run) {
  KERF_TRY(const Value counts, run.value("aten._histogramdd_from_bin_tensors.default"_op,
                                         {args.values[0], args.values[1]}, keywordsOf(args, {"weight", "density"})));
  return Value(ValueList{counts, args.values[1]});
}

#define KERF_HISTOGRAM(overload, bins)               \
  "aten::histogramdd" overload "(Tensor self, " bins \
  " bins, float[]? range=None, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor[] bin_edges)"

constexpr OpRow histogramOfDimsRows[] = {
    compositeRow(listedBinsProgram, KERF_HISTOGRAM("", "int[]")),
    compositeRow(sameBinsProgram, KERF_HISTOGRAM(".int_bins", "int")),
    compositeRow(givenEdgesProgram, KERF_HISTOGRAM(".TensorList_bins", "Tensor[]")),
};

const OpRegistration histogramOfDimsOps({.rows = histogramOfDimsRows});

}  // namespace

}  // namespace kerf::inline ops
