#include "engine/accuracy/expectation.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>

namespace kerf::inline accuracy {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Index of "out12" under prefix "out"; nothing for other names ("out64_1" is no "out").
std::optional<std::size_t> indexOf(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  std::size_t index = 0;
  const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), index);
  if (code != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return index;
}

using Records = std::map<std::size_t, const Tensor*>;

Result<Records> recordsOf(const SafetensorsFile& file, std::size_t outputs, const std::string& prefix) {
  Records records;
  for (const auto& [name, tensor] : file.tensors) {
    const auto index = indexOf(name, prefix);
    if (!index) continue;
    if (*index >= outputs)
      return fail(ErrorCode::BadInput, "the file records {}, but the graph has only {} outputs", name, outputs);
    records[*index] = &tensor;
  }
  const bool mutations =
      std::ranges::any_of(file.tensors, [](const auto& t) { return t.first.starts_with("mutated"); });
  if (records.empty() && !(outputs == 0 && mutations))
    return fail(ErrorCode::BadInput, "the file records no {}<number> tensor", prefix);
  return records;
}

/// Elements as doubles, row by row; a complex number as two.
Result<std::vector<double>> elements(const Tensor& tensor) {
  KERF_TRY(const auto dense, tensor.contiguous());
  Tensor real = dense;
  if (isComplex(dense.dtype())) {
    const DType part = dense.dtype() == DType::Complex128  ? DType::Float64
                       : dense.dtype() == DType::Complex64 ? DType::Float32
                                                           : DType::Float16;
    real = Tensor(dense.storage(), part, {2 * dense.numel()}, {1}, 2 * dense.offset());
  }
  KERF_TRY(const auto wide, real.to(DType::Float64));
  KERF_TRY(const auto flat, wide.contiguous());
  const auto* data = flat.data<double>();
  return std::vector<double>(data, data + flat.numel());
}

double difference(double a, double b) {
  if (std::isnan(a) && std::isnan(b)) return 0;
  if (a == b) return 0;
  const double gap = std::fabs(a - b);
  return std::isnan(gap) ? infinity : gap;
}

struct Gap {
  double error = 0;    ///< max |a - b|
  double largest = 0;  ///< max |b| over finite b
};

Result<Gap> gapBetween(const Tensor& got, const Tensor& expected) {
  KERF_TRY(const auto a, elements(got));
  KERF_TRY(const auto b, elements(expected));
  Gap gap;
  for (std::size_t i = 0; i < a.size(); ++i) {
    gap.error = std::max(gap.error, difference(a[i], b[i]));
    if (std::isfinite(b[i])) gap.largest = std::max(gap.largest, std::fabs(b[i]));
  }
  return gap;
}

/// How large the rounding errors of a recording are.
class RoundingNoise {
 public:
  static Result<RoundingNoise> of(const Records& records, const SafetensorsFile& file, const ExpectationRule& rule) {
    RoundingNoise noise;
    noise.m_wide = rule.prefix != "out";
    noise.m_limit = rule.limit;
    for (const auto& [index, tensor] : records) {
      KERF_TRY(const auto self, gapBetween(*tensor, *tensor));
      if (isFloating(tensor->dtype())) noise.m_scale = std::max(noise.m_scale, self.largest);
      const auto* other = file.find(fmt::format("{}{}", noise.m_wide ? "out" : "out64_", index));
      if (other == nullptr || other->sizes() != tensor->sizes()) continue;
      KERF_TRY(const auto gap, gapBetween(*tensor, *other));
      noise.m_recorded[index] = noise.m_wide ? gap.error * wideStep / narrowStep : gap.error;
    }
    return noise;
  }

  /// Largest error that output `index` may have by rounding alone.
  double accepted(std::size_t index) const {
    const auto found = m_recorded.find(index);
    if (found == m_recorded.end()) return m_scale * (m_wide ? wideStep : narrowStep);
    return found->second <= m_limit * m_scale ? 8 * found->second : 0;
  }

 private:
  static constexpr double wideStep = 0x1p-52, narrowStep = 0x1p-23;
  bool m_wide = false;
  double m_limit = 0, m_scale = 0;
  std::map<std::size_t, double> m_recorded;
};

Result<ExpectationVerdict> checkOne(const Tensor& got, const Tensor& expected, const std::string& name,
                                    const ExpectationRule& rule, double rounding) {
  if (got.sizes() != expected.sizes()) {
    return fail(ErrorCode::BadInput, "{} is recorded as {}, but the graph gives {}", name, tensorText(expected),
                tensorText(got));
  }
  KERF_TRY(const auto gap, gapBetween(got, expected));
  ExpectationVerdict row{name, tensorText(got), gap.error, 0, false, false, {}};
  row.relativeError = gap.largest > 0 ? gap.error / gap.largest : gap.error;
  const bool exact = isIntegral(expected.dtype());
  row.withinRounding = !exact && row.relativeError > rule.limit && gap.error <= rounding;
  if (rule.exactDtype && got.dtype() != expected.dtype())
    row.reason = fmt::format("dtype: recorded {}", dtypeInfo(expected.dtype()).torchName);
  else if (row.relativeError > (exact ? 0 : rule.limit) && !row.withinRounding)
    row.reason = fmt::format("relative error above {:g}", exact ? 0 : rule.limit);
  row.same = row.reason.empty();
  return row;
}

}  // namespace

Result<std::vector<ExpectationVerdict>> checkExpectation(const SafetensorsFile& recorded, const ValueList& outputs,
                                                         const ExpectationRule& rule) {
  KERF_TRY(const auto records, recordsOf(recorded, outputs.size(), rule.prefix));
  KERF_TRY(const auto noise, RoundingNoise::of(records, recorded, rule));
  std::vector<ExpectationVerdict> rows;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto found = records.find(i);
    const auto name = fmt::format("{}{}", rule.prefix, i);
    if (outputs[i].isTensor() != (found != records.end())) {
      return fail(ErrorCode::BadInput, "output {} of the graph is {} tensor, but the file has {} {}", i,
                  outputs[i].isTensor() ? "a" : "no", outputs[i].isTensor() ? "no" : "a", name);
    }
    if (found == records.end()) continue;
    KERF_TRY(auto row, checkOne(outputs[i].tensor(), *found->second, name, rule, noise.accepted(i)));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string mutatedPrefix(const ExpectationRule& rule) { return rule.prefix == "out" ? "mutated_" : "mutated64_"; }

Result<std::vector<ExpectationVerdict>> checkMutated(const SafetensorsFile& recorded,
                                                     const std::vector<std::pair<std::string, Value>>& mutated,
                                                     const ExpectationRule& rule) {
  const std::string prefix = mutatedPrefix(rule);
  const double step = prefix == "mutated_" ? 0x1p-23 : 0x1p-52;
  std::vector<ExpectationVerdict> rows;
  for (const auto& [key, tensor] : recorded.tensors) {
    if (!key.starts_with(prefix)) continue;
    const auto found = std::ranges::find(mutated, key.substr(prefix.size()), &std::pair<std::string, Value>::first);
    if (found == mutated.end() || !found->second.isTensor())
      return fail(ErrorCode::BadInput, "the file records {}, but the graph does not mutate that", key);
    KERF_TRY(const auto self, gapBetween(tensor, tensor));
    KERF_TRY(auto row, checkOne(found->second.tensor(), tensor, key, rule, self.largest * step));
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<std::vector<ExpectationVerdict>> checkNamed(const SafetensorsFile& recorded,
                                                   const std::vector<std::pair<std::string, Value>>& values,
                                                   const ExpectationRule& rule) {
  double largest = 0;
  for (const auto& [name, tensor] : recorded.tensors) {
    KERF_TRY(const auto self, gapBetween(tensor, tensor));
    largest = std::max(largest, self.largest);
  }
  std::vector<ExpectationVerdict> rows;
  for (const auto& [key, tensor] : recorded.tensors) {
    const auto found = std::ranges::find(values, key, &std::pair<std::string, Value>::first);
    if (found == values.end() && !key.starts_with("grad.")) continue;
    if (found == values.end() || !found->second.isTensor())
      return fail(ErrorCode::BadInput, "the file records {}, but the graph gives no such value", key);
    const double step = tensor.dtype() == DType::Float64 ? 0x1p-52 : 0x1p-23;
    KERF_TRY(auto row, checkOne(found->second.tensor(), tensor, key, rule, 8 * step * largest));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string tensorText(const Tensor& tensor) {
  return fmt::format("{}[{}]", dtypeInfo(tensor.dtype()).shortCode, fmt::join(tensor.sizes(), ", "));
}

}  // namespace kerf::inline accuracy
