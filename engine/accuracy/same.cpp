#include "engine/accuracy/same.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "engine/accuracy/closeness.h"
#include "engine/accuracy/tensor_rules.h"

namespace kerf::inline accuracy {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// torch.tensor(value) for numbers, the tensor itself for tensors; undefined for anything else.
Tensor asTensor(const Value& value) {
  if (const auto* tensor = value.as<Tensor>()) return *tensor;
  if (const auto* number = value.as<double>()) return Tensor::scalar(*number, DType::Float32);
  if (const auto* number = value.as<std::int64_t>()) return Tensor::scalarInt(*number, DType::Int64);
  if (const auto* flag = value.as<bool>()) return Tensor::scalarInt(*flag ? 1 : 0, DType::Bool);
  return {};
}

/// Number of a Python int, float, bool or one-element tensor.
std::optional<double> asNumber(const Value& value) {
  const Tensor tensor = asTensor(value);
  if (const auto* number = value.as<double>()) return *number;
  if (!tensor.defined() || tensor.numel() != 1) return {};
  return tensor.itemAsDouble();
}

/// Equality of the same kind of Python object: texts, devices, dtypes, layouts, memory formats.
template <class T>
bool equalAs(const Value& ref, const Value& res) {
  const T* left = ref.as<T>();
  const T* right = res.as<T>();
  return left != nullptr && right != nullptr && *left == *right;
}

bool equalScalars(const Value& ref, const Value& res) {
  const auto whole = ref.asSymInt(), other = res.asSymInt();
  if (whole && other && !whole->isSymbolic() && !other->isSymbolic()) return whole->isIdentical(*other);
  const auto left = asNumber(ref), right = asNumber(res);
  if (left && right) return *left == *right;
  if (ref.isNone() || res.isNone()) return ref.isNone() && res.isNone();
  return equalAs<std::string>(ref, res) || equalAs<Device>(ref, res) || equalAs<DType>(ref, res) ||
         equalAs<Layout>(ref, res) || equalAs<MemoryFormat>(ref, res);
}

/// Key of a ("key", value) pair; null for anything else.
const std::string* keyOf(const Value& item) {
  return item.isList() && item.list().size() == 2 ? item.list()[0].as<std::string>() : nullptr;
}

/// A dict with string keys, as OpCaller passes one.
bool isDict(const Value& value) {
  if (!value.isList() || value.list().empty()) return false;
  std::set<std::string_view> keys;
  return std::ranges::all_of(value.list(), [&](const Value& item) {
    const std::string* key = keyOf(item);
    return key != nullptr && keys.insert(*key).second;
  });
}

const Value* lookUp(const Value& dict, const std::string& key) {
  if (!isDict(dict)) return nullptr;
  for (const Value& item : dict.list())
    if (*keyOf(item) == key) return &item.list()[1];
  return nullptr;
}

class Comparison {
 public:
  explicit Comparison(const SameOptions& options) : m_options(options) {}

  void compare(const std::string& name, const Value& ref, const Value& res, const Value& fp64) {
    if (isDict(ref)) return compareDicts(name.empty() ? "out" : name, ref, res, fp64);
    if (ref.isList()) return compareLists(name, ref.list(), res, fp64);
    OutputVerdict verdict;
    verdict.name = name;
    verdict.rmseRef = verdict.rmseRes = nan;
    if (ref.isTensor() || ref.as<double>() != nullptr)
      compareNumbers(ref, res, fp64, verdict);
    else
      compareScalars(ref, res, verdict);
    m_report.outputs.push_back(std::move(verdict));
  }

  SameReport finish() {
    m_report.same = std::ranges::all_of(m_report.outputs, &OutputVerdict::same);
    return std::move(m_report);
  }

 private:
  /// The longest name that was given a tolerance wins.
  SameOptions optionsFor(const std::string& name) const {
    SameOptions options = m_options;
    std::size_t longest = 0;
    for (const auto& [subject, tolerance] : m_options.tolerances) {
      if (subject.size() < longest || !toleranceConcerns(subject, name)) continue;
      longest = subject.size();
      options.tolerance = tolerance;
    }
    return options;
  }

  void compareNumbers(const Value& ref, const Value& res, const Value& fp64, OutputVerdict& verdict) const {
    const Tensor result = asTensor(res), reference = asTensor(ref);
    if (!result.defined()) return refuse(verdict, "type mismatch");
    Tensor truth = asTensor(fp64.isNone() ? ref : fp64);
    // Of an op whose results depend on the dtype (offset2bag of _embedding_bag) the fp64 run has others.
    if (truth.defined() && reference.defined() && !broadcastTogether(reference, truth)) truth = reference;
    compareTensors(reference, result, truth, optionsFor(verdict.name), verdict);
  }

  void compareScalars(const Value& ref, const Value& res, OutputVerdict& verdict) const {
    verdict.same = m_options.ignoreNonFloat || equalScalars(ref, res);
    if (!verdict.same) refuse(verdict, "Accuracy failed: the values differ");
  }

  static void refuse(OutputVerdict& verdict, std::string reason) {
    verdict.same = false;
    verdict.reason = std::move(reason);
    verdict.ratioToLimit = infinity;
  }

  void refuseWhole(const std::string& name, std::string reason) {
    OutputVerdict verdict;
    verdict.name = name.empty() ? "outputs" : name;
    refuse(verdict, std::move(reason));
    m_report.outputs.push_back(std::move(verdict));
  }

  void compareDicts(const std::string& name, const Value& ref, const Value& res, const Value& fp64) {
    if (!isDict(res)) return refuseWhole(name, "type mismatch");
    if (res.list().size() != ref.list().size()) return refuseWhole(name, "keys mismatch");
    for (const Value& item : ref.list()) {
      const std::string& key = *keyOf(item);
      const Value* result = lookUp(res, key);
      if (result == nullptr) return refuseWhole(name, fmt::format("keys mismatch: {} is missing", key));
      const Value* truth = lookUp(fp64, key);
      compare(fmt::format("{}.{}", name, key), item.list()[1], *result, truth != nullptr ? *truth : Value());
    }
  }

  void compareLists(const std::string& name, const ValueList& ref, const Value& res, const Value& fp64) {
    if (!res.isList()) return refuseWhole(name, "type mismatch");
    if (res.list().size() != ref.size()) return refuseWhole(name, "Length mismatch");
    const bool haveFp64 = fp64.isList();
    for (std::size_t i = 0; i < ref.size(); ++i) {
      const Value truth = haveFp64 && i < fp64.list().size() ? fp64.list()[i] : Value();
      compare(name.empty() ? fmt::format("out{}", i) : fmt::format("{}.{}", name, i), ref[i], res.list()[i], truth);
    }
  }

  const SameOptions& m_options;
  SameReport m_report;
};

constexpr std::array<std::string_view, 4> kindNames = {"output", "mutation", "alias", "strides"};
static_assert(kindNames.size() == std::size_t(lastOf(ResultKind{})) + 1);

}  // namespace

std::string_view resultKindName(ResultKind kind) { return kindNames[std::size_t(kind)]; }

bool toleranceConcerns(std::string_view subject, std::string_view name) {
  constexpr std::string_view mutation = "mutates ";
  if (name.starts_with(mutation) && !subject.starts_with(mutation)) name.remove_prefix(mutation.size());
  return name == subject || (name.starts_with(subject) && name[subject.size()] == '.');
}

SameReport same(const Value& ref, const Value& res, const Value& fp64, const SameOptions& options) {
  return sameNamed(ref.isList() ? "" : "out0", ref, res, fp64, options);
}

SameReport sameNamed(const std::string& name, const Value& ref, const Value& res, const Value& fp64,
                     const SameOptions& options) {
  Comparison comparison(options);
  comparison.compare(name, ref, res, fp64);
  return comparison.finish();
}

}  // namespace kerf::inline accuracy
