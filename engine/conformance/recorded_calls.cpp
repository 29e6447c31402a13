#include "engine/conformance/recorded_calls.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <fstream>
#include <map>
#include <set>

#include "engine/conformance/recorded_call.h"
#include "engine/ops/core/op_registry.h"
#include "engine/ops/core/strides.h"

namespace kerf::inline conformance {
namespace {

constexpr std::size_t keptFailures = 5;

struct Tolerance {
  double relative = 0;
  double absolute = 0;
};

/// torch.testing.assert_close's defaults by dtype.
Tolerance toleranceOf(DType dtype) {
  switch (dtype) {
    case DType::Float64:
    case DType::Complex128:
      return {1e-7, 1e-7};
    case DType::Float32:
    case DType::Complex64:
      return {1.3e-6, 1e-5};
    case DType::Float16:
    case DType::Complex32:
      return {1e-3, 1e-5};
    case DType::BFloat16:
      return {1.6e-2, 1e-5};
    default:
      return {};
  }
}

bool close(double actual, double expected, Tolerance tolerance) {
  if (std::isnan(expected)) return std::isnan(actual);
  if (actual == expected) return true;
  return std::isfinite(expected) &&
         std::abs(actual - expected) <= tolerance.absolute + tolerance.relative * std::abs(expected);
}

/// By the length of the difference, as torch.isclose; a complex number is NaN when either part is.
bool close(std::complex<double> actual, std::complex<double> expected, Tolerance tolerance) {
  const auto isNan = [](std::complex<double> z) { return std::isnan(z.real()) || std::isnan(z.imag()); };
  if (isNan(expected)) return isNan(actual);
  if (actual == expected) return true;
  const double difference = std::abs(actual - expected);
  return std::isfinite(difference) && difference <= tolerance.absolute + tolerance.relative * std::abs(expected);
}

bool close(std::int64_t actual, std::int64_t expected, Tolerance /*exact*/) { return actual == expected; }

std::string join(const Sizes& sizes) { return fmt::format("[{}]", fmt::join(sizes, ", ")); }

std::string text(double value) { return fmt::format("{}", value); }
std::string text(std::int64_t value) { return fmt::format("{}", value); }
std::string text(std::complex<double> value) { return fmt::format("({}, {})", value.real(), value.imag()); }

/// Compares as numbers of type T, which is DType `wide`. Empty when the elements agree.
template <class T>
std::string compareElementsAs(DType wide, const Tensor& actual, const Tensor& expected) {
  const Tolerance tolerance = toleranceOf(expected.dtype());
  const auto read = [&](const Tensor& tensor) -> Result<Tensor> {
    KERF_TRY(const Tensor converted, tensor.to(wide));
    return converted.contiguous();
  };
  const auto a = read(actual);
  const auto b = read(expected);
  if (!a || !b) return "cannot be compared";
  for (std::int64_t i = 0; i < expected.numel(); ++i) {
    const T own = a->template data<T>()[i], other = b->template data<T>()[i];
    if (!close(own, other, tolerance)) return fmt::format("element {}: {} instead of {}", i, text(own), text(other));
  }
  return {};
}

/// Empty when the elements agree.
std::string compareElements(const Tensor& actual, const Tensor& expected) {
  if (isIntegral(expected.dtype())) return compareElementsAs<std::int64_t>(DType::Int64, actual, expected);
  if (isComplex(expected.dtype())) return compareElementsAs<std::complex<double>>(DType::Complex128, actual, expected);
  return compareElementsAs<double>(DType::Float64, actual, expected);
}

/// Strides matter only where a dimension has more than one element, and not at all in tensors without elements.
bool sameStrides(const Tensor& actual, const Tensor& expected) {
  if (expected.numel() == 0) return true;
  for (std::int64_t d = 0; d < expected.dim(); ++d)
    if (expected.size(d) > 1 && actual.stride(d) != expected.stride(d)) return false;
  return true;
}

/// Whether strides are compared, or have been accounted for already.
enum class Strides : std::uint8_t { Compared, Explained };

std::string compareTensors(const Tensor& actual, const Tensor& expected, Strides strides) {
  if (actual.dtype() != expected.dtype())
    return fmt::format("dtype {} instead of {}", dtypeInfo(actual.dtype()).torchName,
                       dtypeInfo(expected.dtype()).torchName);
  if (actual.sizes() != expected.sizes())
    return fmt::format("sizes {} instead of {}", join(actual.sizes()), join(expected.sizes()));
  if (strides == Strides::Compared && !sameStrides(actual, expected))
    return fmt::format("strides {} instead of {}", join(actual.strides()), join(expected.strides()));
  return compareElements(actual, expected);
}

std::string compareValues(const Value& actual, const Value& expected, Strides strides) {
  if (expected.isTensor() != actual.isTensor()) return "a tensor and something else";
  if (expected.isTensor()) return compareTensors(actual.tensor(), expected.tensor(), strides);
  if (const auto* number = expected.as<double>()) {
    const auto* own = actual.as<double>();
    return own && close(*own, *number, toleranceOf(DType::Float64)) ? ""
                                                                    : fmt::format("number differs from {}", *number);
  }
  if (const auto* integer = expected.as<std::int64_t>()) {
    const auto* own = actual.as<std::int64_t>();
    return own && *own == *integer ? "" : fmt::format("number differs from {}", *integer);
  }
  if (const auto* flag = expected.as<bool>())
    return actual.as<bool>() && *actual.as<bool>() == *flag ? "" : "bool differs";
  return actual.isNone() == expected.isNone() ? "" : "None and something else";
}

/// Ops whose second output is the position of the first one's values along `dim`: equal values may swap places.
constexpr std::string_view positionOps[] = {"aten.topk.default", "aten.kthvalue.default", "aten.sort.default",
                                            "aten.sort.stable",  "aten.median.dim",       "aten.nanmedian.dim",
                                            "aten.mode.default", "aten.max.dim",          "aten.min.dim"};

/// Whether the positions found, though not the recorded ones, hold the recorded values.
bool isTie(const RecordedCall& call, const Value& positions) {
  if (std::ranges::find(positionOps, call.op) == std::end(positionOps) || !positions.isTensor()) return false;
  const OpInfo* op = findOp(call.op);
  std::int64_t dim = -1;
  for (std::size_t i = 0; i < op->schema.arguments.size() && i < call.args.size(); ++i)
    if (const auto* given = call.args[i].as<std::int64_t>(); given && op->schema.arguments[i].name == "dim")
      dim = *given;
  Value index = positions, expected = call.out[0];
  if (positions.tensor().dim() < call.args[0].tensor().dim()) {
    const auto wide = referenceOps().call("aten.unsqueeze.default", {index, dim}, {});
    const auto wideExpected = referenceOps().call("aten.unsqueeze.default", {expected, dim}, {});
    if (!wide || !wideExpected) return false;
    index = *wide;
    expected = *wideExpected;
  }
  const auto held = referenceOps().call("aten.gather.default", {call.args[0], dim, index}, {});
  return held && compareElements(held->tensor(), expected.tensor()).empty();
}

bool sameStrides(const Value& actual, const ValueList& expected) {
  const ValueList items = actual.isList() ? actual.list() : ValueList{actual};
  if (items.size() != expected.size()) return false;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (!items[i].isTensor() || !expected[i].isTensor() || items[i].tensor().sizes() != expected[i].tensor().sizes() ||
        !sameStrides(items[i].tensor(), expected[i].tensor()))
      return false;
  return true;
}

/// Whether self may have had these strides: they are not dense (else the recording would show them), and a copy of such
/// a tensor has the strides recorded.
bool recordedAs(const Tensor& self, const Sizes& strides) {
  const Tensor original = metaTensor(self.dtype(), self.sizes(), strides);
  const auto copied = likeStrides(original, {});
  return !isNonOverlappingAndDense(original) && copied &&
         sameStrides(metaTensor(self.dtype(), self.sizes(), *copied), self);
}

/// Recordings hold copies of the arguments, and a copy of an expanded or sliced tensor is dense. So where a result
/// shares self's storage, its recorded strides may come from strides of self that the recording lost: looks for such
/// strides (made of 0, self's and the results' own) with which the op's shape rule gives exactly what was recorded.
bool stridesOfLostOriginal(const RecordedCall& call) {
  const OpInfo* op = findOp(call.op);
  if (!op || call.args.empty() || !call.args[0].isTensor()) return false;
  const bool unsafeView = call.op.find("unsafe_") != std::string::npos;  // views that their schemas do not declare
  if (op->schema.arguments[0].alias.empty() && !has(op->traits, OpTrait::View) && !unsafeView) return false;
  const Tensor& self = call.args[0].tensor();
  std::set<std::int64_t> choices{0};
  choices.insert(self.strides().begin(), self.strides().end());
  for (const Value& out : call.out)
    if (out.isTensor()) choices.insert(out.tensor().strides().begin(), out.tensor().strides().end());
  const std::vector<std::int64_t> values(choices.begin(), choices.end());
  double combinations = 1;
  for (std::int64_t d = 0; d < self.dim(); ++d) combinations *= double(values.size());
  constexpr double most = 300000;
  ValueList args = call.args;
  for (std::int64_t k = 0; combinations <= most && k < std::int64_t(combinations); ++k) {
    Sizes strides;
    for (std::int64_t d = 0, rest = k; d < self.dim(); ++d, rest /= std::int64_t(values.size()))
      strides.push_back(values[std::size_t(rest) % values.size()]);
    if (!recordedAs(self, strides)) continue;
    args[0] = metaTensor(self.dtype(), self.sizes(), strides);
    if (const auto shapes = inferShapes(call.op, args, call.kwargs); shapes && sameStrides(*shapes, call.out))
      return true;
  }
  return false;
}

std::string compareOutputs(const RecordedCall& call, const Value& result) {
  const ValueList actual = result.isList() ? result.list() : ValueList{result};
  if (actual.size() != call.out.size()) return fmt::format("{} outputs instead of {}", actual.size(), call.out.size());
  const auto strides =
      !sameStrides(result, call.out) && stridesOfLostOriginal(call) ? Strides::Explained : Strides::Compared;
  for (std::size_t i = 0; i < actual.size(); ++i)
    if (const std::string text = compareValues(actual[i], call.out[i], strides);
        !text.empty() && !(i == 1 && isTie(call, actual[i])))
      return fmt::format("output {}: {}", i, text);
  if (!call.mutates) return {};
  for (std::size_t i = 0; i < std::min(call.post.size(), call.tensorArguments.size()); ++i) {
    if (call.post[i].sizes() != call.tensorArguments[i].sizes())
      continue;  // resized: the handle here keeps its old sizes
    if (const std::string text = compareElements(call.tensorArguments[i], call.post[i]); !text.empty())
      return fmt::format("argument {} afterwards: {}", i, text);
  }
  return {};
}

void check(const RecordedCall& call, OverloadConformance& overload) {
  const auto result = referenceOps().call(call.op, call.args, call.kwargs);
  if (!result && result.error().code == ErrorCode::UnsupportedOp) {
    ++overload.unsupported;
    if (overload.failures.size() < keptFailures)
      overload.failures.push_back(fmt::format("{}: {}", call.id, result.error().text()));
    return;
  }
  const std::string text = result ? compareOutputs(call, *result) : result.error().text();
  if (text.empty()) {
    ++overload.passed;
    return;
  }
  ++overload.failed;
  if (overload.failures.size() < keptFailures) overload.failures.push_back(fmt::format("{}: {}", call.id, text));
}

}  // namespace

int OpConformanceReport::completeOverloads() const {
  return int(std::ranges::count_if(overloads, &OverloadConformance::complete));
}

Result<std::filesystem::path> recordedCallsFile(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) {
    if (std::filesystem::exists(path, error)) return path;
    return fail(ErrorCode::NotFound, "{} does not exist", path.string());
  }
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(path, error))
    if (entry.path().extension() == ".jsonl") found.push_back(entry.path());
  if (found.empty()) return fail(ErrorCode::NotFound, "{} holds no .jsonl file", path.string());
  return *std::ranges::min_element(found);
}

Result<OpConformanceReport> checkRecordedCalls(const std::filesystem::path& path) {
  KERF_TRY(const std::filesystem::path file, recordedCallsFile(path));
  KERF_TRY(const SafetensorsFile tensors,
           readSafetensors(std::filesystem::path(file).replace_extension(".safetensors")));
  std::ifstream in(file);
  if (!in) return fail(ErrorCode::NotFound, "{} cannot be read", file.string());
  std::map<std::string, OverloadConformance> overloads;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.empty()) continue;
    auto call = readRecordedCall(line, tensors);
    if (!call) return fail(std::move(call).error().atFile(file.string(), number));
    OverloadConformance& overload = overloads[call->op];
    overload.op = call->op;
    check(*call, overload);
  }
  OpConformanceReport report;
  for (auto& [name, overload] : overloads) {
    report.passed += overload.passed;
    report.failed += overload.failed;
    report.unsupported += overload.unsupported;
    report.overloads.push_back(std::move(overload));
  }
  return report;
}

}  // namespace kerf::inline conformance
