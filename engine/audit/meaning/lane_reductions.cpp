#include "engine/audit/meaning/lane_reductions.h"

#include <array>
#include <cmath>
#include <numeric>

namespace kerf::inline audit {
namespace {

double larger(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b); }
double smaller(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b); }
double plus(double a, double b) { return a + b; }
double times(double a, double b) { return a * b; }
double either(double a, double b) { return a != 0 || b != 0 ? 1 : 0; }

struct Fold {
  std::string_view name;
  double (*step)(double, double);
};
constexpr std::array<Fold, 7> folds = {{{"sum", plus},
                                        {"max", larger},
                                        {"min", smaller},
                                        {"max2", larger},
                                        {"min2", smaller},
                                        {"prod", times},
                                        {"any", either}}};

bool isAnyUnknown(const std::vector<KernelLanes>& given, std::size_t count) {
  if (given.size() < count) return true;
  return std::any_of(given.begin(), given.begin() + std::ptrdiff_t(count),
                     [](const KernelLanes& each) { return each.isUnknown; });
}

/// Whether (value, index) goes before (other, otherIndex).
bool isBetter(double value, double index, double other, double otherIndex, bool isLargest) {
  if (std::isnan(value) != std::isnan(other)) return std::isnan(value);
  if (!std::isnan(value) && value != other) return isLargest ? value > other : value < other;
  return index < otherIndex;
}

KernelLanes softmaxReduced(const KernelLanes& largest, const KernelLanes& sums) {
  if (largest.isUnknown || sums.isUnknown) return tupleOf({KernelLanes::unknown(), KernelLanes::unknown()});
  double most = largest.at(0), sum = 0;
  for (std::size_t i = 1; i < largest.size(); ++i) most = larger(most, largest.at(i));
  for (std::size_t i = 0; i < largest.size(); ++i)
    sum += sums.at(i) * std::exp(std::isinf(most) && most < 0 ? 0 : largest.at(i) - most);
  return tupleOf({{most, largest.type}, {sum, sums.type}});
}

KernelLanes softmaxJoined(const KernelLanes& largest, const KernelLanes& sums, const KernelLanes& value) {
  const KernelLanes most = zipLanes(largest, value, largest.type, larger);
  const auto share = [&](const KernelLanes& from) {
    return zipLanes(from, most, largest.type,
                    [](double x, double m) { return std::exp(std::isinf(m) && m < 0 ? 0 : x - m); });
  };
  return tupleOf({most, operateLanes("+", operateLanes("*", sums, share(largest)), share(value))});
}

/// welford_reduce(value, mean, m2, weight, isFirst)
KernelLanes welfordStep(const std::vector<KernelLanes>& given) {
  const KernelLanes one = mapLanes(given[0], LaneType::Float32, [](double) { return 1.0; });
  const KernelLanes none = mapLanes(given[0], LaneType::Float32, [](double) { return 0.0; });
  if (given.size() > 4 && !given[4].isUnknown && given[4].at(0) != 0) return tupleOf({given[0], none, one});
  return joinWelford({given[1], given[2], given[3]}, {given[0], none, one});
}

}  // namespace

KernelLanes foldLanes(const KernelLanes& value, LaneType type, double (*step)(double, double)) {
  if (value.isUnknown) return KernelLanes::unknown(type);
  double kept = value.at(0);
  for (std::size_t i = 1; i < value.size(); ++i) kept = step(kept, value.at(i));
  return {asLane(type, kept), type};
}

KernelLanes bestLanes(const KernelLanes& value, const KernelLanes& index, bool isLargest) {
  if (value.isUnknown || index.isUnknown)
    return tupleOf({KernelLanes::unknown(value.type), KernelLanes::unknown(index.type)});
  std::size_t best = 0;
  for (std::size_t i = 1; i < value.size(); ++i)
    if (isBetter(value.at(i), index.at(i), value.at(best), index.at(best), isLargest)) best = i;
  return tupleOf({{value.at(best), value.type}, {index.at(best), index.type}});
}

KernelLanes betterLanes(const KernelLanes& value, const KernelLanes& index, const KernelLanes& otherValue,
                        const KernelLanes& otherIndex, bool isLargest) {
  if (value.isUnknown || index.isUnknown || otherValue.isUnknown || otherIndex.isUnknown)
    return tupleOf({KernelLanes::unknown(value.type), KernelLanes::unknown(index.type)});
  const std::size_t count = std::max({value.size(), index.size(), otherValue.size(), otherIndex.size()});
  std::vector<double> values(count), indices(count);
  for (std::size_t i = 0; i < count; ++i) {
    const bool isOther = isBetter(otherValue.at(i), otherIndex.at(i), value.at(i), index.at(i), isLargest);
    values[i] = isOther ? otherValue.at(i) : value.at(i);
    indices[i] = isOther ? otherIndex.at(i) : index.at(i);
  }
  if (count == 1) return tupleOf({{values[0], value.type}, {indices[0], index.type}});
  return tupleOf({{std::move(values), value.type}, {std::move(indices), index.type}});
}

KernelLanes joinWelford(const std::vector<KernelLanes>& a, const std::vector<KernelLanes>& b) {
  if (isAnyUnknown(a, 3) || isAnyUnknown(b, 3))
    return tupleOf({KernelLanes::unknown(), KernelLanes::unknown(), KernelLanes::unknown()});
  std::size_t count = 1;
  for (const auto* const each : {&a, &b})
    for (const KernelLanes& part : *each) count = std::max(count, part.size());
  std::vector<double> mean(count), m2(count), weight(count);
  for (std::size_t i = 0; i < count; ++i) {
    weight[i] = a[2].at(i) + b[2].at(i);
    const double delta = b[0].at(i) - a[0].at(i), share = weight[i] == 0 ? 0 : b[2].at(i) / weight[i];
    mean[i] = a[0].at(i) + delta * share;
    m2[i] = a[1].at(i) + b[1].at(i) + delta * delta * a[2].at(i) * share;
  }
  if (count == 1) return tupleOf({{mean[0], a[0].type}, {m2[0], a[0].type}, {weight[0], a[0].type}});
  return tupleOf({{std::move(mean), a[0].type}, {std::move(m2), a[0].type}, {std::move(weight), a[0].type}});
}

KernelLanes foldWelford(const std::vector<KernelLanes>& groups) {
  if (isAnyUnknown(groups, 3)) return tupleOf({KernelLanes::unknown(), KernelLanes::unknown(), KernelLanes::unknown()});
  const std::size_t count = std::max({groups[0].size(), groups[1].size(), groups[2].size()});
  double weight = 0, mean = 0, m2 = 0;
  for (std::size_t i = 0; i < count; ++i) weight += groups[2].at(i);
  for (std::size_t i = 0; i < count && weight != 0; ++i) mean += groups[0].at(i) * groups[2].at(i) / weight;
  for (std::size_t i = 0; i < count; ++i) {
    const double apart = groups[0].at(i) - mean;
    m2 += groups[1].at(i) + groups[2].at(i) * apart * apart;
  }
  const LaneType type = groups[0].type;
  return tupleOf({{mean, type}, {m2, type}, {weight, type}});
}

std::optional<KernelLanes> reducedLanes(std::string_view name, const std::vector<KernelLanes>& given,
                                        std::size_t extent) {
  if (given.empty()) return std::nullopt;
  const bool isShort = !given[0].isUnknown && given[0].isOne() && extent > 1;  // not spread over the axis
  if (const auto fold = std::ranges::find(folds, name, &Fold::name); fold != folds.end()) {
    LaneType type = name == "any" ? LaneType::Bool : given[0].type;
    if ((name == "sum" || name == "prod") && !isFloatLane(type)) type = std::max(type, LaneType::Int32);
    return isShort ? KernelLanes::unknown(type) : foldLanes(given[0], type, fold->step);
  }
  if (name == "max_with_index" || name == "min_with_index")
    return isShort || given.size() < 2 ? tupleOf({KernelLanes::unknown(), KernelLanes::unknown()})
                                       : bestLanes(given[0], given[1], name == "max_with_index");
  if ((name == "maximum_with_index" || name == "minimum_with_index") && given.size() >= 4)
    return betterLanes(given[0], given[1], given[2], given[3], name == "maximum_with_index");
  if (name == "welford_reduce" && given.size() >= 4) return welfordStep(given);
  if (name == "welford" && given.size() >= 3) return isShort ? KernelLanes::unknown() : foldWelford(given);
  if (name == "welford_combine" && given.size() >= 6)
    return joinWelford({given[0], given[1], given[2]}, {given[3], given[4], given[5]});
  if (name == "online_softmax_reduce" && given.size() >= 2)
    return isShort ? KernelLanes::unknown() : softmaxReduced(given[0], given[1]);
  if (name == "online_softmax_combine" && given.size() >= 3) return softmaxJoined(given[0], given[1], given[2]);
  if (name == "select_one" && given.size() >= 2)
    return foldLanes(chooseLanes(given[1], given[0], KernelLanes(0, given[0].type)), given[0].type, plus);
  return std::nullopt;
}

}  // namespace kerf::inline audit
