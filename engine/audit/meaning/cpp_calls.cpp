#include "engine/audit/meaning/cpp_calls.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "engine/audit/kernels/kernel_model.h"
#include "engine/audit/meaning/lane_reductions.h"

namespace kerf::inline audit {
namespace {

double addLane(double a, double b) { return a + b; }
double multiplyLane(double a, double b) { return a * b; }
double orLane(double a, double b) { return a != 0 || b != 0 ? 1 : 0; }
double andLane(double a, double b) { return a != 0 && b != 0 ? 1 : 0; }

constexpr int helperMemory = -2;  ///< of `&welford_helper0`

/// "at::vec::convert<int64_t,2,int32_t,1>" → "int64_t"
std::string_view firstTemplate(std::string_view name) {
  const std::size_t open = name.find('<');
  if (open == std::string_view::npos) return {};
  const std::size_t end = name.find_first_of(",>", open);
  if (end == std::string_view::npos) return {};
  const std::string_view inner = name.substr(open + 1, end - open - 1);
  return inner.substr(0, inner.find_first_of(" ["));  // of an array: "float[]"
}

/// What `[](auto& x, auto& y) { return x + y; }` does to two lanes.
BinaryNumber stepOf(const SyntaxNode& lambda) {
  if (!lambda.is(SyntaxKind::Lambda) || lambda.items.empty() || lambda.items[0].items.empty()) return nullptr;
  const SyntaxNode& last = lambda.items[0].items.back();
  if (!last.is(SyntaxKind::Return) || last.items.empty()) return nullptr;
  const SyntaxNode& value = last.items[0];
  if (value.is(SyntaxKind::Binary))
    return value.text == "+"                         ? addLane
           : value.text == "*"                       ? multiplyLane
           : value.text == "|" || value.text == "||" ? orLane
           : value.text == "&" || value.text == "&&" ? andLane
                                                     : nullptr;
  const std::string callee = value.callee();
  if (callee.ends_with("maximum") || callee.ends_with("minimum")) return binaryNumber(callee.substr(callee.size() - 7));
  return nullptr;
}

}  // namespace

LaneType CppCalls::declaredType(std::string_view declared) {
  if (const std::size_t aligned = declared.starts_with("alignas") ? declared.rfind(')') : std::string_view::npos;
      aligned != std::string_view::npos)
    declared.remove_prefix(aligned + 1);
  if (const std::string_view inner = firstTemplate(declared); !inner.empty())
    if (const std::string type = elementType(inner); !type.empty()) return laneTypeOf(type);
  if (declared == "int") return LaneType::Int32;
  if (declared == "long") return LaneType::Int64;
  const std::string type = elementType(declared);
  return type.empty() ? LaneType::Int64 : laneTypeOf(type);
}

std::string CppCalls::elementKey(const SyntaxNode& item, const KernelLanes& index) {
  if (!item.items[0].is(SyntaxKind::Name) || index.isUnknown || !index.isOne()) return {};
  return fmt::format("{}#{}", item.items[0].text, index.at(0));
}

KernelLanes CppCalls::array(LaneType type, double count, const SyntaxNode& where) {
  if (!(count >= 1) || count > 1 << 24 || m_own.size() > 100'000) {
    stop(where, "has an array whose size is not known");
    return KernelLanes::unknown();
  }
  // Declared again in each iteration: one memory for each place of the text.
  KernelLanes& known = m_values[fmt::format("array#{}", reinterpret_cast<std::uintptr_t>(&where))];
  if (known.memory >= 0) {
    m_memories[std::size_t(known.memory)]->blur();
    return known;
  }
  m_own.push_back(std::make_unique<RunMemory>(type, std::size_t(count)));
  known = KernelLanes(0, type);
  known.memory = int(m_memories.size());
  m_memories.push_back(m_own.back().get());
  return known;
}

KernelLanes CppCalls::number(const SyntaxNode& node) const {
  std::string_view text = node.text;
  if (const auto integer = node.integer())
    return {double(*integer), text.find_first_of("lL") == std::string_view::npos ? LaneType::Int32 : LaneType::Int64};
  const bool isSingle = text.ends_with('f') || text.ends_with('F');
  double value = std::numeric_limits<double>::quiet_NaN();
  std::from_chars(text.data(), text.data() + text.size(), value);
  return std::isnan(value) ? KernelLanes::unknown()
                           : KernelLanes(value, isSingle ? LaneType::Float32 : LaneType::Float64);
}

KernelLanes CppCalls::unary(const SyntaxNode& node) {
  if (node.text == "&" && node.items[0].is(SyntaxKind::Item)) {
    const SyntaxNode& place = node.items[0];
    return offsetBy(evaluate(place.items[0]),
                    place.items.size() == 2 ? evaluate(place.items[1]) : KernelLanes::unknown(), "+");
  }
  if (node.text == "&") {
    KernelLanes helper;
    helper.memory = helperMemory;
    return helper;
  }
  if (node.text == "*") return loadAt(evaluate(node.items[0]), KernelLanes(1, LaneType::Bool), 0);
  return KernelMachine::unary(node);
}

KernelLanes CppCalls::item(const SyntaxNode& node) {
  const KernelLanes base = evaluate(node.items[0]),
                    index = node.items.size() == 2 ? evaluate(node.items[1]) : KernelLanes::unknown();
  if (base.memory >= 0) return loadAt(offsetBy(base, index, "+"), KernelLanes(1, LaneType::Bool), 0);
  const auto found = m_values.find(elementKey(node, index));
  return found == m_values.end() ? KernelLanes::unknown() : found->second;
}

KernelLanes CppCalls::member(const SyntaxNode& node) {
  static constexpr std::array<std::pair<std::string_view, std::size_t>, 5> members = {
      {{"mean", 0}, {"m2", 1}, {"weight", 2}, {"value", 0}, {"index", 1}}};
  const KernelLanes object = evaluate(node.items[0]);
  const auto found =
      std::ranges::find(members, std::string_view(node.text), &std::pair<std::string_view, std::size_t>::first);
  if (!object.parts || found == members.end() || found->second >= object.parts->size()) return KernelLanes::unknown();
  return (*object.parts)[found->second];
}

KernelLanes CppCalls::run(const SyntaxNode& lambda) {
  m_returned = KernelLanes::unknown();
  if (!lambda.items.empty()) block(lambda.items[0]);
  m_hasReturned = false;
  return std::exchange(m_returned, KernelLanes::unknown());
}

KernelLanes CppCalls::lanesBefore(const KernelLanes& count) const {
  if (count.isUnknown) return KernelLanes::unknown(LaneType::Bool);
  std::vector<double> lanes(m_width);
  for (std::size_t i = 0; i < m_width; ++i) lanes[i] = double(i) < count.at(0);
  return {std::move(lanes), LaneType::Bool};
}

const KernelLanes& CppCalls::laneNumbers() {
  if (m_laneNumbers.size() != m_width) {
    std::vector<double> lanes(m_width);
    for (std::size_t i = 0; i < m_width; ++i) lanes[i] = double(i);
    m_laneNumbers = KernelLanes(std::move(lanes), LaneType::Int64);
  }
  return m_laneNumbers;
}

const CppCalls::CallForm* CppCalls::formOf(std::string_view name) {
  static constexpr std::array<CallForm, 52> forms = {{{"static_cast", &CppCalls::cast},
                                                      {"convert", &CppCalls::cast},
                                                      {"load", &CppCalls::cast},
                                                      {"VecMask", &CppCalls::vectorOf},
                                                      {"Vectorized", &CppCalls::vectorOf},
                                                      {"VectorizedN", &CppCalls::vectorOf},
                                                      {"loadu", &CppCalls::loadVector},
                                                      {"from", &CppCalls::loadVector},
                                                      {"arange", &CppCalls::arange},
                                                      {"blendv", &CppCalls::blend},
                                                      {"infinity", &CppCalls::limit},
                                                      {"max", &CppCalls::pick},
                                                      {"min", &CppCalls::pick},
                                                      {"lowest", &CppCalls::limit},
                                                      {"quiet_NaN", &CppCalls::limit},
                                                      {"vec_reduce_all", &CppCalls::reduceAll},
                                                      {"sum_masked_reduce", &CppCalls::maskedReduce},
                                                      {"prod_masked_reduce", &CppCalls::maskedReduce},
                                                      {"max_masked_reduce", &CppCalls::maskedReduce},
                                                      {"min_masked_reduce", &CppCalls::maskedReduce},
                                                      {"any_masked_reduce", &CppCalls::maskedReduce},
                                                      {"Welford", &CppCalls::welford},
                                                      {"welford_combine", &CppCalls::welford},
                                                      {"welford_vec_reduce_all", &CppCalls::welford},
                                                      {"cascade_sum_combine", &CppCalls::cascade},
                                                      {"cascade_sum_final", &CppCalls::cascade},
                                                      {"IndexValue", &CppCalls::best},
                                                      {"IndexValueVec", &CppCalls::best},
                                                      {"argmin_combine", &CppCalls::best},
                                                      {"argmax_combine", &CppCalls::best},
                                                      {"argmin_combine_vec", &CppCalls::best},
                                                      {"argmax_combine_vec", &CppCalls::best},
                                                      {"argmin_vec_reduce_all", &CppCalls::best},
                                                      {"argmax_vec_reduce_all", &CppCalls::best},
                                                      {"transpose_mxn", &CppCalls::transpose},
                                                      {"atomic_add", &CppCalls::atomic},
                                                      {"atomic_add_vec", &CppCalls::atomic},
                                                      {"TORCH_CHECK", &CppCalls::nothing},
                                                      {"AOTI_TORCH_CHECK", &CppCalls::nothing},
                                                      {"omp_get_thread_num", &CppCalls::zero},
                                                      {"decltype()", &CppCalls::same},
                                                      {"make_unique", &CppCalls::newArray},
                                                      {"float", &CppCalls::cast},
                                                      {"double", &CppCalls::cast},
                                                      {"bool", &CppCalls::cast},
                                                      {"int8_t", &CppCalls::cast},
                                                      {"uint8_t", &CppCalls::cast},
                                                      {"int16_t", &CppCalls::cast},
                                                      {"int32_t", &CppCalls::cast},
                                                      {"int64_t", &CppCalls::cast},
                                                      {"uint32_t", &CppCalls::cast},
                                                      {"uint64_t", &CppCalls::cast}}};
  const auto found = std::ranges::find(forms, name, &CallForm::name);
  return found == forms.end() ? nullptr : &*found;
}

KernelLanes CppCalls::call(const SyntaxNode& node, const CallName& name) {
  const SyntaxNode& callee = node.items[0];
  if (callee.is(SyntaxKind::Lambda)) return run(callee);
  if (callee.is(SyntaxKind::Member)) return method(node, name);
  if (const auto known = m_values.find(name.full); known != m_values.end() && known->second.lambda != nullptr)
    return run(*known->second.lambda);
  Given given;
  for (std::size_t i = 0; i < node.argumentCount(); ++i) {
    given.push_back(evaluate(node.argument(i)));
    spend(given.back().size());
  }
  if (const CallForm* const form = formOf(name.last)) return (this->*form->run)(node, name, given);
  return computed(name, given);
}

KernelLanes CppCalls::method(const SyntaxNode& node, const CallName& name) {
  const KernelLanes object = evaluate(node.items[0].items[0]);
  Given given;
  for (std::size_t i = 0; i < node.argumentCount(); ++i) given.push_back(evaluate(node.argument(i)));
  spend(object.size());
  if (name.last == "store" && !given.empty()) {
    const KernelLanes mask = lanesBefore(given.size() > 1 ? given[1] : KernelLanes(double(m_width), LaneType::Int64));
    storeAt(offsetBy(given[0].spread(m_width), laneNumbers(), "+"), object, mask);
    return {};
  }
  if (name.last == "loadu" && !given.empty()) {
    KernelLanes mask = given.size() > 1 ? operateLanes("&&", object, lanesBefore(given[1])) : object;
    return loadAt(offsetBy(given[0].spread(m_width), laneNumbers(), "+"), mask, 0);
  }
  if (name.last == "to") return castLanes(object, declaredType(name.full.substr(name.full.rfind("to<"))));
  if (name.last == "cast" || name.last == "get" || name.last == "data") return object;
  const auto all = [&](bool value) {
    return foldLanes(mapLanes(object, LaneType::Bool, [&](double x) { return double((x != 0) == value); }),
                     LaneType::Bool, andLane);
  };
  if (name.last == "all_zero") return all(false);
  if (name.last == "all_masked") return all(true);
  if (name.last == "is_masked" && !given.empty())
    return object.isUnknown || given[0].isUnknown ? KernelLanes::unknown(LaneType::Bool)
           : object.isOne()
               ? KernelLanes(object.at(0) != 0, LaneType::Bool)
               : KernelLanes(object.at(std::min(std::size_t(given[0].at(0)), object.size() - 1)) != 0, LaneType::Bool);
  const bool isTest = name.last.starts_with("is");
  if (name.unary != nullptr && given.empty() && isDecidedByRounding(name.last, object))
    return KernelLanes::unknown(object.type);
  if (name.unary != nullptr && given.empty())
    return mapLanes(object, isTest ? LaneType::Bool : object.type,
                    [&](double x) { return asLane(isTest ? LaneType::Bool : object.type, name.unary(x)); });
  if (name.binary != nullptr && given.size() == 1)
    return zipLanes(object, given[0], commonLane(object, given[0]), name.binary);
  lose(given);
  return KernelLanes::unknown();
}

KernelLanes CppCalls::cast(const SyntaxNode&, const CallName& name, const Given& given) {
  if (given.empty()) return KernelLanes::unknown();
  if (given[0].memory >= 0) return given[0];
  const std::string_view inner = firstTemplate(name.full);
  if (inner.starts_with("decltype")) return given[0];
  return castLanes(given[0], declaredType(inner.empty() ? std::string_view(name.full) : inner));
}

KernelLanes CppCalls::vectorOf(const SyntaxNode&, const CallName& name, const Given& given) {
  if (given.empty()) return KernelLanes::unknown();
  const bool isMask = name.last == "VecMask";
  return castLanes(given[0], isMask ? LaneType::Bool : declaredType(name.full)).spread(m_width);
}

KernelLanes CppCalls::loadVector(const SyntaxNode&, const CallName& name, const Given& given) {
  if (given.empty()) return KernelLanes::unknown();
  const bool isMask = name.full.find("VecMask") != std::string::npos;
  if (given[0].memory < 0) return castLanes(given[0], isMask ? LaneType::Bool : given[0].type).spread(m_width);
  const KernelLanes mask = lanesBefore(given.size() > 1 ? given[1] : KernelLanes(double(m_width), LaneType::Int64));
  const KernelLanes loaded = loadAt(offsetBy(given[0].spread(m_width), laneNumbers(), "+"), mask, 0);
  return isMask ? castLanes(loaded, LaneType::Bool) : loaded;
}

KernelLanes CppCalls::arange(const SyntaxNode&, const CallName& name, const Given& given) {
  if (given.empty() || given[0].isUnknown) return KernelLanes::unknown();
  const double step = given.size() > 1 ? given[1].at(0) : 1;
  const LaneType type = declaredType(name.full);
  std::vector<double> lanes(m_width);
  for (std::size_t i = 0; i < m_width; ++i) lanes[i] = asLane(type, given[0].at(0) + double(i) * step);
  return {std::move(lanes), type};
}

KernelLanes CppCalls::blend(const SyntaxNode&, const CallName&, const Given& given) {
  return given.size() < 3 ? KernelLanes::unknown() : chooseLanes(given[2], given[1], given[0]);
}

KernelLanes CppCalls::limit(const SyntaxNode&, const CallName& name, const Given&) {
  const LaneType type = declaredType(name.full);
  const double endless = std::numeric_limits<double>::infinity();
  if (name.last == "infinity") return {endless, type};
  if (name.last == "quiet_NaN") return {std::numeric_limits<double>::quiet_NaN(), type};
  // The extremes of a type: those of floats lie beyond all values that are drawn.
  const bool isLow = name.last == "lowest" || name.last == "min";
  if (isFloatLane(type))
    return {isLow ? std::numeric_limits<double>::lowest() : std::numeric_limits<double>::max(), type};
  const double bits = 8 * elementBytes(elementType(firstTemplate(name.full)));
  const bool isSigned =
      type == LaneType::Int8 || type == LaneType::Int16 || type == LaneType::Int32 || type == LaneType::Int64;
  if (type == LaneType::Bool) return {isLow ? 0.0 : 1.0, type};
  const double range = std::ldexp(1.0, int(bits));
  return {isSigned ? (isLow ? -range / 2 : range / 2 - 1) : (isLow ? 0 : range - 1), type};
}

/// std::max(a, b), or std::numeric_limits<…>::max().
KernelLanes CppCalls::pick(const SyntaxNode& node, const CallName& name, const Given& given) {
  if (given.empty()) return limit(node, name, given);
  if (given.size() < 2) return KernelLanes::unknown();
  const bool isMax = name.last == "max";
  return zipLanes(given[0], given[1], commonLane(given[0], given[1]),
                  [&](double a, double b) { return isMax ? (a < b ? b : a) : (b < a ? b : a); });
}

KernelLanes CppCalls::reduceAll(const SyntaxNode& node, const CallName&, const Given& given) {
  const BinaryNumber step = given.size() < 2 ? nullptr : stepOf(node.argument(0));
  return step == nullptr ? KernelLanes::unknown() : foldLanes(given[1].spread(m_width), given[1].type, step);
}

KernelLanes CppCalls::maskedReduce(const SyntaxNode&, const CallName& name, const Given& given) {
  if (given.size() < 3) return KernelLanes::unknown();
  const BinaryNumber step = name.last.starts_with("sum")    ? addLane
                            : name.last.starts_with("prod") ? multiplyLane
                            : name.last.starts_with("any")  ? orLane
                            : name.last.starts_with("max")  ? binaryNumber("maximum")
                                                            : binaryNumber("minimum");
  const KernelLanes kept = given[0].spread(m_width);
  return chooseLanes(lanesBefore(given[2]), zipLanes(kept, given[1].spread(m_width), kept.type, step), kept);
}

KernelLanes CppCalls::welford(const SyntaxNode&, const CallName& name, const Given& given) {
  const KernelLanes none(0, LaneType::Float32);
  if (given.empty()) return tupleOf({none, none, none});
  const auto partsOf = [&](const KernelLanes& value) {
    return value.parts && value.parts->size() == 3 ? *value.parts : std::vector<KernelLanes>{none, none, none};
  };
  if (name.last == "welford_vec_reduce_all") {
    std::vector<KernelLanes> parts = partsOf(given[0]);
    for (KernelLanes& part : parts) part = part.spread(m_width);
    return foldWelford(parts);
  }
  if (given.size() < 2) return given[0];
  if (given[1].parts) return joinWelford(partsOf(given[0]), partsOf(given[1]));
  if (given[1].memory == helperMemory) return given[0];
  KernelLanes one(1, LaneType::Float32);
  if (given.size() >= 3 && given[2].memory != helperMemory) one = lanesBefore(given[2]);
  one.type = LaneType::Float32;
  return joinWelford(partsOf(given[0]), {given[1], none, one.isOne() ? one.spread(given[1].size()) : one});
}

/// The sums are kept under the helper's name.
KernelLanes CppCalls::cascade(const SyntaxNode& node, const CallName& name, const Given& given) {
  if (node.argumentCount() == 0) return KernelLanes::unknown();
  const SyntaxNode& last = node.argument(node.argumentCount() - 1);
  if (!last.is(SyntaxKind::Unary) || !last.items[0].is(SyntaxKind::Name)) return KernelLanes::unknown();
  KernelLanes& sum = m_values["sum#" + last.items[0].text];
  if (name.last == "cascade_sum_final") {
    const KernelLanes result = sum;
    sum = KernelLanes();
    return result;
  }
  const KernelLanes mask = given.size() > 2 ? lanesBefore(given[1]) : KernelLanes(1, LaneType::Bool);
  const KernelLanes before = sum.isOne() && !given[0].isOne() ? sum.spread(given[0].size()) : sum;
  sum = chooseLanes(mask, operateLanes("+", before, given[0]), before);
  return sum;
}

KernelLanes CppCalls::best(const SyntaxNode&, const CallName& name, const Given& given) {
  const KernelLanes zero(0, LaneType::Int64);
  if (name.last == "IndexValue") return given.size() < 2 ? KernelLanes::unknown() : tupleOf({given[1], given[0]});
  if (name.last == "IndexValueVec")
    return given.empty() ? KernelLanes::unknown() : tupleOf({given[0].spread(m_width), zero.spread(m_width)});
  if (given.empty() || !given[0].parts || given[0].parts->size() < 2)
    return tupleOf({KernelLanes::unknown(), KernelLanes::unknown()});
  const std::vector<KernelLanes>& kept = *given[0].parts;
  const bool isLargest = name.last.starts_with("argmax");
  if (name.last.ends_with("_vec_reduce_all"))
    return bestLanes(kept[0].spread(m_width), kept[1].spread(m_width), isLargest);
  if (given.size() < 2) return KernelLanes::unknown();
  if (given[1].parts) return betterLanes(kept[0], kept[1], (*given[1].parts)[0], (*given[1].parts)[1], isLargest);
  if (given.size() < 3) return KernelLanes::unknown();
  KernelLanes index = given[2];
  const bool isVector = name.last.ends_with("_vec");
  if (isVector && name.full.ends_with("true>")) index = operateLanes("+", index.spread(m_width), laneNumbers());
  if (isVector) index = index.spread(m_width);
  const KernelLanes joined =
      betterLanes(kept[0], kept[1], isVector ? given[1].spread(m_width) : given[1], index, isLargest);
  if (given.size() < 4 || !joined.parts) return joined;
  const KernelLanes mask = lanesBefore(given[3]);
  return tupleOf({chooseLanes(mask, (*joined.parts)[0], kept[0]), chooseLanes(mask, (*joined.parts)[1], kept[1])});
}

/// transpose_mxn<T, M, N, isAtomic>(from, stride, to, stride): to[n*stride + m] = from[m*stride + n].
KernelLanes CppCalls::transpose(const SyntaxNode& node, const CallName& name, const Given& given) {
  if (given.size() < 4 || given[0].memory < 0 || given[2].memory < 0) {
    stop(node, "transposes what is not known");
    return {};
  }
  std::vector<double> extents;
  if (given.size() >= 6) {
    extents = {given[4].at(0), given[5].at(0)};
  } else {
    for (std::size_t at = name.full.find(','); at != std::string::npos && extents.size() < 2;
         at = name.full.find(',', at + 1)) {
      const std::size_t open = std::min(name.full.find_first_of("0123456789", at + 1), name.full.size());
      const std::size_t cast = name.full.find("(", at + 1);
      const std::size_t from = cast != std::string::npos && cast < name.full.find(',', at + 1) ? cast + 1 : open;
      double value = 0;
      std::from_chars(name.full.data() + from, name.full.data() + name.full.size(), value);
      extents.push_back(value);
    }
  }
  if (extents.size() < 2 || given[1].isUnknown || given[3].isUnknown) {
    stop(node, "transposes a tile that is not known");
    return {};
  }
  const bool isAtomic = name.full.ends_with("true>");
  for (double m = 0; m < extents[0]; ++m)
    for (double n = 0; n < extents[1]; ++n) {
      const KernelLanes from = offsetBy(given[0], KernelLanes(m * given[1].at(0) + n, LaneType::Int64), "+");
      const KernelLanes to = offsetBy(given[2], KernelLanes(n * given[3].at(0) + m, LaneType::Int64), "+");
      storeAt(to, loadAt(from, KernelLanes(1, LaneType::Bool), 0), KernelLanes(1, LaneType::Bool),
              isAtomic ? StoreMode::Add : StoreMode::Set);
    }
  return {};
}

KernelLanes CppCalls::atomic(const SyntaxNode& node, const CallName& name, const Given& given) {
  if (name.last == "atomic_add" && given.size() >= 2) {
    storeAt(given[0], given[1], KernelLanes(1, LaneType::Bool), StoreMode::Add);
  } else if (given.size() >= 3) {
    const KernelLanes mask =
        given.size() > 3 ? lanesBefore(given[3]) : lanesBefore(KernelLanes(double(m_width), LaneType::Int64));
    storeAt(offsetBy(given[0].spread(m_width), given[1].spread(m_width), "+"), given[2], mask, StoreMode::Add);
  } else {
    stop(node, "adds in a way that is not known");
  }
  return {};
}

KernelLanes CppCalls::nothing(const SyntaxNode&, const CallName&, const Given&) { return {}; }
KernelLanes CppCalls::zero(const SyntaxNode&, const CallName&, const Given&) { return {0, LaneType::Int32}; }
KernelLanes CppCalls::same(const SyntaxNode&, const CallName&, const Given& given) {
  return given.empty() ? KernelLanes::unknown() : given[0];
}
KernelLanes CppCalls::newArray(const SyntaxNode& node, const CallName& name, const Given& given) {
  return given.empty() || given[0].isUnknown ? KernelLanes::unknown()
                                             : array(declaredType(name.full), given[0].at(0), node);
}

}  // namespace kerf::inline audit
